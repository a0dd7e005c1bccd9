"""Percentiles of lists: exact, interpolated as Spark interpolates, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.aggregate.arrays import Numbers, frozen
from situ.aggregate.columns import ColumnView
from situ.aggregate.kernels.lists import middle_keys
from situ.aggregate.lists import Lists
from situ.aggregate.results import number_array
from situ.aggregate.types import ValueType

_BUT_THE_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)
_ToDoubles: TypeAlias = Callable[[Numbers], Numbers]


def percentile(lists: Lists, kind: ValueType, fraction: float) -> pa.Array:
    """Of each list the value at `fraction` of the way from its least to its greatest; null of none."""
    # Many matches may show one list, and lists with one start are prefixes of each other: see the kernel.
    span = int(lists.length.max(initial=0)) + 1
    distinct, which = np.unique(lists.start * span + lists.length, return_inverse=True)
    start, length = np.divmod(distinct, span)
    position = np.maximum(length - 1, 0) * fraction
    lower, higher = np.floor(position).astype(np.int64), np.ceil(position).astype(np.int64)
    keys, doubles = _keys(lists.pool, kind)
    low, high = middle_keys(keys, *map(frozen, (start, length, lower, higher)))
    least, most = doubles(low), doubles(high)
    with np.errstate(all="ignore"):
        between = least + (position - lower) * (most - least)
    # of equal values the one itself: between two infinities lies none
    values = np.where(low == high, least, between)
    return number_array(values[which], (length > 0)[which], pa.float64())


def _keys(pool: pa.Array, kind: ValueType) -> tuple[Numbers, _ToDoubles]:
    """int64 that order as the values do, and what makes doubles of them."""
    if kind.family == "decimals":
        return _ranks(pool, kind)
    column = ColumnView("", pool, kind)
    if kind.family == "floats":
        numbers = np.where(np.isnan(column.numbers), np.nan, column.numbers)  # one NaN, above all others
        return frozen(_flipped(numbers.view(np.int64))), lambda keys: _flipped(keys).view(np.float64)
    if not kind.is_decimal:
        return column.numbers, lambda keys: keys.astype(np.float64)
    arrow = kind.arrow

    def scaled(keys: Numbers) -> Numbers:
        return ColumnView("", number_array(keys, np.ones(keys.size, np.bool_), arrow), kind).floats

    return column.numbers, scaled


def _flipped(bits: Numbers) -> Numbers:
    """Bits of doubles as integers of their order, and back."""
    return np.where(bits < 0, bits ^ _BUT_THE_SIGN, bits)


def _ranks(pool: pa.Array, kind: ValueType) -> tuple[Numbers, _ToDoubles]:
    """For numbers of more than 64 bits: each one's place among all."""
    order = pc.sort_indices(pool).to_numpy()
    sorted_pool = pool.take(pa.array(order))
    is_new = np.ones(len(pool), np.bool_)
    is_new[1:] = np.asarray(pc.not_equal(sorted_pool[1:], sorted_pool[:-1]))
    keys = np.empty(len(pool), np.int64)
    keys[order] = np.cumsum(is_new) - 1
    floats = ColumnView("", sorted_pool.filter(pa.array(is_new)), kind).floats
    # a list without values has key 0 even where there is no value at all
    return frozen(keys), lambda at: floats[at] if floats.size else np.zeros(at.size)
