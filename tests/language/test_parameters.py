"""Values in place of `:name` (SEM 16)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.errors import DurationError, ParameterError, QuerySyntaxError, ReturnItemError
from situ.language import query

TEXT = "FROM t ORDER BY ts DEFINE A AS x > :x"


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (5, "5"),
        (-5, "-5"),
        (np.int64(7), "7"),
        (2**70, str(2**70)),
        (0.1, "0.1E0"),
        (-2.5e-9, "-2.5e-09"),
        (np.float64(1), "1.0E0"),
        (Decimal("-1.50"), "-1.50"),
        (Decimal("1E+3"), "1000."),
        ("Oslo", "'Oslo'"),
        ('it\'s \\ "x"\n:y', "'it\\'s \\\\ \"x\"\\u000a:y'"),
        ("3 OR TRUE -- '", "'3 OR TRUE -- \\''"),
        (dt.date(2024, 2, 29), "DATE '2024-02-29'"),
        (dt.datetime(2024, 1, 2, 3, 4, 5, 6), "TIMESTAMP_NTZ '2024-01-02 03:04:05.000006'"),
        (
            dt.datetime(2024, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "TIMESTAMP '2024-01-01 22:00:00Z'",
        ),
        (dt.timedelta(minutes=5), "INTERVAL '300' SECOND"),
        (dt.timedelta(seconds=-1.5), "INTERVAL '-1.5' SECOND"),
    ],
)
def test_a_value_is_a_literal_of_its_type(value: Any, sql: str) -> None:
    parsed = query(TEXT, x=value)
    condition = parsed.symbols[0].condition
    assert condition is not None
    assert condition.sql == f"x > {sql}"
    assert query(str(parsed)) == parsed


@given(
    st.one_of(
        st.text(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.decimals(-(10**9), 10**9),
    )
)
def test_any_value_prints_and_parses_to_itself(value: Any) -> None:
    parsed = query("FROM t DEFINE A AS x - :x = :x", x=value)
    assert query(str(parsed)) == parsed
    assert parsed.symbols[0].condition is not None
    assert parsed.symbols[0].condition.columns == ("x",)


@given(st.text())
def test_a_string_is_compared_as_it_is(text: str) -> None:
    table = pa.table({"ts": [1, 2], "x": [text, text + "!"]})
    found = situ.match(
        table, query("FROM t ORDER BY ts DEFINE A AS x = :x RETURN A.ts AS a, A.te AS e", x=text)
    )
    assert found["a"].to_pylist() == [1]


@pytest.mark.parametrize(
    ("type_", "values", "value"),
    [
        (pa.float64(), [0.1, 0.2, 0.3], 0.2),
        (pa.decimal128(5, 2), [Decimal("1.00"), Decimal("2.00"), Decimal("3.00")], Decimal("2")),
        (pa.timestamp("us"), [dt.datetime(2024, 1, day) for day in (1, 2, 3)], dt.datetime(2024, 1, 2)),
        (
            pa.timestamp("us", "UTC"),
            [dt.datetime(2024, 1, day, tzinfo=dt.UTC) for day in (1, 2, 3)],
            dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
        ),
        (pa.date32(), [dt.date(2024, 1, day) for day in (1, 2, 3)], dt.date(2024, 1, 2)),
        (pa.int64(), [-3, -2, -1], -2),
        (pa.bool_(), [False, True, True], True),
    ],
)
def test_values_are_compared_by_type(type_: pa.DataType, values: list[Any], value: Any) -> None:
    table = pa.table({"ts": [1, 2, 3], "x": pa.array(values, type_)})
    found = situ.match(table, query("FROM t ORDER BY ts DEFINE A AS x >= :x RETURN A.ts AS a", x=value))
    assert found["a"].to_pylist() == [2]


def test_it_stands_wherever_a_literal_may() -> None:
    text = """FROM t WHERE k IN (:a,:b) DEFINE A AS x > :a BETWEEN :low AND :high, B AS x < -:a AT LEAST :low
    IGNORING GAPS UP TO :n EVENTS, C AS SILENCE AT LEAST :n minutes PATTERN A before B before C WITHIN :high
    RETURN percentile(A.x, :p) + :a AS q HAVING q > :b AND A.duration < :high"""
    low, high = dt.timedelta(seconds=1.5), dt.timedelta(days=1)
    assert str(query(text, a=1, b=-2, low=low, high=high, n=3, p=0.9)) == "\n".join(
        [
            "FROM t",
            "WHERE k IN (1, -2)",
            "DEFINE A AS x > 1 BETWEEN 1500 milliseconds AND 1 day,",
            "       B AS x < -1 AT LEAST 1500 milliseconds IGNORING GAPS UP TO 3 EVENTS,",
            "       C AS SILENCE AT LEAST 3 minutes",
            "PATTERN A before B",
            "    AND B before C",
            "WITHIN 1 day",
            "RETURN percentile(A.x, 0.9) + 1 AS q",
            "HAVING (percentile(A.x, 0.9) + 1) > -2 AND A.duration < INTERVAL '86400' SECOND",
        ]
    )
    ticks = "FROM t DEFINE A AS x AT LEAST :least WITHIN :window"
    assert query(ticks, least=3, window=9) == query("FROM t DEFINE A AS x AT LEAST 3 WITHIN 9")
    assert query("FROM t DEFINE A AS x > :text AND y > :self", text=1, self=2) == query(
        "FROM t DEFINE A AS x > 1 AND y > 2"
    )


def test_colons_of_spark_are_no_parameters() -> None:
    text = "FROM t DEFINE A AS CAST(s AS STRUCT<a:int>).a > 3 AND x::int > 1 AND y = ':no' -- :no"
    assert query(text) == query(text.partition(" --")[0])


def refused(text: str, kind: type[Exception], **values: Any) -> str:
    with pytest.raises(kind) as caught:
        query(text, **values)
    return str(caught.value)


def test_values_and_parameters_must_pair_up() -> None:
    assert refused(TEXT, ParameterError) == (
        "the parameter :x has no value\n"
        f"  line 1: {TEXT}\n"
        f"          {' ' * TEXT.index(':x')}^^\n"
        "Hint: give it one: situ.query(text, x=5), on the command line --set x=5"
    )
    assert refused("FROM t DEFINE A AS x > :limit", ParameterError, limt=3).endswith('did you mean "limt"?')
    assert refused("FROM t DEFINE A AS x > :limit", ParameterError, limit=3, limt=3) == (
        'the query has no parameter :limt\nHint: did you mean "limit"?'
    )
    assert refused(TEXT, ParameterError, x=3, window=4) == (
        "the query has no parameter :window\nHint: its parameters are :x"
    )
    assert refused("FROM t DEFINE A AS x", ParameterError, y=4) == (
        "the query has no parameter :y\nHint: write :y where its value is to stand"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "the parameter :x is nan, which is no number"),
        (float("-inf"), "the parameter :x is -inf, which is no number"),
        (Decimal("NaN"), "the parameter :x is NaN, which is no number"),
        ([1], "the parameter :x has a list as its value"),
        (b"x", "the parameter :x has a bytes as its value"),
        (10**2000, "the parameter :x has more than 1000 digits"),
    ],
)
def test_what_no_literal_can_be_is_refused(value: Any, said: str) -> None:
    message = refused(TEXT, ParameterError, x=value)
    assert message.splitlines()[0] == said
    assert message.splitlines()[2].strip() == "^^"


@pytest.mark.parametrize(
    ("text", "value", "kind", "said"),
    [
        ("WITHIN :v", "5 minutes", DurationError, "WITHIN needs a duration, found `'5 minutes'`"),
        ("WITHIN :v", None, DurationError, "WITHIN needs a duration, found `NULL`"),
        ("WITHIN :v", -3, DurationError, "a duration cannot have a sign"),
        ("WITHIN :v", dt.timedelta(seconds=-3), DurationError, "a duration cannot have a sign"),
        ("WITHIN :v", 0.5, DurationError, "a duration must be a whole number of ticks"),
        ("AT LEAST :v", True, DurationError, "AT LEAST needs a duration, found `TRUE`"),
        (
            "IGNORING GAPS UP TO :v EVENTS",
            "x",
            DurationError,
            "EVENTS needs a whole number from 1 to 2147483647",
        ),
        ("RETURN percentile(A.x, :v) AS p", "x", ReturnItemError, "percentile takes one plain number"),
        ("PARTITION BY :v", "k", QuerySyntaxError, "expected a column in PARTITION BY, found `'k'`"),
    ],
)
def test_a_value_of_another_type_is_named(text: str, value: Any, kind: type[Exception], said: str) -> None:
    message = refused(f"FROM t DEFINE A AS x > 1 {text}", kind, v=value)
    assert message.startswith(said)
    assert message.splitlines()[0].endswith("(the value of :v)")
    assert message.splitlines()[2].strip() == "^^"
