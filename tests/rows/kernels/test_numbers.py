"""Instants that saturate, bits, and searches that gallop."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.rows.kernels.numbers import (
    LONG_AGO,
    OPEN,
    bit_position,
    first_above,
    first_at_least,
    lowest_bit,
    minus,
    plus,
)

pytestmark = pytest.mark.nojit

INSTANTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3) | st.sampled_from([int(LONG_AGO), int(OPEN)])
DURATIONS = st.integers(0, 2**63 - 1) | st.integers(0, 3)


@given(INSTANTS, DURATIONS)
def test_sums_and_differences_saturate(instant: int, duration: int) -> None:
    assert plus(np.int64(instant), np.int64(duration)) == min(instant + duration, 2**63 - 1)
    assert minus(np.int64(instant), np.int64(duration)) == max(instant - duration, -(2**63))


@pytest.mark.parametrize("position", range(64))
def test_bits_are_found(position: int) -> None:
    alone = np.uint64(1 << position)
    assert bit_position(alone) == position
    assert lowest_bit(alone | np.uint64(1 << 63)) == alone


@given(st.lists(st.integers(-9, 9), max_size=40), st.integers(-10, 10), st.integers(-2, 45), st.data())
def test_searches_find_the_same_from_anywhere(
    values: list[int], wanted: int, near: int, data: st.DataObject
) -> None:
    values.sort()
    low = data.draw(st.integers(0, len(values)))
    high = data.draw(st.integers(low, len(values)))
    array = np.array([values], np.int64).reshape(1, len(values))
    assert first_at_least(array, 0, low, high, wanted, near) == bisect_left(values, wanted, low, high)
    assert first_above(array, 0, low, high, wanted, near) == bisect_right(values, wanted, low, high)


def test_nothing_is_above_open() -> None:
    assert first_above(np.array([[1, OPEN]]), 0, 0, 2, OPEN, 0) == 2
