"""The cost model, against its formula written out."""

from __future__ import annotations

import math
import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.patterns import matrix, random_pattern
from situ.algebra.relations import ALL, NAMES, names_of
from situ.plan.cost import CostModel, Weights, index_range_of, selectivity_of

FREE_SEARCHES = Weights(search=0.0)


def test_the_published_selectivities() -> None:
    assert selectivity_of(NAMES["before"]) == pytest.approx(0.445)
    assert selectivity_of(NAMES["during"]) == 0.03
    assert selectivity_of(NAMES["overlaps"]) == 0.01
    assert selectivity_of(NAMES["starts"]) == selectivity_of(NAMES["finishes"]) == 0.0049
    assert selectivity_of(NAMES["meets"]) == 0.0049
    assert selectivity_of(NAMES["equals"]) == 0.0006
    assert selectivity_of(ALL) == pytest.approx(1.0)


def test_followed_by_is_a_part_of_before() -> None:
    assert 0 < selectivity_of(NAMES["followed-by"]) < selectivity_of(NAMES["before"])


@pytest.mark.parametrize(
    ("asked", "walked"),
    [
        ("before", {"before"}),
        ("overlaps", {"overlaps", "finished-by", "contains"}),
        ("meets;before", {"meets", "before"}),
        ("equals;meets", {"starts", "equals", "started-by", "overlaps", "finished-by", "contains", "meets"}),
        ("before;after", set(NAMES) - {"followed-by", "follows"}),
    ],
)
def test_an_index_range_covers_everything_between_what_is_asked(asked: str, walked: set[str]) -> None:
    bits = int(matrix(2, {(0, 1): asked})[0, 1])
    assert set(names_of(index_range_of(bits))) == walked


def test_results_and_candidates_of_a_chain_by_the_formula() -> None:
    # A overlaps B before C, sizes 10, 20, 30
    model = CostModel(matrix(3, {(0, 1): "overlaps", (1, 2): "before"}), FREE_SEARCHES)
    estimate = model.estimate((0, 1, 2), np.array([10.0, 20.0, 30.0]), model.initial_selectivities)
    pairs = 10 * 20 * 0.01
    in_range = 10 * 20 * (0.01 + 0.0049 + 0.03)
    assert estimate.results == pytest.approx((10, pairs, pairs * 30 * 0.445))
    assert estimate.candidates == pytest.approx((10, in_range, pairs * 30 * 0.445))
    assert estimate.cost == pytest.approx(sum(estimate.candidates))


def test_searches_cost_what_their_weight_says() -> None:
    relations = matrix(3, {(0, 1): "before", (1, 2): "before", (0, 2): "during"})
    sizes, order = np.array([8.0, 16.0, 32.0]), (0, 1, 2)
    free = CostModel(relations, FREE_SEARCHES)
    priced = CostModel(relations, Weights(search=2.0))
    results = free.estimate(order, sizes, free.initial_selectivities).results
    searches = results[0] * math.log2(17) + results[1] * 2 * math.log2(33)
    difference = (
        priced.estimate(order, sizes, free.initial_selectivities).cost
        - free.estimate(order, sizes, free.initial_selectivities).cost
    )
    assert difference == pytest.approx(2.0 * searches)


def test_a_constraint_that_the_others_imply_is_not_counted_twice() -> None:
    sizes = np.full(3, 100.0)
    triangle = CostModel(matrix(3, {(0, 1): "before", (1, 2): "before", (0, 2): "before"}))
    chain = CostModel(matrix(3, {(0, 1): "before", (1, 2): "before"}))
    with_it = triangle.estimate((0, 1, 2), sizes, triangle.initial_selectivities)
    without = chain.estimate((0, 1, 2), sizes, chain.initial_selectivities)
    assert with_it.results == pytest.approx(without.results)
    # Joined before the symbol that implies it, it does filter, and then no more.
    a_c = triangle.estimate((0, 2, 1), sizes, triangle.initial_selectivities)
    assert a_c.results == pytest.approx((100, 100 * 100 * 0.445, with_it.results[-1]))


@pytest.mark.parametrize("n", [3, 4, 5])
def test_of_constraints_that_imply_each_other_enough_are_counted(n: int) -> None:
    # Everything equals everything: n - 1 of the constraints carry the whole filter.
    pairs = {(i, j): "equals" for i in range(n) for j in range(i + 1, n)}
    model = CostModel(matrix(n, pairs))
    for order in permutations(range(n)):
        results = model.estimate(order, np.full(n, 100.0), model.initial_selectivities).results
        assert results[-1] == pytest.approx(100.0**n * 0.0006 ** (n - 1))


@given(st.integers(2, 6), st.randoms(use_true_random=False))
def test_the_number_of_matches_does_not_depend_on_the_order(n: int, rng: random.Random) -> None:
    relations, sizes, selectivities = random_pattern(rng, n)
    model = CostModel(relations)
    some = [tuple(rng.sample(range(n), n)) for _ in range(5)]
    finals = {round(math.log(model.estimate(order, sizes, selectivities).results[-1]), 6) for order in some}
    assert len(finals) == 1


def test_empty_buffers_and_impossible_constraints_stay_finite() -> None:
    model = CostModel(matrix(64, {(i, i + 1): "before" for i in range(63)}))
    for size, share in ((0.0, 0.0), (1e9, 1.0)):
        passing = np.full((64, 64), share)
        estimate = model.estimate(tuple(range(64)), np.full(64, size), passing)
        assert all(math.isfinite(value) for value in (*estimate.results, *estimate.candidates, estimate.cost))


def test_pair_joins_pay_off_when_results_meet_the_same_pairs_again_and_again() -> None:
    # Each of the many (A, C, D) results of the range join searches for its B anew.
    model = CostModel(matrix(4, {(0, 1): "meets", (0, 2): "before", (0, 3): "before"}))
    passing = model.initial_selectivities
    few, many = np.full(4, 5.0), np.full(4, 1000.0)
    order = (0, 2, 3, 1)
    gain_few = model.estimate(order, few, passing).cost / model.estimate_pairs(order, few, passing)
    gain_many = model.estimate(order, many, passing).cost / model.estimate_pairs(order, many, passing)
    assert gain_few < 1 < gain_many
