"""Rows to raw runs, against hand-drawn timelines and a row-by-row oracle (SEM 2.1, 8.5)."""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np
import pytest

from situ.operators.situations.kernels.derive import derive
from situ.operators.situations.kernels.layout import Entries, Rows, Runs, Slots
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED
from situations.drawing import kept, new_slots, no_entries, rows_of, spans, values_of

pytestmark = pytest.mark.nojit


def derived(
    rows: Rows,
    slots: Slots | None = None,
    entries: Entries | None = None,
    n: int = 2,
    at_least: tuple[int, ...] | None = None,
    forget_after: int = UNBOUNDED,
) -> tuple[Runs, list[int]]:
    k = len(rows.offset) - 1
    runs, mask = derive(
        rows,
        no_entries(k) if entries is None else entries,
        new_slots(k) if slots is None else slots,
        0,
        np.array(at_least or (0,) * n, np.int64),
        np.full(n, UNBOUNDED),
        np.int64(forget_after),
    )
    return runs, mask.tolist()


def test_runs_begin_with_their_first_event_and_end_with_the_first_that_fails() -> None:
    runs, mask = derived(rows_of([".##..#", "###.##"]))
    #                             012345
    assert spans(runs, 0) == [(1, 3), (5, OPEN)]
    assert spans(runs, 1) == [(0, 3), (4, OPEN)]
    assert values_of(runs.first_row, runs, 0) == [1, 5]
    assert values_of(runs.last_row, runs, 0) == [2, 5]
    assert values_of(runs.carry, runs, 0) == [-1, -1]
    assert mask == [0b11]


def test_without_a_duration_constraint_a_run_is_admissible_from_its_start() -> None:
    runs, _ = derived(rows_of([".##.", ".##."]), at_least=(0, 2))
    assert values_of(runs.admissible, runs, 0) == [1]
    assert values_of(runs.admissible, runs, 1) == [NEVER]  # left to admit


def test_slots_are_derived_apart() -> None:
    runs, mask = derived(rows_of(["##", ".."], ["#.", ".#"], ["..", ".."]))
    assert [spans(runs, 0, k) for k in range(3)] == [[(0, OPEN)], [(0, 1)], []]
    assert [spans(runs, 1, k) for k in range(3)] == [[], [(1, OPEN)], []]
    assert mask == [1, 2, 0]
    assert values_of(runs.first_row, runs, 0, 1) == [2]  # rows are counted over all slots


def test_a_slot_without_rows_keeps_what_it_had() -> None:
    rows = Rows(np.empty(0, np.int64), np.empty(0, np.uint8), np.array([0, 0]))
    before = Slots(np.array([5]), np.array([1], np.uint64), np.empty((0, 1), np.int64))
    runs, mask = derived(rows, before, kept((0, 3, OPEN, 3)))
    assert spans(runs, 0) == [(3, OPEN)]
    assert mask == [1]
    assert values_of(runs.last_row, runs, 0) == [-1]  # no rows of this step


def test_an_entry_goes_on_where_its_condition_held() -> None:
    # kept   a [3--(horizon 5)--
    # rows        6  7  8
    #        a    #  .  #
    rows = rows_of(["#.#", "..."], t=[[6, 7, 8]])
    before = Slots(np.array([5]), np.array([1], np.uint64), np.empty((0, 1), np.int64))
    runs, _ = derived(rows, before, kept((0, 1, 2, 1), (0, 3, OPEN, 3)))
    assert spans(runs, 0) == [(1, 2), (3, 7), (8, OPEN)]
    assert values_of(runs.carry, runs, 0) == [0, 1, -1]
    assert values_of(runs.first_row, runs, 0) == [0, 0, 2]
    assert values_of(runs.last_row, runs, 0) == [-1, 0, 2]


def test_an_entry_ended_by_the_first_row_has_no_rows_of_the_step() -> None:
    rows = rows_of([".", "."], t=[[6]])
    before = Slots(np.array([5]), np.array([1], np.uint64), np.empty((0, 1), np.int64))
    runs, mask = derived(rows, before, kept((0, 3, OPEN, 3)))
    assert spans(runs, 0) == [(3, 6)]
    assert values_of(runs.last_row, runs, 0) == [values_of(runs.first_row, runs, 0)[0] - 1]
    assert mask == [0]


def test_a_condition_that_held_without_an_entry_goes_on_from_long_ago() -> None:
    # The window has passed its start: it must end, but not start anew (SEM 8.4).
    rows = rows_of(["#.#", "..."], t=[[6, 7, 8]])
    before = Slots(np.array([5]), np.array([1], np.uint64), np.empty((0, 1), np.int64))
    runs, _ = derived(rows, before)
    assert spans(runs, 0) == [(LONG_AGO, 7), (8, OPEN)]
    assert values_of(runs.admissible, runs, 0) == [NEVER, 8]


def test_a_gap_longer_than_forget_after_begins_a_new_history() -> None:
    # t   0  1  2     6  7      forget_after 3: the step from 2 to 6 is longer
    # a   .  #  #     #  .
    # b   #  .  .     .  .
    rows = rows_of([".###.", "#...."], t=[[0, 1, 2, 6, 7]])
    runs, mask = derived(rows, forget_after=3)
    assert spans(runs, 0) == [(1, OPEN), (6, 7)]  # what was open stays open for ever
    assert values_of(runs.last_row, runs, 0) == [2, 3]
    assert spans(runs, 1) == [(0, 1)]
    assert mask == [0]
    assert spans(derived(rows, forget_after=4)[0], 0) == [(1, 7)]  # exactly as long is not longer


def test_a_gap_before_the_first_row_of_a_step_counts_from_the_horizon() -> None:
    rows = rows_of(["#", "."], t=[[9]])
    before = Slots(np.array([5]), np.array([1], np.uint64), np.empty((0, 1), np.int64))
    assert spans(derived(rows, before, kept((0, 3, OPEN, 3)), forget_after=3)[0], 0) == [(3, OPEN), (9, OPEN)]
    assert spans(derived(rows, before, kept((0, 3, OPEN, 3)), forget_after=4)[0], 0) == [(3, OPEN)]


def test_a_new_partition_has_no_gap_before_it() -> None:
    rows = rows_of(["##", ".."], t=[[-(2**62), -(2**62) + 1]])
    assert spans(derived(rows, forget_after=0)[0], 0) == [(-(2**62), OPEN), (-(2**62) + 1, OPEN)]
    assert spans(derived(rows, forget_after=1)[0], 0) == [(-(2**62), OPEN)]


@pytest.mark.parametrize("forget_after", [UNBOUNDED, 2])
def test_many_changes_over_many_blocks_and_slots(forget_after: int) -> None:
    """More runs than there is room for at first, more rows than one block, slots of all sizes."""
    rng = np.random.default_rng(4)
    sizes = [3000, 0, 1, 1024, 1025, 700]
    time = np.concatenate([np.cumsum(rng.choice([1, 1, 1, 3], size)) for size in sizes]).astype(np.int64)
    mask = rng.integers(0, 8, len(time)).astype(np.uint8)
    rows = Rows(time, mask, np.concatenate([[0], np.cumsum(sizes)]))
    runs, _ = derived(rows, n=3, forget_after=forget_after)
    for k, (begin, end) in enumerate(zip(rows.offset[:-1].tolist(), rows.offset[1:].tolist(), strict=True)):
        for symbol in range(3):
            wanted = by_hand(time[begin:end].tolist(), (mask[begin:end] >> symbol & 1).tolist(), forget_after)
            assert spans(runs, symbol, k) == wanted


def by_hand(time: list[int], holds: list[int], forget_after: int) -> list[tuple[int, int]]:
    """Runs of one symbol, history by history."""
    gaps = [forget_after != UNBOUNDED and later - earlier > forget_after for earlier, later in pairwise(time)]
    history = np.cumsum([0, *gaps])
    found = []
    for _, part in groupby(range(len(time)), key=lambda i: history[i]):
        indices = list(part)
        for held, run in groupby(indices, key=lambda i: holds[i]):
            if held:
                last = list(run)
                te = time[last[-1] + 1] if last[-1] < indices[-1] else int(OPEN)
                found.append((time[last[0]], te))
    return found


def test_sixty_four_symbols_have_a_bit_each() -> None:
    masks = np.array([0, 2**63, 2**63 + 1, 1], np.uint64)
    rows = Rows(np.arange(4), masks, np.array([0, 4]))
    runs, mask = derived(rows, n=64)
    assert spans(runs, 63) == [(1, 3)]
    assert spans(runs, 0) == [(2, OPEN)]
    assert mask == [1]
