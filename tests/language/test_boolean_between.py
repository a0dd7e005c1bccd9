"""`c BETWEEN 2 AND 9` is a length where a schema says that c is a boolean (SEM 7)."""

from __future__ import annotations

import pyarrow as pa
import pytest

import situ
from situ.builder import col, events
from situ.errors import (
    ConditionTypeError,
    DurationBoundsError,
    DurationError,
    QueryError,
    WindowTooShortError,
)
from situ.language import query
from situ.language.situations.binder import BoundQuery, bind
from situ.language.text.nodes import Duration
from situ.language.text.types import Column

SCHEMA = (
    Column("t", "bigint"),
    Column("c", "boolean"),
    Column("x", "double"),
    Column("s", "struct<Flag:boolean,n:int,more:struct<deep:boolean>>"),
)
TABLE = pa.table(
    {"t": [0, 1, 2, 3, 5, 9], "c": [False, True, False, True, True, False], "x": [0, 0, 3, 3, 0, 0]}
)


def bound_to(condition: str, rest: str = "") -> BoundQuery:
    return bind(query(f"FROM t ORDER BY t DEFINE A AS {condition} {rest}"), SCHEMA)


@pytest.mark.parametrize(
    ("condition", "what_holds"),
    [
        ("c BETWEEN 2 AND 9", "c"),
        ("(c) BETWEEN 2 AND 9", "(c)"),
        ("NOT c BETWEEN 2 AND 9", "NOT c"),
        ("x > 1 AND c BETWEEN 2 AND 9", "x > 1 AND c"),
        ("x BETWEEN 1 AND 2 OR c BETWEEN 2 AND 9", "x BETWEEN 1 AND 2 OR c"),
        ("s.flag BETWEEN 2 AND 9", "s.flag"),
        ("s.more.deep BETWEEN 2 AND 9", "s.more.deep"),
        ("coalesce(c, FALSE) BETWEEN 2 AND 9", "COALESCE(c, FALSE)"),
        ("case when x > 1 then c end BETWEEN 2 AND 9", "CASE WHEN x > 1 THEN c END"),
        ("isnull(x) BETWEEN 2 AND 9", "ISNULL(x)"),
        ("isnan(x) BETWEEN 2 AND 9", "ISNAN(x)"),
    ],
)
def test_behind_a_boolean_it_is_a_length(condition: str, what_holds: str) -> None:
    bound = bound_to(condition)
    (symbol,) = bound.query.symbols
    assert symbol.condition is not None
    assert symbol.condition.sql == what_holds
    assert (symbol.at_least, symbol.at_most) == (Duration(2, False), Duration(9, False))
    assert (bound.at_least, bound.at_most) == ((2,), (9,))
    assert bind(bound.query, SCHEMA) == bound


@pytest.mark.parametrize(
    "condition",
    ["x BETWEEN 2 AND 9", "s.n BETWEEN 2 AND 9", "c AND (x BETWEEN 2 AND 9)", "my_udf(c) BETWEEN 2 AND 9"],
)
def test_behind_anything_else_it_compares(condition: str) -> None:
    bound = bound_to(condition)
    assert bound.query == query(f"FROM t ORDER BY t DEFINE A AS {condition}")
    assert (bound.at_least, bound.at_most) == ((None,), (None,))


def test_the_text_and_so_the_match_ids_do_not_depend_on_when_it_was_understood() -> None:
    unbound = query("FROM t ORDER BY t DEFINE A AS c BETWEEN 2 AND 9")
    assert str(bind(unbound, SCHEMA).query) == str(unbound)
    built = events("t").order_by("t")
    ways = [
        unbound,
        query("FROM t ORDER BY t DEFINE A AS c BETWEEN 2.0 AND 9"),
        built.define("A", "c", at_least=2, at_most=9).query(),
        built.define("A", col("c").between(2, 9)).query(),
        built.define("A", "c BETWEEN 2 AND 9").query(),
    ]
    answers = [situ.match(TABLE, way, match_id=True).to_pylist() for way in ways]
    operator = unbound.operator(TABLE.schema, match_id=True)
    answers.append(operator.push(TABLE.slice(0, 4)).to_pylist() + operator.push(TABLE.slice(4)).to_pylist())
    assert [row["A_ts"] for row in answers[0]] == [3]
    assert answers == [answers[0]] * (len(ways) + 1)


def test_the_builder_reads_conditions_as_text_does() -> None:
    text = query("FROM t DEFINE A AS x > 70 BETWEEN 4 AND 30")
    assert events("t").define("A", "x > 70 BETWEEN 4 AND 30").query() == text
    assert events("t").define("A", col("x") > 70, at_least=4, at_most=30).query() == text
    with pytest.raises(DurationError, match="only one duration constraint"):
        events("t").define("A", "x > 70 BETWEEN 4 AND 30", at_least=5).query()


@pytest.mark.parametrize(
    ("condition", "rest", "kind", "said"),
    [
        ("c BETWEEN 9 AND 2", "", DurationBoundsError, "BETWEEN 2 AND 9"),
        ("c BETWEEN 2 AND 9 AT LEAST 5", "", DurationError, "only one duration constraint"),
        ("x > 1 BETWEEN 2 AND 9 AT LEAST 5", "", DurationError, "only one duration constraint"),
        ("c BETWEEN 2 AND x", "", DurationError, "needs a duration"),
        ("c BETWEEN 1.5 AND 9", "", DurationError, "whole number of ticks"),
        ("c BETWEEN 20 AND 90", "WITHIN 5", WindowTooShortError, "A AT LEAST 20"),
        ("c BETWEEN 2 AND 9", "WITHIN 5 minutes", QueryError, "counts ticks"),
        ("c NOT BETWEEN 2 AND 9", "", ConditionTypeError, "a boolean has no order"),
        ("c > 5", "", ConditionTypeError, "a boolean has no order"),
        ("x > 1 AND 0 < c", "", ConditionTypeError, "a boolean has no order"),
    ],
)
def test_what_is_wrong_is_said(condition: str, rest: str, kind: type[QueryError], said: str) -> None:
    with pytest.raises(kind, match=said):
        bound_to(condition, rest)


def test_where_has_no_length() -> None:
    with pytest.raises(DurationError, match="WHERE chooses events"):
        bind(query("FROM t WHERE c BETWEEN 2 AND 9 ORDER BY t DEFINE A AS x > 1"), SCHEMA)


def test_explain_tells_what_a_schema_will_decide() -> None:
    unbound = query("FROM t ORDER BY t DEFINE A AS x > 1 AND c BETWEEN 2 AND 9")
    told = " ".join(str(unbound.explain()).split())
    assert "Should c be a boolean column, its BETWEEN is a length" in told
    assert "A goes on while x > 1 AND c, and lasts 2 ticks to 9 ticks" in told
    with_data = str(situ.explain(TABLE, unbound))
    assert "Should c" not in with_data
    assert "2 ticks to 9 ticks" in with_data
    compares = query("FROM t ORDER BY t DEFINE A AS x BETWEEN 2 AND 9")
    assert "Should" not in str(situ.explain(TABLE, compares))
