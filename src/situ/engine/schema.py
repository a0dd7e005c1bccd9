"""Arrow types and Spark type names, and the time column as int64 ticks (SEM 1.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.engine.kernels.numbers import LONG_AGO, OPEN
from situ.errors import DataError
from situ.language.binder import Column, Schema

Ticks = npt.NDArray[np.int64]

_SPARK_NAMES = {
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.string_view(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.date32(): "date",
    pa.date64(): "date",
    pa.null(): "void",
    pa.uint8(): "smallint",
    pa.uint16(): "int",
    pa.uint32(): "bigint",
}
_US_PER_DAY = 86_400_000_000
_INT64 = pa.int64()
_RESULT_TIMES = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.date64(): pa.date32(),
}


def spark_type(arrow: pa.DataType) -> str:
    """Spark's name for an Arrow type; the Arrow name itself where Spark has none.

    >>> spark_type(pa.timestamp("ns", tz="UTC"))
    'timestamp'
    """
    if pa.types.is_dictionary(arrow):
        return spark_type(arrow.value_type)
    if pa.types.is_timestamp(arrow):
        return "timestamp_ntz" if arrow.tz is None else "timestamp"
    if pa.types.is_decimal(arrow):
        return f"decimal({arrow.precision},{arrow.scale})"
    if pa.types.is_duration(arrow):
        return "interval day to second"
    return _SPARK_NAMES.get(arrow, str(arrow))


def spark_schema(schema: pa.Schema) -> Schema:
    """The columns of an Arrow schema under Spark's type names."""
    return tuple(Column(field.name, spark_type(field.type)) for field in schema)


def result_time_type(arrow: pa.DataType) -> pa.DataType:
    """The type ts, te and match_time have: the time column's own, or the one Spark knows it as."""
    return _RESULT_TIMES.get(arrow, arrow)


def to_ticks(column: pa.Array | pa.ChunkedArray, name: str) -> Ticks:
    """A time column without nulls as int64: microseconds, or the integers themselves."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit != "us":
        try:
            column = column.cast(pa.timestamp("us", tz=kind.tz))
        except pa.ArrowInvalid as error:
            raise DataError(
                f"time column {name} holds {kind} values that are not whole microseconds ({error})",
                hint="round the column to microseconds first; situ never rounds time by itself",
            ) from error
    if pa.types.is_date(kind):
        days = column.cast(pa.date32()).cast(pa.int32())
        return np.asarray(days).astype(np.int64) * _US_PER_DAY
    if pa.types.is_timestamp(column.type):
        column = column.view(pa.int64())
    elif column.type != pa.int64():
        column = column.cast(pa.int64())
    ticks: Ticks = column.to_numpy()
    return ticks


def check_reserved(time: Ticks, offset: npt.NDArray[np.int64]) -> None:
    """Refuse the two instants that stand for "not yet" and "before everything".

    `time` ascends within each slot, so that only the first and last of a slot need a look.
    """
    if len(offset) == 2:
        found = len(time) > 0 and (time[0] == LONG_AGO or time[-1] == OPEN)
    else:
        ends = offset[1:][offset[1:] > offset[:-1]]
        begins = offset[:-1][offset[1:] > offset[:-1]]
        found = bool((time[begins] == LONG_AGO).any() or (time[ends - 1] == OPEN).any())
    if found:
        raise _reserved()


def refuse_reserved(ticks: Ticks) -> None:
    """`check_reserved` for ticks in any order."""
    if bool(((ticks == LONG_AGO) | (ticks == OPEN)).any()):
        raise _reserved()


def _reserved() -> DataError:
    return DataError(
        f"the time column holds {int(OPEN)} or {int(LONG_AGO)}, which situ reserves for "
        '"not yet" and "before everything"',
        hint="drop such rows with WHERE, or use a real time there",
    )


def from_ticks(ticks: Ticks, kind: pa.DataType, null: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """int64 ticks as the time column's own type; null where `null` says so."""
    if kind == _INT64:
        return pa.array(ticks, mask=null)
    if pa.types.is_date(kind):
        days = pa.array((ticks // _US_PER_DAY).astype(np.int32), mask=null)
        return days.cast(pa.date32()).cast(kind)
    values = pa.array(ticks, mask=null)
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("us", tz=kind.tz)).cast(kind)
    return values.cast(kind)
