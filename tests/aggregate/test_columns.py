"""How Arrow columns become arrays: without a copy where they can, and right where they cannot."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from aggregate.samples import TYPES, bound_of, requests, spec_of
from situ.aggregate import AggregateSpec
from situ.aggregate.columns import ColumnView
from situ.aggregate.types import value_type
from situ.errors import AggregateTypeError, DataError


@pytest.mark.parametrize(
    ("spark_type", "array"),
    [
        ("double", pa.array([1.0, 2.0, 3.0])),
        ("bigint", pa.array([1, None, 3])),
        ("timestamp", pa.array([1, 2, 3], pa.timestamp("us", "UTC"))),
    ],
)
def test_wide_columns_are_views_of_arrows_memory(spark_type: str, array: pa.Array) -> None:
    column = ColumnView("x", array.slice(1), value_type(spark_type))
    address = column.numbers.__array_interface__["data"][0]
    assert address == array.buffers()[1].address + 8
    assert not column.numbers.flags.writeable


def test_validity_follows_the_offset_of_a_slice() -> None:
    array = pa.array([None if i % 3 == 0 else float(i) for i in range(40)])
    for offset in (0, 1, 7, 8, 9, 17):
        column = ColumnView("x", array.slice(offset, 20), value_type("double"))
        assert column.valid.tolist() == [i % 3 != 0 for i in range(offset, offset + 20)]


@pytest.mark.parametrize(
    ("spark_type", "array", "expected"),
    [
        (
            "timestamp",
            pa.array([3000], pa.timestamp("ns", "Europe/Berlin")),
            datetime.fromtimestamp(0, UTC) + timedelta(microseconds=3),
        ),
        ("timestamp_ntz", pa.array([2], pa.timestamp("s")), datetime(1970, 1, 1, 0, 0, 2)),
        ("string", pa.array(["a"], pa.large_string()), "a"),
        ("string", pa.array(["a"], pa.string_view()), "a"),
        ("binary", pa.array([b"a"], pa.binary(1)), b"a"),
        ("double", pa.array([1.5], pa.float32()), 1.5),
        ("double", pa.array([None], pa.null()), None),
        ("int", pa.array([5], pa.int32()).dictionary_encode(), 5),
        ("decimal(9,2)", pa.array([Decimal("1.25")], pa.decimal64(9, 2)), Decimal("1.25")),
        ("interval day to second", pa.array([7], pa.duration("us")), timedelta(microseconds=7)),
    ],
)
def test_other_arrow_types_are_taken_as_the_spark_type(
    spark_type: str, array: pa.Array, expected: object
) -> None:
    spec = spec_of([("first", "x"), ("max", "x")], {"x": spark_type})
    states = spec.fold(spec.rows({"x": array}), spec.empty(), *requests((0, 0, -1)))
    for index in (0, 1):
        answer = spec.item(index, states)
        assert answer.to_pylist() == [expected]
        assert answer.type == value_type(spark_type).arrow


def test_values_that_do_not_fit_are_named() -> None:
    spec = spec_of([("first", "x")], {"x": "timestamp"})
    with pytest.raises(DataError, match=r"column x .* do not fit timestamp"):
        spec.rows({"x": pa.array([1500], pa.timestamp("ns", "UTC"))})


def test_decimals_become_doubles_rounded_once() -> None:
    texts = ["99999999999999.9999", "-12345678901234.5679", "0.0001", "123456789.1235"]
    for arrow, spark_type in (
        (pa.decimal128(18, 4), "decimal(18,4)"),
        (pa.decimal128(38, 4), "decimal(38,4)"),
    ):
        column = ColumnView("x", pa.array([Decimal(text) for text in texts], arrow), value_type(spark_type))
        assert column.floats.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("spark_type", [name for name in TYPES if name != "array<int>"])
def test_items_have_the_type_the_binder_promises(spark_type: str) -> None:
    items = [(function, "x") for function in TYPES[spark_type][2]]
    bound = bound_of(items, {"x": spark_type})
    spec = AggregateSpec.of(bound, "A")
    rows = spec.rows({"x": pa.array([None], TYPES[spark_type][0])})
    for index, promised in enumerate(bound.item_types):
        expected = value_type(promised.removeprefix("array<").removesuffix(">")).arrow
        is_list = items[index][0] == "collect_list"
        assert is_list == promised.startswith("array<")
        assert spec.item(index, rows).type == (pa.list_(expected) if is_list else expected)


def test_a_type_without_order_is_refused_by_name() -> None:
    with pytest.raises(AggregateTypeError, match=r"max\(A\.x\) needs an order of the values"):
        spec_of([("max", "x")], {"x": "array<int>"})


def test_opaque_types_are_kept_before_and_after_the_first_column() -> None:
    spec = spec_of([("last", "x"), ("count", "x"), ("collect_list", "x")], {"x": "struct<a:int>"})
    empty = spec.fold(spec.rows({"x": pa.nulls(0)}), spec.empty(), *requests((0, -1, -1)))
    rows = spec.rows({"x": pa.array([{"a": 1}, None])})
    states = spec.fold(rows, spec.empty(), *requests((0, 0, -1), (0, 1, -1)))
    assert spec.item(0, empty).to_pylist() == [None]
    assert spec.item(0, states).to_pylist() == [{"a": 1}, None]
    carried = spec.fold(spec.rows({"x": pa.nulls(0)}), states, *requests((0, -1, 0), (0, -1, -1)))
    assert spec.item(0, carried).to_pylist() == [{"a": 1}, None]
    assert spec.item(1, carried).to_pylist() == [1, 0]
    assert spec.item(2, carried).to_pylist() == [[{"a": 1}], []]
    restored = spec.from_buffers(spec.to_buffers(carried))
    unknown = spec.fold(spec.rows({"x": pa.nulls(2)}), restored, *requests((0, 1, 0), (0, 0, -1)))
    assert spec.item(2, unknown).to_pylist() == [[{"a": 1}], []]
    assert spec.item(0, states.take(np.array([1, 0]))).to_pylist() == [None, {"a": 1}]
