"""Whether lengths, a window and relations leave any match at all (SEM 9.6).

Endpoints are nodes of a simple temporal network, and `x - y <= d` is an edge. A set of relations is a
choice between such networks: what its members have in common is added, round by round, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from situ.algebra.composition import to_allen
from situ.algebra.network import Between, Network
from situ.algebra.relations import ALL, N_ALLEN, relation

Bounds = npt.NDArray[Any]  # [..., x, y] bounds x - y: floats, or Python integers where floats would round

_EXACT_IN_FLOATS = 2**48  # the most all bounds may add up to: what follows from them stays below 2**53
# SEM 9.6: sets of relations can tighten bounds tick by tick, for as many rounds as there are ticks.
_MAX_ROUNDS = 100


class Difference(NamedTuple):
    """`left - right <= bound` between two nodes, in ticks."""

    left: int
    right: int
    bound: int


Constraint = Between | tuple[Difference, ...]


def start_of(symbol: int) -> int:
    """The node of a symbol's ts."""
    return 3 * symbol


def end_of(symbol: int) -> int:
    """The node of a symbol's te."""
    return 3 * symbol + 1


def needed_of(symbol: int) -> int:
    """The node of the instant that a match must last to for this situation's sake: its ts, or later."""
    return 3 * symbol + 2


def at_least(symbol: int, ticks: int) -> tuple[Difference, ...]:
    """AT LEAST, as differences."""
    return (Difference(start_of(symbol), end_of(symbol), -ticks),)


def at_most(symbol: int, ticks: int) -> tuple[Difference, ...]:
    """AT MOST, as differences."""
    return (Difference(end_of(symbol), start_of(symbol), ticks),)


def lasts_to(symbol: int, node: int, ticks: int = 0) -> tuple[Difference, ...]:
    """A match must last, for this situation's sake, to so many ticks after that node."""
    return (Difference(node, needed_of(symbol), -ticks),)


def window(n: int, ticks: int) -> tuple[Difference, ...]:
    """WITHIN, as differences: from every start to all that is needed."""
    return tuple(Difference(needed_of(i), start_of(j), ticks) for i in range(n) for j in range(n))


def excluding(n: int, constraints: Sequence[Constraint]) -> tuple[int, ...] | None:
    """The numbers of constraints that no n situations satisfy together; None where none are found.

    Leave any one of them out and the rest is no longer refused. What is refused cannot match; what is
    not refused may in rare cases still be empty.

    >>> from situ.algebra.relations import NAMES
    >>> excluding(2, [at_least(0, 60), at_most(1, 5), Between(0, 1, NAMES["during"])])
    (0, 1, 2)
    """
    if not _are_exclusive(n, constraints):
        return None
    kept, start = list(range(len(constraints))), 0
    step = max(1, len(kept) // 2)
    # Many at a time as long as that succeeds: few culprits among many constraints take few attempts.
    while start < len(kept):
        rest = kept[:start] + kept[start + step :]
        if _are_exclusive(n, [constraints[number] for number in rest]):
            kept, step = rest, 2 * step
        elif step > 1:
            step //= 2
        else:
            start += 1
    return tuple(kept)


def _are_exclusive(n: int, constraints: Sequence[Constraint]) -> bool:
    """Whether these constraints are found to leave no match."""
    relations = Network(n)
    differences: list[Difference] = []
    for constraint in constraints:
        if isinstance(constraint, Between):
            relations.constrain(*constraint)
        else:
            differences += constraint
    reduced = relations.propagate()
    if reduced.conflict is not None:
        return True
    return _is_empty(_bounds(n, differences), reduced.matrix)


def _bounds(n: int, differences: Sequence[Difference]) -> Bounds:
    """The network of some differences, and of what is true of any situation."""
    total = sum(abs(difference.bound) for difference in differences)
    bounds = np.full((3 * n, 3 * n), np.inf, float if total < _EXACT_IN_FLOATS else object)
    np.fill_diagonal(bounds, 0)
    for symbol in range(n):
        bounds[start_of(symbol), end_of(symbol)] = -1
        bounds[start_of(symbol), needed_of(symbol)] = 0
    for left, right, bound in differences:
        bounds[left, right] = min(bounds[left, right], bound)
    return bounds


def _is_empty(bounds: Bounds, relations: npt.NDArray[np.int32]) -> bool:
    """Whether the bounds, with one relation out of each pair's set, cannot be satisfied."""
    pairs = np.argwhere(np.triu(relations != ALL, k=1))
    sets = to_allen(relations[tuple(pairs.T)])
    allowed = (sets[:, None] >> np.arange(N_ALLEN) & 1).astype(bool)
    ends = [(start_of(a), end_of(a), start_of(b), end_of(b)) for a, b in pairs.tolist()]
    nodes = np.array(ends, np.int64).reshape(-1, 4)
    corners = nodes[:, :, None], nodes[:, None, :]
    for _ in range(_MAX_ROUNDS):
        bounds = _closed(bounds)
        if _has_negative_cycle(bounds):
            return True
        # A closed network says of four of its nodes all that it implies about them.
        each = _closed(np.minimum(bounds[corners][:, None], _orders(bounds.dtype == object)[None]))
        allowed &= ~_has_negative_cycle(each)
        if not allowed.any(1).all():
            return True
        in_common = np.where(allowed[:, :, None, None], each, -np.inf).max(1, initial=-np.inf)
        tighter = bounds.copy()
        np.minimum.at(tighter, corners, in_common)
        if (tighter == bounds).all():
            return False
        bounds = tighter
    return False


def _closed(bounds: Bounds) -> Bounds:
    """All shortest paths; with a negative cycle, a negative number on the diagonal."""
    for middle in range(bounds.shape[-1]):
        via = bounds[..., :, middle, None] + bounds[..., middle, None, :]
        bounds = np.minimum(bounds, via)
    return bounds


def _has_negative_cycle(bounds: Bounds) -> npt.NDArray[np.bool_]:
    return np.asarray((np.diagonal(bounds, axis1=-2, axis2=-1) < 0).any(-1), bool)


@cache
def _orders(in_integers: bool) -> Bounds:
    """`[r, x, y]`: under relation r, x - y is at most -1, 0 or anything, for A.ts, A.te, B.ts, B.te."""
    orders = np.full((N_ALLEN, 4, 4), np.inf, object)
    intervals = [(ts, te) for ts in range(4) for te in range(ts + 1, 4)]
    for a, b in product(intervals, repeat=2):
        ends = (*a, *b)
        orders[relation(*a, *b)] = [[-1 if x < y else 0 if x == y else np.inf for y in ends] for x in ends]
    return orders if in_integers else orders.astype(float)
