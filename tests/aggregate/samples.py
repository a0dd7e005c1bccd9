"""Columns of every type, the aggregates each allows, and the comparison of answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from aggregate import oracle
from situ.aggregate import AggregateSpec, States
from situ.language.situations.ast import Item, Query, Symbol
from situ.language.situations.binder import BoundQuery, bind
from situ.language.text.types import Column

ANY = ("count", "first", "last", "value", "collect_list")
ORDERED = (*ANY, "min", "max")
PERCENTILES = ("median", "percentile 0.0", "percentile 0.3", "percentile 0.95", "percentile 1.0")
NUMERIC = (*ORDERED, "sum", "avg", "stddev", "variance", *PERCENTILES)


def _decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    top = 10**precision - 1
    unscaled = st.one_of(st.integers(-top, top), st.sampled_from([top, -top, 0]), st.integers(-200, 200))
    return unscaled.map(lambda number: Decimal(number).scaleb(-scale, _WIDE))


_WIDE = Context(prec=60)
# No sum of these overflows or underflows a double: what is beyond its range depends on the order of adding.
_FLOATS = st.one_of(
    st.floats(-1e140, 1e140).map(lambda x: 0.0 if abs(x) < 1e-100 else x),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1e9 + 1, 1e9 - 1, 1e9, 0.1]),
    st.integers(-3, 3).map(float),
)


def _bits(width: int) -> st.SearchStrategy[int]:
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0]))


TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any], tuple[str, ...]]] = {
    "tinyint": (pa.int8(), _bits(8), NUMERIC),
    "smallint": (pa.int16(), _bits(16), NUMERIC),
    "int": (pa.int32(), _bits(32), NUMERIC),
    "bigint": (pa.int64(), _bits(64), NUMERIC),
    "float": (
        pa.float32(),
        _FLOATS.filter(lambda x: not 1e30 < abs(x) < math.inf).map(np.float32).map(float),
        NUMERIC,
    ),
    "double": (pa.float64(), _FLOATS, NUMERIC),
    "boolean": (pa.bool_(), st.booleans(), ORDERED),
    "date": (pa.date32(), st.dates(date(1900, 1, 1), date(2100, 1, 1)), ORDERED),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        st.integers(-(10**15), 10**15).map(
            lambda us: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
        ),
        ORDERED,
    ),
    "timestamp_ntz": (pa.timestamp("us"), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), ORDERED),
    "string": (
        pa.string(),
        st.one_of(st.text(max_size=4), st.sampled_from(["", "é", "z", "\uffff", "\U0001f600"])),
        ORDERED,
    ),
    "binary": (pa.binary(), st.binary(max_size=3), ORDERED),
    "array<int>": (pa.list_(pa.int32()), st.lists(st.integers(-9, 9), max_size=2), ANY),
} | {
    f"decimal({precision},{scale})": (pa.decimal128(precision, scale), _decimals(precision, scale), NUMERIC)
    for precision, scale in [
        (3, 1),
        (8, 2),
        (11, 0),
        (11, 11),
        (12, 3),
        (15, 4),
        (18, 6),
        (19, 2),
        (28, 5),
        (38, 0),
        (38, 37),
    ]
}


def bound_of(items: Sequence[tuple[str, str | None]], types: dict[str, str]) -> BoundQuery:
    """A query that asks these items of symbol A over columns of these Spark types."""
    asked = tuple(item_of(function, name) for function, name in items)
    query = Query("events", symbols=(Symbol("A"),), order_by=("time",), items=asked)
    return bind(query, (Column("time", "bigint"), *(Column(name, kind) for name, kind in types.items())))


def item_of(function: str, name: str | None) -> Item:
    """A function of symbol A; a percentile's fraction stands behind its name."""
    function, _, fraction = function.partition(" ")
    return Item(function, "A", name, float(fraction) if fraction else None)


def spec_of(items: Sequence[tuple[str, str | None]], types: dict[str, str], **options: Any) -> AggregateSpec:
    """The specification of symbol A in `bound_of`."""
    return AggregateSpec.of(bound_of(items, types), "A", **options)


def requests(*triples: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(row_from, row_to, carry_idx) triples as the three arrays fold takes."""
    columns = np.array(triples, np.int64).reshape(-1, 3)
    row_from, row_to, carry_idx = (np.ascontiguousarray(column) for column in columns.T)
    return row_from, row_to, carry_idx


def assert_items(
    spec: AggregateSpec,
    items: Sequence[tuple[str, str | None]],
    spark_type: str,
    states: States,
    events: list[list[Any]],
) -> None:
    """Every item of every state is the oracle's answer for the state's events."""
    assert len(states) == len(events)
    for index, (function, name) in enumerate(items):
        got = spec.item(index, states).to_pylist()
        assert len(got) == len(events)
        for found, values in zip(got, events, strict=True):
            expected = len(values) if name is None else oracle.aggregate(function, spark_type, values)
            assert same(found, expected, _size(function, values)), (
                function,
                spark_type,
                values,
                found,
                expected,
            )


def same(found: Any, expected: Any, size: float = 0.0) -> bool:
    """Equal; results of floating arithmetic within 1e-9 relative (SEM 5.3)."""
    if isinstance(expected, float) and isinstance(found, float):
        if math.isnan(expected) or math.isinf(expected):
            return math.isnan(found) if math.isnan(expected) else found == expected
        return abs(found - expected) <= 1e-9 * abs(expected) + 1e-25 * size
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return type(found) is type(expected) and bool(found == expected)


def _size(function: str, values: Sequence[Any]) -> float:
    """What rounding errors of a sum are relative to."""
    if function not in ("sum", "avg"):
        return 0.0
    return sum(abs(float(value)) for value in values if value is not None and math.isfinite(value))
