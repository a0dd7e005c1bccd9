"""What is evaluated where, how columns are read, and that no size or slice changes an answer."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expressions.grammar import expressions
from expressions.support import awkward_table, columns_of, compiled, evaluate, plain, same
from situ.errors import DataError, ExpressionError, UnsupportedExpressionError
from situ.expressions import compile as compile_module

DIVISION = pa.table({"a": pa.array([1, 6, None]), "b": pa.array([0, 2, 0]), "t": ["x", "y", None]})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CASE WHEN b <> 0 THEN a / b END", [None, 3.0, None]),
        ("CASE WHEN b = 0 THEN 0 ELSE a / b END", [0.0, 3.0, 0.0]),
        ("CASE WHEN b = 0 THEN t ELSE CAST(a div b AS STRING) END", ["x", "3", None]),
        ("IF(b = 0, NULL, a % b)", [None, 0, None]),
        ("b <> 0 AND a / b > 1", [False, True, False]),
        ("b = 0 OR a / b > 1", [True, True, True]),
        ("COALESCE(CAST(b AS DOUBLE), 1 / b)", [0.0, 2.0, 0.0]),
        ("b IN (0, a / b)", [True, False, True]),
        ("CASE WHEN b <> 0 THEN a / b BETWEEN 1 AND 4 END", [None, True, None]),
        ("NULL + a / b", [None, None, None]),
        ("trunc(date_from_unix_date(CAST(a / b AS INT)), 'eon')", [None, None, None]),
    ],
)
def test_a_failing_operand_is_left_alone_where_spark_leaves_it(sql: str, expected: list[object]) -> None:
    assert evaluate(sql, DIVISION) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "a / b > 1 AND b <> 0",
        "COALESCE(a / b, 1)",
        "GREATEST(0, a / b)",
        "(a / b) IS NULL",
        "b = 7 AND a / b BETWEEN 1 AND 2",  # Spark computes the operand of BETWEEN before the AND
        "b = 7 AND NULLIF(a / b, 1) > 0",
        "datediff(date_from_unix_date(CAST(a / b AS INT)), trunc(DATE '2024-01-01', 'eon'))",
    ],
)
def test_a_failing_operand_fails_where_spark_evaluates_it(sql: str) -> None:
    with pytest.raises(ExpressionError, match=r"1(\.0)? / 0(\.0)? divides by zero"):
        evaluate(sql, DIVISION)


def test_a_null_dividend_is_not_divided() -> None:
    assert evaluate("a / b", DIVISION.slice(1)) == [3.0, None]


def test_a_constant_failure_needs_a_row() -> None:
    assert evaluate("1 / 0", DIVISION.slice(0, 0)) == []
    assert evaluate("IF(b > 5, 1 / 0, 2.5e0)", DIVISION) == [2.5, 2.5, 2.5]
    with pytest.raises(ExpressionError):
        evaluate("1 / 0", DIVISION)


@pytest.mark.parametrize(
    "type_", [pa.bool_(), pa.int64(), pa.string(), pa.timestamp("ns", tz="Europe/Berlin")]
)
def test_a_bare_column_comes_back_untouched(type_: pa.DataType) -> None:
    array = pa.nulls(3, type_)
    expression = compiled("(`my col`)", pa.schema([("My Col", type_)]))
    assert expression.columns == ("My Col",)
    assert expression.type == type_
    assert expression({"My Col": array}) is array


@pytest.mark.parametrize(
    ("array", "sql", "expected"),
    [
        (pa.array(["a", None], pa.large_string()), "c = 'a'", [True, None]),
        (pa.array(["a", None], pa.string_view()), "c LIKE 'a%'", [True, None]),
        (pa.array(["a", None]).dictionary_encode(), "c IN ('a')", [True, None]),
        (pa.array([1_000, None], pa.timestamp("ns", tz="UTC")), "c > '1970-01-01'", [True, None]),
        (pa.array([1, None], pa.timestamp("s")), "c > '1970-01-01 00:00:00'", [True, None]),
        (pa.nulls(2, pa.int32()), "c + 1", [None, None]),
        (pa.nulls(2), "c IS NULL", [True, True]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else None,
)
def test_arrow_types_without_a_spark_type_of_their_own(
    array: pa.Array, sql: str, expected: list[object]
) -> None:
    assert evaluate(sql, pa.table({"c": array})) == expected


def test_nanoseconds_that_are_not_whole_microseconds_are_bad_data() -> None:
    with pytest.raises(DataError, match="timestamp"):
        evaluate("c > '1970-01-01'", pa.table({"c": pa.array([1], pa.timestamp("ns", tz="UTC"))}))


def test_a_column_of_another_type_than_announced_is_an_error() -> None:
    expression = compiled("c > 1", pa.schema([("c", pa.int64())]))
    with pytest.raises(DataError, match="announced as int64 but came as double"):
        expression({"c": pa.array([1.0])})


def test_columns_are_found_whatever_their_case_and_named_as_in_the_schema() -> None:
    schema = pa.schema([("Speed", pa.int64()), ("limit", pa.int64()), ("LIMIT", pa.int64())])
    assert compiled("SPEED > 1 AND speed < 9", schema).columns == ("Speed",)
    with pytest.raises(DataError, match="ambiguous"):
        compiled("Limit > 1", schema)
    with pytest.raises(DataError, match="Did you mean 'Speed'"):
        compiled("sped > 1", schema)


TABLE = awkward_table(seed=3, n=40)


@given(sql=expressions, cut=st.integers(0, 40))
def test_slicing_the_input_slices_the_answer(sql: str, cut: int) -> None:
    try:
        expression = compiled(sql, TABLE.schema, ansi=False)
        whole = plain(expression(columns_of(TABLE)))
    except (UnsupportedExpressionError, ExpressionError):
        return
    parts = [_plain(expression, columns_of(TABLE), start, end) for start, end in ((0, cut), (cut, 40))]
    assert all(same(a, b) for a, b in zip(parts[0] + parts[1], whole, strict=True))


def _plain(
    expression: compile_module.Compiled, columns: Mapping[str, pa.Array], start: int, end: int
) -> list[object]:
    return plain(expression({name: array.slice(start, end - start) for name, array in columns.items()}))


@settings(max_examples=30)
@given(sql=expressions)
def test_blocks_do_not_show(sql: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        try:
            whole = evaluate_plain(sql)
            patch.setattr(compile_module, "_BLOCK_ROWS", 16)
            assert all(same(a, b) for a, b in zip(evaluate_plain(sql), whole, strict=True))
        except (UnsupportedExpressionError, ExpressionError):
            return


def evaluate_plain(sql: str) -> list[object]:
    result = compiled(sql, TABLE.schema, ansi=False)(columns_of(TABLE))
    result.validate(full=True)
    return plain(result)


def test_values_under_nulls_do_not_matter() -> None:
    # Arrow leaves the bytes under a null undefined: here they would overflow, divide by zero, fail a cast.
    rubbish = np.array([2**63 - 1, 0, 5], np.int64)
    array = pa.array(rubbish, mask=np.array([True, True, False]))
    table = pa.table({"a": array, "b": array})
    for sql in ("a + 1", "a * a", "10 div a", "CAST(a AS TINYINT)", "-a", "a % b"):
        assert evaluate(sql, table)[:2] == [None, None]


def test_a_constant_has_a_value_for_every_row() -> None:
    assert evaluate("1 + 1", TABLE.slice(0, 3)) == [2, 2, 2]
    assert evaluate("NULL", TABLE.slice(0, 2)) == [None, None]
    assert evaluate("'x'", TABLE.slice(0, 2)) == ["x", "x"]


def test_errors_survive_pickling() -> None:
    # They cross process borders when the engine runs in Spark's Python workers.
    with pytest.raises(UnsupportedExpressionError) as caught:
        compiled("sin(i32)", TABLE.schema)
    assert "SIN" in str(pickle.loads(pickle.dumps(caught.value)))
