"""What a schema says of a row pattern (ROW 1.5, 2.4, 6.5)."""

from __future__ import annotations

import pytest

import situ
from situ.errors import BindError, OptionError, QueryError
from situ.language.rows.binder import bind
from situ.language.rows.bound import BoundRows
from situ.language.text.types import Column

SCHEMA = (
    Column("Ts", "timestamp"),
    Column("n", "bigint"),
    Column("Day", "date"),
    Column("seconds", "double"),
    Column("sym", "string"),
    Column("Price", "double"),
    Column("ok", "boolean"),
    Column("info", "struct<code:int,Flag:boolean,name:string>"),
    Column("tags", "map<string,int>"),
    Column("max speed", "int"),
    Column("twin", "int"),
    Column("TWIN", "int"),
)


def bound(inside: str, source: str = "t", **options: str) -> BoundRows:
    query = situ.query(f"FROM {source} MATCH_RECOGNIZE ({inside})")
    found = bind(query, SCHEMA, **options)
    assert situ.query(str(found.query)) == found.query
    return found


def test_names_are_spelled_as_the_schema_spells_them() -> None:
    found = bound(
        "PARTITION BY SYM ORDER BY TS, N DESC "
        "MEASURES max_by(A.PRICE, A.TS) AS m, count(*) FILTER (WHERE OK) AS k, "
        "FIRST(A.INFO.code + A.`MAX SPEED`) AS f "
        "PATTERN (A) DEFINE A AS exists(array(price), v -> v > PRICE)",
        source="(SELECT * FROM t WHERE PRICE > 0 AND info.name = 'PRICE')",
    )
    assert found.query.partition_by == ("sym",)
    assert [one.name for one in found.query.order_by] == ["Ts", "n"]
    assert [column.name for column in found.order] == ["Ts", "n"]
    assert found.partition == (Column("sym", "string"),)
    assert found.time == Column("Ts", "timestamp")
    assert found.query.where is not None
    assert found.query.where.sql == "Price > 0 AND info.name = 'PRICE'"
    assert found.query.where.columns == ("Price", "info")
    text = str(found.query)
    for part in ("max_by(A.Price, A.Ts)", "(WHERE ok)", "FIRST(A.info.code + A.`max speed`)", "ARRAY(Price)"):
        assert part in text


@pytest.mark.parametrize(
    ("inside", "ticks"),
    [
        ("ORDER BY ts PATTERN (A) WITHIN 5 minutes", 300_000_000),
        ("ORDER BY n PATTERN (A) WITHIN 5", 5),
        ("ORDER BY day PATTERN (A) WITHIN 2 days", 2 * 86_400_000_000),
        ("ORDER BY ts PATTERN (A)", None),
    ],
)
def test_within_in_ticks(inside: str, ticks: int | None) -> None:
    assert bound(inside).within == ticks


def test_what_is_a_time() -> None:
    assert bound("ORDER BY n PATTERN (A)").time == Column("n", "bigint")
    assert bound("ORDER BY sym PATTERN (A)").time is None
    assert bound("ORDER BY price PATTERN (A)").time is None
    assert bound("ORDER BY ts DESC PATTERN (A)").time is None
    unit = bound("ORDER BY seconds PATTERN (A) WITHIN 5 minutes", time_unit="seconds")
    assert unit.time is not None
    assert unit.time.unit == "seconds"
    assert unit.order[0].unit == "seconds"
    assert unit.within == 300_000_000
    assert bound("ORDER BY ts PATTERN (A)", time="TS").time == Column("Ts", "timestamp")


def test_conditions_that_are_boolean_as_far_as_can_be_seen() -> None:
    for condition in (
        "ok",
        "A.ok",
        "info.flag",
        "NULL",
        "any(ok)",
        "f(price)",
        "LAST(ok, 2)",
        "tags['a']",
        "TRUE",
    ):
        bound(f"ORDER BY ts PATTERN (A) DEFINE A AS {condition}")


D = "ORDER BY ts PATTERN (DOWN UP) DEFINE UP AS"
MISTAKES = [
    ("ORDER BY tss PATTERN (A)", "UnknownColumnError", "tss", 'did you mean "Ts"?'),
    ("PARTITION BY zone ORDER BY ts PATTERN (A)", "UnknownColumnError", "zone", "the columns are Ts, n"),
    (f"{D} prise > 1", "UnknownColumnError", "prise", 'did you mean "Price"?'),
    (f"{D} UP.prise > 1", "UnknownColumnError", "prise", "the condition of UP"),
    (f"{D} DWN.price > 1", "UnknownColumnError", "DWN", 'did you mean "DOWN"?'),
    (f"{D} Z.price > 1", "UnknownColumnError", "Z", "the variables are DOWN, UP"),
    (f"{D} `up`.price > 1", "UnknownColumnError", "up", 'did you mean "UP"?'),
    (f"{D} count(down) > 1", "UnknownColumnError", "down", "count(DOWN.*) counts its rows"),
    (f"{D} twin > 1", "AmbiguousColumnError", "twin", "differ only in case"),
    ("ORDER BY ts MEASURES sum(A.prise) AS s PATTERN (A)", "UnknownColumnError", "prise", "the measure s"),
    ("ORDER BY ts MEASURES sum(A.sym) AS s PATTERN (A)", "AggregateTypeError", "sym", "needs a number"),
    ("ORDER BY ts MEASURES any(A.price) AS s PATTERN (A)", "AggregateTypeError", "price", "a condition"),
    ("ORDER BY ts MEASURES count(*) FILTER (WHERE price) AS s PATTERN (A)", "ConditionTypeError", "FILTER",
     "must be true or false"),
    (f"{D} price", "ConditionTypeError", "UP", "price is a number"),
    (f"{D} LAST(DOWN.price) + 1", "ConditionTypeError", "UP", "DOWN.price + 1 is a number"),
    (f"{D} CLASSIFIER()", "ConditionTypeError", "UP", "is a string"),
    (f"{D} MATCH_NUMBER()", "ConditionTypeError", "UP", "is a number"),
    (f"{D} max(DOWN.sym)", "ConditionTypeError", "UP", "is a string"),
    (f"{D} ok > 1", "ConditionTypeError", "UP", "a boolean has no order"),
    ("ORDER BY tags PATTERN (A)", "BindError", "tags", "values that have an order"),
    ("ORDER BY n PATTERN (A) WITHIN 5 minutes", "DurationTypeError", None, "a plain number of ticks"),
    ("ORDER BY ts PATTERN (A) WITHIN 5", "DurationTypeError", None, "5 seconds"),
    ("ORDER BY day PATTERN (A) WITHIN 36 hours", "DurationTypeError", "WITHIN", "whole days"),
    ("ORDER BY ts DESC PATTERN (A) WITHIN 5 minutes", "TimeColumnError", "ts", "ascending order of time"),
    ("ORDER BY sym PATTERN (A) WITHIN 5 minutes", "TimeColumnError", "sym", "convert it first"),
    ("ORDER BY price, ts PATTERN (A) WITHIN 5 minutes", "TimeColumnError", "price", "time_unit"),
    ("ORDER BY ts MEASURES 1 AS price ALL ROWS PER MATCH PATTERN (A)", "DuplicateNameError", None, "ALL"),
]  # fmt: skip


@pytest.mark.parametrize(("inside", "kind", "marked", "said"), MISTAKES)
def test_mistakes(inside: str, kind: str, marked: str | None, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        bound(inside)
    error = caught.value
    assert type(error).__name__ == kind, str(error)
    assert said in str(error)
    if marked is not None:
        assert error.text is not None
        assert error.span is not None
        assert error.text[error.span.start : error.span.end] == marked


def test_the_condition_of_where() -> None:
    with pytest.raises(BindError, match="the condition of WHERE"):
        bound("ORDER BY ts PATTERN (A)", source="(SELECT * FROM t WHERE prise > 1)")
    with pytest.raises(BindError, match="must be true or false"):
        bound("ORDER BY ts PATTERN (A)", source="(SELECT * FROM t WHERE price)")


def test_options_that_contradict_the_query() -> None:
    with pytest.raises(OptionError, match="contradicts ORDER BY"):
        bound("ORDER BY ts PATTERN (A)", time="n")
    with pytest.raises(OptionError, match="time_unit"):
        bound("ORDER BY ts PATTERN (A)", time_unit="seconds")
