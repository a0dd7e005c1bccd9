"""Names, converses and relations of concrete intervals, against the definitions of SEM 3."""

from __future__ import annotations

import pytest
from hypothesis import given

from algebra.brute import DEFINITIONS, ORDER, holding, intervals
from algebra.strategies import bits_of, named_sets
from situ.algebra.endpoints import from_endpoints
from situ.algebra.relations import (
    AFTER,
    ALL,
    BEFORE,
    N_ATOMS,
    NAMES,
    atoms_of,
    converse,
    names_of,
    parse_name,
    relation,
)

PAIRS = [(a, b) for a in intervals(6) for b in intervals(6)]


def test_exactly_the_defined_relation_holds_for_every_pair() -> None:
    for a, b in PAIRS:
        assert [ORDER[relation(*a, *b)]] == holding(a, b), (a, b)


def test_the_atoms_are_numbered_in_the_order_of_the_names() -> None:
    for atom, name in enumerate(ORDER):
        assert NAMES[name] & 1 << atom, name
    assert set(ORDER) | {"followed-by", "follows"} == set(NAMES)


def test_before_and_after_stand_for_two_atoms_and_all_other_names_for_one() -> None:
    assert {name for name, bits in NAMES.items() if bits.bit_count() == 2} == {"before", "after"}
    assert NAMES["before"] == BEFORE == 1 << 0 | NAMES["followed-by"]
    assert NAMES["after"] == AFTER == 1 << 12 | NAMES["follows"]
    assert sum(NAMES[name] for name in ORDER) == ALL


@pytest.mark.parametrize("name", list(NAMES))
def test_a_name_is_read_in_every_spelling(name: str) -> None:
    for separator in ("-", "_", " ", "  ", " - "):
        spelling = name.replace("-", separator)
        assert (
            parse_name(spelling) == parse_name(spelling.upper()) == parse_name(f" {spelling} ") == NAMES[name]
        )


@pytest.mark.parametrize("text", ["equal", "EQUALS", "Equal"])
def test_equal_has_two_spellings(text: str) -> None:
    assert parse_name(text) == NAMES["equals"]


@pytest.mark.parametrize("text", ["", "-", "overlap", "overlapped", "metby", "by", "during-", "before after"])
def test_anything_else_is_no_name(text: str) -> None:
    assert parse_name(text) is None


@given(named_sets)
def test_names_of_is_the_shortest_list_that_reads_back(names: set[str]) -> None:
    bits = bits_of(names)
    printed = names_of(bits)
    assert bits_of(set(printed)) == bits
    assert all(bits_of(set(printed) - {name}) != bits for name in printed)


def test_every_set_is_printed_in_full_even_one_no_text_can_express() -> None:
    assert names_of(1) == ("before-but-not-followed-by",)
    assert names_of(AFTER & ~NAMES["follows"]) == ("after-but-not-follows",)
    assert names_of(0) == ()


def test_converse_of_a_concrete_relation_swaps_the_intervals() -> None:
    for a, b in PAIRS:
        assert converse(1 << relation(*a, *b)) == 1 << relation(*b, *a)


def test_converse_keeps_the_halves_of_before_apart() -> None:
    assert converse(NAMES["followed-by"]) == NAMES["follows"]
    assert converse(BEFORE & ~NAMES["followed-by"]) == AFTER & ~NAMES["follows"]


@given(named_sets)
def test_converse_twice_is_the_set_itself(names: set[str]) -> None:
    bits = bits_of(names)
    assert converse(converse(bits)) == bits
    assert len(atoms_of(converse(bits))) == len(atoms_of(bits))


@pytest.mark.parametrize("left", ["ts", "te"])
@pytest.mark.parametrize("right", ["ts", "te"])
@pytest.mark.parametrize("op", ["<", "<=", "=", ">=", ">"])
def test_an_endpoint_comparison_stands_for_the_relations_it_admits(left: str, op: str, right: str) -> None:
    python_op = "==" if op == "=" else op
    end = {"ts": 0, "te": 1}
    expected = set()
    for a, b in PAIRS:
        x, y = a[end[left]], b[end[right]]
        outcome = {"<": x < y, "<=": x <= y, "==": x == y, ">=": x >= y, ">": x > y}[python_op]
        if outcome:
            expected.update(holding(a, b))
    assert from_endpoints(left, op, right) == bits_of(expected)  # type: ignore[arg-type]


def test_conjunctions_of_comparisons_give_allens_relations() -> None:
    # A [0----5)
    # B    [3----8)   overlaps
    overlaps = (
        from_endpoints("ts", "<", "ts") & from_endpoints("ts", "<", "te")
        & converse(from_endpoints("ts", "<", "te")) & from_endpoints("te", "<", "te")
    )  # fmt: skip
    assert names_of(overlaps) == ("overlaps",)
    equals = from_endpoints("ts", "=", "ts") & from_endpoints("te", "=", "te")
    assert names_of(equals) == ("equals",)


def test_a_comparison_cannot_separate_followed_by_from_before() -> None:
    assert from_endpoints("te", "<", "ts") == BEFORE
    assert from_endpoints("ts", ">", "te") == AFTER


def test_the_definitions_themselves_cover_all_atoms() -> None:
    assert len(DEFINITIONS) == N_ATOMS - 2
