"""Plans, and the planner that replaces them when the data turns out otherwise.

A join stores no partial results, so a plan may change between any two steps at no cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from situ.plan.cost import LEAST_SIZE, CostModel, Estimates, Order, Weights
from situ.plan.order import best_orders
from situ.plan.statistics import Snapshot, Statistics

Join = Literal["range", "pair"]
Counts = npt.NDArray[np.float64] | npt.NDArray[np.int64]

_WORTHWHILE = 0.98  # a new order must be expected to cost less than this share of the present one
_PAIR_JOIN_WORTHWHILE = 0.5  # the two strategies' costs compare roughly, so the gain must be clear


@dataclass(frozen=True)
class Plan:
    """In which order the symbols are joined; immutable, comparable, picklable.

    `full` joins a whole batch. `orders[s]` begins with s and extends a situation of s that a step
    touched. `anchors` are all symbols, the one with the cheapest order first: a delta join that takes
    the first touched symbol *in this sequence* as anchor does most of its work along the best order.
    `estimates` are those of the range join along `full`, made from `statistics`. `costs[s]` is what one
    situation of s is expected to cost as the first of `orders[s]`.
    """

    orders: tuple[Order, ...]
    full: Order
    anchors: Order
    join: Join
    estimates: Estimates
    costs: tuple[float, ...]
    pair_cost: float
    statistics: Snapshot

    @property
    def choice(self) -> tuple[object, ...]:
        """What the engine does by this plan; plans of equal choice differ in their estimates only."""
        return self.orders, self.full, self.anchors, self.join


class Planner:
    """Makes the plan of a pattern from what is known, and a new one when that has changed enough.

    `relations` is the n x n matrix of the pattern (ALL where nothing is asked). `threshold` is the
    relative drift of any statistic that leads to replanning. `join` and `order` force a choice. With
    fewer than `due_events` events since the last look, `observe` only adds up.
    """

    def __init__(
        self,
        relations: npt.ArrayLike,
        *,
        join: Join | Literal["auto"] = "auto",
        order: Order | None = None,
        threshold: float = 0.2,
        due_events: int = 256,
        weights: Weights | None = None,
    ) -> None:
        matrix = np.asarray(relations, dtype=np.int32)
        self._model = CostModel(matrix, weights or Weights())
        self._join: Join | Literal["auto"] = join
        self._order = order
        self._threshold = threshold
        self._due_events = due_events
        self._statistics = Statistics(self._model)
        self._candidates = np.zeros((len(matrix), len(matrix)))
        self._survivors = np.zeros((len(matrix), len(matrix)))
        self._n_events = 0
        self.n_changes = 0
        self.plan = self._make(None)

    def observe(
        self,
        sizes: npt.ArrayLike | Callable[[], npt.ArrayLike],
        candidates: Counts,
        survivors: Counts,
        n_events: int = 1,
    ) -> Plan | None:
        """Take in what a step of `n_events` events did; a plan when the engine should change to it.

        `sizes`: situations per window and symbol, or a function that counts them when needed.
        `candidates[i, j]`: pairs (bound situation of i, situation of j in its window) of the step;
        `survivors[i, j]`: those of them that the constraint of i and j let through.
        """
        self._candidates += candidates
        self._survivors += survivors
        self._n_events += n_events
        if self._n_events < self._due_events:
            return None
        return self._revise(sizes() if callable(sizes) else sizes)

    def _revise(self, sizes: npt.ArrayLike) -> Plan | None:
        self._statistics.observe(sizes, self._candidates, self._survivors, self._n_events)
        self._candidates[:] = 0.0
        self._survivors[:] = 0.0
        self._n_events = 0
        if self._statistics.drift(self.plan.statistics) <= self._threshold:
            return None
        previous, self.plan = self.plan, self._make(self.plan)
        if self.plan.choice == previous.choice:
            return None
        self.n_changes += 1
        return self.plan

    def _make(self, present: Plan | None) -> Plan:
        sizes, passing = self._statistics.sizes, self._statistics.selectivities
        if self._order is not None:
            orders = tuple(_starting_with(first, self._order) for first in range(self._model.n))
        else:
            orders = best_orders(self._model, sizes, passing)
        estimates = [self._model.estimate(order, sizes, passing) for order in orders]
        if present is not None:
            for first, order in enumerate(present.orders):
                if order == orders[first]:
                    continue
                staying = self._model.estimate(order, sizes, passing)
                if estimates[first].cost >= _WORTHWHILE * staying.cost:
                    orders = (*orders[:first], order, *orders[first + 1 :])
                    estimates[first] = staying
        anchors = _by_cost(estimates, present.anchors if present is not None else tuple(range(self._model.n)))
        full = orders[anchors[0]] if self._order is None else self._order
        of_full = self._model.estimate(full, sizes, passing)
        pair_cost = self._model.estimate_pairs(full, sizes, passing)
        return Plan(
            orders=orders,
            full=full,
            anchors=anchors,
            join=self._choose_join(of_full.cost, pair_cost, present),
            estimates=of_full,
            costs=tuple(estimates[s].cost / max(float(sizes[s]), LEAST_SIZE) for s in range(self._model.n)),
            pair_cost=pair_cost,
            statistics=self._statistics.snapshot(),
        )

    def _choose_join(self, range_cost: float, pair_cost: float, present: Plan | None) -> Join:
        if self._join != "auto":
            return self._join
        if present is not None and present.join == "pair":
            return "range" if range_cost < pair_cost else "pair"
        return "pair" if pair_cost < _PAIR_JOIN_WORTHWHILE * range_cost else "range"


def _starting_with(first: int, order: Order) -> Order:
    return (first, *(symbol for symbol in order if symbol != first))


def _by_cost(estimates: list[Estimates], present: Order) -> Order:
    """The symbols by the cost of the orders they begin; a small gain moves no symbol."""
    ranked: list[int] = []
    left = list(present)
    while left:
        least = min(estimates[symbol].cost for symbol in left)
        nearly = next(symbol for symbol in left if _WORTHWHILE * estimates[symbol].cost <= least)
        ranked.append(nearly)
        left.remove(nearly)
    return tuple(ranked)
