"""A few matches of a DataFrame and the events around them, brought to the driver for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F

from situ.language.situations.ast import Query
from situ.language.text.nodes import Expression
from situ.language.text.types import INTEGERS
from situ.operators.situations.question import Matching
from situ.options import Options
from situ.rows.needs import Needs
from situ.spark.batch.choose import run
from situ.spark.select.project import column_named, schema_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_CONDITION = "_situ_condition_{}"


class Matches(NamedTuple):
    """The first matches in time, those with the largest value of a column, and how many there are in all."""

    first: pa.Table
    best: pa.Table
    n_matches: int


def found_in(df: DataFrame, query: Query, options: dict[str, Any]) -> DataFrame:
    """The matches, not yet asked for."""
    return run(df, Matching(query), options)


def zone_of_session(df: DataFrame) -> str:
    """The time zone in which the session of a DataFrame tells times."""
    return str(df.sparkSession.conf.get("spark.sql.session.timeZone"))


def sample_matches(found: DataFrame, *, most: int, top: int, by: str | None) -> Matches:
    """Run a query's matches once, and collect at most `most` and `top` of them."""
    found = found.persist()
    try:
        first = found.orderBy("match_time").limit(most).toArrow()
        best = first.slice(0, top)
        if by is not None:
            best = found.orderBy(column_named(by).desc_nulls_last()).limit(top).toArrow()
        return Matches(first, best, first.num_rows if first.num_rows < most else found.count())
    finally:
        found.unpersist()


def sample_events(
    df: DataFrame, query: Query, stretches: Sequence[tuple[dict[str, Any], int, int]], time: str | None
) -> pa.Table:
    """The events of these partitions in these stretches of ticks, with each condition as a column.

    Spark evaluates the conditions, so that any function works; `ready(query)` reads the columns.
    """
    needs = Matching(query).bind(schema_of(df), Options(time=time)).needs
    events = df if needs.where is None else df.filter(F.expr(needs.where.sql))
    wanted = [_inside(needs, row, begin, end) for row, begin, end in stretches]
    conditions = [
        F.expr(condition.expression.sql).alias(_CONDITION.format(i))
        for i, condition in enumerate(needs.conditions)
    ]
    names = [
        field.name
        for field in df.schema.fields
        if _is_needed(needs, field.name, field.dataType.simpleString())
    ]
    anywhere = reduce(lambda one, other: one | other, wanted) if wanted else F.lit(False)
    return events.filter(anywhere).select(*map(column_named, names), *conditions).toArrow()


def ready(query: Query) -> Query:
    """The query over `sample_events`: conditions are columns, and WHERE has been applied."""
    symbols = tuple(
        replace(symbol, condition=Expression(_CONDITION.format(i), (_CONDITION.format(i),)))
        for i, symbol in enumerate(query.symbols)
    )
    return replace(query.without_symbol_by(), symbols=symbols, where=None)


def _inside(needs: Needs, row: dict[str, Any], begin: int, end: int) -> Column:
    are_ticks = needs.time.type in INTEGERS
    low, high = (F.lit(begin), F.lit(end)) if are_ticks else (_moment(begin), _moment(end))
    time = column_named(needs.time.name)
    until, ends = time, needs.instant.end
    if ends is not None:
        until = F.coalesce(column_named(ends.name), F.lit(high).cast(needs.time.type))
    inside = (until >= low.cast(needs.time.type)) & (time <= high.cast(needs.time.type))
    for column in needs.partition:
        inside &= column_named(column.name).eqNullSafe(F.lit(row[column.name]))
    return inside


def _moment(tick: int) -> Column:
    return F.lit(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=tick))


def _is_needed(needs: Needs, name: str, kind: str) -> bool:
    read = {column.name.lower() for column in needs.columns if column not in needs.attributes}
    numbers = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
    if kind.startswith(numbers):
        read |= {column.lower() for one in needs.conditions for column in one.expression.columns}
        read |= {column.name.lower() for column in needs.attributes}
    return name.lower() in read
