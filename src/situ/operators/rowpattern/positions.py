"""The tree as positions with ordered ways: an instruction graph, and from each position its closure.

Every occurrence of a variable is a position; counters are written out. What follows a row depends on its
position alone: the iterations that it stands in have all taken a row. A closure goes from there to the next
rows, depth first in order of preferment, each state once, so it costs no more than the graph is large.

A repetition whose body can be empty must know whether its iteration has taken a row (ROW 4.6). Within a
closure that is one number, `fresh`: the nesting depth of the outermost iteration that began in it. Those
inside of it began later, in the same closure, and those around it have taken a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Ordered
from enum import Enum, auto
from typing import NamedTuple

from situ.errors import QueryError
from situ.language.rows.ast import Pattern
from situ.operators.rowpattern.automaton import END, Automaton, Way
from situ.operators.rowpattern.ir import (
    MOST_POSITIONS,
    At,
    Choice,
    Node,
    Repeat,
    Sequence,
    Take,
    can_be_empty,
    lowered,
    too_large,
)
from situ.operators.rowpattern.simplify import simplified

MOST_WAYS = 1_000_000  # together, of all positions

NONE = 1 << 30  # as `fresh`: every iteration has taken a row


def automaton_of(pattern: Pattern, variables: Ordered[str]) -> Automaton:
    """The automaton of a pattern: the only one that engines, bounds and facts are made of."""
    return automaton_of_tree(simplified(lowered(pattern, variables)), variables)


def automaton_of_tree(tree: Node, variables: Ordered[str]) -> Automaton:
    """The automaton of a pattern that has been lowered and simplified."""
    if _written_out(tree) > MOST_POSITIONS:
        raise too_large()
    graph = _Graph()
    begin = graph.add(tree, graph.new(_Does.END))
    start = tuple(_closure(graph, begin, True))
    follow: dict[int, tuple[Way, ...]] = {}
    waiting = [way.to for way in start]
    n_ways = len(start)
    while waiting:
        place = waiting.pop()
        if place == END or place in follow:
            continue
        follow[place] = tuple(_closure(graph, graph.code[place].to[0], False))
        waiting += [way.to for way in follow[place]]
        n_ways += len(follow[place])
        if n_ways > MOST_WAYS:
            raise _too_dense()
    return _trimmed(graph, start, follow, variables)


class _Does(Enum):
    END = auto()
    TAKE = auto()  # a row, then to[0]
    SPLIT = auto()  # each of `to`, in this order
    AT_FIRST = auto()  # only before the partition's first row
    AT_LAST = auto()  # only after its last
    BEGIN = auto()  # an iteration at `depth` begins
    FINISH = auto()  # it is over: on to to[0] if it has taken a row, else to[1]


class _Step(NamedTuple):
    does: _Does
    to: tuple[int, ...] = ()
    depth: int = 0
    take: Take | None = None


class _Graph:
    """Instructions, made from the end to the beginning: a larger number stands further to the left."""

    def __init__(self) -> None:
        self.code: list[_Step] = []

    def new(self, does: _Does, *to: int, depth: int = 0, take: Take | None = None) -> int:
        self.code.append(_Step(does, to, depth, take))
        return len(self.code) - 1

    def add(self, node: Node, after: int, depth: int = 0) -> int:
        """Where a node begins that goes on at `after`."""
        match node:
            case Take():
                return self.new(_Does.TAKE, after, take=node)
            case At(is_start):
                return self.new(_Does.AT_FIRST if is_start else _Does.AT_LAST, after)
            case Sequence(parts):
                for part in reversed(parts):
                    after = self.add(part, after, depth)
                return after
            case Choice(parts):
                choices = [self.add(part, after, depth) for part in reversed(parts)]
                return self.new(_Does.SPLIT, *reversed(choices))
            case Repeat():
                return self._repeat(node, after, depth)

    def _repeat(self, node: Repeat, after: int, depth: int) -> int:
        entry, mandatory = after, node.least
        if node.most is None:
            again = self.new(_Does.SPLIT)  # its ways are known once the body is there
            body = self._iteration(node.body, again, after, depth)
            self.code[again] = _Step(_Does.SPLIT, _ordered(body, after, node))
            # What an empty first iteration would go on to, another iteration, begins with the same ways.
            entry, mandatory = (body, node.least - 1) if node.least else (again, 0)
        else:
            for _ in range(node.most - node.least):
                entry = self.new(
                    _Does.SPLIT, *_ordered(self._iteration(node.body, entry, after, depth), after, node)
                )
        for _ in range(mandatory):  # they may be empty and go on
            entry = self.add(node.body, entry, depth)
        return entry

    def _iteration(self, body: Node, on: int, out: int, depth: int) -> int:
        """One beyond the minimum: if it takes no row, it ends the repetition (ROW 4.6)."""
        if not can_be_empty(body):
            return self.add(body, on, depth)
        finish = self.new(_Does.FINISH, on, out, depth=depth)
        return self.new(_Does.BEGIN, self.add(body, finish, depth + 1), depth=depth)


def _ordered(more: int, out: int, node: Repeat) -> tuple[int, int]:
    return (out, more) if node.is_reluctant else (more, out)


def _closure(graph: _Graph, begin: int, is_start: bool) -> Iterator[Way]:
    """The ways from an instruction on, before any row (`is_start`) or behind one, to instructions."""
    given: set[Way] = set()
    seen: set[tuple[int, int, bool, bool]] = set()
    stack = [(begin, NONE, False, False)]
    while stack:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        place, fresh, at_first, at_last = state
        step = graph.code[place]
        match step.does:
            case _Does.END | _Does.TAKE:
                if at_last and (is_start or step.does is _Does.TAKE):
                    continue  # a match starts at a row, and none comes behind the last
                way = Way(END if step.does is _Does.END else place, at_first, at_last)
                if given.isdisjoint(_as_open(way)):
                    given.add(way)
                    yield way
            case _Does.SPLIT:
                stack += [(to, fresh, at_first, at_last) for to in reversed(step.to)]
            case _Does.AT_FIRST:
                if is_start:
                    stack.append((step.to[0], fresh, True, at_last))
            case _Does.AT_LAST:
                stack.append((step.to[0], fresh, at_first, True))
            case _Does.BEGIN:
                stack.append((step.to[0], min(fresh, step.depth), at_first, at_last))
            case _Does.FINISH:
                is_empty = fresh <= step.depth
                around = fresh if fresh < step.depth else NONE
                stack.append((step.to[1] if is_empty else step.to[0], around, at_first, at_last))


def _as_open(way: Way) -> tuple[Way, ...]:
    """The ways to the same target that are open whenever this one is; it has at most one condition."""
    return (way, Way(way.to)) if way.at_first or way.at_last else (way,)


def _trimmed(
    graph: _Graph, start: tuple[Way, ...], follow: dict[int, tuple[Way, ...]], variables: Ordered[str]
) -> Automaton:
    """Positions from which the end can be reached, numbered as they are written."""
    before: dict[int, list[int]] = {END: []}
    for place, ways in follow.items():
        for way in ways:
            before.setdefault(way.to, []).append(place)
    alive: set[int] = set()
    waiting = before[END].copy()
    while waiting:
        place = waiting.pop()
        if place not in alive:
            alive.add(place)
            waiting += before.get(place, [])
    written = sorted(alive, reverse=True)
    number = {END: END} | {place: position for position, place in enumerate(written)}

    def live(ways: tuple[Way, ...]) -> tuple[Way, ...]:
        return tuple(way._replace(to=number[way.to]) for way in ways if way.to in number)

    takes = [take for place in written if (take := graph.code[place].take) is not None]
    return Automaton(
        tuple(variables),
        tuple(take.variable for take in takes),
        tuple(take.is_excluded for take in takes),
        live(start),
        tuple(live(follow[place]) for place in written),
    )


def _too_dense() -> QueryError:
    return QueryError(
        f"the pattern has more than {MOST_WAYS:,} ways from one row to the next: any of thousands of "
        "positions may follow each other",
        hint="repeat a group that always takes a row: (A?){1000} is A{0,1000}, with two ways at each row",
    )


def _written_out(node: Node) -> int:
    """How many positions it has, anchors and those that nothing reaches included."""
    match node:
        case Take() | At():
            return 1
        case Sequence(parts) | Choice(parts):
            return sum(map(_written_out, parts))
        case Repeat(body, least, most):
            return _written_out(body) * (max(least, 1) if most is None else most)
