"""Arrow types under Spark's names, and time columns as ticks and back (SEM 1.1)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.errors import DataError
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.schema import check_reserved, from_ticks, spark_type, to_ticks


@pytest.mark.parametrize(
    ("arrow", "spark"),
    [
        (pa.int8(), "tinyint"),
        (pa.int64(), "bigint"),
        (pa.uint8(), "smallint"),
        (pa.uint32(), "bigint"),
        (pa.float32(), "float"),
        (pa.timestamp("ns"), "timestamp_ntz"),
        (pa.timestamp("ms", "Europe/Berlin"), "timestamp"),
        (pa.date64(), "date"),
        (pa.decimal128(10, 2), "decimal(10,2)"),
        (pa.dictionary(pa.int32(), pa.string()), "string"),
        (pa.duration("us"), "interval day to second"),
        (pa.null(), "void"),
    ],
)
def test_types_have_sparks_names(arrow: pa.DataType, spark: str) -> None:
    assert spark_type(arrow) == spark


INSTANT = datetime(1969, 12, 31, 23, 59, 59, 999_999)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_are_microseconds_whatever_their_unit_and_zone(unit: str, zone: str | None) -> None:
    kind = pa.timestamp(unit, zone)
    column = pa.array([0, 1, -1], pa.int64()).cast(kind)
    scale = {"s": 10**6, "ms": 1000, "us": 1, "ns": None}[unit]
    if scale is None:
        column = pa.array([0, 1000, -1000], pa.int64()).cast(kind)
        scale = 1
    ticks = to_ticks(column, "t")
    assert ticks.tolist() == [0, scale, -scale]
    assert from_ticks(ticks, kind).equals(column)


def test_nanoseconds_that_are_not_whole_microseconds_are_refused() -> None:
    column = pa.array([1000, 1001], pa.int64()).cast(pa.timestamp("ns"))
    with pytest.raises(
        DataError, match=r"time column t holds timestamp\[ns\] values .* not whole microseconds"
    ):
        to_ticks(column, "t")


def test_seconds_too_far_away_for_microseconds_are_refused() -> None:
    with pytest.raises(DataError, match="time column t"):
        to_ticks(pa.array([2**62], pa.int64()).cast(pa.timestamp("s")), "t")


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
def test_dates_are_midnight_utc(kind: pa.DataType) -> None:
    days = [date(1970, 1, 2), date(1969, 12, 31), date(9999, 12, 31)]
    column = pa.array(days, kind)
    ticks = to_ticks(column, "d")
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    wanted = [
        (datetime(d.year, d.month, d.day, tzinfo=UTC) - epoch) // timedelta(microseconds=1) for d in days
    ]
    assert ticks.tolist() == wanted
    assert from_ticks(ticks, kind).equals(column)


@given(
    st.sampled_from([pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()]),
    st.data(),
)
def test_integers_are_themselves(kind: pa.DataType, data: st.DataObject) -> None:
    bounds = np.iinfo(kind.to_pandas_dtype())
    values = data.draw(st.lists(st.integers(int(bounds.min), int(bounds.max)), max_size=9))
    column = pa.array(values, kind)
    assert to_ticks(column, "t").tolist() == values
    assert from_ticks(to_ticks(column, "t"), kind).equals(column)


def test_chunks_are_put_together() -> None:
    assert to_ticks(pa.chunked_array([[1, 2], [], [3]], pa.int64()), "t").tolist() == [1, 2, 3]


def test_null_where_told() -> None:
    ticks, null = np.array([1, 2]), np.array([False, True])
    for kind in (pa.int64(), pa.int16(), pa.timestamp("us", "UTC"), pa.timestamp("s")):
        assert from_ticks(ticks * 10**6 if pa.types.is_timestamp(kind) else ticks, kind, null).null_count == 1
    assert from_ticks(np.array([0, 0]), pa.date32(), null).to_pylist() == [date(1970, 1, 1), None]


def test_the_two_reserved_instants_are_refused_and_their_neighbours_taken() -> None:
    whole = np.array([0, 2])
    check_reserved(np.array([LONG_AGO + 1, OPEN - 1]), whole)
    check_reserved(np.empty(0, np.int64), np.array([0, 0]))
    for bad in ([LONG_AGO, 0], [0, OPEN]):
        with pytest.raises(DataError, match="reserves"):
            check_reserved(np.array(bad), whole)
    # the second of three slots holds it; the third is empty
    with pytest.raises(DataError, match="9223372036854775807"):
        check_reserved(np.array([1, 5, OPEN]), np.array([0, 1, 3, 3]))
