"""`situ.why` on batch DataFrames: counted where the data lies, added up by Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from situ.carry.contract import Setting
from situ.errors import OptionError
from situ.language.situations.ast import Query
from situ.operators.situations.events import EventMatches
from situ.operators.situations.question import Matching
from situ.operators.situations.why import Tally, counting_only, plan_order, tally
from situ.operators.situations.why_report import Why
from situ.options import read_options
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.needs import Needs
from situ.rows.read import read_travelling
from situ.rows.tied import Instant, Ties
from situ.spark.batch.tied import columns_apart
from situ.spark.select.project import project, schema_of, travelling
from situ.spark.session.pythons import check_workers
from situ.spark.session.settings import settings_of
from situ.spark.session.ship import shipped
from situ.spark.session.types import arrow_schema

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
    question = Matching(query)
    check_workers(df.sparkSession)
    chosen = read_options(options, OPTIONS, "a batch DataFrame")
    question.check_options(options)
    asked = question.bind(schema_of(df), chosen)
    counting = counting_only(asked)
    needs = counting.needs
    events = project(df, needs, drop_bad_rows=chosen.on_bad_rows == "drop")
    schema = arrow_schema(needs.columns, df.schema)
    operator = counting.operator(schema, Setting(False, settings_of(df.sparkSession).ansi))
    keys = [F.col(travelling(needs, column)) for column in needs.partition]
    rows = events.repartition(*keys) if keys else events.repartition(1)
    numbers = rows.mapInArrow(shipped("why", operator), "at int, n bigint").groupBy("at")
    totals = numbers.agg(F.sum("n"), F.max("n"), F.min(F.when(F.col("n") >= 0, F.col("n")))).collect()
    tally = _added(totals, counting.bound.query)
    order = plan_order(operator.engine)
    return Why(asked.bound.query, counting.bound, order, tally, _ties(df, needs, tally))


def _ties(df: DataFrame, needs: Needs, tally: Tally) -> Ties | None:
    """What there is to say of rows that were left out; a second, small job looks at a few of them."""
    n_rows, instants = int(tally.rows[3]), tally.tied_at[tally.tied_at != LONG_AGO].tolist()
    if not n_rows:
        return None
    columns = columns_apart(df, needs, instants)
    return Ties(needs, n_rows, Instant(min(instants), (), 0), columns=columns)


def _added(totals: list[Any], query: Query) -> Tally:
    """Sums where things are counted, extremes where they are compared."""
    n_symbols, n_constraints = len(query.symbols), len(query.constraints)
    nothing = Tally.nothing(n_symbols, n_constraints)
    by_position = {row[0]: row[1:] for row in totals}
    kinds = nothing.kinds()
    numbers = nothing.to_numbers()
    for at, (total, most, least) in by_position.items():
        value = {"sum": total, "max": most, "min": least}[kinds[at]]
        numbers[at] = numbers[at] if value is None else value
    return Tally.from_numbers(numbers, n_symbols, n_constraints)


def count(operator: EventMatches, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The numbers of one task's partitions, all of whose rows are here."""
    several = [batch for batch in batches if batch.num_rows]
    if not several:
        return
    rows = read_travelling(operator.needs, pa.Table.from_batches(several))
    numbers = tally(operator.engine, operator.needs, rows).to_numbers()
    at = pa.array(np.arange(len(numbers), dtype=np.int32))
    yield pa.RecordBatch.from_arrays([at, pa.array(numbers)], schema=_NUMBERS)
