"""What situ makes of an expression means the same to Spark, whose function groups we know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from language.strategies import conditions
from situ.errors import AggregateInConditionError, ForbiddenExpressionError, SituError
from situ.language import query
from situ.language.text import words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPRESSIONS = (
    "a = 'it''s'",
    'a = "say ""hi"""',
    r"a rlike r'^\d+$'",
    r"a = 'tab\tquote\' end'",
    "a = 'x' 'y'",
    "a > 5L and b < 2.5BD or c = 1e3D",
    "a between -1 and +1 and not b",
    "a not between 1 and 2",
    "a IN (1, 2) AND b NOT IN ('x')",
    "a <=> b",
    "a is not distinct from b",
    "a == b and a != c and a <> d and !e",
    "a is not null and b is true and c is not false",
    "a like 'x%' escape '/'",
    "a like any ('x', 'y') or b ilike 'z'",
    "case a when 1 then b else c end = 2",
    "case when a then b end",
    "cast(a as decimal(10, 2)) > b::int",
    "cast(a as array<struct<x: int, y: map<string, array<int>>>>) is null",
    "try_cast(a as int) = 3",
    "date '2026-01-01' < a and timestamp '2026-01-01 00:00:00' > b",
    "a > b + interval '5' second",
    "a > b - interval 1 day 2 hours",
    "a > interval '1 02:03:04' day to second",
    "extract(hour from a) = 3 and trim(both 'x' from b) = 'y'",
    "substring(a from 1 for 2) = overlay(b placing 'x' from 2)",
    "position('a' in b) = 1",
    "exists(xs, x -> x > 3) and size(filter(xs, (x, i) -> x > i)) > 2",
    "transform(xs, x -> x.speed + cars.speed)[0] = 1",
    "m['key'].field[0] = 1 and s.inner.leaf > 2",
    "a % 2 = 1 and a div 2 > 3 and a | 4 = 5 and a & 1 = 1 and a ^ 2 = 0 and ~a = -1",
    "a || b = 'ab' and - - a = 5 and -(-a) = 5",
    "coalesce(a, b, 0) > greatest(c, d)",
    "named_struct('a', 1).a = 1 and struct(a, b).col1 = 2 and array(1, 2)[0] = 1",
    "date(a) = date_add(b, 3) and unix_timestamp(a) > 5",
    "x'1F' = a",
    "`max speed` > 5 and `a``b` < 3 and `timestamp` > 1 and `select` = 2",
    "timestampdiff(second, a, b) > 5",
    "my_udf(a, my_db.other(b)) > 1",
    "date > 5 and time < 3 and timestamp = 1 and first = 2 and last = 3 and value = 4",
    "a -- comment\n > /* and /* nested */ comment */ 1",
    "within > 5 and return < 3",
    "(a, b) = (1, 2)",
    "cars.speed > 5",
    "c.speed + cars.nested.field > 5",
)


def parsed_by_spark(spark: SparkSession, text: str) -> str:
    parser: Any = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]
    # Function names keep their case in Spark's tree and do not matter.
    return str(parser.parseExpression(text).toString()).lower()


def canonical(condition: str) -> str:
    symbol = query(f"FROM cars AS c DEFINE A AS {condition}").symbols[0]
    assert symbol.condition is not None
    return symbol.condition.sql


@pytest.mark.parametrize("condition", EXPRESSIONS)
def test_canonical_text_means_the_same_to_spark(spark: SparkSession, condition: str) -> None:
    qualified = parsed_by_spark(spark, condition)
    unqualified = qualified.replace("'cars.", "'").replace("'c.", "'")
    assert parsed_by_spark(spark, canonical(condition)) == unqualified


@settings(max_examples=60)
@given(condition=conditions())
def test_canonical_text_of_random_conditions_means_the_same_to_spark(
    spark: SparkSession, condition: str
) -> None:
    assert parsed_by_spark(spark, canonical(condition)) == parsed_by_spark(spark, condition)


# sqlglot has no >>>, and wants X'1F' without the space.
NOT_READ = ("4 >>> 1", "bitmap_count(X '1010')", "bitmap_count(X 'FFFF')", "bitmap_count(X '0')")


def test_spark_s_own_examples_of_every_function_are_read_and_mean_the_same(spark: SparkSession) -> None:
    n_read, refused, changed = 0, [], []
    for example in spark_examples(spark):
        try:
            expected = parsed_by_spark(spark, example)
        except Exception:
            continue  # not an expression alone: it goes on with FROM or the like
        try:
            text = canonical(example)
        except (ForbiddenExpressionError, AggregateInConditionError):
            continue
        except SituError:
            refused.append(example)
            continue
        n_read += 1
        if parsed_by_spark(spark, text) != expected:
            changed.append((example, text))
    assert n_read > 900
    assert sorted({*refused} - {*NOT_READ}) == []
    assert changed == []


def spark_examples(spark: SparkSession) -> Iterator[str]:
    registry: Any = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry  # type: ignore[union-attr]
    entries = registry.expressions().iterator()
    while entries.hasNext():
        yield from re.findall(r"> SELECT (.*?);\s*$", entries.next()._2()._1().getExamples(), re.M)


def spark_functions(spark: SparkSession) -> dict[str, str]:
    registry: Any = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry  # type: ignore[union-attr]
    functions, entries = {}, registry.expressions().iterator()
    while entries.hasNext():
        entry = entries.next()
        functions[entry._1()] = entry._2()._1().getGroup()
    return functions


def test_spark_has_no_aggregate_window_or_generator_function_we_do_not_refuse(spark: SparkSession) -> None:
    refused = {
        "agg_funcs": words.SPARK_AGGREGATES,
        "window_funcs": words.SPARK_WINDOW_FUNCTIONS,
        "generator_funcs": words.SPARK_GENERATORS,
    }
    known = {name: group for name, group in spark_functions(spark).items() if group in refused}
    assert len(known) > 90
    assert {name for name, group in known.items() if name not in refused[group]} == set()


# Deterministic to Spark, which takes the start of the query for all rows; a stream has no such start.
TIMES_OF_THE_QUERY = (
    "now",
    "current_timestamp",
    "current_date",
    "current_time",
    "curdate",
    "localtimestamp",
    "localtime",
)


def test_every_nondeterministic_function_of_spark_is_refused(spark: SparkSession) -> None:
    """Spark itself says which expressions are not deterministic or stand for the time of the query."""
    accepted = []
    for name in spark_functions(spark):
        try:
            canonical(f"{name}() = 1")
        except SituError:
            continue
        try:
            plan: Any = spark.sql(f"SELECT {name}() AS x")._jdf.queryExecution().analyzed()
        except Exception:
            continue  # it takes arguments, so its value comes from them
        if not plan.expressions().head().deterministic() or name in TIMES_OF_THE_QUERY:
            accepted.append(name)
    assert accepted == []
