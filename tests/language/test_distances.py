"""Distances and words in PATTERN: what they stand for, and that both spellings are the same (SEM 9, 10)."""

from __future__ import annotations

from itertools import product

import pytest

from algebra.brute import intervals
from situ.algebra.relations import AFTER, APART, BEFORE, COVERS, INSIDE, NAMES, SHARING, converse, relation
from situ.language import query
from situ.language.situations.ast import Difference, Endpoint, Query
from situ.language.text.nodes import Duration

MINUTE = 60_000_000
AB = "FROM t DEFINE A AS a, B AS b PATTERN"
ABC = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN"


def endpoint(text: str) -> Endpoint:
    symbol, end = text.split(".")
    return Endpoint(symbol, "ts" if end == "ts" else "te")


def difference(left: str, right: str, bound: int, *, strict: bool = False, unit: bool = False) -> Difference:
    return Difference(endpoint(left), endpoint(right), Duration(bound, unit), strict)


def found(pattern: str) -> list[Difference]:
    return list(query(f"{AB} {pattern}").differences)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("B.ts <= A.te + 10", [difference("B.ts", "A.te", 10)]),
        ("B.ts < A.te + 10", [difference("B.ts", "A.te", 10, strict=True)]),
        ("A.te + 5 < B.te", [difference("A.te", "B.te", -5, strict=True)]),
        ("A.te < B.te - 5", [difference("A.te", "B.te", -5, strict=True)]),
        ("B.ts - A.te <= 10", [difference("B.ts", "A.te", 10)]),
        ("10 >= B.ts - A.te", [difference("B.ts", "A.te", 10)]),
        ("A.te - B.te <= -5", [difference("A.te", "B.te", -5)]),
        ("- 5 > A.te - B.te", [difference("A.te", "B.te", -5, strict=True)]),
        ("A.te - B.te >= -INTERVAL '5' MINUTE", [difference("B.te", "A.te", 5 * MINUTE, unit=True)]),
        ("A.ts - B.te BETWEEN -10 AND -1", [difference("A.ts", "B.te", -1), difference("B.te", "A.ts", 10)]),
        ("B.ts >= A.te + 10", [difference("A.te", "B.ts", -10)]),
        ("B.ts > A.te + 10", [difference("A.te", "B.ts", -10, strict=True)]),
        ("B.ts = A.te + 3", [difference("A.te", "B.ts", -3), difference("B.ts", "A.te", 3)]),
        ("B.ts == A.te + 3", [difference("A.te", "B.ts", -3), difference("B.ts", "A.te", 3)]),
        (
            "B.ts - A.te BETWEEN 1 AND 10",
            [difference("A.te", "B.ts", -1), difference("B.ts", "A.te", 10)],
        ),
        (
            "B.ts BETWEEN A.te + 1 AND A.te + 10",
            [difference("A.te", "B.ts", -1), difference("B.ts", "A.te", 10)],
        ),
        ("1 <= B.ts - A.te <= 10", [difference("A.te", "B.ts", -1), difference("B.ts", "A.te", 10)]),
        ("A.ts + 2 < B.ts <= A.te + 4", [
            difference("A.ts", "B.ts", -2, strict=True), difference("B.ts", "A.te", 4)]),
        ("B.ts + 3 - 1 <= A.te + 12", [difference("B.ts", "A.te", 10)]),
        ("B.ts <= A.te + 10 AND B.ts <= A.te + 4", [difference("B.ts", "A.te", 4)]),
        ("B.ts <= A.te + 4 AND B.ts < A.te + 4", [difference("B.ts", "A.te", 4, strict=True)]),
        ("B.ts < A.te + 5 AND B.ts <= A.te + 4", [difference("B.ts", "A.te", 4)]),
        ("B.te <= A.ts + 9 AND A.te <= B.ts + 9 AND A.ts <= B.te + 9", [
            difference("A.ts", "B.te", 9), difference("A.te", "B.ts", 9), difference("B.te", "A.ts", 9)]),
        ("B.ts <= A.te + 10 minutes", [difference("B.ts", "A.te", 10 * MINUTE, unit=True)]),
        ("B.ts <= A.te + 1 hour 30 minutes", [difference("B.ts", "A.te", 90 * MINUTE, unit=True)]),
        ("B.ts <= A.te + INTERVAL '5' MINUTE", [difference("B.ts", "A.te", 5 * MINUTE, unit=True)]),
        ("INTERVAL 5 MINUTES >= B.ts - A.te", [difference("B.ts", "A.te", 5 * MINUTE, unit=True)]),
    ],
)  # fmt: skip
def test_a_comparison_with_an_offset_is_a_difference(pattern: str, expected: list[Difference]) -> None:
    assert found(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("B.ts <= A.te + 0", "B.ts <= A.te"),
        ("B.ts - A.te < 0", "B.ts < A.te"),
        ("B.ts + 5 minutes > A.te + 300 seconds", "B.ts > A.te"),
        ("A.te BETWEEN B.ts AND B.te", "B.ts <= A.te AND A.te <= B.te"),
        ("A before;meets B BY AT MOST 0", "A meets B"),
        ("A overlaps B AND A.ts <= A.ts + 5", "A overlaps B"),
    ],
)
def test_without_an_offset_it_remains_a_set_of_relations(pattern: str, same: str) -> None:
    assert query(f"{AB} {pattern}") == query(f"{AB} {same}")
    assert not found(pattern)


@pytest.mark.parametrize("sign", ["<", "<=", "=", ">=", ">"])
@pytest.mark.parametrize(("x", "y", "offset"), list(product(["ts", "te"], ["ts", "te"], [-3, -1, 1, 2])))
def test_differences_hold_where_the_comparison_does(sign: str, x: str, y: str, offset: int) -> None:
    written = f"A.{x} {sign} B.{y} {'-' if offset < 0 else '+'} {abs(offset)}"
    differences = found(written)
    python = sign if sign != "=" else "=="
    for a, b in product(intervals(6), repeat=2):
        left, right = a[x == "te"], b[y == "te"] + offset
        at = {("A", "ts"): a[0], ("A", "te"): a[1], ("B", "ts"): b[0], ("B", "te"): b[1]}
        held = all(_holds(one, at) for one in differences)
        assert held == eval(f"{left} {python} {right}"), (written, a, b)


def _holds(one: Difference, at: dict[tuple[str, str], int]) -> bool:
    gap = at[one.left.symbol, one.left.end] - at[one.right.symbol, one.right.end]
    return gap < one.bound.value if one.is_strict else gap <= one.bound.value


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("A before B BY AT MOST 5", "A before B AND B.ts - A.te <= 5"),
        ("A meets;before B BY AT LEAST 5", "A meets;before B AND B.ts - A.te >= 5"),
        ("A followed-by B BY BETWEEN 1 AND 5", "A followed-by B AND B.ts - A.te BETWEEN 1 AND 5"),
        ("A after B BY AT MOST 5", "A after B AND A.ts - B.te <= 5"),
        ("A met-by;follows B BY AT MOST 5", "A met-by;follows B AND A.ts - B.te <= 5"),
        ("A overlaps B BY AT MOST 5", "A overlaps B AND A.te - B.ts <= 5"),
        ("A overlaps B BY AT LEAST 5", "A overlaps B AND A.te - B.ts >= 5"),
        ("A overlapped-by B BY BETWEEN 2 AND 5", "A overlapped-by B AND B.te - A.ts BETWEEN 2 AND 5"),
        (
            "A while B BY AT LEAST 5",
            "A while B AND A.te - B.ts >= 5 AND B.te - A.ts >= 5 AND A.te - A.ts >= 5 AND B.te - B.ts >= 5",
        ),
        (
            "A contains;equals B by at least 5",
            "A contains;equals B AND A.te - B.ts >= 5 AND B.te - A.ts >= 5 "
            "AND A.te - A.ts >= 5 AND B.te - B.ts >= 5",
        ),
    ],
)
def test_by_adds_what_the_table_says(pattern: str, same: str) -> None:
    assert query(f"{AB} {pattern}") == query(f"{AB} {same}")


@pytest.mark.parametrize("unit", ["", " minutes", " m"])
def test_a_chain_goes_on_behind_by(unit: str) -> None:
    chained = query(f"{ABC} A before B BY AT MOST 5{unit} overlaps C BY BETWEEN 1{unit} AND 2{unit}")
    apart = f"A before B BY AT MOST 5{unit} AND B overlaps C BY BETWEEN 1{unit} AND 2{unit}"
    assert chained == query(f"{ABC} {apart}")
    assert len(chained.differences) == 3


@pytest.mark.parametrize("least", range(5))
def test_the_common_part_is_as_long_as_by_says(least: int) -> None:
    """`while BY AT LEAST`: differences and lengths together are min(te) - max(ts) >= d."""
    asked = query(f"{AB} A while B BY AT LEAST {least}")
    low = {symbol.name: symbol.at_least.value if symbol.at_least else 0 for symbol in asked.symbols}
    for a, b in product(intervals(7), repeat=2):
        at = {("A", "ts"): a[0], ("A", "te"): a[1], ("B", "ts"): b[0], ("B", "te"): b[1]}
        long_enough = a[1] - a[0] >= low["A"] and b[1] - b[0] >= low["B"]
        related = SHARING >> relation(*a, *b) & 1
        held = bool(related and long_enough and all(_holds(one, at) for one in asked.differences))
        common = min(a[1], b[1]) - max(a[0], b[0])
        assert held == (common > 0 and common >= least), (a, b)


def lengths(text: str) -> tuple[int | None, int | None]:
    symbol = query(text).symbols[0]
    return (symbol.at_least and symbol.at_least.value, symbol.at_most and symbol.at_most.value)


@pytest.mark.parametrize(
    ("defined", "pattern", "expected"),
    [
        ("", "A.te - A.ts <= 5", (None, 5)),
        ("", "A.te - A.ts < 5", (None, 4)),
        ("", "A.te - A.ts > 5", (6, None)),
        ("", "A.te >= A.ts + 5", (5, None)),
        ("", "A.ts - A.te >= 0 - 5", (None, 5)),
        ("", "A.te - A.ts = 5", (5, 5)),
        ("", "A.te - A.ts BETWEEN 2 AND 9", (2, 9)),
        ("AT LEAST 3", "A.te - A.ts >= 5", (5, None)),
        ("AT LEAST 7", "A.te - A.ts >= 5", (7, None)),
        ("BETWEEN 3 AND 8", "A.te - A.ts <= 6", (3, 6)),
        ("AT MOST 4", "A.te - A.ts <= 6", (None, 4)),
        ("AT MOST 4", "A.te - A.ts > 0", (None, 4)),
    ],
)
def test_within_one_symbol_it_is_a_length(
    defined: str, pattern: str, expected: tuple[int | None, int | None]
) -> None:
    assert lengths(f"FROM t DEFINE A AS a > 1 {defined} PATTERN {pattern}") == expected


def test_symbols_of_a_column_have_lengths_in_pattern() -> None:
    text = (
        "FROM INTERVALS t STARTING s ENDING e SYMBOL BY k PATTERN A before B AND B.te - B.ts BETWEEN 1 AND 5"
    )
    parsed = query(text)
    assert parsed.symbols[1].at_most == Duration(5, False)
    assert query(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("while", SHARING),
        ("intersects", SHARING),
        ("inside", INSIDE),
        ("covers", COVERS),
        ("apart from", APART),
        ("apart-from", APART),
        ("apart_from", APART),
        ("APART FROM", APART),
        ("inside;before", INSIDE | BEFORE),
        ("covers;apart from", COVERS | APART),
    ],
)
def test_words_are_sets(word: str, meant: int) -> None:
    (constraint,) = query(f"{AB} A {word} B").constraints
    assert constraint.relations == meant


def test_words_mean_what_they_say_of_instants() -> None:
    for a, b in product(intervals(6), repeat=2):
        bit = relation(*a, *b)
        ours, theirs = set(range(*a)), set(range(*b))
        assert bool(SHARING >> bit & 1) == bool(ours & theirs)
        assert bool(INSIDE >> bit & 1) == (ours <= theirs)
        assert bool(COVERS >> bit & 1) == (theirs <= ours)
        assert bool(APART >> bit & 1) == (not ours & theirs)
    assert converse(INSIDE) == COVERS
    assert (
        SHARING | APART == sum(NAMES[name] for name in tuple(NAMES)[:13]) == SHARING | BEFORE | AFTER | APART
    )


def canonical(pattern: str) -> list[str]:
    return str(query(f"{AB} {pattern}")).partition("PATTERN ")[2].split("\n    AND ")


@pytest.mark.parametrize(
    ("pattern", "printed"),
    [
        ("A intersects B", ["A while B"]),
        ("A equals;during;finishes;starts B", ["A inside B"]),
        ("B inside A", ["A covers B"]),
        ("A before;after;meets;met-by B", ["A apart from B"]),
        ("A before B BY AT MOST 10 min", ["A before B", "B.ts <= A.te + 10 minutes"]),
        ("A.te + 5 minutes <= B.te", ["A.te + 5 minutes <= B.te"]),
        ("B.te - A.te > 5 minutes", ["A.te + 5 minutes < B.te"]),
    ],
)
def test_canonical_text(pattern: str, printed: list[str]) -> None:
    assert canonical(pattern) == printed


def test_differences_connect_symbols() -> None:
    parsed = query(f"{ABC} B.ts <= A.te + 5 AND C.ts - B.te BETWEEN 1 AND 3")
    assert parsed.constraints == ()
    assert len(parsed.differences) == 3


def test_a_query_of_differences_can_be_matched() -> None:
    from situ.operators.situations.question import Matching

    asked = Matching(query(f"{AB} B.ts <= A.te + 5"))
    assert isinstance(asked.query, Query)
