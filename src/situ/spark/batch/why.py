"""`situ.why` on batch DataFrames: counted where the data lies, added up by Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from situ.carry.in_process import check_matchable
from situ.errors import OptionError
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery
from situ.operators.situations.engine import Engine
from situ.operators.situations.interval_engine import IntervalEngine, IntervalPreparer
from situ.operators.situations.why import Tally, counting_only, make_engine, plan_order, tally
from situ.operators.situations.why_report import Why
from situ.options import Options, check_applicable, check_forget_after, read_options
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.prepare import Columns, Prepared
from situ.rows.tied import Instant, Ties
from situ.spark.batch.tied import columns_apart
from situ.spark.select.project import MASK, Layout, project, read_batch, read_mask
from situ.spark.session.pythons import check_workers
from situ.spark.session.settings import settings_of
from situ.spark.session.ship import shipped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPTIONS = frozenset({"time", "ties", "on_bad_rows", "strategy", "join", "forget_after", "match_id", "points"})
_NUMBERS = pa.schema([("at", pa.int32()), ("n", pa.int64())])


def why(df: DataFrame, query: Query, **options: Any) -> Why:
    """Where the candidates for matches are lost in a batch DataFrame; runs one job and collects counts."""
    if df.isStreaming:
        raise OptionError(
            "situ.why does not take a streaming DataFrame",
            hint="ask it of a batch DataFrame with the same rows, such as what the stream has read so far",
        )
    check_matchable(query)
    check_workers(df.sparkSession)
    chosen = read_options(options, OPTIONS, "a batch DataFrame")
    check_applicable(options, query)
    silent = replace(query, items=(), returns=())
    projection = project(df, silent, time=chosen.time, drop_bad_rows=chosen.on_bad_rows == "drop")
    bound = counting_only(projection.bound)
    task = WhyTask(bound, projection.layout, chosen, check_forget_after(chosen.forget_after, bound))
    task = replace(task, ansi=settings_of(df.sparkSession).ansi)
    keys = [F.col(projection.layout.names[i]) for i in projection.layout.partition]
    rows = projection.events.repartition(*keys) if keys else projection.events.repartition(1)
    numbers = rows.mapInArrow(shipped("why", task), "at int, n bigint").groupBy("at")
    totals = numbers.agg(F.sum("n"), F.max("n"), F.min(F.when(F.col("n") >= 0, F.col("n")))).collect()
    query = replace(query, symbols=projection.bound.query.symbols)
    tally = _added(totals, task)
    return Why(query, bound, plan_order(task.engine), tally, _ties(df, bound, tally))


def _ties(df: DataFrame, bound: BoundQuery, tally: Tally) -> Ties | None:
    """What there is to say of rows that were left out; a second, small job looks at a few of them."""
    n_rows, instants = int(tally.rows[3]), tally.tied_at[tally.tied_at != LONG_AGO].tolist()
    if not n_rows:
        return None
    columns = columns_apart(df, bound, instants)
    return Ties(bound, n_rows, Instant(min(instants), (), 0), columns=columns)


def _added(totals: list[Any], task: WhyTask) -> Tally:
    """Sums where things are counted, extremes where they are compared."""
    n_symbols, n_constraints = len(task.bound.query.symbols), len(task.bound.query.constraints)
    nothing = Tally.nothing(n_symbols, n_constraints)
    by_position = {row[0]: row[1:] for row in totals}
    kinds = nothing.kinds()
    numbers = nothing.to_numbers()
    for at, (total, most, least) in by_position.items():
        value = {"sum": total, "max": most, "min": least}[kinds[at]]
        numbers[at] = numbers[at] if value is None else value
    return Tally.from_numbers(numbers, n_symbols, n_constraints)


@dataclass(frozen=True)
class WhyTask:
    """What a worker needs to count."""

    bound: BoundQuery
    layout: Layout
    options: Options
    forget_after: int | None
    ansi: bool = True

    @cached_property
    def engine(self) -> Engine:
        """The query compiled."""
        return make_engine(self.bound, forget_after=self.forget_after, ansi=self.ansi)


def count(task: WhyTask, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The numbers of one task's partitions, all of whose rows are here."""
    several = [batch for batch in batches if batch.num_rows]
    if not several:
        return
    prepared = _prepared(task, pa.Table.from_batches(several))
    numbers = tally(task.engine, prepared, task.options.ties).to_numbers()
    at = pa.array(np.arange(len(numbers), dtype=np.int32))
    yield pa.RecordBatch.from_arrays([at, pa.array(numbers)], schema=_NUMBERS)


def _prepared(task: WhyTask, rows: pa.Table) -> Prepared:
    engine = task.engine
    if not isinstance(engine, IntervalEngine):
        return read_batch(task.layout, rows, engine.mask_type)
    names = [column.name for column in task.layout.columns]
    rows = rows.rename_columns([*names, MASK])
    return _MaskedIntervals(_without_conditions(task.bound), rows.schema, engine, task.options)(rows)


class _MaskedIntervals(IntervalPreparer):
    """Rows of given intervals whose conditions Spark has evaluated."""

    def _mask(self, columns: Columns) -> np.ndarray[Any, np.dtype[np.unsignedinteger]]:
        return read_mask(columns[MASK], self.mask_type)


def _without_conditions(bound: BoundQuery) -> BoundQuery:
    query = bound.query
    symbols = tuple(replace(symbol, condition=None) for symbol in query.symbols)
    return replace(bound, query=replace(query, symbols=symbols, where=None))
