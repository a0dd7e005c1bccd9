"""Rows in the order the engine takes them: by slot, then time, one row per instant (SEM 1.2, 1.3)."""

import numpy as np

from situ.compiled.jit import kernel
from situ.rows.kernels.numbers import LONG_AGO, OPEN, minus


@kernel
def group(codes, n_slots):
    """Stable counting sort by code: the row order and the offsets of each code's rows."""
    offset = np.zeros(n_slots + 1, np.int64)
    for code in codes:
        offset[code + 1] += 1
    for k in range(n_slots):
        offset[k + 1] += offset[k]
    next_at = np.empty(n_slots, np.int64)
    for k in range(n_slots):
        next_at[k] = offset[k]
    order = np.empty(len(codes), np.int64)
    for row in range(len(codes)):
        order[next_at[codes[row]]] = row
        next_at[codes[row]] += 1
    return order, offset


@kernel
def move_to_slots(codes, time, mask, offset, moved_time, moved_mask):
    """Rows to their slots in one pass, a counting sort; False if times do not ascend strictly in some slot.

    Writes run on in as many places as there are slots, where looking rows up by `group` would jump about.
    """
    n_slots = len(offset) - 1
    next_at = np.zeros(n_slots, np.int64)
    for code in codes:
        next_at[code] += 1
    offset[0] = 0
    for k in range(n_slots):
        offset[k + 1] = offset[k] + next_at[k]
        next_at[k] = offset[k]
    ascends = True
    for row in range(len(codes)):
        code = codes[row]
        at = next_at[code]
        next_at[code] += 1
        moved_time[at] = time[row]
        moved_mask[at] = mask[row]
        ascends &= at == offset[code] or moved_time[at - 1] < time[row]
    return ascends


@kernel
def goes_on(time, horizon, complete):
    """Whether the rows of a single slot come in order and none is late, nor at a reserved instant."""
    before = max(horizon[0], minus(complete, 1))
    in_order = True
    for row in range(len(time)):
        in_order &= time[row] > before
        before = time[row]
    return in_order and before != OPEN


@kernel
def extent(time):
    """The earliest and the latest instant; OPEN and LONG_AGO where there is none."""
    earliest, latest = OPEN, LONG_AGO
    for row in range(len(time)):
        earliest, latest = min(earliest, time[row]), max(latest, time[row])
    return earliest, latest


@kernel
def ascends(time, order, offset):
    """0 if times ascend strictly within every slot, 1 if some are equal, 2 if some descend."""
    worst = 0
    for k in range(len(offset) - 1):
        for i in range(offset[k] + 1, offset[k + 1]):
            earlier, later = time[order[i - 1]], time[order[i]]
            if later < earlier:
                return 2
            if later == earlier:
                worst = 1
    return worst


@kernel
def ascends_as_is(time):
    """`ascends` for rows of one slot in their own order."""
    worst = 0
    for i in range(1, len(time)):
        if time[i] < time[i - 1]:
            return 2
        if time[i] == time[i - 1]:
            worst = 1
    return worst


@kernel
def in_place(codes, time, offset):
    """`ascends` for rows of all slots in their own order, 2 where they do not stand by slot.

    Slots of which there are no rows may come last only. The offsets of each slot's rows are written.
    """
    worst, slot = 0, 0
    offset[0] = 0
    for i in range(len(codes)):
        if codes[i] != slot:
            if codes[i] != slot + 1 or i == 0:
                return 2
            slot += 1
            offset[slot] = i
        elif i > 0:
            if time[i] < time[i - 1]:
                return 2
            if time[i] == time[i - 1]:
                worst = 1
    for k in range(slot + 1, len(offset)):
        offset[k] = len(codes)
    return worst


@kernel
def last_of_each_instant(time, order, offset, most):
    """Drop all but the last row of an instant; returns the shorter order and its offsets.

    And of the first instants that lose rows, `most` of them, the position of a row.
    """
    kept = 0
    n_shown = 0
    shown = np.empty(most, np.int64)
    new_order = np.empty(len(order), np.int64)
    new_offset = np.zeros(len(offset), np.int64)
    for k in range(len(offset) - 1):
        is_new = True
        for i in range(offset[k], offset[k + 1]):
            if i + 1 == offset[k + 1] or time[order[i + 1]] != time[order[i]]:
                new_order[kept] = order[i]
                kept += 1
                is_new = True
            elif is_new:
                if n_shown < most:
                    shown[n_shown] = order[i]
                    n_shown += 1
                is_new = False
        new_offset[k + 1] = kept
    return new_order[:kept], new_offset, shown[:n_shown]


@kernel
def telling(mask, order, offset, counted):
    """The rows of `order` that say something: where a run of equal masks begins or ends, or a bit counts.

    Rows in between are like those around them, and so are left out, unless a bit of `counted` is set there.
    """
    kept = np.empty(len(order), np.int64)
    n = 0
    for slot in range(len(offset) - 1):
        begin, end = offset[slot], offset[slot + 1]
        for i in range(begin, end):
            own = mask[order[i]]
            is_inside = begin < i < end - 1 and own & counted == 0
            if not is_inside or own != mask[order[i - 1]] or own != mask[order[i + 1]]:
                kept[n] = order[i]
                n += 1
    return kept[:n]
