"""Rows left out as ties by Spark's tasks: told to the driver by an accumulator while a job runs.

Results are lazy, so that nothing is known when `situ.match` returns; and what a task counts must reach the
driver without a job of its own. A task's accumulator does, in a classic session. A Connect session has none:
there workers warn on standard error, which is the executors' log.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.accumulators import Accumulator, AccumulatorParam, AddingAccumulatorParam
from pyspark.sql import functions as F

from situ.errors import OptionError, TiesWarning
from situ.language.text.types import Column
from situ.rows.keys import encode
from situ.rows.needs import Needs
from situ.rows.schema import time_text, to_ticks
from situ.rows.tied import MOST_ROWS, Instant, Place, Tied, Ties, calling_place, telling_columns
from situ.spark.select.project import column_named

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

    from situ.carry.batch.task import Task

Report = tuple[int, list[tuple[Any, ...]]]  # how many rows, and instants
ASK = "situ.why(df, query) names those that tell the rows apart"
_SOME_ROWS = 1000


def listening(df: DataFrame, needs: Needs, ties: str) -> Accumulator[list[Report]] | None:
    """What tasks tell of rows that they leave out; None where nothing can be told."""
    if needs.instant.end is not None or not type(df).__module__.startswith("pyspark.sql.classic"):
        return None
    place = calling_place() if ties == "warn" else None
    return df.sparkSession.sparkContext.accumulator([], _Listener(needs, place))


class _Listener(AccumulatorParam[list[Report]]):
    """Adds up on the driver what tasks tell, and warns when the first one does."""

    def __init__(self, needs: Needs, place: Place | None) -> None:
        self.needs = needs
        self.tied = Tied()
        self._place = place

    def __reduce__(self) -> tuple[Any, ...]:
        # workers only gather; a class of situ would keep one without situ from saying what is missing
        return AddingAccumulatorParam, ([],)

    def zero(self, value: list[Report]) -> list[Report]:
        return []

    def addInPlace(self, value1: list[Report], value2: list[Report]) -> list[Report]:
        is_first = not self.tied.n_rows
        for n_rows, instants in value2:
            self.tied.note(n_rows, [Instant(*one) for one in instants])
        if is_first and self.tied.n_rows and self._place is not None:
            ties = Ties(self.needs, self.tied.n_rows, self.tied.instants[0], at_least=True, ask=ASK)
            with suppress(TiesWarning):  # where warnings are errors: a thread of Spark's must not end
                ties.warn(self._place)
        return value1


def tell(task: Task, told: Accumulator[list[Report]] | None) -> None:
    """Pass on what a worker has left out since it was last asked."""
    found = task.tied.drained()
    if not found.n_rows:
        return
    if told is not None:
        told.add([(found.n_rows, [tuple(one) for one in found.instants])])
    elif task.warns:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TiesWarning)
            Ties(task.needs, found.n_rows, found.instants[0], at_least=True, ask=ASK).warn()


def n_tied_rows(result: DataFrame) -> int:
    """How many rows were left out as ties by the actions on this DataFrame so far."""
    return _listener(result).tied.n_rows


def ties_of(result: DataFrame, df: DataFrame) -> Ties | None:
    """All there is to say of the rows of `df` that actions on the result left out; looks at a few of them."""
    if getattr(result, "_situ_tied", None) is None:  # given intervals have no ties (SEM 6.4)
        return None
    listener = _listener(result)
    tied = listener.tied
    if not tied.n_rows:
        return None
    return told_apart(df, listener.needs, tied.n_rows, [one.ticks for one in tied.instants], tied.instants[0])


def _listener(result: DataFrame) -> _Listener:
    told = getattr(result, "_situ_tied", None)
    if told is None:
        raise OptionError(
            "this DataFrame does not count rows that share their time",
            hint="ask the DataFrame that situ.match or situ.situations returned, in a classic session",
        )
    listener: _Listener = told.accum_param
    return listener


def told_apart(df: DataFrame, needs: Needs, n_rows: int, ticks: Sequence[int], example: Instant) -> Ties:
    """What there is to say of rows that were left out, with the columns that tell them apart."""
    if needs.parts:  # one source has the rows, and its own columns are not here
        return Ties(needs, n_rows, example, ask="Look at the rows that one source has then")
    return Ties(needs, n_rows, example, columns=columns_apart(df, needs, ticks))


def columns_apart(df: DataFrame, needs: Needs, ticks: Sequence[int]) -> tuple[str, ...]:
    """The columns that tell apart the rows of these instants, of which a sample is collected."""
    rows = df if needs.where is None else df.filter(F.expr(needs.where.sql))
    time = column_named(needs.time.name)
    chosen = rows.filter(time.isin([_literal(one, needs.time) for one in sorted(set(ticks))]))
    sample = chosen.limit(MOST_ROWS).toArrow()
    keys = [sample.column(column.name).combine_chunks() for column in needs.partition]
    instants = pa.array(to_ticks(sample.column(needs.time.name), needs.time.name, unit=needs.time.unit))
    groups = encode([instants, *keys], sample.num_rows)[0]
    is_tied = np.bincount(groups)[groups] > 1 if len(groups) else np.empty(0, bool)
    return telling_columns(
        sample.filter(pa.array(is_tied)), groups[is_tied], rows.limit(_SOME_ROWS).toArrow(), needs
    )


def _literal(ticks: int, time: Column) -> SparkColumn:
    """An instant as a value of the time column's type."""
    kind = time.type
    if time.unit is not None:
        return F.lit(time_text(ticks, time.told).split()[0]).cast(kind)
    if kind == "timestamp":
        return F.timestamp_micros(F.lit(ticks))
    if kind in ("date", "timestamp_ntz"):
        return F.lit(time_text(ticks, kind)).cast(kind)
    return F.lit(ticks)
