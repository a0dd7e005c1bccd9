"""The best order in which to join the symbols of a pattern.

Exact for small patterns: dynamic programming over all sets of symbols, for every first symbol at once.
Larger ones are ordered greedily, looking one step ahead. Orders that need a cross product are only
considered where the pattern leaves no other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from situ.plan.cost import Bools, CostModel, Estimates, Floats, Order, bounded_exp, floored

EXACT_UP_TO: Final = 10
_LOOK_AHEAD_FROM: Final = 8  # candidates for which the step after the next is considered

Ints = npt.NDArray[np.int64]


def best_order(
    relations: npt.ArrayLike,
    sizes: npt.ArrayLike,
    selectivities: npt.ArrayLike,
    first: int | None = None,
) -> tuple[Order, Estimates]:
    """The cheapest order of all symbols, or of those orders that begin with `first`, and its estimates.

    `relations[i, j]` is the set from i to j (ALL: nothing asked), `sizes` the situations per window,
    `selectivities[i, j]` the share of pairs that satisfy the constraint (1 where nothing is asked).
    """
    model = CostModel(np.asarray(relations, dtype=np.int32))
    buffers, passing = np.asarray(sizes, dtype=np.float64), np.asarray(selectivities, dtype=np.float64)
    orders = best_orders(model, buffers, passing)
    if first is not None:
        return orders[first], model.estimate(orders[first], buffers, passing)
    return cheapest(model, orders, buffers, passing)


def best_orders(model: CostModel, sizes: Floats, selectivities: Floats) -> tuple[Order, ...]:
    """For every symbol the cheapest order that begins with it."""
    if model.n <= EXACT_UP_TO:
        return _exact(model, sizes, selectivities)
    return _greedy(model, sizes, selectivities)


def cheapest(
    model: CostModel, orders: tuple[Order, ...], sizes: Floats, selectivities: Floats
) -> tuple[Order, Estimates]:
    """The order with the smallest estimated cost; of equals the first."""
    estimates = [model.estimate(order, sizes, selectivities) for order in orders]
    best = min(range(len(orders)), key=lambda i: estimates[i].cost)
    return orders[best], estimates[best]


class _Subsets(NamedTuple):
    """All sets of n symbols, as bit masks, by size."""

    member: Bools  # [2**n, n]
    layers: tuple[tuple[Ints, Ints, Ints], ...]  # per size >= 2: sets, [sets, size] sets without s, [..] s


@lru_cache(maxsize=EXACT_UP_TO)
def _subsets(n: int) -> _Subsets:
    masks = np.arange(1 << n)
    member = (masks[:, None] >> np.arange(n) & 1).astype(bool)
    layers = []
    for size in range(2, n + 1):
        sets = masks[member.sum(1) == size]
        last = np.nonzero(member[sets])[1].reshape(len(sets), size)
        layers.append((sets, sets[:, None] & ~(1 << last), last))
    return _Subsets(member, tuple(layers))


def _exact(model: CostModel, sizes: Floats, selectivities: Floats) -> tuple[Order, ...]:
    n = model.n
    member, layers = _subsets(n)
    step = _step_costs(model, member, *floored(sizes, selectivities))
    cost = np.full((n, 1 << n), np.inf)  # [first symbol, set joined so far]
    chosen = np.full((n, 1 << n), -1, dtype=np.int64)
    symbols = np.arange(n)
    cost[symbols, 1 << symbols] = 0.0  # the first symbol costs the same whatever comes after
    for sets, without, last in layers:
        total = cost[:, without] + step[without, last]
        best = total.argmin(axis=2)
        cost[:, sets] = np.take_along_axis(total, best[:, :, None], axis=2)[:, :, 0]
        chosen[:, sets] = last[np.arange(len(sets)), best]
    return tuple(_walk_back(chosen[first], first, n) for first in range(n))


def _walk_back(chosen: Ints, first: int, n: int) -> Order:
    joined, order = (1 << n) - 1, []
    while joined != 1 << first:
        last = int(chosen[joined])
        order.append(last)
        joined &= ~(1 << last)
    return (first, *reversed(order))


def _step_costs(model: CostModel, member: Bools, sizes: Floats, selectivities: Floats) -> Floats:
    """`[set, s]`: the cost of joining s to all results over the set; infinite where it must not be next."""
    n, constrained = model.n, model.is_constrained
    log_results = np.asarray(member @ np.log(sizes), dtype=np.float64)
    log_selectivities = np.log(selectivities)
    for i, j in np.argwhere(np.triu(constrained)).tolist():
        in_force = member[:, i] & member[:, j]
        implied_by = np.flatnonzero(model.implied_via[i, j])
        if len(implied_by):
            in_force = in_force & ~member[:, implied_by].any(1)
        log_results = log_results + in_force * log_selectivities[i, j]
    results = bounded_exp(log_results)
    joined = np.arange(1 << n)[:, None] | 1 << np.arange(n)
    partners = np.asarray(member @ constrained.astype(np.float64), dtype=np.float64)
    log_widening = np.where(constrained, np.log(model.widening), 0.0)
    widening = bounded_exp(np.asarray(member @ log_widening, dtype=np.float64))
    candidates = np.minimum(results[joined] * widening, results[:, None] * sizes)
    cost = candidates + model.weights.search * results[:, None] * partners * np.log2(1 + sizes)
    cost[~_may_follow(member, partners)] = np.inf
    return np.asarray(cost)


def _may_follow(inside: Bools, partners: Floats) -> Bools:
    """Which symbols may be joined next: connected ones, or any where none is connected."""
    connected = (partners > 0) & ~inside
    result: Bools = np.where(connected.any(-1, keepdims=True), connected, ~inside)
    return result


def _greedy(model: CostModel, sizes: Floats, selectivities: Floats) -> tuple[Order, ...]:
    """All n orders grow together: row f of every array belongs to the order that begins with f."""
    n, constrained = model.n, model.is_constrained
    buffers, passing = floored(sizes, selectivities)
    log_sizes = np.log(buffers)
    log_pass = np.where(constrained, np.log(passing), 0.0)
    log_widening = np.where(constrained, np.log(model.widening), 0.0)
    search = model.weights.search * np.log2(1 + buffers)
    rows = np.arange(n)
    orders = np.empty((n, n), dtype=np.int64)
    inside = np.zeros((n, n), dtype=bool)
    via = model.implied_via.transpose(2, 0, 1)
    implied = np.zeros_like(via) if via.any() else None  # [order, i, j]: this constraint adds nothing now
    log_results = np.zeros(n)
    joining = rows
    for depth in range(n):
        if depth:
            log_filter = _filter_of(inside, log_pass, implied)
            log_next = log_results[:, None] + log_sizes + log_filter
            partners = np.asarray(inside @ constrained.astype(np.float64), dtype=np.float64)
            results = bounded_exp(log_results)[:, None]
            cost = np.minimum(bounded_exp(log_next + inside @ log_widening), results * buffers)
            cost = cost + results * partners * search
            cost[~_may_follow(inside, partners)] = np.inf
            if depth < n - 1:
                after = log_filter + log_sizes
                cost = _look_ahead(cost, log_next, after, log_pass, inside, partners, constrained)
            joining = cost.argmin(1)
            log_results = log_next[rows, joining]
        else:
            log_results = log_sizes.copy()
        orders[:, depth] = joining
        inside[rows, joining] = True
        if implied is not None:
            implied |= via[joining]
    return tuple(tuple(order) for order in orders.tolist())


def _filter_of(inside: Bools, log_pass: Floats, implied: Bools | None) -> Floats:
    """`[order, s]`: the log of what the constraints between s and the symbols inside let through."""
    if implied is None:
        return np.asarray(inside @ log_pass)
    return np.asarray(np.einsum("fi,fij->fj", inside, np.where(implied, 0.0, log_pass)))


def _look_ahead(
    cost: Floats,
    log_next: Floats,
    log_after: Floats,
    log_pass: Floats,
    inside: Bools,
    partners: Floats,
    constrained: Bools,
) -> Floats:
    """Add to the cost of the most promising symbols the results of the best step that could follow."""
    n_looked_at = min(_LOOK_AHEAD_FROM, cost.shape[1])
    promising = np.argpartition(cost, n_looked_at - 1, axis=1)[:, :n_looked_at]
    results = (
        np.take_along_axis(log_next, promising, 1)[:, :, None] + log_after[:, None, :] + log_pass[promising]
    )
    taken = inside[:, None, :] | (promising[:, :, None] == np.arange(cost.shape[1]))
    connected = ~taken & ((partners > 0)[:, None, :] | constrained[promising])
    open_ended = ~connected.any(2, keepdims=True)  # only a cross product is left: do not rule it out
    best = np.where(connected | (open_ended & ~taken), results, np.inf).min(2)
    total = np.full_like(cost, np.inf)
    np.put_along_axis(total, promising, np.take_along_axis(cost, promising, 1) + bounded_exp(best), 1)
    return total
