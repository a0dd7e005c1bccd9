"""`situ.why` on batch DataFrames: counted where the data lies, added up by Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from situ.carry.batch.clock import read_clock
from situ.carry.contract import Asked, Question, Tally, Tells
from situ.carry.in_process import counting
from situ.errors import OptionError
from situ.options import read_options
from situ.rows.clock import complete_at_end, until_of
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.needs import Needs
from situ.rows.read import read_travelling
from situ.rows.schema import latest_of
from situ.rows.tied import Instant, Tied, Ties
from situ.spark.batch.choose import run
from situ.spark.batch.clock import with_clock
from situ.spark.batch.job import operator_of
from situ.spark.batch.sources import one_frame
from situ.spark.batch.tied import told_apart
from situ.spark.select.project import project, schema_of, travelling
from situ.spark.select.united import frames_of
from situ.spark.session.pythons import check_workers
from situ.spark.session.settings import settings_of
from situ.spark.session.ship import shipped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from situ.spark.batch.sources import Frames

OPTIONS = frozenset(
    {"time", "time_unit", "ties", "on_bad_rows", "strategy", "join", "forget_after", "match_id", "points"}
    | {"until"}
)
_NUMBERS = pa.schema([("at", pa.int32()), ("n", pa.int64())])


def why(events: Frames, question: Question, passed: dict[str, Any]) -> Any:
    """Where results are lost in a batch DataFrame; runs one job and collects counts."""
    if any(df.isStreaming for df in frames_of(events)):
        raise OptionError(
            "situ.why does not take a streaming DataFrame",
            hint="ask it of a batch DataFrame with the same rows, such as what the stream has read so far",
        )
    df, question = one_frame(events, question, passed)
    check_workers(df.sparkSession)
    options = read_options(passed, OPTIONS, "a batch DataFrame")
    question.check_options(passed)
    whole = question.bind(schema_of(df), options)
    asked = counting(whole)
    needs = asked.needs
    events = project(df, needs, drop_bad_rows=options.on_bad_rows == "drop")
    operator = operator_of(asked, df, settings_of(df.sparkSession), options)
    assert isinstance(operator, Tells)
    keys = [F.col(travelling(needs, column)) for column in needs.partition]
    rows = events.repartition(*keys) if keys else events.repartition(1)
    counting_to = CountingTo(operator, until_of(options, needs, operator.schema))
    rows = with_clock(rows, df, needs, counting_to.clock)
    numbers = rows.mapInArrow(shipped("why", counting_to), "at int, n bigint").groupBy("at")
    totals = numbers.agg(F.sum("n"), F.max("n"), F.min(F.when(F.col("n") >= 0, F.col("n")))).collect()
    tally = _added(totals, operator.no_tally())
    return operator.told(tally, _ties(df, needs, tally), _reported(df, question, passed, whole))


def _reported(df: DataFrame, question: Question, passed: dict[str, Any], asked: Asked) -> int | None:
    """How many results HAVING lets through: a job of its own, which says nothing more of ties."""
    if asked.having is None:
        return None
    ties = {} if asked.needs.order == "all" else {"ties": "last"}
    n_results: int = run(df, question, {**passed, **ties}).count()
    return n_results


def _ties(df: DataFrame, needs: Needs, tally: Tally) -> Ties | None:
    """What there is to say of rows that were left out; a second, small job looks at a few of them."""
    if not tally.n_tied:
        return None
    instants = tally.tied_at[tally.tied_at != LONG_AGO].tolist()
    return told_apart(df, needs, tally.n_tied, instants, Instant(min(instants), (), 0))


def _added(totals: list[Any], nothing: Tally) -> Tally:
    """Sums where things are counted, extremes where they are compared."""
    kinds, numbers = nothing.kinds(), nothing.to_numbers()
    for at, total, most, least in totals:
        value = {"sum": total, "max": most, "min": least}[kinds[at]]
        numbers[at] = numbers[at] if value is None else value
    return nothing.with_numbers(numbers)


class CountingTo(NamedTuple):
    """An operator that tells, and how far time has come, where that is known before."""

    operator: Any
    clock: int | None


def count(counting_to: CountingTo, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The numbers of one task's partitions, all of whose rows are here."""
    several = [batch for batch in batches if batch.num_rows]
    if not several:
        return
    operator, clock = counting_to
    needs = operator.needs
    rows = read_travelling(needs, pa.Table.from_batches(several))
    complete = None
    if needs.ticks:
        latest = latest_of(rows.time) if clock is not None else read_clock(needs, several[0])
        complete = complete_at_end(clock, latest, needs)
    numbers = operator.tally(rows, Tied(), complete).to_numbers()
    at = pa.array(np.arange(len(numbers), dtype=np.int32))
    yield pa.RecordBatch.from_arrays([at, pa.array(numbers)], schema=_NUMBERS)
