"""ROW 4, 5, 8.2, 8.3 and 9: the matches of one history that are certain when some of its rows are known.

Backtracking in order of preferment, straight from the text. A row that has not come yet is taken by any
variable: what it leads to is alive, not certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple, Protocol

from oracles.row_items import Known, Path, Pattern, Taken


class State(NamedTuple):
    """How far a derivation has come."""

    path: Path = ()
    is_beyond: bool = False  # it goes on in rows yet to come
    is_maybe: bool = False  # a condition read a row yet to come
    is_over: bool = False  # it takes no row any more, by $

    @property
    def is_certain(self) -> bool:
        return not (self.is_beyond or self.is_maybe or self.is_over)


class Walker(Protocol):
    """What a variable and an anchor do to a derivation."""

    def take(self, state: State, name: str, is_excluded: bool) -> Iterator[State]: ...

    def anchor(self, state: State, kind: str) -> Iterator[State]: ...


class Search(NamedTuple):
    """The candidates of one start; the rows a variable may take depend on the strategy."""

    known: Known
    start: int
    number: int
    takes: int  # rows before this one may be in the match
    is_open: bool  # and rows yet to come

    def candidates(self) -> Iterator[State]:
        return walk(self.known.question.pattern, State(), self)

    def take(self, state: State, name: str, is_excluded: bool) -> Iterator[State]:
        if state.is_over:
            return
        if state.is_beyond:
            yield state
            return
        for row in self.next_rows(state.path):
            path = (*state.path, Taken(row, name, is_excluded))
            holds = self.known.holds(path, self.number)
            if holds is not False:
                yield state._replace(path=path, is_maybe=state.is_maybe or holds is None)
        is_contiguous = self.known.question.strategy == "contiguous"
        if is_contiguous and self.is_open and self.start + len(state.path) >= self.takes:
            yield state._replace(is_beyond=True)

    def next_rows(self, path: Path) -> Sequence[int]:
        if not path or self.known.question.strategy == "contiguous":
            return range(self.start + len(path), min(self.start + len(path) + 1, self.takes))
        last = self.known.time(path[-1].row)  # ROW 9.1
        return [row for row in range(path[-1].row + 1, self.takes) if self.known.time(row) > last]

    def anchor(self, state: State, kind: str) -> Iterator[State]:
        at = self.start + len(state.path)
        if kind == "^":
            if at == 0 and not state.is_beyond:
                yield state
        elif self.known.horizon is not None:
            if at >= self.known.size:
                yield state._replace(is_over=True)
        elif at == len(self.known.rows):
            yield state


def search(known: Known, start: int, number: int) -> Search:
    end = known.end(start)
    takes = sum(end is None or known.time(row) <= end for row in range(known.size))
    is_open = known.horizon is not None and (end is None or known.horizon < end)
    return Search(known, start, number, takes, is_open)


def walk(pattern: Pattern, state: State, on: Walker, is_excluded: bool = False) -> Iterator[State]:
    """The states behind the pattern in order of preferment (ROW 4.5), each once: of equal ones the first."""
    seen = set()
    for reached in steps(pattern, state, on, is_excluded):
        if reached not in seen:
            seen.add(reached)
            yield reached


def steps(pattern: Pattern, state: State, on: Walker, is_excluded: bool) -> Iterator[State]:
    match pattern:
        case str(name):
            yield from on.take(state, name, is_excluded)
        case ("cat",):
            yield state
        case ("cat", *parts):
            for reached in walk(("cat", *parts[:-1]), state, on, is_excluded):
                yield from walk(parts[-1], reached, on, is_excluded)
        case ("alt", *choices):
            for choice in choices:
                yield from walk(choice, state, on, is_excluded)
        case ("permute", *parts):
            yield from walk(
                ("alt", *(("cat", *order) for order in permutations(parts))), state, on, is_excluded
            )
        case ("exclude", body):
            yield from walk(body, state, on, True)
        case ("repeat", body, least, _, _):
            for reached in walk(("cat", *[body] * least), state, on, is_excluded):
                yield from repeated(pattern, least, reached, on, is_excluded)
        case (kind,):
            yield from on.anchor(state, kind)


def repeated(pattern: Pattern, n: int, state: State, on: Walker, is_excluded: bool) -> Iterator[State]:
    """After n iterations, the minimum or more: one more and none."""
    _, body, _, most, is_reluctant = pattern
    if is_reluctant:
        yield state
    if most is None or n < most:
        for reached in walk(body, state, on, is_excluded):
            if len(reached.path) == len(state.path):
                yield reached  # ROW 4.6
            else:
                yield from repeated(pattern, n + 1, reached, on, is_excluded)
    if not is_reluctant:
        yield state
