"""The best order, against all permutations."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plan.patterns import Ints, matrix, random_pattern
from situ.algebra.relations import ALL
from situ.plan import order as order_module
from situ.plan.cost import CostModel
from situ.plan.order import best_order


@settings(max_examples=60)
@given(st.integers(1, 6), st.randoms(use_true_random=False))
def test_the_exact_order_is_the_cheapest_connected_permutation(n: int, rng: random.Random) -> None:
    relations, sizes, selectivities = random_pattern(rng, n)
    model = CostModel(relations)
    costs = {
        order: model.estimate(order, sizes, selectivities).cost
        for order in permutations(range(n))
        if _is_connected(order, relations)
    }
    _, estimates = best_order(relations, sizes, selectivities)
    assert estimates.cost == pytest.approx(min(costs.values()))
    first = rng.randrange(n)
    order, estimates = best_order(relations, sizes, selectivities, first)
    assert order[0] == first
    assert estimates.cost == pytest.approx(min(cost for order, cost in costs.items() if order[0] == first))


@given(st.integers(1, 14), st.randoms(use_true_random=False))
def test_orders_are_connected_permutations_that_begin_as_asked(n: int, rng: random.Random) -> None:
    relations, sizes, selectivities = random_pattern(rng, n)
    for first in (None, rng.randrange(n)):
        order, estimates = best_order(relations, sizes, selectivities, first)
        assert sorted(order) == list(range(n))
        assert first is None or order[0] == first
        assert _is_connected(order, relations)
        assert len(estimates.results) == len(estimates.candidates) == n


def test_greedy_orders_are_near_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(8)
    patterns = [random_pattern(rng, 7) for _ in range(60)]
    exact = [best_order(*pattern)[1].cost for pattern in patterns]
    monkeypatch.setattr(order_module, "EXACT_UP_TO", 0)
    ratios = [best_order(*pattern)[1].cost / best for pattern, best in zip(patterns, exact, strict=True)]
    assert min(ratios) >= 1 - 1e-9
    assert np.median(ratios) < 1.01
    assert np.quantile(ratios, 0.9) < 3


@pytest.mark.parametrize("n", [4, 12])
def test_a_cross_product_comes_only_where_nothing_else_is_left(n: int) -> None:
    # two separate chains
    half = n // 2
    links = [(i, i + 1) for i in range(n - 1) if i != half - 1]
    relations = matrix(n, {link: "overlaps" for link in links})
    order, _ = best_order(relations, np.full(n, 10.0), np.where(relations == ALL, 1.0, 0.01), 0)
    assert {symbol < half for symbol in order[:half]} == {True}
    assert sorted(order) == list(range(n))


@pytest.mark.parametrize("n", [3, 12])
def test_the_rare_symbol_comes_first(n: int) -> None:
    relations = matrix(n, {(i, i + 1): "before" for i in range(n - 1)})
    for rare in range(n):
        sizes = np.full(n, 100.0)
        sizes[rare] = 0.01
        order, _ = best_order(relations, sizes, np.where(relations == ALL, 1.0, 0.445))
        assert order[0] == rare


def test_the_queries_of_the_dissertation() -> None:
    # Q1 A overlaps B AND A overlaps C AND B starts C: the equality first, then the rest.
    q1 = matrix(3, {(0, 1): "overlaps", (0, 2): "overlaps", (1, 2): "starts"})
    order, _ = best_order(q1, [100.0] * 3, CostModel(q1).initial_selectivities)
    assert set(order[:2]) == {1, 2}
    # Q2 A overlaps B AND A before C AND B overlaps C: never A before C first.
    q2 = matrix(3, {(0, 1): "overlaps", (0, 2): "before", (1, 2): "overlaps"})
    order, _ = best_order(q2, [100.0] * 3, CostModel(q2).initial_selectivities)
    assert set(order[:2]) != {0, 2}


def _is_connected(order: tuple[int, ...], relations: Ints) -> bool:
    return all(
        any(relations[symbol, earlier] != ALL for earlier in order[:depth])
        for depth, symbol in enumerate(order)
        if depth
    )
