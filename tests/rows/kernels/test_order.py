"""Rows in engine order, bitmaps into masks, intervals into runs, look-ups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.operators.situations.kernels.advance import by_instant, order_of
from situ.operators.situations.kernels.match import Matches
from situ.operators.situations.kernels.spread import spread
from situ.rows.kernels.bits import set_where_true
from situ.rows.kernels.look import ranges, rows_at
from situ.rows.kernels.numbers import LONG_AGO, OPEN, UNBOUNDED
from situ.rows.kernels.order import (
    ascends,
    ascends_as_is,
    goes_on,
    group,
    last_of_each_instant,
    move_to_slots,
)

pytestmark = pytest.mark.nojit


@given(st.lists(st.integers(0, 4), max_size=40))
def test_grouping_is_stable(codes: list[int]) -> None:
    order, offset = group(np.array(codes, np.int64), 5)
    assert order.tolist() == sorted(range(len(codes)), key=codes.__getitem__)
    assert np.diff(offset).tolist() == [codes.count(code) for code in range(5)]


def test_order_is_judged_within_slots() -> None:
    offset = np.array([0, 2, 2, 4])
    order = np.arange(4)
    assert ascends(np.array([3, 4, 1, 2]), order, offset) == 0
    assert ascends(np.array([3, 3, 1, 2]), order, offset) == 1
    assert ascends(np.array([3, 3, 2, 1]), order, offset) == 2
    assert [ascends_as_is(np.array(t)) for t in ([1, 2], [1, 1], [1, 1, 0], [5])] == [0, 1, 2, 0]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), max_size=40), st.booleans())
def test_rows_move_to_their_slots(drawn: list[tuple[int, int]], by_time: bool) -> None:
    if by_time:
        drawn = sorted(set(drawn), key=lambda row: row[1])
    codes, time = (np.array([row[i] for row in drawn], np.int64) for i in (0, 1))
    mask = np.arange(len(drawn)).astype(np.uint8)
    order, offset = group(codes, 5)
    moved = np.empty(6, np.int64), np.empty_like(time), np.empty_like(mask)
    assert move_to_slots(codes, time, mask, *moved) == (ascends(time, order, offset) == 0)
    for found, expected in zip(moved, (offset, time[order], mask[order]), strict=True):
        assert np.array_equal(found, expected)


def test_of_an_instant_the_last_row_stays() -> None:
    time = np.array([1, 1, 2, 2, 2, 2])
    order, offset, shown = last_of_each_instant(time, np.arange(6), np.array([0, 4, 6]), 2)
    assert order.tolist() == [1, 3, 5]  # the slots' instants 2 are not one
    assert offset.tolist() == [0, 2, 3]
    assert shown.tolist() == [0, 2]  # one row of each of the first two instants that lose some


@given(st.lists(st.sampled_from([True, False, None]), max_size=70), st.integers(0, 9))
def test_bitmaps_of_any_offset_are_read(values: list[bool | None], skip: int) -> None:
    array = pa.array([None, True, False] * 3 + values, pa.bool_())[skip:]
    first, bit = divmod(array.offset, 8)
    validity, bitmap = (np.frombuffer(buffer, np.uint8, offset=first) for buffer in array.buffers())
    mask = np.full(len(array), 1, np.uint8)
    set_where_true(mask, bitmap, validity, bit, np.uint8(4))
    assert mask.tolist() == [5 if value else 1 for value in array.to_pylist()]


def test_the_last_row_not_later_than_an_instant() -> None:
    time = np.array([1, 3, 5, 2, 4])
    slot = np.array([0, 0, 0, 1, 1])
    found = rows_at(time, np.array([0, 3, 5]), slot, np.array([0, 3, 9, 3, 1]))
    assert found.tolist() == [-1, 1, 2, 3, 2]


def test_ranges_of_a_csr_layout() -> None:
    positions, offset = ranges(np.array([0, 2, 2, 5]), np.array([2, 0, 1]))
    assert positions.tolist() == [2, 3, 4, 0, 1]
    assert offset.tolist() == [0, 3, 5, 5]


def test_intervals_become_runs_of_every_symbol_they_stand_for() -> None:
    # slot 0:  [0------9)  both        slot 1:  [1--2)  both
    #            [2-4)     first               known from their ends, but for the last
    #              [3----  second
    slot, ts, te = np.array([0, 0, 0, 1]), np.array([0, 2, 3, 1]), np.array([9, 4, OPEN, 2])
    known = np.array([9, 4, 3, 2])
    mask = np.array([0b11, 0b01, 0b10, 0b11], np.uint64)
    runs = spread(slot, ts, te, known, mask, np.zeros(2, np.int64), np.full(2, UNBOUNDED), 2)
    assert runs.offset.tolist() == [[0, 2, 3], [0, 2, 3]]
    assert runs.ts[0, :3].tolist() == [0, 2, 1]
    assert runs.latest_te[0, :3].tolist() == [9, 9, 2]  # a running maximum, per slot
    assert runs.latest_te[1, :3].tolist() == [9, OPEN, 2]
    assert runs.admissible[0, :3].tolist() == [9, 4, 2]
    assert runs.admissible[1, :3].tolist() == [9, 3, 2]
    assert runs.first_row[1, :3].tolist() == [0, 2, 3]


def test_a_given_interval_has_lasted_long_enough_when_it_ends() -> None:
    slot, ts, te = np.zeros(3, np.int64), np.array([0, 1, 2]), np.array([5, 2, OPEN])
    mask = np.ones(3, np.uint64)
    runs = spread(slot, ts, te, ts, mask, np.array([3]), np.array([UNBOUNDED]), 1)
    assert runs.ts[0, :2].tolist() == [0, 2]
    assert runs.admissible[0, :2].tolist() == [5, OPEN]


@given(
    st.lists(st.integers(-3, 9) | st.sampled_from([int(OPEN), int(LONG_AGO)]), min_size=1, max_size=6),
    st.integers(-3, 9) | st.just(int(LONG_AGO)),
    st.integers(-3, 9) | st.just(int(LONG_AGO)),
)
def test_rows_go_on_when_they_ascend_behind_all_that_is_done(
    times: list[int], horizon: int, complete: int
) -> None:
    in_order = all(a < b for a, b in pairwise(times))
    expected = in_order and times[0] > horizon and times[0] >= complete and {OPEN, LONG_AGO}.isdisjoint(times)
    assert goes_on(np.array(times, np.int64), np.array([horizon]), complete) == expected


@given(st.lists(st.integers(0, 12), max_size=70))
def test_matches_are_put_in_order_and_those_of_an_instant_stay_as_they_were(instants: list[int]) -> None:
    order = sorted(range(len(instants)), key=instants.__getitem__)
    assert order_of(np.array(instants, np.int64)).tolist() == order
    numbers = np.arange(len(instants))
    found = by_instant(
        Matches(np.stack([numbers, -numbers], axis=1), numbers + 1, np.array(instants, np.int64))
    )
    assert found.pick.tolist() == [[m, -m] for m in order]
    assert found.slot.tolist() == [m + 1 for m in order]
    assert found.instant.tolist() == sorted(instants)
