"""Rows to raw runs: the one pass over the data (SEM 2.1)."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.layout import Runs
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, bit_position, lowest_bit, minus

_BLOCK = 1024  # rows looked at between two checks for room


@kernel
def new_runs(n_symbols, n_slots, n_followed, capacity):
    """Room for `capacity` runs of each symbol; situations of a symbol are disjoint (latest_te is te)."""
    te = np.empty((n_symbols, capacity), np.int64)
    return Runs(
        np.empty((n_symbols, capacity), np.int64),
        te,
        np.empty((n_symbols, capacity), np.int64),
        te,
        np.empty((n_symbols, capacity), np.int64),
        np.empty((n_symbols, capacity), np.int64),
        np.empty((n_symbols, capacity), np.int64),
        np.empty((n_followed, capacity), np.int64),
        np.zeros((n_symbols, n_slots + 1), np.int64),
    )


@kernel
def with_room(runs, room, count):
    """The same runs with room for `room` more of each symbol; `count` are there.

    Loops, here and in other kernels, where slices would say the same: those take seconds to compile.
    """
    needed = room
    for symbol in range(len(count)):
        needed = max(needed, count[symbol] + room)
    if needed <= runs.ts.shape[1]:
        return runs
    n_slots = runs.offset.shape[1] - 1
    grown = new_runs(len(count), n_slots, runs.verdict.shape[0], 2 * needed)
    for symbol in range(len(count)):
        for at in range(count[symbol]):
            grown.ts[symbol, at] = runs.ts[symbol, at]
            grown.te[symbol, at] = runs.te[symbol, at]
            grown.admissible[symbol, at] = runs.admissible[symbol, at]
            grown.first_row[symbol, at] = runs.first_row[symbol, at]
            grown.last_row[symbol, at] = runs.last_row[symbol, at]
            grown.carry[symbol, at] = runs.carry[symbol, at]
        for k in range(n_slots + 1):
            grown.offset[symbol, k] = runs.offset[symbol, k]
    return grown


@kernel
def put_run(runs, symbol, at, ts, te, admissible, first_row, carry):
    """Write one run, without rows of this step yet, at column `at` of its symbol."""
    runs.ts[symbol, at] = ts
    runs.te[symbol, at] = te
    runs.admissible[symbol, at] = admissible
    runs.first_row[symbol, at] = first_row
    runs.last_row[symbol, at] = first_row - 1
    runs.carry[symbol, at] = carry


@kernel
def resume(runs, k, begin, entries, held, count, open_at):
    """Begin slot k with what was kept of it; `open_at` tells which runs go on.

    A condition that held at the horizon and has no entry (its start is out of the window) goes on as
    a run from LONG_AGO: it must not start anew, its end still matters to followed-by, and `admit`
    drops it. No other entry of its symbol is left then, so the columns stay sorted by ts.
    """
    for symbol in range(len(count)):
        runs.offset[symbol, k] = count[symbol]
        open_at[symbol] = -1
    for e in range(entries.offset[k], entries.offset[k + 1]):
        symbol = entries.symbol[e]
        at = count[symbol]
        put_run(runs, symbol, at, entries.ts[e], entries.te[e], entries.admissible[e], begin, e)
        if entries.te[e] == OPEN:
            open_at[symbol] = at
        count[symbol] += 1
    for symbol in range(len(count)):
        if not (held >> np.uint64(symbol)) & np.uint64(1):
            open_at[symbol] = -1
        elif open_at[symbol] < 0:
            open_at[symbol] = count[symbol]
            put_run(runs, symbol, count[symbol], LONG_AGO, OPEN, NEVER, begin, np.int64(-1))
            count[symbol] += 1


@kernel
def suspend(runs, last_row, open_at):
    """The runs that go on have rows up to `last_row` so far."""
    for symbol in range(len(open_at)):
        if open_at[symbol] >= 0:
            runs.last_row[symbol, open_at[symbol]] = last_row


@kernel
def after_gap(previous, time, forget_after):
    """Does a new history begin at `time` (SEM 8.5)?"""
    return previous != LONG_AGO and previous < minus(time, forget_after)


@kernel
def new_histories(time, offset, horizon, forget_after):
    """The instants at which new histories begin, by slot, and the slots' offsets in them (SEM 8.5)."""
    n_slots = len(offset) - 1
    begins = np.empty(len(time) if forget_after != UNBOUNDED else 0, np.int64)
    begin_offset = np.zeros(n_slots + 1, np.int64)
    n = 0
    for k in range(n_slots):
        if forget_after != UNBOUNDED:
            previous = horizon[k]
            for row in range(offset[k], offset[k + 1]):
                if after_gap(previous, time[row], forget_after):
                    begins[n] = time[row]
                    n += 1
                previous = time[row]
        begin_offset[k + 1] = n
    return begins[:n], begin_offset


@kernel
def find_changes(time, mask, begin, end, held, previous, forget_after, found):
    """Rows of [begin, end) with another mask than the row before or after a gap; returns how many."""
    n = 0
    before = mask.dtype.type(held)
    for row in range(begin, end):  # without a branch: the compiler keeps this near memory speed
        found[n] = row
        n += mask[row] != before
        before = mask[row]
    if forget_after == UNBOUNDED:
        return n
    n = 0
    before = mask.dtype.type(held)
    for row in range(begin, end):
        if mask[row] != before or after_gap(previous, time[row], forget_after):
            found[n] = row
            n += 1
        before = mask[row]
        previous = time[row]
    return n


@kernel
def derive(rows, entries, slots, n_followed, at_least, at_most, forget_after):
    """Raw runs of every slot, kept entries first, and each slot's mask afterwards: O(rows + changes).

    Runs of symbols without duration constraint are admissible from their start (SEM 2.4); the others
    wait for `admit`.
    """
    n_slots, n_symbols = len(rows.offset) - 1, len(at_least)
    count = np.zeros(n_symbols, np.int64)
    open_at = np.empty(n_symbols, np.int64)
    waits = np.empty(n_symbols, np.bool_)
    for symbol in range(n_symbols):
        waits[symbol] = at_least[symbol] > 0 or at_most[symbol] != UNBOUNDED
    mask_after = np.empty(n_slots, np.uint64)
    found = np.empty(_BLOCK + 1, np.int64)
    time, masks = rows.time, rows.mask
    runs = new_runs(n_symbols, n_slots, n_followed, 64 + len(entries.ts) + len(time) // 64)
    for k in range(n_slots):
        runs = with_room(runs, entries.offset[k + 1] - entries.offset[k] + 1, count)
        held = slots.mask[k]
        previous = slots.horizon[k]
        resume(runs, k, rows.offset[k], entries, held, count, open_at)
        for begin in range(rows.offset[k], rows.offset[k + 1], _BLOCK):
            end = min(begin + _BLOCK, rows.offset[k + 1])
            n_changes = find_changes(time, masks, begin, end, held, previous, forget_after, found)
            runs = with_room(runs, n_changes, count)
            ts, te, admissible = runs.ts, runs.te, runs.admissible
            first_row, last_row, carry = runs.first_row, runs.last_row, runs.carry
            for change in range(n_changes):
                row = found[change]
                instant = time[row]
                if forget_after != UNBOUNDED:
                    if row > begin:
                        previous = time[row - 1]
                    if after_gap(previous, instant, forget_after):
                        suspend(runs, row - 1, open_at)  # what was open stays open for ever
                        for symbol in range(n_symbols):
                            open_at[symbol] = -1
                        held = np.uint64(0)
                mask = np.uint64(masks[row])
                changed = mask ^ held
                held = mask
                while changed:
                    bit = lowest_bit(changed)
                    changed ^= bit
                    symbol = bit_position(bit)
                    if mask & bit:
                        at = count[symbol]
                        ts[symbol, at] = instant
                        te[symbol, at] = OPEN
                        admissible[symbol, at] = NEVER if waits[symbol] else instant
                        first_row[symbol, at] = row
                        carry[symbol, at] = -1
                        open_at[symbol] = at
                        count[symbol] = at + 1
                    else:
                        at = open_at[symbol]
                        te[symbol, at] = instant
                        last_row[symbol, at] = row - 1
                        open_at[symbol] = -1
            previous = time[end - 1]
        suspend(runs, rows.offset[k + 1] - 1, open_at)
        mask_after[k] = held
    for symbol in range(n_symbols):
        runs.offset[symbol, n_slots] = count[symbol]
    return runs, mask_after
