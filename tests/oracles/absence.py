"""SEM 11: when it is certain that nothing of a NO group comes any more (the algorithm of SEM's appendix)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from oracles.bounds import Bound, Edge, at_most, closure, less_than
from oracles.derive import Situation
from oracles.question import Absence, Question
from oracles.relations import ALLEN

Known = tuple[tuple[str, int], ...]  # endpoints that have occurred, by name: "C.ts", relative to the instant
NEVER, ZERO = float("inf"), "0"
TO_COME = None

# The table of SEM 3: left < right or left = right, for A r B.
ORDERS = {
    "before": ["A.te < B.ts"],
    "meets": ["A.te = B.ts"],
    "overlaps": ["A.ts < B.ts", "B.ts < A.te", "A.te < B.te"],
    "finished-by": ["A.ts < B.ts", "A.te = B.te"],
    "contains": ["A.ts < B.ts", "B.te < A.te"],
    "starts": ["A.ts = B.ts", "A.te < B.te"],
    "equals": ["A.ts = B.ts", "A.te = B.te"],
}
STANDS_FOR = {"before-only": "before", "followed-by": "before", "after-only": "after", "follows": "after"}


def inequalities(name: str, a: str, b: str) -> Iterator[Edge]:
    """`a name b` as bounds on differences of endpoints."""
    name = STANDS_FOR.get(name, name)
    if name not in ORDERS:
        name, a, b = ALLEN[-1 - ALLEN.index(name)], b, a
    named = {"A.ts": f"{a}.ts", "A.te": f"{a}.te", "B.ts": f"{b}.ts", "B.te": f"{b}.te"}
    for order in ORDERS[name]:
        x, sign, y = order.split()
        left, right = named[x], named[y]
        yield left, right, less_than(0) if sign == "<" else at_most(0)
        if sign == "=":
            yield right, left, at_most(0)


def names(atoms: frozenset[str]) -> list[str]:
    return sorted({STANDS_FOR.get(atom, atom) for atom in atoms})


def fixed_edges(group: Absence, question: Question) -> tuple[Edge, ...]:
    """Differences, `ts < te` of every symbol, and the length of the absent one."""
    edges: list[Edge] = []
    for difference in group.differences:
        bound = less_than(difference.bound) if difference.is_strict else at_most(difference.bound)
        edges.append((".".join(difference.left), ".".join(difference.right), bound))
    for symbol in mentioned(group):
        edges.append((f"{symbol}.ts", f"{symbol}.te", less_than(0)))
    begin, end = f"{group.symbol}.ts", f"{group.symbol}.te"
    if group.symbol in question.at_least:
        edges.append((begin, end, at_most(-question.at_least[group.symbol])))
    if group.symbol in question.at_most:
        edges.append((end, begin, at_most(question.at_most[group.symbol])))
    return tuple(edges)


def mentioned(group: Absence) -> tuple[str, ...]:
    of_differences = (symbol for d in group.differences for symbol, _ in (d.left, d.right))
    return tuple(dict.fromkeys([group.symbol, *group.constraints, *of_differences]))


def known_at(
    t: int, chosen: Mapping[str, Situation], c: Situation | None, group: Absence
) -> tuple[Known, tuple[str, ...]]:
    """What has occurred by t, and what has not."""
    occurred, later = [], []
    for symbol in mentioned(group):
        one = c if symbol == group.symbol else chosen[symbol]
        for end in ("ts", "te"):
            value = None if one is None else getattr(one, end)
            if value is not None and value <= t:
                occurred.append((f"{symbol}.{end}", value - t))
            else:
                later.append(f"{symbol}.{end}")
    return tuple(occurred), tuple(later)


def possible_until(
    c: Situation | None, chosen: Mapping[str, Situation], group: Absence, question: Question, t: int
) -> float:
    """U of SEM 11.4: one that has started, or one still to come, is possible for all t < U."""
    occurred, later = known_at(t, chosen, c, group)
    if c is None and question.is_over_intervals:  # SEM 11.8: it may have begun already
        later = tuple(end for end in later if end != f"{group.symbol}.ts")
    sets = tuple((symbol, *names(atoms)) for symbol, atoms in group.constraints.items())
    return t + largest_bound(group.symbol, sets, fixed_edges(group, question), occurred, later)


@lru_cache(maxsize=200_000)
def largest_bound(
    absent: str,
    sets: tuple[tuple[str, ...], ...],
    fixed: tuple[Edge, ...],
    occurred: Known,
    later: tuple[str, ...],
) -> float:
    """Over every choice of relations, the least bound on what has not occurred; relative to the instant."""
    alternatives = []
    for positive, *choices in sets:
        ways = [tuple(inequalities(name, absent, positive)) for name in choices]
        # What is contradictory alone is so beside others too: it need not be tried with them.
        alternatives.append([way for way in ways if least_bound((*fixed, *way), occurred, later) > -NEVER])
    choices = product(*alternatives)
    return max((least_bound((*fixed, *sum(way, ())), occurred, later) for way in choices), default=-NEVER)


def least_bound(edges: tuple[Edge, ...], occurred: Known, later: tuple[str, ...]) -> float:
    """How late the first of what has not occurred may be; minus infinity if the edges contradict."""
    constants = dict(occurred)

    def placed(node: str, bound: Bound, sign: int) -> tuple[str, Bound]:
        if node not in constants:
            return node, bound
        return ZERO, (bound[0] + sign * constants[node], bound[1])

    merged = []
    for x, y, bound in edges:
        x, bound = placed(x, bound, -1)
        y, bound = placed(y, bound, +1)
        merged.append((x, y, bound))
    found = closure(merged)
    if found is None:
        return -NEVER
    return min((found.get((end, ZERO), (NEVER, 0))[0] for end in later), default=NEVER)


def absent_from(
    group: Absence, chosen: Mapping[str, Situation], situations: Sequence[Situation], question: Question
) -> int | None:
    """The group's tick, all of its symbol's situations given, whatever their length; None: never."""
    t = max(one.ts for one in chosen.values())
    endpoints = {
        value for one in (*chosen.values(), *situations) for value in (one.ts, one.te) if value is not None
    }
    alive = list(situations)
    while True:
        later = min((value for value in endpoints if value > t), default=NEVER)
        until = [possible_until(TO_COME, chosen, group, question, t)]
        still = []
        for c in alive:
            if first_heard_of(c) > t:
                still.append(c)
                continue
            bound = possible_until(c, chosen, group, question, t)
            until.append(bound)
            if bound > t:  # possible never comes back (SEM 11.3)
                still.append(c)
        alive = still
        tick = max(t, *until)
        if tick < later:
            return int(tick)
        if later == NEVER:
            return None
        t = int(later)


def first_heard_of(c: Situation) -> int:
    """Its start, or of a given interval the instant of its first row (SEM 6.3)."""
    return c.events[0][0] if c.is_given else c.ts
