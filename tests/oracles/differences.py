"""SEM 9: differences between endpoints, and when one is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracles.derive import Situation
from oracles.question import Difference, Endpoint


def value(chosen: Mapping[str, Situation], endpoint: Endpoint) -> int | None:
    symbol, end = endpoint
    return chosen[symbol].ts if end == "ts" else chosen[symbol].te


def is_met(difference: Difference, x: float, y: float) -> bool:
    return x - y < difference.bound if difference.is_strict else x - y <= difference.bound


def can_hold(difference: Difference, chosen: Mapping[str, Situation]) -> bool:
    """False once both endpoints have occurred, too far from each other."""
    x, y = value(chosen, difference.left), value(chosen, difference.right)
    return x is None or y is None or is_met(difference, x, y)


def certain_from(
    difference: Difference, chosen: Mapping[str, Situation], instants: Sequence[int]
) -> int | None:
    """SEM 9.3, to the letter."""
    x, y = value(chosen, difference.left), value(chosen, difference.right)
    if x is None or not can_hold(difference, chosen):
        return None
    starts = [chosen[symbol].ts for symbol, _ in (difference.left, difference.right)]
    if chosen[difference.right[0]].is_given and difference.bound < 0:
        return None if y is None else max(*starts, x, y)
    earliest = max(*starts, x, x - difference.bound)
    return next((instant for instant in instants if instant >= earliest), None)
