"""Where FIRST and LAST of a variable lead from a position, as far as the pattern alone decides it.

When a row is tested at a position, the rows before it were taken on some path from the start to there, and
the tested row is taken too (ROW 2.4). If FIRST or LAST leads to the same place on all these paths, a
condition that reads it needs no path. Distances are in rows of the match, which lie side by side unless a
strategy skips rows. Values are joined over all ways until nothing changes; each can change twice only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from situ.operators.rowpattern.automaton import END, Automaton

MOST_STEPS = 300_000  # beyond them a place is said to vary


@dataclass(frozen=True)
class Missing:
    """There never is such a row: it reads null."""


@dataclass(frozen=True)
class Back:
    """Always this many rows before the tested row; 0 is the tested row itself."""

    rows: int


@dataclass(frozen=True)
class FromStart:
    """Always this many rows behind the match's first row, but not always as far from the tested row."""

    rows: int


@dataclass(frozen=True)
class Varies:
    """It depends on the path."""


Place: TypeAlias = Missing | Back | FromStart | Varies


class Reaching:
    """Facts about an automaton, each worked out when it is first asked for."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._known: dict[tuple[frozenset[int], bool, int], Mapping[int, _Where]] = {}

    def navigated(self, position: int, members: frozenset[int], is_first: bool, offset: int) -> Place:
        """Where FIRST or LAST(X, offset) leads, X being the variables `members`, tested at this position."""
        asked = (members, is_first, offset)
        if asked not in self._known:
            find = _first if is_first else _last
            self._known[asked] = find(self.automaton, members, offset)
        return self._known[asked].get(position, UNDECIDED).place()


# A number that is the same on all paths; on none so far; not the same.
NOWHERE, DIFFERS = -1, -2


class _Where(NamedTuple):
    """The place of one row, joined over paths."""

    back: int
    start: int  # its distance from the match's first row
    may_miss: bool

    def place(self) -> Place:
        if self.back == NOWHERE:
            return Missing()
        if self.may_miss or self.back == self.start == DIFFERS:
            return Varies()
        return Back(self.back) if self.back >= 0 else FromStart(self.start)

    def joined(self, other: _Where) -> _Where:
        return _Where(
            _joined(self.back, other.back), _joined(self.start, other.start), self.may_miss or other.may_miss
        )

    def one_row_on(self) -> _Where:
        return self._replace(back=_next(self.back))


MISSED = _Where(NOWHERE, NOWHERE, True)
UNDECIDED = _Where(DIFFERS, DIFFERS, True)


def _joined(left: int, right: int) -> int:
    if left == right or right == NOWHERE:
        return left
    return right if left == NOWHERE else DIFFERS


def _next(number: int) -> int:
    return number + 1 if number >= 0 else number


class _Seen(NamedTuple):
    """What is known when a row has been taken: its distance from the first, and where rows of X are."""

    depth: int
    rows: tuple[_Where, ...]

    def joined(self, other: _Seen) -> _Seen:
        rows = tuple(one.joined(two) for one, two in zip(self.rows, other.rows, strict=True))
        return _Seen(_joined(self.depth, other.depth), rows)


def _last(automaton: Automaton, members: frozenset[int], offset: int) -> Mapping[int, _Where]:
    """Of each position the row LAST(X, offset): those with smaller offsets are passed on, one row further."""

    def taken(position: int, depth: int, before: tuple[_Where, ...]) -> _Seen:
        rows = tuple(row.one_row_on() for row in before)
        if automaton.variable[position] in members:
            rows = (_Where(0, depth, False), *rows[:-1])
        return _Seen(depth, rows)

    def on(position: int, seen: _Seen) -> Iterable[tuple[int, _Seen]]:
        for way in automaton.follow[position]:
            if way.to != END:
                yield way.to, taken(way.to, _next(seen.depth), seen.rows)

    nothing = (MISSED,) * (offset + 1)
    starts = [(way.to, taken(way.to, 0, nothing)) for way in automaton.start if way.to != END]
    return {position: seen.rows[offset] for position, seen in _settled(starts, on).items()}


def _first(automaton: Automaton, members: frozenset[int], offset: int) -> Mapping[int, _Where]:
    """Of each position the row FIRST(X, offset): the one that is taken when X has had `offset` rows."""

    def taken(position: int, depth: int, count: int, row: _Where) -> tuple[tuple[int, int], _Seen]:
        row = row.one_row_on()
        if automaton.variable[position] in members and count <= offset:
            count += 1
            row = _Where(0, depth, False) if count > offset else row
        return (position, count), _Seen(depth, (row,))

    def on(node: tuple[int, int], seen: _Seen) -> Iterable[tuple[tuple[int, int], _Seen]]:
        position, count = node
        for way in automaton.follow[position]:
            if way.to != END:
                yield taken(way.to, _next(seen.depth), count, seen.rows[0])

    starts = [taken(way.to, 0, 0, MISSED) for way in automaton.start if way.to != END]
    found: dict[int, _Where] = {}
    for (position, _), seen in _settled(starts, on).items():
        row = seen.rows[0]
        found[position] = found[position].joined(row) if position in found else row
    return found


_Node = TypeVar("_Node", bound=Hashable)


def _settled(
    starts: Iterable[tuple[_Node, _Seen]], on: Callable[[_Node, _Seen], Iterable[tuple[_Node, _Seen]]]
) -> Mapping[_Node, _Seen]:
    """What is seen at each node, joined over all paths; nothing at all if that takes too many steps."""
    settled: dict[_Node, _Seen] = {}
    changed = dict(starts)
    n_steps = 0
    for node, seen in starts:
        changed[node] = changed[node].joined(seen)
    while changed:
        node, seen = changed.popitem()
        if node in settled:
            seen = settled[node].joined(seen)
            if seen == settled[node]:
                continue
        settled[node] = seen
        for behind, found in on(node, seen):
            changed[behind] = changed[behind].joined(found) if behind in changed else found
            n_steps += len(found.rows)
        if n_steps > MOST_STEPS:
            return {}
    return settled
