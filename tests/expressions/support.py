"""What the expression tests share: compiling text, and a table full of awkward values."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from situ.expressions import Compiled, compile_expression
from situ.language.text.nodes import Expression

N_ROWS = 64
_WIDE = Context(prec=60)
INF = float("inf")
NAN = float("nan")

_EPOCH = datetime(1970, 1, 1)
_TIMES = [
    _EPOCH,
    _EPOCH - timedelta(microseconds=1),
    datetime(2024, 2, 29, 23, 59, 59, 999999),
    datetime(2024, 3, 1),
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999999),
]
# Instants at which clocks change in the zones the tests use, and local times they skip or show twice.
_CHANGES = [
    datetime(2024, 3, 10, 7),  # New York: 02:00 -> 03:00
    datetime(2024, 11, 3, 6),  # New York: 02:00 -> 01:00
    datetime(1883, 11, 18, 17),  # New York: the end of local mean time
    datetime(2024, 3, 31, 1),  # London and Berlin
    datetime(2024, 10, 27, 1),
    datetime(2024, 10, 5, 15, 30),  # Lord Howe: half an hour
    datetime(2024, 4, 6, 15),
    datetime(2011, 12, 30, 10),  # Apia: the 30th is skipped
    datetime(2400, 3, 12, 7),  # New York, long after the last change written down
]
_LOCAL_CHANGES = [
    datetime(2024, 3, 10, 2, 30),
    datetime(2024, 11, 3, 1, 30),
    datetime(2024, 3, 31, 1, 30),
    datetime(2024, 10, 27, 1, 30),
    datetime(2024, 10, 6, 2, 15),
    datetime(2024, 4, 7, 1, 45),
    datetime(2011, 12, 30, 12),
]
_AROUND = [timedelta(), timedelta(microseconds=-1), timedelta(minutes=20), timedelta(days=1, minutes=-40)]
INSTANTS = _TIMES + [change + step for change in _CHANGES for step in _AROUND]
LOCAL_TIMES = _TIMES + [change + step for change in _LOCAL_CHANGES for step in _AROUND]


_LENGTHS = [timedelta(), timedelta(hours=25), timedelta(days=-400, microseconds=1), timedelta(hours=-1)]


def _integers(bits: int) -> list[Any]:
    top = 2 ** (bits - 1)
    return [0, 1, -1, 2, -3, 7, 10, 15, -25, 100, top - 1, -top, top - 2, -top + 1, top // 2, None]


_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 0.1, 1.005, 2.675, -1.005, 70.0, 8.0, 1e-7, 123456.789,
    2.0**31, -(2.0**31) - 0.5, 2.0**53, 2.0**63, -(2.0**63), 1e15 + 0.3, 12345678901234.565, 1e300, -1e300,
    5e-324, 1.7976931348623157e308, INF, -INF, NAN, None,
]  # fmt: skip


def _decimals(precision: int, scale: int) -> list[Any]:
    unscaled = [0, 1, -1, 5, -5, 49, 50, 150, -150, 12345, 10**precision - 1, 1 - 10**precision]
    return [Decimal(n).scaleb(-scale, _WIDE) for n in unscaled if abs(n) < 10**precision] + [None]


POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i8": (pa.int8(), _integers(8)),
    "i16": (pa.int16(), _integers(16)),
    "i32": (pa.int32(), _integers(32)),
    "j32": (pa.int32(), _integers(32)),
    "i64": (pa.int64(), _integers(64)),
    "j64": (pa.int64(), _integers(64)),
    "f32": (pa.float32(), [0.0, -0.0, 1.5, 0.1, -2.5, 3.4e38, 16777217.0, INF, -INF, NAN, None]),
    "f64": (pa.float64(), _FLOATS),
    "g64": (pa.float64(), _FLOATS),
    "d5": (pa.decimal128(5, 2), _decimals(5, 2)),
    "d18": (pa.decimal128(18, 6), _decimals(18, 6)),
    "d38": (pa.decimal128(38, 10), _decimals(38, 10)),
    "e38": (pa.decimal128(38, 0), _decimals(38, 0)),
    "b": (pa.bool_(), [True, False, None]),
    "c": (pa.bool_(), [True, False, None]),
    "s": (pa.string(), ["", " ", "a", "A", "ab", "a%b", "a_b", "ä", "z\n", "😀x", "10", "9", "\\", None]),
    "r": (pa.string(), ["", "a", "ab", "b", "ä", "\x00", "10", None]),
    "ts": (pa.timestamp("us", tz="UTC"), [time.replace(tzinfo=UTC) for time in INSTANTS] + [None]),
    "us": (pa.timestamp("us", tz="UTC"), [time.replace(tzinfo=UTC) for time in INSTANTS] + [None]),
    "ntz": (pa.timestamp("us"), [*LOCAL_TIMES, None]),
    "dt": (pa.date32(), [time.date() for time in LOCAL_TIMES] + [date(1999, 12, 31), None]),
    "gap": (pa.duration("us"), [*_LENGTHS, None]),
    "only_null": (pa.int32(), [None]),
}


def awkward_table(seed: int = 7, n: int = N_ROWS) -> pa.Table:
    """Columns of every type, holding extremes, signed zeros, NaN, infinities, empty texts and nulls."""
    rng = random.Random(seed)
    columns = {}
    for name, (type_, pool) in POOLS.items():
        values = [rng.choice(pool) if rng.random() < 0.7 else _ordinary(rng, type_, pool) for _ in range(n)]
        columns[name] = pa.array(values, type_)
    return pa.table(columns)


def _ordinary(rng: random.Random, type_: pa.DataType, pool: list[Any]) -> Any:
    if pool == [None]:
        return None
    if pa.types.is_integer(type_):
        return rng.randint(-100, 100)
    if pa.types.is_floating(type_):
        return round(rng.uniform(-200, 200), rng.randint(0, 4))
    if pa.types.is_decimal(type_):
        return Decimal(rng.randint(-99999, 99999)).scaleb(-type_.scale)
    return rng.choice(pool)


def compiled(sql: str, schema: pa.Schema, *, ansi: bool = True, time_zone: str = "UTC") -> Compiled:
    return compile_expression(Expression(sql, ()), schema, ansi=ansi, time_zone=time_zone)


def columns_of(table: pa.Table) -> dict[str, pa.Array]:
    return {name: table[name].combine_chunks() for name in table.column_names}


def evaluate(sql: str, table: pa.Table, *, ansi: bool = True, time_zone: str = "UTC") -> list[Any]:
    expression = compiled(sql, table.schema, ansi=ansi, time_zone=time_zone)
    result = expression(columns_of(table))
    assert result.type == expression.type
    assert len(result) == table.num_rows
    result.validate(full=True)
    return result.to_pylist()


def plain(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values as Python objects; dates and instants as numbers, for some lie beyond what Python can hold."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type):
        array = array.cast(pa.int64())
    values: list[Any] = array.to_pylist()
    return values


def same(left: Any, right: Any) -> bool:
    """Equal to the last bit: NaN is NaN, and 0.0 is not -0.0."""
    if isinstance(left, float) and isinstance(right, float):
        return repr(left) == repr(right)
    return type(left) is type(right) and bool(left == right)
