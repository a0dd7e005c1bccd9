"""Arrow types and Spark type names, and the time column as int64 ticks (SEM 1.1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.errors import DataError
from situ.language.text.types import INTEGERS, Column, Schema
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.units import from_unit, to_unit

Ticks = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
TicksWriter = Callable[[Ticks, Bits | None], list[pa.Array]]

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
    if isinstance(arrow, pa.BaseExtensionType):  # those of users have no hash
        return str(arrow)
    return _SPARK_NAMES.get(arrow, str(arrow))


def spark_schema(schema: pa.Schema) -> Schema:
    """The columns of an Arrow schema under Spark's type names."""
    return tuple(Column(field.name, spark_type(field.type)) for field in schema)


def result_time_type(arrow: pa.DataType) -> pa.DataType:
    """The type ts, te and match_time have: the time column's own, or the one Spark knows it as."""
    return _RESULT_TIMES.get(arrow, arrow)


def are_ticks(kind: pa.DataType, unit: str | None = None) -> bool:
    """Whether a column of this type holds ticks as they are."""
    if unit is not None:
        return False
    return bool(kind == _INT64 or (pa.types.is_timestamp(kind) and kind.unit == "us"))


def ticks_reader(kind: pa.DataType, time: Column) -> Callable[[pa.Array], Ticks]:
    """`to_ticks` for columns of one type: where values are ticks already, there is nothing to decide."""
    if are_ticks(kind, time.unit):
        return _ticks_of
    return lambda column: to_ticks(column, time.name, unit=time.unit)


def _ticks_of(column: pa.Array) -> Ticks:
    first, size = column.offset, len(column)
    if not size:
        return np.empty(0, np.int64)
    return np.frombuffer(column.buffers()[1], np.int64, size, 8 * first)


def to_ticks(
    column: pa.Array | pa.ChunkedArray, name: str, *, unit: str | None = None, rounded: bool = False
) -> Ticks:
    """A time column without nulls as int64: microseconds, or the integers themselves.

    `unit` is what numbers count, if that is said. `rounded` is for rows that are no events: times between two
    microseconds are no mistake there.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if unit is not None:
        return from_unit(column, name, unit, rounded=rounded)
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit != "us":
        try:
            column = column.cast(pa.timestamp("us", tz=kind.tz), safe=not rounded)
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


def time_text(ticks: int, kind: str) -> str:
    """An instant as people read it, of a time column of this type in Spark's words.

    >>> time_text(1_500_000, "timestamp"), time_text(86_400_000_000, "date"), time_text(7, "bigint")
    ('1970-01-01 00:00:01.5 UTC', '1970-01-02', '7')
    >>> time_text(1_500_000, "double in seconds")
    '1.5 seconds'
    """
    kind, _, unit = kind.partition(" in ")
    if unit:
        number = pa.int64() if kind in INTEGERS else pa.float32() if kind == "float" else pa.float64()
        return f"{to_unit(np.array([ticks]), number, unit)[0]} {unit}"
    if kind == "date":
        return str(np.datetime64(ticks // _US_PER_DAY, "D"))
    if not kind.startswith("timestamp"):
        return str(ticks)
    day, fraction = str(np.datetime64(ticks, "us")).split(".")  # unlike datetime, of any year
    fraction = fraction.rstrip("0")
    text = day.replace("T", " ") + (f".{fraction}" if fraction else "")
    return text if kind == "timestamp_ntz" else f"{text} UTC"


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


def latest_of(ticks: Ticks) -> int:
    """The largest of these instants, LONG_AGO for none; the reserved ones are no times."""
    return int(ticks.max(initial=LONG_AGO, where=ticks != OPEN))


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


def from_ticks(
    ticks: Ticks,
    kind: pa.DataType,
    null: npt.NDArray[np.bool_] | None = None,
    *,
    unit: str | None = None,
) -> pa.Array:
    """int64 ticks as the time column's own type; null where `null` says so."""
    return one_column(ticks_writer(kind, unit), ticks, null)


def one_column(write: TicksWriter, ticks: Ticks, null: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """What a `ticks_writer` makes of a single row; null where `null` says so."""
    valid = None if null is None else np.packbits(~null, bitorder="little").reshape(1, -1)
    return write(ticks.reshape(1, -1), valid)[0]


def ticks_writer(kind: pa.DataType, unit: str | None = None) -> TicksWriter:
    """A function that makes columns of one type from the rows of an int64[n, M] of ticks.

    Where bits are given, row by row, a value is null if its bit is 0. Columns that hold ticks as they are
    share the array's memory: to make them costs the same for all sizes.
    """
    if not are_ticks(kind, unit):
        return lambda ticks, valid: [
            _converted(row, kind, unit, None if valid is None else _nulls(valid[i], len(row)))
            for i, row in enumerate(ticks)
        ]
    make, in_memory = pa.Array.from_buffers, pa.py_buffer

    def write(ticks: Ticks, valid: Bits | None) -> list[pa.Array]:
        n, size = ticks.shape
        values = in_memory(np.ascontiguousarray(ticks))
        if valid is None:
            return [make(kind, size, [None, values], 0, i * size) for i in range(n)]
        bits, width = in_memory(np.ascontiguousarray(valid)), valid.shape[1]
        return [
            make(kind, size, [bits.slice(i * width, width), values.slice(8 * i * size, 8 * size)])
            for i in range(n)
        ]

    return write


def _nulls(valid: Bits, size: int) -> npt.NDArray[np.bool_]:
    nulls: npt.NDArray[np.bool_] = np.unpackbits(valid, count=size, bitorder="little") == 0
    return nulls


def _converted(
    ticks: Ticks, kind: pa.DataType, unit: str | None, null: npt.NDArray[np.bool_] | None
) -> pa.Array:
    if unit is not None:
        return pa.array(to_unit(ticks, kind, unit), kind, mask=null)
    if pa.types.is_date(kind):
        days = pa.array((ticks // _US_PER_DAY).astype(np.int32), mask=null)
        return days.cast(pa.date32()).cast(kind)
    values = pa.array(ticks, mask=null)
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("us", tz=kind.tz)).cast(kind)
    return values.cast(kind)
