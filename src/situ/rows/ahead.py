"""Rows from the future, set aside so that one wild clock does not make all others late (SEM 8.6)."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import DataError, OptionError
from situ.expressions.literals import zone_of
from situ.language.situations.binder import BoundQuery
from situ.options import Options, ticks
from situ.rows.kernels.numbers import LONG_AGO, NEVER


class Ahead:
    """Which rows of a push lie later than now + d."""

    def __init__(self, max_ahead: int, bound: BoundQuery, schema: pa.Schema, options: Options) -> None:
        self._max_ahead = max_ahead
        self._widens = options.points == "widen"
        self._time_type = _decoded(schema.field(bound.time.name).type)
        # without a zone, times are those of a clock in the zone of the option
        self._zone = None if self._time_type.tz else zone_of(options.time_zone)
        self._columns = [bound.time.name]
        if bound.query.intervals is not None:
            ending = bound.query.intervals.ending.lower()
            self._columns.append(next(c.name for c in bound.schema if c.name.lower() == ending))

    def of(self, table: pa.Table | pa.RecordBatch, now: Any) -> npt.NDArray[np.bool_] | None:
        """Which rows are to be set aside, None for none; a row without a time is not."""
        limit = min(self._now(now) + self._max_ahead, int(NEVER))
        times = [_ticks_or_long_ago(table.column(name)) for name in self._columns]
        instant = times[0]
        if len(times) > 1:  # SEM 6.3: an interval's instant is its end, its start while it is open
            end = np.where(times[1] == times[0], times[1] + 1, times[1]) if self._widens else times[1]
            instant = np.where(times[1] == LONG_AGO, times[0], end)
        is_ahead: npt.NDArray[np.bool_] = instant > limit
        return is_ahead if is_ahead.any() else None

    def _now(self, now: Any) -> int:
        if now is None:
            if self._zone is None:
                return time.time_ns() // 1000
            now = datetime.now(self._zone)
        if self._zone is not None and isinstance(now, datetime) and now.tzinfo is not None:
            now = now.astimezone(self._zone).replace(tzinfo=None)
        if not isinstance(now, datetime):
            raise DataError(
                f"now={now!r} is no time", hint="give a datetime, or leave it out for the clock's"
            )
        return int(pa.scalar(now, pa.timestamp("us", self._time_type.tz)).value)


def max_ahead_ticks(value: Any, bound: BoundQuery) -> int | None:
    """`max_ahead` in microseconds; only timestamps can be compared with a clock."""
    if value is None:
        return None
    if not are_timestamps(bound):
        raise OptionError(
            f"max_ahead compares times with the clock, and time column {bound.time.name} is of type "
            f"{bound.time.type}",
            hint="make the column a timestamp, or leave out max_ahead and remove wild rows with WHERE",
        )
    return ticks(value, bound, "max_ahead")


def are_timestamps(bound: BoundQuery) -> bool:
    """Whether the query's time is one that a clock shows."""
    return bound.time.type in ("timestamp", "timestamp_ntz")


def _ticks_or_long_ago(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A column of timestamps as microseconds, cut where they are finer; LONG_AGO where it is null."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = _decoded(column.type)
    if kind != column.type:
        column = column.dictionary_decode()
    whole = column if kind.unit == "us" else column.cast(pa.timestamp("us", kind.tz), safe=False)
    found: npt.NDArray[np.int64] = np.asarray(pc.fill_null(whole.view(pa.int64()), int(LONG_AGO)))
    return found


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
