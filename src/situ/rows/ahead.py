"""Rows from the future, set aside so that one wild clock does not make all others late (SEM 8.6)."""

from __future__ import annotations

import time as clock
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.errors import DataError, OptionError
from situ.expressions.zones import zone_of
from situ.language.text.types import Column
from situ.options import ticks
from situ.rows.kernels.numbers import NEVER
from situ.rows.needs import Needs


class Ahead:
    """Which rows of a push lie later than now + d."""

    def __init__(self, max_ahead: int, needs: Needs, schema: pa.Schema, time_zone: str) -> None:
        self._max_ahead = max_ahead
        self._needs = needs
        self._time_type = _decoded(schema.field(needs.time.name).type)
        # without a zone, times are those of a clock in the zone of the option
        self._zone = None if self._time_type.tz else zone_of(time_zone)

    def of(self, table: pa.Table | pa.RecordBatch, now: Any) -> npt.NDArray[np.bool_] | None:
        """Which rows are to be set aside, None for none; a row without a time is not."""
        limit = min(self._now(now) + self._max_ahead, int(NEVER))
        needs = self._needs
        read = (needs.time, *needs.instant.columns)
        columns = {column.name: _plain(table.column(column.name)) for column in read}
        is_ahead: npt.NDArray[np.bool_] = needs.instant.of_any(needs.time, columns) > limit
        return is_ahead if is_ahead.any() else None

    def _now(self, now: Any) -> int:
        if now is None:
            if self._zone is None:
                return clock.time_ns() // 1000
            now = datetime.now(self._zone)
        if self._zone is not None and isinstance(now, datetime) and now.tzinfo is not None:
            now = now.astimezone(self._zone).replace(tzinfo=None)
        if not isinstance(now, datetime):
            raise DataError(
                f"now={now!r} is no time", hint="give a datetime, or leave it out for the clock's"
            )
        return int(pa.scalar(now, pa.timestamp("us", self._time_type.tz)).value)


def max_ahead_ticks(value: Any, time: Column) -> int | None:
    """`max_ahead` in microseconds; only timestamps can be compared with a clock."""
    if value is None:
        return None
    if not are_timestamps(time):
        raise OptionError(
            f"max_ahead compares times with the clock, and time column {time.name} is of type {time.type}",
            hint="make the column a timestamp, or leave out max_ahead and remove wild rows with WHERE",
        )
    return ticks(value, time, "max_ahead")


def are_timestamps(time: Column) -> bool:
    """Whether times are those that a clock shows."""
    return time.type in ("timestamp", "timestamp_ntz")


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
