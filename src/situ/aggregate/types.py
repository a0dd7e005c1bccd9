"""How the values of a Spark type are held: which of five families, and the Arrow type that carries them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

import pyarrow as pa

# integers: int64 numbers (also booleans, dates, timestamps, and decimals of up to 18 digits, unscaled);
# floats: float64 numbers; decimals: more than 18 digits; bytes: strings and binaries; opaque: all others,
# which can be counted and kept but neither ordered nor added.
Family = Literal["integers", "floats", "decimals", "bytes", "opaque"]

MAX_DIGITS = 38
_NARROW_DIGITS = 18

_SIMPLE: dict[str, tuple[Family, pa.DataType]] = {
    "tinyint": ("integers", pa.int8()),
    "smallint": ("integers", pa.int16()),
    "int": ("integers", pa.int32()),
    "bigint": ("integers", pa.int64()),
    "float": ("floats", pa.float32()),
    "double": ("floats", pa.float64()),
    "boolean": ("integers", pa.bool_()),
    "date": ("integers", pa.date32()),
    "timestamp": ("integers", pa.timestamp("us", tz="UTC")),
    "timestamp_ntz": ("integers", pa.timestamp("us")),
    "interval day to second": ("integers", pa.duration("us")),
    "string": ("bytes", pa.string()),
    "binary": ("bytes", pa.binary()),
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_TEXT = re.compile(r"(var)?char\(\d+\)|string collate utf8_binary")


@dataclass(frozen=True)
class ValueType:
    """A Spark type; `arrow` is None for opaque types, whose columns are kept as they come."""

    spark: str
    family: Family
    arrow: pa.DataType | None
    precision: int = 0
    scale: int = 0

    @property
    def is_decimal(self) -> bool:
        return self.precision > 0


@cache
def value_type(spark: str) -> ValueType:
    """Read Spark's simpleString of a type."""
    name = spark.strip().lower()
    if name in _SIMPLE:
        return ValueType(name, *_SIMPLE[name])
    if decimal := _DECIMAL.fullmatch(name):
        precision, scale = int(decimal[1]), int(decimal[2])
        family: Family = "integers" if precision <= _NARROW_DIGITS else "decimals"
        return ValueType(name, family, pa.decimal128(precision, scale), precision, scale)
    if _TEXT.fullmatch(name):
        return ValueType(name, "bytes", pa.string())
    return ValueType(name, "opaque", None)
