"""Whatever the text, only errors of ours come out, in time linear in the text, and nothing crashes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from language import mutations
from situ.builder import col, events
from situ.errors import NestingError, QueryError, SituError
from situ.language import query


def survives(text: str) -> None:
    """A query or an error of ours; a query must print and parse back."""
    try:
        parsed = query(text)
    except QueryError as error:
        refusal = error
    else:
        assert query(str(parsed)) == parsed
        return
    assert type(refusal) is not QueryError
    assert refusal.message in str(refusal)


@given(mutations.mutated_texts())
def test_mutated_queries(text: str) -> None:
    survives(text)


@given(
    st.one_of(mutations.word_soups, mutations.prefixed_soups, mutations.pattern_soups, mutations.return_soups)
)
def test_soups_of_words(text: str) -> None:
    survives(text)


@given(st.one_of(st.text(max_size=200), mutations.random_bytes))
def test_random_text(text: str) -> None:
    survives(text)
    survives(f"FROM t DEFINE A AS {text}")


NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda depth: "(" * depth + "x" + ")" * depth + " > 1",
    "calls": lambda depth: "f(" * depth + "x" + ")" * depth + " > 1",
    "types as calls": lambda depth: "struct(" * depth + "x" + ")" * depth + " IS NULL",
    "NOT": lambda depth: "NOT " * depth + "x",
    "minus": lambda depth: "x > " + "- " * depth + "1",
    "CASE": lambda depth: "CASE WHEN x THEN " * depth + "1" + " END" * depth + " > 0",
    "IN": lambda depth: "x IN (" * depth + "1" + ")" * depth,
    "lambdas": lambda depth: "exists(x, v -> " * depth + "v" + ")" * depth,
    "brackets": lambda depth: "[" * depth + "1" + "]" * depth + " IS NULL",
}


@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
def test_two_hundred_levels_are_read_and_more_are_refused(nested: Callable[[int], str]) -> None:
    deep = query(f"FROM t DEFINE A AS {nested(200)}")
    assert query(str(deep)) == deep
    for depth in (201, 5_000):
        with pytest.raises(NestingError):
            query(f"FROM t DEFINE A AS {nested(depth)}")


@pytest.mark.parametrize("chained", ["x" + ".f" * 3_000, "x" + "[0]" * 3_000, "x" + "::int" * 3_000])
def test_long_chains_of_fields_do_not_crash(chained: str) -> None:
    with pytest.raises(NestingError):
        query(f"FROM t DEFINE A AS {chained} > 1")


def test_deeply_nested_types_are_refused() -> None:
    with pytest.raises(NestingError):
        query(f"FROM t DEFINE A AS cast(x as {'array<' * 100}int{'>' * 100}) IS NULL")


def test_deeply_nested_patterns_are_refused() -> None:
    with pytest.raises(NestingError):
        query(f"FROM t DEFINE A AS x, B AS y PATTERN {'(' * 300}A before B{')' * 300}")


def test_parsing_works_deep_in_the_caller_s_own_recursion_and_in_threads() -> None:
    def at_depth(levels: int) -> None:
        if levels:
            at_depth(levels - 1)
        else:
            query("FROM t DEFINE A AS ((((((x > 123456))))))")

    limit = sys.getrecursionlimit()
    at_depth(limit - 200)
    threads = [
        threading.Thread(target=query, args=(f"FROM t DEFINE A AS {'(' * 150}x > {n}{')' * 150}",))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getrecursionlimit() == limit


LONG: dict[str, Callable[[int], str]] = {
    "AND": lambda length: "x > 1 AND " * length + "y",
    "sum": lambda length: "x + " * length + "1 > 2",
    "BETWEEN": lambda length: "x BETWEEN 1 AND 2 OR " * length + "y",
    "list": lambda length: "x IN (" + "1, " * length + "2)",
    "string": lambda length: "x = '" + "it''s " * length + "'",
    "calls of type names": lambda length: "date(x) = date(y) OR " * length + "y",
    "comments": lambda length: "x" + "/* /* */ */ -- \n" * length + " > 1",
    "unclosed": lambda length: "x > 1 AND ( " * min(length, 150) + "y " * length,
}


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
def test_time_is_linear_in_the_text(long: Callable[[int], str]) -> None:
    """Four times the text may take up to eight times as long; a quadratic step would take sixteen."""

    def seconds(length: int, attempt: int) -> float:
        begin = time.process_time()
        survives(f"FROM t{attempt} DEFINE A AS {long(length)} OR z{length}{attempt}")
        return time.process_time() - begin

    short = min(seconds(300, attempt) for attempt in range(3))
    assert min(seconds(1_200, attempt) for attempt in range(3)) < 8 * short + 0.05


def test_ten_thousand_characters() -> None:
    condition = " OR ".join(f"(speed > {n} AND city = 'x{n}')" for n in range(300))
    assert len(condition) > 9_000
    parsed = query(f"FROM t DEFINE A AS {condition}")
    assert parsed.symbols[0].condition is not None
    assert parsed.symbols[0].condition.columns == ("speed", "city")
    assert query(str(parsed)) == parsed


NUMBERS = st.integers(1, 6_000).flatmap(
    lambda n: st.sampled_from(
        ["9" * n, "0" * n, f"0.{'0' * n}1", f"1e{'9' * n}", f"1e-{'9' * n}", f"{'0' * n}5", f".{'3' * n}e{n}"]
    )
)


@given(
    NUMBERS,
    st.sampled_from(["AT LEAST {}", "AT LEAST {} s", "WITHIN {} days", "AT LEAST INTERVAL '{}' SECOND"]),
)
def test_numbers_of_thousands_of_digits(number: str, where: str) -> None:
    survives(f"FROM t DEFINE A AS x > 1 {where.format(number)}")
    survives(f"FROM t DEFINE A AS x > {number}")


def test_numbers_of_thousands_of_digits_in_python() -> None:
    huge = 10**5_000
    for wrong in (
        lambda: events("t").define("A", "x").within(huge),
        lambda: events("t").define("A", "x", at_least=huge),
        lambda: col("x") > huge,
        lambda: situ.match(
            pa.table({"t": [1], "x": [1]}), query(f"FROM t ORDER BY t DEFINE A AS x > {'9' * 5_000}")
        ),
        lambda: situ.match(
            pa.table({"t": [1], "x": [1]}),
            query("FROM t ORDER BY t DEFINE A AS x > 1 WITHIN 5"),
            forget_after=huge,
        ),
    ):
        with pytest.raises(SituError):
            wrong()


@pytest.mark.parametrize("given", [None, 5, Path("x"), b"x", ["x"]])
def test_names_in_python_are_strings(given: Any) -> None:
    for wrong in (
        lambda: events(given),
        lambda: events("t").order_by(given),
        lambda: events("t").partition_by(given),
        lambda: col(given),
    ):
        with pytest.raises(QueryError):
            wrong()


@pytest.mark.parametrize("given", [1.5, True, ["5s"], b"5s"])
def test_lengths_in_python_are_durations(given: Any) -> None:
    with pytest.raises(QueryError, match="is not a duration"):
        events("t").define("A", "x").within(given)
