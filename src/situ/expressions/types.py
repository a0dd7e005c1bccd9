"""Spark's types as Arrow types: names, families, and the decimal each integer type stands for."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pat

from situ.errors import UnsupportedExpressionError

MAX_PRECISION: Final = 38
NARROW_DIGITS: Final = 18  # every decimal of up to 18 digits fits an int64

NULL: Final = pa.null()
BOOLEAN: Final = pa.bool_()
TINYINT: Final = pa.int8()
SMALLINT: Final = pa.int16()
INT: Final = pa.int32()
BIGINT: Final = pa.int64()
FLOAT: Final = pa.float32()
DOUBLE: Final = pa.float64()
STRING: Final = pa.string()
BINARY: Final = pa.binary()
DATE: Final = pa.date32()
TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
TIMESTAMP_NTZ: Final = pa.timestamp("us")
INTERVAL: Final = pa.duration("us")  # Spark's INTERVAL DAY TO SECOND
# Two more of Spark's intervals, while expressions are evaluated; Arrow has no types of theirs.
DAYS: Final = pa.duration("s")  # INTERVAL DAY, in microseconds too: a date plus one stays a date
MONTHS: Final = pa.month_day_nano_interval()  # INTERVAL YEAR TO MONTH, in months

# In this order Spark widens one number type to another.
NUMBERS: Final = (TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE)

_NAMES: Final = {
    NULL: "void",
    BOOLEAN: "boolean",
    TINYINT: "tinyint",
    SMALLINT: "smallint",
    INT: "int",
    BIGINT: "bigint",
    FLOAT: "float",
    DOUBLE: "double",
    STRING: "string",
    BINARY: "binary",
    DATE: "date",
    TIMESTAMP: "timestamp",
    TIMESTAMP_NTZ: "timestamp_ntz",
    INTERVAL: "interval day to second",
}
_OTHER_INTERVALS: Final = {DAYS: "interval day", MONTHS: "interval year to month"}

_DTYPES: Final[dict[pa.DataType, npt.DTypeLike]] = {
    BOOLEAN: np.bool_,
    TINYINT: np.int8,
    SMALLINT: np.int16,
    INT: np.int32,
    BIGINT: np.int64,
    FLOAT: np.float32,
    DOUBLE: np.float64,
    DATE: np.int32,
    TIMESTAMP: np.int64,
    TIMESTAMP_NTZ: np.int64,
    INTERVAL: np.int64,
    DAYS: np.int64,
    MONTHS: np.int32,
}

_INTEGER_DIGITS: Final = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}


def name_of(type_: pa.DataType) -> str:
    """Spark's name of a type."""
    if is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    return _NAMES.get(type_) or _OTHER_INTERVALS.get(type_, str(type_))


def dtype_of(type_: pa.DataType) -> np.dtype[np.generic]:
    """How values of the type are held in numpy; decimals as unscaled integers."""
    return np.dtype(np.int64 if is_decimal(type_) else _DTYPES[type_])


def is_decimal(type_: pa.DataType) -> bool:
    return bool(pat.is_decimal128(type_))


def is_integral(type_: pa.DataType) -> bool:
    return type_ in _INTEGER_DIGITS


def is_float(type_: pa.DataType) -> bool:
    return type_ in (FLOAT, DOUBLE)


def is_number(type_: pa.DataType) -> bool:
    return is_integral(type_) or is_float(type_) or is_decimal(type_)


def is_exact(type_: pa.DataType) -> bool:
    """Integers and decimals: numbers held as unscaled integers."""
    return is_integral(type_) or is_decimal(type_)


def is_timestamp(type_: pa.DataType) -> bool:
    return type_ in (TIMESTAMP, TIMESTAMP_NTZ)


def is_temporal(type_: pa.DataType) -> bool:
    return is_timestamp(type_) or type_ == DATE


def is_day_time(type_: pa.DataType) -> bool:
    """Intervals of a fixed length, in microseconds."""
    return type_ in (INTERVAL, DAYS)


def scale_of(type_: pa.DataType) -> int:
    """Digits after the point of an exact number type."""
    return int(type_.scale) if is_decimal(type_) else 0


def digits_of(type_: pa.DataType) -> int:
    """Digits an exact number type can hold."""
    return int(type_.precision) if is_decimal(type_) else _INTEGER_DIGITS[type_]


def as_decimal(type_: pa.DataType) -> pa.DataType:
    """The decimal type Spark casts an exact number to beside a decimal."""
    return type_ if is_decimal(type_) else pa.decimal128(_INTEGER_DIGITS[type_], 0)


def arrow_type(type_: pa.DataType) -> pa.DataType:
    """The Arrow type of a result."""
    if type_ == MONTHS:
        raise UnsupportedExpressionError(f"a result of type {name_of(type_)}")
    return INTERVAL if type_ == DAYS else type_


def canonical(type_: pa.DataType) -> pa.DataType | None:
    """The type an Arrow column is read as, None where Spark has no such type."""
    if pat.is_timestamp(type_):
        return TIMESTAMP_NTZ if type_.tz is None else TIMESTAMP
    if pat.is_duration(type_):
        return INTERVAL
    if pat.is_large_string(type_) or pat.is_string_view(type_):
        return STRING
    if pat.is_dictionary(type_):
        return canonical(type_.value_type)
    return type_ if type_ in _NAMES or is_decimal(type_) else None
