"""The appendix of SEM: bounds (value, strict) on differences, and their closure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

Bound = tuple[float, int]  # the second is -1 for a strict one, so that of two equal values it is the smaller
FREE: Bound = (float("inf"), 0)
NOTHING: Bound = (0, 0)
Edge = tuple[str, str, Bound]  # x, y: x - y is within the bound


def at_most(value: float) -> Bound:
    return (value, 0)


def less_than(value: float) -> Bound:
    return (value, -1)


def plus(p: Bound, q: Bound) -> Bound:
    return (p[0] + q[0], min(p[1], q[1]))


def closure(edges: Iterable[Edge]) -> dict[tuple[str, str], Bound] | None:
    """Floyd and Warshall: the tightest bound of every difference; None if they contradict each other."""
    edges = list(edges)
    nodes = sorted({node for x, y, _ in edges for node in (x, y)})
    found = {(x, y): NOTHING if x == y else FREE for x, y in product(nodes, repeat=2)}
    for x, y, bound in edges:
        found[x, y] = min(found[x, y], bound)
    for middle, x, y in product(nodes, repeat=3):
        found[x, y] = min(found[x, y], plus(found[x, middle], found[middle, y]))
    if any(found[node, node] < NOTHING for node in nodes):
        return None
    return found
