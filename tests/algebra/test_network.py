"""Path consistency against every concrete arrangement of three and four intervals."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.brute import configurations, holding
from algebra.strategies import bits_of, matrix_of, named_sets, patterns
from situ.algebra.network import Between, Network, propagate
from situ.algebra.relations import ALL, NAMES, converse, names_of, relation

Pattern = dict[tuple[int, int], set[str]]


@cache
def scenarios(n: int) -> list[dict[tuple[int, int], str]]:
    """Every way n intervals can lie: the relation of each pair i < j (2n ticks show them all)."""
    found = set()
    for spans in configurations(n, 2 * n):
        found.add(tuple(holding(spans[i], spans[j])[0] for i in range(n) for j in range(i + 1, n)))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return [dict(zip(pairs, names, strict=True)) for names in sorted(found)]


def solutions(n: int, pattern: Pattern) -> list[dict[tuple[int, int], str]]:
    allen = {pair: {_as_allen(name) for name in names} for pair, names in pattern.items()}
    return [s for s in scenarios(n) if all(s[pair] in names for pair, names in allen.items())]


def _as_allen(name: str) -> str:
    return {"followed-by": "before", "follows": "after"}.get(name, name)


@given(patterns(3, named_sets))
def test_three_symbols_are_solved_exactly(pattern: Pattern) -> None:
    # For three intervals path consistency leaves precisely what can occur.
    reduced = propagate(matrix_of(3, pattern))
    found = solutions(3, pattern)
    assert (reduced.conflict is not None) == (not found)
    for i, j in [(0, 1), (0, 2), (1, 2)] if found else []:
        occurring = bits_of({s[i, j] for s in found})
        assert int(reduced.matrix[i, j]) == occurring & bits_of(pattern.get((i, j), set(NAMES)))


@pytest.fixture(scope="module")
def four() -> list[dict[tuple[int, int], str]]:
    """A fixed sample of the ways four intervals can lie, drawn over eight ticks."""
    rng = random.Random(11)
    found = []
    for _ in range(4000):
        spans = [sorted(rng.sample(range(8), 2)) for _ in range(4)]
        found.append(
            {(i, j): holding((*spans[i],), (*spans[j],))[0] for i in range(4) for j in range(i + 1, 4)}
        )
    return found


@given(patterns(4))
def test_what_is_removed_among_four_symbols_never_occurs(
    four: list[dict[tuple[int, int], str]], pattern: Pattern
) -> None:
    reduced = propagate(matrix_of(4, pattern))
    for scenario in four:
        if all(scenario[pair] in names for pair, names in pattern.items()):
            assert reduced.conflict is None
            for (i, j), name in scenario.items():
                assert int(reduced.matrix[i, j]) & NAMES[name]


@given(patterns(5))
def test_the_matrix_is_symmetric_up_to_converse_and_accounts_for_every_change(pattern: Pattern) -> None:
    reduced = propagate(matrix_of(5, pattern))
    if reduced.conflict is not None:
        assert reduced.removed == reduced.inferred == ()
        return
    matrix = reduced.matrix
    for i in range(5):
        assert matrix[i, i] == NAMES["equals"]
        for j in range(5):
            assert int(matrix[j, i]) == converse(int(matrix[i, j]))
    removed = {(left, right): bits for left, right, bits in reduced.removed}
    inferred = {(left, right): bits for left, right, bits in reduced.inferred}
    for i in range(5):
        for j in range(i + 1, 5):
            written = bits_of(pattern[i, j]) if (i, j) in pattern else ALL
            if written == ALL:
                assert inferred.get((i, j), ALL) == int(matrix[i, j])
                assert (i, j) not in removed
            else:
                assert written & ~removed.get((i, j), 0) == int(matrix[i, j])


@given(patterns(5))
def test_propagating_again_changes_nothing(pattern: Pattern) -> None:
    reduced = propagate(matrix_of(5, pattern))
    if reduced.conflict is None:
        again = propagate(reduced.matrix)
        assert np.array_equal(again.matrix, reduced.matrix)
        assert again.removed == again.inferred == ()


def test_what_follows_between_unconstrained_pairs_is_inferred() -> None:
    # A [0--2)
    # B      [3---------9)
    # C           [5--7)        so A before C
    network = Network(3)
    network.constrain(0, 1, NAMES["before"])
    network.constrain(1, 2, NAMES["contains"])
    assert network.propagate().inferred == (Between(0, 2, NAMES["before"]),)


def test_impossible_alternatives_are_removed() -> None:
    network = Network(3)
    network.constrain(0, 1, NAMES["before"] | NAMES["after"])
    network.constrain(1, 2, NAMES["during"])
    network.constrain(0, 2, NAMES["before"])
    reduced = network.propagate()
    assert reduced.removed == (Between(0, 1, NAMES["after"]),)


def test_the_written_half_of_before_survives() -> None:
    network = Network(3)
    network.constrain(0, 1, NAMES["followed-by"] | NAMES["during"])
    network.constrain(1, 2, NAMES["meets"])
    network.constrain(0, 2, NAMES["before"])
    reduced = network.propagate()
    assert names_of(int(reduced.matrix[0, 1])) == ("during", "followed-by")
    network.constrain(0, 1, NAMES["before"])
    assert names_of(int(network.propagate().matrix[0, 1])) == ("followed-by",)


def test_both_halves_of_before_go_together() -> None:
    network = Network(3)
    network.constrain(0, 1, NAMES["before"] | NAMES["overlaps"])
    network.constrain(0, 2, NAMES["contains"])
    network.constrain(2, 1, NAMES["contains"])
    assert network.propagate().conflict is not None
    network = Network(2)
    network.constrain(0, 1, NAMES["before"])
    network.constrain(0, 1, NAMES["followed-by"])
    assert int(network.propagate().matrix[0, 1]) == NAMES["followed-by"]


def test_a_contradiction_names_only_the_constraints_that_exclude_each_other() -> None:
    network = Network(5)
    network.constrain(0, 4, NAMES["before"])
    first = network.constrain(0, 1, NAMES["before"])
    second = network.constrain(1, 2, NAMES["before"])
    network.constrain(3, 2, NAMES["overlaps"])
    last = network.constrain(2, 0, NAMES["meets"] | NAMES["overlaps"])
    conflict = network.propagate().conflict
    assert conflict is not None
    assert conflict.constraints == (first, second, last)
    assert conflict.pair == Between(2, 0, NAMES["meets"] | NAMES["overlaps"])
    assert names_of(conflict.allowed) == ("after",)


def test_a_long_circle_is_named_in_full_and_nothing_that_hangs_on_it() -> None:
    network = Network(30)
    circle = [network.constrain(i, (i + 1) % 20, NAMES["before"] | NAMES["meets"]) for i in range(20)]
    for i in range(20, 30):
        network.constrain(i - 15, i, NAMES["contains"])
    conflict = network.propagate().conflict
    assert conflict is not None
    assert conflict.constraints == tuple(circle)
    assert names_of(conflict.allowed) == ("after",)


def test_two_constraints_on_one_pair_can_exclude_each_other() -> None:
    network = Network(2)
    network.constrain(0, 1, NAMES["before"])
    network.constrain(1, 0, NAMES["before"])
    conflict = network.propagate().conflict
    assert conflict is not None
    assert conflict.constraints == (0, 1)
    assert names_of(conflict.allowed) == ("after",)


@settings(max_examples=50)
@given(patterns(5))
def test_a_named_contradiction_is_minimal(pattern: Pattern) -> None:
    constraints = [(i, j, bits_of(names)) for (i, j), names in pattern.items()]
    conflict = _network(constraints).propagate().conflict
    if conflict is None:
        return
    culprits = [constraints[number] for number in conflict.constraints]
    assert _network(culprits).propagate().conflict is not None
    for left_out in range(len(culprits)):
        rest = culprits[:left_out] + culprits[left_out + 1 :]
        assert _network(rest).propagate().conflict is None
    assert not conflict.allowed & conflict.pair.relations


@settings(max_examples=10)
@given(st.randoms(use_true_random=False))
def test_sixty_four_symbols_around_a_known_arrangement(rng: random.Random) -> None:
    spans = [sorted(rng.sample(range(300), 2)) for _ in range(64)]
    network = Network(64)
    for i in range(64):
        for j in rng.sample(range(64), 3):
            if i != j:
                network.constrain(i, j, 1 << relation(*spans[i], *spans[j]) | rng.randrange(ALL))
    reduced = network.propagate()
    assert reduced.conflict is None
    for i in range(64):
        for j in range(64):
            assert int(reduced.matrix[i, j]) >> relation(*spans[i], *spans[j]) & 1


@pytest.mark.parametrize(("left", "right"), [(0, 0), (0, 3), (-1, 1)])
def test_a_constraint_needs_two_symbols_of_the_network(left: int, right: int) -> None:
    with pytest.raises(ValueError, match="no constraint from symbol"):
        Network(3).constrain(left, right, ALL)


def test_the_answer_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        propagate([[ALL, NAMES["meets"]], [ALL, ALL]]).matrix[0, 1] = 0


def _network(constraints: list[tuple[int, int, int]]) -> Network:
    network = Network(5)
    for left, right, relations in constraints:
        network.constrain(left, right, relations)
    return network
