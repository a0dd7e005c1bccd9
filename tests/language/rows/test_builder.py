"""The builder makes the very row patterns that text makes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

import situ
from language.rows.strategies import row_texts
from situ.builder import (
    ascending,
    call,
    classifier,
    col,
    descending,
    exclude,
    final,
    first,
    last,
    match_number,
    next_,
    partition_end,
    partition_start,
    permute,
    prev,
    rows,
    running,
    seq,
    sql,
    variables,
)
from situ.errors import QueryError
from situ.language.building.parts import Part, VariableName
from situ.language.rows.ast import (
    Alternation,
    Anchor,
    Concatenation,
    Empty,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    RowQuery,
    Skip,
    Variable,
)
from situ.language.rows.names import variable_text
from situ.language.rows.printer import expression_text

A, B, C = variables("A", "B", "C")


def test_a_fall_and_a_rise() -> None:
    strt, down, up = variables("STRT", "DOWN", "UP")
    built = (
        rows("trades")
        .partition_by("symbol")
        .order_by("ts")
        .measures(top=strt.value("price"), bottom=down.last("price"), n=sql("count(*)"))
        .pattern(strt, down.one_or_more(), up.one_or_more())
        .within("5 minutes")
        .define(down, col("price") < prev(col("price")))
        .define(up, col("price") > prev(col("price")))
        .query()
    )
    assert built == situ.query(
        """
        FROM trades MATCH_RECOGNIZE (
            PARTITION BY symbol ORDER BY ts
            MEASURES STRT.price AS top, LAST(DOWN.price) AS bottom, count(*) AS n
            PATTERN (STRT DOWN+ UP+) WITHIN 5 minutes
            DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
        )
        """
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (seq(A, B), "A B"),
        (seq("a", "`b`"), "A `b`"),
        (seq(), "()"),
        (A | B | C, "A | B | C"),
        (seq(A | "B", C), "(A | B) C"),
        (seq(A, B).one_or_more(), "(A B)+"),
        (A.zero_or_more(reluctant=True), "A*?"),
        (A.optional(), "A?"),
        (A.times(3), "A{3}"),
        (A.times(2, 5, reluctant=True), "A{2,5}?"),
        (A.at_least(2), "A{2,}"),
        (A.optional().zero_or_more(), "(A?)*"),
        (permute(A, seq(B, C)), "PERMUTE(A, B C)"),
        (exclude(A, B).one_or_more(), "{- A B -}+"),
        (seq(partition_start, A, partition_end), "^ A $"),
    ],
)
def test_patterns(part: Part, text: str) -> None:
    assert str(part) == text or (text == "()" and str(part) == "()")
    built = rows("t").order_by("ts").pattern(part, "X").query()
    assert built == situ.query(f"FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (({text}) X))")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (A.value("max price"), "A.`max price`"),
        (A.first("x", 2), "FIRST(A.x, 2)"),
        (last(A.value("x") + A.value("y")), "LAST(A.x + A.y)"),
        (prev(A.first("x"), 3), "PREV(FIRST(A.x), 3)"),
        (next_(col("x")), "NEXT(x)"),
        (next_(A.value("x"), 2), "NEXT(A.x, 2)"),
        (final(A.last("x")), "FINAL LAST(A.x)"),
        (running(A.sum("x")), "RUNNING sum(A.x)"),
        (A.count(), "count(A.*)"),
        (A.count("x"), "count(A.x)"),
        (A.avg("x") + A.min("x") + A.max("x"), "avg(A.x) + min(A.x) + max(A.x)"),
        (A.stddev("x") / A.variance("x"), "stddev(A.x) / variance(A.x)"),
        (A.array_agg("x"), "array_agg(A.x)"),
        (call("sum", A.value("x") * 2), "sum(A.x * 2)"),
        (classifier(), "CLASSIFIER()"),
        (classifier(B), "CLASSIFIER(B)"),
        (first(classifier()), "FIRST(CLASSIFIER())"),
        (match_number(), "MATCH_NUMBER()"),
    ],
)
def test_values(value: Any, text: str) -> None:
    built = rows("t").order_by("ts").measures(m=value).pattern(A, B).query()
    assert built == situ.query(f"FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {text} AS m PATTERN (A B))")


def test_every_clause() -> None:
    built = (
        rows("db.trades")
        .where(col("price") > 0)
        .partition_by("symbol", "zone id")
        .order_by(
            "ts", descending("price", nulls_first=True), ascending("n", nulls_last=True), descending("k")
        )
        .all_rows("omit")
        .skip_to_first(B)
        .strategy("skip till next")
        .pattern("A B+ C")
        .within(datetime.timedelta(hours=1))
        .subset("u", A, "b")
        .define("b", B.value("x") > A.value("x"))
        .as_("m")
        .query()
    )
    assert built == situ.query(
        """
        FROM (SELECT * FROM db.trades WHERE price > 0) MATCH_RECOGNIZE (
            PARTITION BY symbol, `zone id` ORDER BY ts, price DESC NULLS FIRST, n NULLS LAST, k DESC
            ALL ROWS PER MATCH OMIT EMPTY MATCHES
            AFTER MATCH SKIP TO FIRST B STRATEGY SKIP TILL NEXT
            PATTERN (A B+ C) WITHIN 1 hour SUBSET U = (A, B) DEFINE B AS B.x > A.x
        ) AS m
        """
    )


def _part(pattern: Pattern) -> Part:
    match pattern:
        case Variable(name):
            return VariableName(variable_text(name))
        case Empty():
            return seq()
        case Anchor(is_start):
            return partition_start if is_start else partition_end
        case Concatenation(parts):
            return seq(*map(_part, parts))
        case Alternation(choices):
            whole = _part(choices[0])
            for choice in choices[1:]:
                whole |= _part(choice)
            return whole
        case Permutation(parts):
            return permute(*map(_part, parts))
        case Exclusion(body):
            return exclude(_part(body))
        case Repetition(body, least, None, is_reluctant):
            return _part(body).at_least(least, reluctant=is_reluctant)
        case Repetition(body, least, most, is_reluctant):
            return _part(body).times(least, most, reluctant=is_reluctant)


def _rebuilt(query: RowQuery) -> RowQuery:
    """The query from its parts, by the calls a user makes; conditions as text."""
    built = rows(query.source).partition_by(*query.partition_by).order_by(*query.order_by)
    for measure in query.measures:
        built = built.measures(**{measure.name: expression_text(query, measure.expression)})
    for definition in query.definitions:
        condition = expression_text(query, definition.condition)
        built = built.define(variable_text(definition.variable), condition)
    for subset in query.subsets:
        built = built.subset(*map(variable_text, (subset.name, *subset.members)))
    if query.where is not None:
        built = built.where(query.where.sql)
    if query.rows == "all":
        is_unmatched = query.empty == "unmatched"
        built = built.all_rows("omit" if query.empty == "omit" else "show", unmatched=is_unmatched)
    skips: dict[str, Callable[..., Any]] = {
        "past last row": built.skip_past_last_row,
        "next row": built.skip_to_next_row,
        "first": built.skip_to_first,
        "last": built.skip_to_last,
    }
    built = skips[query.skip.to](
        *([] if query.skip.variable is None else [variable_text(query.skip.variable)])
    )
    built = built.strategy("contiguous" if query.strategy == "contiguous" else f"skip till {query.strategy}")
    if query.mode is not None:
        built = built.maximal() if query.mode == "maximal" else built.incremental()
    if query.within is not None:
        window = query.within
        built = built.within(
            datetime.timedelta(microseconds=window.value) if window.has_unit else window.value
        )
    if query.alias is not None:
        built = built.as_(query.alias)
    return built.pattern(_part(query.pattern)).query()


@given(row_texts())
def test_every_query_can_be_built(text: str) -> None:
    query = situ.query(text)
    if " AS input" not in str(query):  # then expressions are written with that alias
        assert _rebuilt(query) == query


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: rows("t").order_by("ts").query(), "pattern"),
        (lambda: rows("t").pattern(A).query(), "order_by"),
        (lambda: rows("t").order_by("ts").pattern(A, 5), "no part of a pattern"),
        (lambda: A | 5, "no part of a pattern"),
        (lambda: permute(), "say what to permute"),
        (lambda: variables(""), "empty"),
        (lambda: rows("t").order_by("ts").strategy("next"), "skip till next"),
        (lambda: rows("t").order_by("ts").all_rows("unmatched"), "unmatched=True"),
        (lambda: rows("t").order_by("ts").pattern("A (").query(), "never closed"),
        (lambda: rows("t").order_by("ts").pattern(A.times(0)).query(), "nothing at all"),
        (lambda: rows("t").order_by("ts").pattern(A).define(B, "x > 1").query(), "not in PATTERN"),
        (lambda: rows("t").order_by("ts").pattern(A).define(A, "x > 1, y > 2").query(), "not a Spark SQL"),
        (lambda: rows("t").order_by("ts").pattern(A).define(A, "x > (1").query(), "never closed"),
        (lambda: rows("t").order_by("ts").pattern(A).define(A, "").query(), "an expression is missing"),
        (lambda: rows("t").order_by("ts").pattern(A).measures(m=5), "not an expression"),
        (lambda: rows("t").order_by("ts").pattern(A, B).skip_to_first(A).query(), "where the match began"),
        (
            lambda: rows("t").order_by("ts").maximal().skip_past_last_row().pattern(A).query(),
            "SKIP TO NEXT ROW",
        ),
        (lambda: rows("t").order_by("ts").strategy("skip till any").pattern(A).query(), "needs WITHIN"),
    ],
)
def test_mistakes(build: Callable[[], object], said: str) -> None:
    with pytest.raises(QueryError, match=said):
        build()


def test_how_parts_are_shown() -> None:
    assert repr(A | seq(B, C)) == "<Part A | B C>"
    assert repr(A) == "<VariableName A>"
    assert Skip() == rows("t").order_by("ts").pattern(A).query().skip
