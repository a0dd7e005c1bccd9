"""Partition values to codes: what Spark would group is one partition, everything else is not."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.errors import DataError
from situ.rows.keys import encode, hashable

NAN = float("nan")


def decoded(columns: list[pa.Array], n_rows: int) -> list[tuple[object, ...]]:
    codes, values = encode(columns, n_rows)
    keys = hashable(values)
    assert len(set(keys)) == len(keys), "two codes for one key"
    return [keys[code] for code in codes]


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["x", None, "x", ""]),
        pa.array(["x", None, "x", ""], pa.large_string()),
        pa.array(["x", None, "x", ""]).dictionary_encode(),
        pa.array([1, None, 1, 2], pa.int8()),
        pa.array([2**63 - 1, -(2**63), None, -(2**63)]),
        pa.array([True, None, True, False]),
        pa.array([b"a", None, b"a", b""]),
        pa.array([date(2020, 1, 1), None, date(2020, 1, 1), date(1900, 1, 1)]),
        pa.array(
            [datetime(2020, 1, 1), None, datetime(2020, 1, 1), datetime(1900, 1, 1)],
            pa.timestamp("us", "UTC"),
        ),
        pa.array([Decimal("1.50"), None, Decimal("1.50"), Decimal("1.51")], pa.decimal128(10, 2)),
        pa.array([1.5, None, 1.5, 2.5], pa.float32()),
        pa.nulls(3),
    ],
    ids=lambda array: str(array.type),
)
def test_every_type_is_grouped_by_value(values: pa.Array) -> None:
    assert decoded([values], len(values)) == [(value,) for value in values.to_pylist()]


def test_nan_is_a_value_and_zero_has_no_sign() -> None:
    values = pa.array([NAN, 0.0, -0.0, np.copysign(NAN, -1), None, 1.0])
    assert decoded([values], 6) == [("NaN",), (0.0,), (0.0,), ("NaN",), (None,), (1.0,)]


def test_codes_are_numbered_by_first_appearance() -> None:
    codes, (values,) = encode([pa.array(["b", "a", "b", None])], 4)
    assert codes.tolist() == [0, 1, 0, 2]
    assert values.to_pylist() == ["b", "a", None]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "x", "y"]),
            st.sampled_from([None, 0.0, -0.0, NAN]),
            st.sampled_from([None, 1, 2]),
        ),
        max_size=30,
    )
)
def test_several_columns_make_one_key(rows: list[tuple[object, ...]]) -> None:
    columns = [
        pa.array([row[i] for row in rows], kind)
        for i, kind in enumerate((pa.string(), pa.float64(), pa.int64()))
    ]
    expected = [(x, "NaN" if y is not None and y != y else y, z) for x, y, z in rows]
    assert decoded(columns, len(rows)) == expected


def test_without_columns_there_is_one_partition() -> None:
    codes, values = encode([], 3)
    assert (codes.tolist(), values, hashable(values)) == ([0, 0, 0], [], [()])


def test_a_column_that_cannot_be_grouped_is_refused_by_type() -> None:
    with pytest.raises(DataError, match="cannot partition by a column of type") as caught:
        encode([pa.array([{"a": 1}])], 1)
    assert "its fields" in str(caught.value)
