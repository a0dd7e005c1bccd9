"""Random expressions give, row by row, what Spark gives: the same type and value, or an error both times.

Every batch is one Spark job. Under ANSI each expression is asked of Spark only on the rows where we have a
value (`CASE WHEN <ok> THEN <expression> END`), and for some of the rows where we raise, Spark must raise too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from expressions.grammar import expressions, times_and_spans
from expressions.support import awkward_table, columns_of, compiled, plain, same
from expressions.test_values import BOTH, ERRORS, ROW, TYPES
from situ.errors import ExpressionError, UnsupportedExpressionError
from situ.expressions import Compiled
from situ.expressions.types import name_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
N_BATCHES = 400 if SOAK else 4
N_PER_BATCH = 30
N_FAILURES_CHECKED = 2
N_ZONE_BATCHES = 100 if SOAK else 1
ZONES = ["America/New_York", "Europe/London", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "+05:30"]
# Rules by which Spark finds an answer without evaluating an operand that would have failed.
SPARING_RULES = [
    f"org.apache.spark.sql.catalyst.optimizer.{name}"
    for name in (
        "NullPropagation",
        "BooleanSimplification",
        "SimplifyConditionals",
        "SimplifyBinaryComparison",
        "PushFoldableIntoBranches",
        "OptimizeIn",
        "ReplaceNullWithFalseInPredicate",
    )
]

# Spark's Python side logs every error it hands over; here errors are answers.
logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)

TABLE = awkward_table()
COLUMNS = columns_of(TABLE)


@dataclass(frozen=True)
class Answer:
    """Our side: the value of every row that has one, and the rows where evaluation raises."""

    sql: str
    type: pa.DataType
    values: list[Any]
    failing: list[int]


@pytest.fixture(params=[True, False], ids=["ansi", "lenient"])
def session(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[tuple[SparkSession, bool]]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(request.param).lower())
    yield spark, request.param
    spark.conf.set("spark.sql.ansi.enabled", before)


def answer(sql: str, ansi: bool, time_zone: str = "UTC") -> Answer | None:
    """Our answer, None where the expression is refused."""
    try:
        expression = compiled(sql, TABLE.schema, ansi=ansi, time_zone=time_zone)
        result = expression(COLUMNS)
        assert result.type == expression.type
        return Answer(sql, expression.type, plain(result), [])
    except UnsupportedExpressionError:
        return None
    except ExpressionError:
        return _row_by_row(sql, expression)


def _row_by_row(sql: str, expression: Compiled) -> Answer | None:
    values: list[Any] = []
    failing: list[int] = []
    for row in range(TABLE.num_rows):
        try:
            values += plain(expression({name: array.slice(row, 1) for name, array in COLUMNS.items()}))
        except ExpressionError:
            values.append(None)
            failing.append(row)
        except UnsupportedExpressionError:
            return None
    assert failing, f"{sql} fails on all rows together but on none alone"
    return Answer(sql, expression.type, values, failing)


def _frame(spark: SparkSession, answers: list[Answer]) -> DataFrame:
    table = TABLE.append_column("row", pa.array(range(TABLE.num_rows)))
    for i, one in enumerate(answers):
        ok = pa.array([row not in set(one.failing) for row in range(TABLE.num_rows)])
        table = table.append_column(f"ok{i}", ok)
    return spark.createDataFrame(table, schema=_spark_schema(table.schema))


def _spark_schema(schema: pa.Schema) -> str:
    """Said in full, for Spark would read timestamps without time zone as timestamps with one."""
    return ", ".join(f"`{field.name}` {name_of(field.type)}" for field in schema)


def _ask(spark: SparkSession, answers: list[Answer]) -> pa.Table:
    wanted = [
        f"CASE WHEN ok{i} THEN {one.sql} END AS x{i}" if one.failing else f"{one.sql} AS x{i}"
        for i, one in enumerate(answers)
    ]
    return _frame(spark, answers).selectExpr("row", *wanted).toArrow().sort_by("row")


def mismatches(spark: SparkSession, answers: list[Answer]) -> list[str]:
    """Where Spark disagrees, in words."""
    if not answers:
        return []
    try:
        asked = _ask(spark, answers)
    except Exception as error:
        if len(answers) == 1:
            return [f"{answers[0].sql}: Spark raises {str(error)[:300]}"]
        half = len(answers) // 2
        return mismatches(spark, answers[:half]) + mismatches(spark, answers[half:])
    problems = []
    for i, one in enumerate(answers):
        column = asked[f"x{i}"]
        if column.type != one.type:
            problems.append(f"{one.sql}: type {one.type}, Spark {column.type}")
        for row, (ours, theirs) in enumerate(zip(one.values, plain(column), strict=True)):
            if not same(ours, theirs):
                values = {name: array[row].as_py() for name, array in COLUMNS.items() if name in one.sql}
                problems.append(f"{one.sql}: {ours!r}, Spark {theirs!r} for {values}")
                break
    return problems


def raises_on_spark(spark: SparkSession, one: Answer, row: int) -> bool:
    """Whether Spark fails on one row, evaluating all that is written."""
    spark.conf.set("spark.sql.optimizer.excludedRules", ",".join(SPARING_RULES))
    try:
        _frame(spark, []).where(f"row = {row}").selectExpr(f"{one.sql} AS x").toArrow()
    except Exception:
        return True
    finally:
        spark.conf.unset("spark.sql.optimizer.excludedRules")
    return False


@pytest.mark.spark
def test_the_written_answers_are_spark_s(session: tuple[SparkSession, bool]) -> None:
    spark, ansi = session
    row = spark.createDataFrame(ROW, schema=_spark_schema(ROW.schema))
    cases = BOTH if ansi else [*BOTH, *((sql, lenient) for sql, lenient, _ in ERRORS)]
    asked = row.selectExpr(*(f"{sql} AS x{i}" for i, (sql, _) in enumerate(cases))).toArrow()
    wrong = [
        (sql, expected, found)
        for (sql, expected), column in zip(cases, asked.columns, strict=True)
        if not same(found := column[0].as_py(), expected)
    ]
    assert not wrong
    if ansi:
        for sql, _, _ in ERRORS:
            with pytest.raises(Exception, match=r"BY_ZERO|OVERFLOW|OUT_OF_RANGE"):
                row.selectExpr(sql).toArrow()


@pytest.mark.spark
def test_the_written_types_are_spark_s(session: tuple[SparkSession, bool]) -> None:
    spark, _ = session
    row = spark.createDataFrame(ROW, schema=_spark_schema(ROW.schema))
    schema = row.selectExpr(*(f"{sql} AS x{i}" for i, (sql, _) in enumerate(TYPES))).schema
    found = [field.dataType.simpleString() for field in schema]
    assert found == [name_of(type_) for _, type_ in TYPES]


@pytest.mark.spark
@settings(
    max_examples=N_BATCHES,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
    phases=settings.get_profile("default").phases,
)
@given(texts=st.lists(expressions, min_size=N_PER_BATCH, max_size=N_PER_BATCH, unique=True))
def test_random_expressions(session: tuple[SparkSession, bool], texts: list[str]) -> None:
    _compare(session, texts, "UTC")


def _compare(session: tuple[SparkSession, bool], texts: list[str], time_zone: str) -> None:
    spark, ansi = session
    answers = [found for text in texts if (found := answer(text, ansi, time_zone)) is not None]
    problems = mismatches(spark, answers)
    for one in [one for one in answers if one.failing][:N_FAILURES_CHECKED]:
        if not raises_on_spark(spark, one, one.failing[0]):
            problems.append(f"{one.sql}: raises on row {one.failing[0]}, Spark does not")
    assert not problems, "\n".join(problems)


@pytest.fixture(params=ZONES)
def time_zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield request.param
    spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.spark
@settings(
    max_examples=N_ZONE_BATCHES,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
    phases=settings.get_profile("default").phases,
)
@given(texts=st.lists(times_and_spans, min_size=2 * N_PER_BATCH, max_size=2 * N_PER_BATCH, unique=True))
def test_random_times_in_time_zones(
    session: tuple[SparkSession, bool], time_zone: str, texts: list[str]
) -> None:
    _compare(session, texts, time_zone)
