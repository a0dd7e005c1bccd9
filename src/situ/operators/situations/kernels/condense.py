"""Sorted rows to the fewest that give the same matches, and times to the fewest bytes."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.derive import after_gap
from situ.rows.kernels.numbers import LONG_AGO, NEVER, UNBOUNDED, bit_position, lowest_bit, minus, plus


@kernel
def segments(rows, at_least, aggregated, forget_after, alone, n_first):
    """Consecutive rows that may stand as one: first and last row of each segment, and slots' offsets.

    A row stands alone if something may happen at it: the first and last of its slot, where the mask
    changes, after a gap (SEM 8.5), where a run has lasted `at_least` (0: no minimum). A run that holds
    at the slot's first row may have begun in an earlier piece, so that any row up to the first that is
    `at_least` later may be where it has lasted long enough. Of the rows in between, those at which some
    symbol of the bits `aggregated` holds are segments of several rows, and the others are left out.
    With `forget_after` none is left out, and no segment is so long that a gap would seem to be in it.
    `alone` says of every row whether it stands alone anyway; of no row where none does. The masks of the
    slot's first `n_first` rows may not be what they will be: so a run that holds at the row behind them may
    have begun at any of them.
    O(rows + changes * symbols).
    """
    n_slots = len(rows.offset) - 1
    time, masks = rows.time, rows.mask
    capacity = 1024 + len(time) // 16
    first = np.empty(capacity, np.int64)
    last = np.empty(capacity, np.int64)
    offset = np.zeros(n_slots + 1, np.int64)
    due = np.empty(len(at_least), np.int64)
    has_minimum = np.uint64(0)
    for symbol in range(len(at_least)):
        if at_least[symbol] > 0:
            has_minimum |= np.uint64(1) << np.uint64(symbol)
    has_alone = len(alone) > 0
    n = 0
    for k in range(n_slots):
        begin, end = rows.offset[k], rows.offset[k + 1]
        base = begin + n_first  # the first row whose mask is certain
        held = np.uint64(0)
        next_due, head_until = NEVER, LONG_AGO
        waiting = -1  # first row of the segment that grows
        emitted = LONG_AGO  # time of the last row of the segment before
        for row in range(begin, end):
            mask = np.uint64(masks[row])
            instant = time[row]
            is_gap = (
                forget_after != UNBOUNDED and row > begin and after_gap(time[row - 1], instant, forget_after)
            )
            if (
                mask == held
                and instant < next_due
                and head_until == LONG_AGO
                and not is_gap
                and row > base
                and row != end - 1
                and not (has_alone and alone[row])
            ):
                if forget_after != UNBOUNDED:
                    if waiting >= 0 and emitted < minus(instant, forget_after):
                        if n + 2 > capacity:
                            first, last = _more(first, last)
                            capacity *= 2
                        first[n], last[n] = waiting, row - 1
                        n += 1
                        emitted = time[row - 1]
                        waiting = row
                    elif waiting < 0:
                        waiting = row
                elif waiting < 0 and mask & aggregated:
                    waiting = row
                continue
            if n + 2 > capacity:
                first, last = _more(first, last)
                capacity *= 2
            if waiting >= 0:
                first[n], last[n] = waiting, row - 1
                n += 1
                waiting = -1
            first[n], last[n] = row, row
            n += 1
            emitted = instant
            began = mask if row == begin or is_gap else mask & ~held
            if is_gap or row == begin:
                due[:] = NEVER
            if (mask != held or is_gap or row == begin or instant >= next_due) and has_minimum:
                next_due = NEVER
                pending = has_minimum
                while pending:
                    bit = lowest_bit(pending)
                    pending ^= bit
                    symbol = bit_position(bit)
                    if began & bit:
                        due[symbol] = plus(instant, at_least[symbol])
                    elif not mask & bit or due[symbol] <= instant:
                        due[symbol] = NEVER
                    next_due = min(next_due, due[symbol])
            if row == base:
                head_until = _head_until(mask & has_minimum, at_least, instant)
            elif head_until != LONG_AGO:
                head = mask & masks[base] & has_minimum
                if is_gap or not head or instant >= head_until:
                    head_until = LONG_AGO
            held = mask
        offset[k + 1] = n
    return first[:n], last[:n], offset


@kernel
def _head_until(bits, at_least, instant):
    """Until when a run that holds at a slot's first row may still come to have lasted long enough."""
    until = LONG_AGO
    while bits:
        bit = lowest_bit(bits)
        bits ^= bit
        until = max(until, plus(instant, at_least[bit_position(bit)]))
    return until


@kernel
def _more(first, last):
    size = len(first)
    more_first, more_last = np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    more_first[:size], more_last[:size] = first, last
    return more_first, more_last
