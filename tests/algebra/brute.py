"""Brute force for the algebra: endpoint definitions straight from the table of SEM 3.

Imports nothing from situ, so that it can disagree with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

Interval = tuple[int, int]

# The table of SEM 3, and its converses read from right to left.
DEFINITIONS = {
    "before": lambda a, b: a[1] < b[0],
    "meets": lambda a, b: a[1] == b[0],
    "overlaps": lambda a, b: a[0] < b[0] < a[1] < b[1],
    "finished-by": lambda a, b: a[0] < b[0] and a[1] == b[1],
    "contains": lambda a, b: a[0] < b[0] and b[1] < a[1],
    "starts": lambda a, b: a[0] == b[0] and a[1] < b[1],
    "equals": lambda a, b: a[0] == b[0] and a[1] == b[1],
    "started-by": lambda a, b: DEFINITIONS["starts"](b, a),
    "during": lambda a, b: DEFINITIONS["contains"](b, a),
    "finishes": lambda a, b: DEFINITIONS["finished-by"](b, a),
    "overlapped-by": lambda a, b: DEFINITIONS["overlaps"](b, a),
    "met-by": lambda a, b: DEFINITIONS["meets"](b, a),
    "after": lambda a, b: DEFINITIONS["before"](b, a),
}
ORDER = tuple(DEFINITIONS)


def holding(a: Interval, b: Interval) -> list[str]:
    """The names of all relations whose definition holds."""
    return [name for name, holds in DEFINITIONS.items() if holds(a, b)]


def intervals(ticks: int) -> list[Interval]:
    return [(ts, te) for ts in range(ticks) for te in range(ts + 1, ticks)]


def configurations(n: int, ticks: int) -> Iterator[tuple[Interval, ...]]:
    return product(intervals(ticks), repeat=n)


def names_certain_at(t: int, a: Interval, b: Interval, horizon: int) -> set[str] | None:
    """The relations still possible at t, whatever way the ends after t fall; None if not both started."""
    if a[0] > t or b[0] > t:
        return None
    a_ends = [a[1]] if a[1] <= t else range(t + 1, horizon)
    b_ends = [b[1]] if b[1] <= t else range(t + 1, horizon)
    return {name for x in a_ends for y in b_ends for name in holding((a[0], x), (b[0], y))}


def earliest(names: set[str], a: Interval, b: Interval) -> int | None:
    """The first instant at which every relation still possible is wanted; None if that never comes."""
    horizon = max(a[1], b[1]) + 3
    for t in range(horizon - 2):
        possible = names_certain_at(t, a, b, horizon)
        if possible is not None and possible <= names:
            return t
    return None
