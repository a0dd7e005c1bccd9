"""A few matches of a DataFrame and the events around them, brought to the driver for pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F

from situ.language.situations.ast import Query, Symbol
from situ.language.text.looking import looks_back, taken_apart
from situ.language.text.nodes import Expression
from situ.language.text.types import INTEGERS
from situ.operators.situations.look_back import LookBack, column_of, look_back_of
from situ.operators.situations.question import Matching
from situ.options import Options
from situ.rows.needs import Needs
from situ.spark.batch.choose import run
from situ.spark.batch.sources import one_frame
from situ.spark.select.project import column_named, schema_of
from situ.spark.select.united import frames_of, schemas_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from situ.spark.batch.sources import Frames

_CONDITION = "_situ_condition_{}"


class Matches(NamedTuple):
    """The first matches in time, those with the largest value of a column, and how many there are in all."""

    first: pa.Table
    best: pa.Table
    n_matches: int


def found_in(events: Frames, query: Query, options: dict[str, Any]) -> DataFrame:
    """The matches, not yet asked for."""
    return run(*one_frame(events, Matching(query), options), options)


def zone_of_session(events: Frames) -> str:
    """The time zone in which the session of a DataFrame tells times."""
    return str(frames_of(events)[0].sparkSession.conf.get("spark.sql.session.timeZone"))


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
    events: Frames, query: Query, stretches: Sequence[tuple[dict[str, Any], int, int]], time: str | None
) -> Any:
    """The events of these partitions in these stretches of ticks, with each condition as a column.

    Spark evaluates the conditions, so that any function works; `ready(query)` reads the columns. A table, of
    several sources a dict of tables by name.
    """
    options = Options(time=time)
    if not isinstance(events, Mapping):
        asked = Matching(query).bind(schema_of(events), options)
        return _sampled(events, query, asked.needs, stretches, look_back_of(asked.bound))
    whole = Matching(query).bind(schemas_of(events), options).needs
    found = {}
    for part in whole.parts:
        names = zip(whole.partition, part.needs.partition, strict=True)  # a match has those of the first
        own = {column.name: first.name for first, column in names}
        of_part = [({name: row[key] for name, key in own.items()}, *ticks) for row, *ticks in stretches]
        found[part.name] = _sampled(events[part.name], query, part.needs, of_part)  # type: ignore[arg-type]
    return found


def _sampled(
    df: DataFrame,
    query: Query,
    needs: Needs,
    stretches: Sequence[tuple[dict[str, Any], int, int]],
    look_back: LookBack | None = None,
) -> pa.Table:
    """Those of one table."""
    events = df if needs.where is None else df.filter(F.expr(needs.where.sql))
    wanted = [_inside(needs, row, begin, end) for row, begin, end in stretches]
    conditions = [
        F.expr(condition.expression.sql).alias(_CONDITION.format(i))
        for i, condition in enumerate(needs.conditions)
    ]
    read = {name.lower() for symbol in query.symbols for name in _columns(symbol)}
    read |= {name.lower() for name in needs.all_names}
    names = [name for name in df.columns if name.lower() in read]
    anywhere = reduce(lambda one, other: one | other, wanted) if wanted else F.lit(False)
    found = events.filter(anywhere)
    if look_back is not None:  # and the instants before each stretch, which its conditions look back at
        time_column = column_named(needs.time.name)
        for row, begin, _ in stretches:
            before = events.filter(_of_partition(needs, row) & (time_column < _instant(needs, begin)))
            found = found.union(before.orderBy(time_column.desc()).limit(look_back.most))
    computed = [F.expr(inner.sql).alias(column_of(inner)) for inner in _looked_back_at(query)]
    rows = found.select(*map(column_named, names), *conditions, *computed)
    return (rows if look_back is None else rows.distinct()).toArrow()


def ready(query: Query) -> Query:
    """The query over `sample_events`: conditions are columns, and WHERE has been applied."""
    symbols = tuple(replace(symbol, condition=_ready(i, symbol)) for i, symbol in enumerate(query.symbols))
    sources = tuple(replace(table, where=None) for table in query.sources)
    return replace(query.without_symbol_by(), symbols=symbols, where=None, sources=sources)


def _ready(i: int, symbol: Symbol) -> Expression:
    """A condition as the column that Spark has made of it; of one that looks back, what is inside of prev."""
    if symbol.condition is not None and looks_back(symbol.condition):
        return taken_apart(symbol.condition, lambda inner, n: f"PREV({column_of(inner)}, {n})")
    return Expression(_CONDITION.format(i), (_CONDITION.format(i),))


def _columns(symbol: Symbol) -> tuple[str, ...]:
    return () if symbol.condition is None else symbol.condition.columns


def _looked_back_at(query: Query) -> list[Expression]:
    """What stands inside of prev."""
    found: dict[Expression, None] = {}

    def note(inner: Expression, n: int) -> str:
        found[inner] = None
        return "NULL"

    for symbol in query.symbols:
        if symbol.condition is not None:
            taken_apart(symbol.condition, note)
    return list(found)


def _inside(needs: Needs, row: dict[str, Any], begin: int, end: int) -> Column:
    low, high = _instant(needs, begin), _instant(needs, end)
    time = column_named(needs.time.name)
    until, ends = time, needs.instant.end
    if ends is not None:
        until = F.coalesce(column_named(ends.name), high)
    return (until >= low) & (time <= high) & _of_partition(needs, row)


def _of_partition(needs: Needs, row: dict[str, Any]) -> Column:
    same = F.lit(True)
    for column in needs.partition:
        same &= column_named(column.name).eqNullSafe(F.lit(row[column.name]))
    return same


def _instant(needs: Needs, tick: int) -> Column:
    return (F.lit(tick) if needs.time.type in INTEGERS else _moment(tick)).cast(needs.time.type)


def _moment(tick: int) -> Column:
    return F.lit(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=tick))
