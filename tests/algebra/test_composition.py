"""The composition table: properties Allen and others published, and an enumeration of its own."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given

from algebra.brute import ORDER, holding, intervals
from algebra.strategies import bits_of, named_sets
from situ.algebra.composition import allen_table, compose, compose_allen_arrays, from_allen, to_allen
from situ.algebra.relations import AFTER, ALL, BEFORE, N_ALLEN, NAMES, converse, names_of

EQUALS = NAMES["equals"]
SINGLE = [NAMES[name] for name in ORDER]


@pytest.fixture(scope="module")
def enumerated() -> dict[tuple[str, str], set[str]]:
    """Composition by the definitions on eight ticks (the table is made from six)."""
    found: dict[tuple[str, str], set[str]] = {}
    spans = intervals(8)
    names = {(a, b): holding(a, b)[0] for a in spans for b in spans}
    for a in spans:
        for b in spans:
            for c in spans:
                found.setdefault((names[a, b], names[b, c]), set()).add(names[a, c])
    return found


def test_the_table_is_what_an_independent_enumeration_finds(
    enumerated: dict[tuple[str, str], set[str]],
) -> None:
    for r, row in enumerate(allen_table()):
        for s, entry in enumerate(row):
            found = {ORDER[atom] for atom in range(N_ALLEN) if entry >> atom & 1}
            assert found == enumerated[ORDER[r], ORDER[s]], (ORDER[r], ORDER[s])


def test_the_well_known_counts() -> None:
    entries = [entry for row in allen_table() for entry in row]
    assert sum(entry.bit_count() for entry in entries) == 409
    assert sum(entry.bit_count() == 1 for entry in entries) == 97
    assert sum(entry.bit_count() == N_ALLEN for entry in entries) == 3


def test_only_the_published_set_sizes_occur() -> None:
    assert {entry.bit_count() for row in allen_table() for entry in row} == {1, 3, 5, 9, 13}


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ("before", "before", {"before"}),
        ("meets", "meets", {"before"}),
        ("during", "during", {"during"}),
        ("overlaps", "overlaps", {"before", "meets", "overlaps"}),
        ("overlaps", "during", {"overlaps", "starts", "during"}),
        ("meets", "met-by", {"finished-by", "equals", "finishes"}),
        ("starts", "started-by", {"starts", "equals", "started-by"}),
        ("during", "contains", set(ORDER)),
        ("before", "after", set(ORDER)),
        ("after", "before", set(ORDER)),
    ],
)
def test_entries_everyone_knows(left: str, right: str, result: set[str]) -> None:
    assert compose(NAMES[left], NAMES[right]) == bits_of(result)


def test_equals_is_the_identity() -> None:
    for bits in SINGLE:
        assert compose(EQUALS, bits) == compose(bits, EQUALS) == bits


@given(named_sets, named_sets)
def test_the_converse_of_a_composition_is_the_composition_of_converses(
    left: set[str], right: set[str]
) -> None:
    a, b = bits_of(left), bits_of(right)
    assert converse(compose(a, b)) == compose(converse(b), converse(a))


@given(named_sets, named_sets, named_sets)
def test_composition_is_associative_and_distributes_over_union(x: set[str], y: set[str], z: set[str]) -> None:
    a, b, c = bits_of(x), bits_of(y), bits_of(z)
    assert compose(compose(a, b), c) == compose(a, compose(b, c))
    assert compose(a | b, c) == compose(a, c) | compose(b, c)


@given(named_sets)
def test_a_relation_and_its_converse_allow_equality(names: set[str]) -> None:
    bits = bits_of(names)
    assert compose(bits, converse(bits)) & EQUALS


def test_nothing_composes_to_nothing_and_anything_to_anything() -> None:
    assert compose(0, ALL) == compose(ALL, 0) == 0
    assert compose(ALL, ALL) == ALL


def test_followed_by_counts_as_before_and_comes_back_as_both_halves() -> None:
    for bits in SINGLE:
        assert compose(NAMES["followed-by"], bits) == compose(BEFORE, bits)
        assert compose(bits, NAMES["follows"]) == compose(bits, AFTER)
    assert names_of(compose(NAMES["followed-by"], NAMES["followed-by"])) == ("before",)


def test_arrays_compose_like_single_sets() -> None:
    rng = random.Random(5)
    left = np.array([rng.randrange(1 << N_ALLEN) for _ in range(200)], dtype=np.int32)
    right = np.array([rng.randrange(1 << N_ALLEN) for _ in range(200)], dtype=np.int32)
    expected = [
        to_allen(compose(from_allen(int(a)), from_allen(int(b)))) for a, b in zip(left, right, strict=True)
    ]
    assert compose_allen_arrays(left, right).tolist() == expected
    table = allen_table()
    by_atoms = [
        np.bitwise_or.reduce(
            [table[r][s] for r in range(13) if a >> r & 1 for s in range(13) if b >> s & 1] or [0]
        )
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert expected == by_atoms
