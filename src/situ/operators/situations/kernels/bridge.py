"""Gaps that are ignored: raw runs near each other become one situation (SEM 14)."""

from typing import NamedTuple

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.admit import move_plainly
from situ.operators.situations.kernels.derive import after_gap
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, plus

DECIDED = -1  # in place of the number of events in an undecided gap


class GapList(NamedTuple):
    """Gaps of one symbol, by slot: from the end of a run to where it is known what that means."""

    begin: np.ndarray  # int64[G]
    end: np.ndarray  # NEVER while undecided
    offset: np.ndarray  # int64[K + 1]
    pending: np.ndarray  # int64[K]: events so far in the undecided gap that a slot ends in, else DECIDED
    eve: np.ndarray  # int64[K]: the last event instant before that gap


@kernel
def n_own(own, bit, low, high):
    """How many rows in [low, high) are events of the symbol's source."""
    n = 0
    for row in range(low, high):
        n += (own[row] & bit) != 0
    return n


@kernel
def confirmed_at(rows, own, bit, low, high, end, n_before, longest, most_events):
    """When a run that ended at `end` is known to be over: the instant of a row in [low, high), else NEVER.

    `n_before` events of the gap came before these rows.
    """
    for row in range(low, high):
        if not own[row] & bit:
            continue
        n_before += 1
        if longest != UNBOUNDED:
            if rows.time[row] > plus(end, longest):
                return rows.time[row]
        elif n_before > most_events:
            return rows.time[row]
    return NEVER


@kernel
def new_history(rows, k, low, horizon, forget_after):
    """The first row from `low` on of slot k that begins a new history (SEM 8.5), else the slot's end."""
    if forget_after != UNBOUNDED:
        for row in range(low, rows.offset[k + 1]):
            previous = rows.time[row - 1] if row > rows.offset[k] else horizon
            if after_gap(previous, rows.time[row], forget_after):
                return row
    return rows.offset[k + 1]


@kernel
def bridge(rows, own, runs, entries, slots, symbol, longest, most_events, raw_end, undecided, forget_after):
    """Put runs of a symbol together, in place; returns its gaps.

    Of `longest` and `most_events` one is UNBOUNDED. `raw_end` and `undecided` (pending, eve) say of each slot
    where its latest run ended, and what GapList says of a gap that was undecided. O(runs + rows in gaps).
    """
    pending, eve = undecided
    n_slots = len(rows.offset) - 1
    bit = np.uint64(1) << np.uint64(symbol)
    size = runs.offset[symbol, n_slots] + n_slots
    gap_begin, gap_end = np.empty(size, np.int64), np.empty(size, np.int64)
    gap_offset = np.zeros(n_slots + 1, np.int64)
    after = np.full(n_slots, DECIDED, np.int64)
    eve_after = np.full(n_slots, LONG_AGO, np.int64)
    kept, n_gaps = np.int64(0), 0
    for k in range(n_slots):
        first, stop = runs.offset[symbol, k], runs.offset[symbol, k + 1]
        runs.offset[symbol, k] = kept
        # the situation that may go on: where it is kept (-1: out of the window), since when its latest run
        # is over, and the row and number of events from which that gap is counted
        is_going, current, ended = pending[k] != DECIDED, np.int64(-1), raw_end[k]
        gap_row, n_before = rows.offset[k], max(pending[k], 0)
        for at in range(first, stop):
            entry = runs.carry[symbol, at]
            te = runs.te[symbol, at]
            if entry >= 0 and (entries.te[entry] != OPEN or (te == OPEN and pending[k] != DECIDED)):
                # over before this step, or in the gap that it left undecided
                current = kept if te == OPEN else np.int64(-1)
                move_plainly(runs, symbol, at, kept)
                kept += 1
                continue
            if is_going:
                row = runs.first_row[symbol, at]
                cut = new_history(rows, k, gap_row, slots.horizon[k], forget_after)
                joins = row < cut
                if joins and longest != UNBOUNDED:
                    joins = runs.ts[symbol, at] <= plus(ended, longest)
                elif joins:
                    joins = n_before + n_own(own, bit, gap_row, row) <= most_events
                over = runs.ts[symbol, at]
                if not joins:
                    over = confirmed_at(rows, own, bit, gap_row, cut, ended, n_before, longest, most_events)
                gap_begin[n_gaps], gap_end[n_gaps] = ended, over
                n_gaps += 1
                if joins:
                    if current >= 0:
                        runs.te[symbol, current] = te
                        runs.last_row[symbol, current] = runs.last_row[symbol, at]
                    is_going, ended = te != OPEN, te
                    gap_row, n_before = runs.last_row[symbol, at] + 1, 0
                    continue
                if current >= 0:
                    runs.te[symbol, current] = ended if over != NEVER else OPEN
            is_going, ended = te != OPEN, te
            gap_row, n_before = runs.last_row[symbol, at] + 1, 0
            current = kept if runs.ts[symbol, at] != LONG_AGO else np.int64(-1)
            move_plainly(runs, symbol, at, kept)
            kept += 1
        if is_going:
            cut = new_history(rows, k, gap_row, slots.horizon[k], forget_after)
            over = confirmed_at(rows, own, bit, gap_row, cut, ended, n_before, longest, most_events)
            if over == NEVER and cut == rows.offset[k + 1]:
                after[k] = n_before + n_own(own, bit, gap_row, cut)
                if n_before > 0:
                    eve_after[k] = eve[k]  # it is the gap from before these rows
                else:
                    eve_after[k] = rows.time[gap_row - 1] if gap_row > rows.offset[k] else slots.horizon[k]
            gap_begin[n_gaps], gap_end[n_gaps] = ended, over
            n_gaps += 1
            if current >= 0:
                runs.te[symbol, current] = ended if over != NEVER else OPEN
        gap_offset[k + 1] = n_gaps
    runs.offset[symbol, n_slots] = kept
    return GapList(gap_begin[:n_gaps], gap_end[:n_gaps], gap_offset, after, eve_after)
