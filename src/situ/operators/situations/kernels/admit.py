"""Raw runs to situations: followed-by verdicts, duration constraints, admissible instants."""

import numpy as np

from situ.compiled.jit import kernel
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, plus


@kernel
def place_of(symbol, among):
    """Where a symbol stands in a list; a loop, for a search of NumPy's takes a second to compile."""
    at = 0
    while among[at] != symbol:
        at += 1
    return at


@kernel
def judge_followed(runs, entries, slots, followed, ending):
    """For each pair (A, B): which A each B-run follows, as A's te (SEM 3.4, 8.4).

    Needs raw runs, so it comes before durations are looked at. B follows A when A's latest raw run
    before B.ts ended at A.te < B.ts and B's own previous raw run ended no later than that.
    """
    n_slots = runs.offset.shape[1] - 1
    for pair in range(len(followed)):
        a, b = followed[pair, 0], followed[pair, 1]
        a_at, b_at = place_of(a, ending), place_of(b, ending)
        for k in range(n_slots):
            i, i_end = runs.offset[a, k], runs.offset[a, k + 1]
            a_end, b_end = slots.raw_end[a_at, k], slots.raw_end[b_at, k]
            for j in range(runs.offset[b, k], runs.offset[b, k + 1]):
                ts = runs.ts[b, j]
                a_holds = False
                while i < i_end and runs.ts[a, i] < ts and not a_holds:
                    if runs.te[a, i] < ts:
                        a_end = max(a_end, runs.te[a, i])
                        i += 1
                    elif i + 1 < i_end and runs.ts[a, i + 1] < ts:
                        i += 1  # open for ever, of a history that is over (SEM 8.5)
                    else:
                        a_holds = True
                if runs.carry[b, j] >= 0:
                    runs.verdict[pair, j] = entries.verdict[pair, runs.carry[b, j]]
                elif a_holds or a_end == LONG_AGO or b_end > a_end:
                    runs.verdict[pair, j] = LONG_AGO
                else:
                    runs.verdict[pair, j] = a_end
                if runs.te[b, j] != OPEN:
                    b_end = max(b_end, runs.te[b, j])


@kernel
def latest_raw_ends(runs, slots, ending, ends):
    """Write each slot's raw_end after the step."""
    for row in range(len(ending)):
        symbol = ending[row]
        for k in range(runs.offset.shape[1] - 1):
            ends[row, k] = slots.raw_end[row, k]
            for at in range(runs.offset[symbol, k], runs.offset[symbol, k + 1]):
                if runs.te[symbol, at] != OPEN:
                    ends[row, k] = max(ends[row, k], runs.te[symbol, at])


@kernel
def first_row_at(time, low, high, wanted):
    """First row in [low, high) at or after `wanted`, else high."""
    while low < high:
        middle = (low + high) >> 1
        if time[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def admit(rows, runs, at_least, at_most, followed, from_long_ago):
    """Set what admissible instants are not known yet and close the ranks over runs that do not exist.

    `from_long_ago`: bits of symbols that may have a run from LONG_AGO. O(runs of symbols looked at).
    """
    n_slots = runs.offset.shape[1] - 1
    for symbol in range(runs.ts.shape[0]):
        shortest, longest = at_least[symbol], at_most[symbol]
        unbounded = shortest == 0 and longest == UNBOUNDED
        if unbounded and not (from_long_ago >> np.uint64(symbol)) & np.uint64(1):
            continue
        kept = np.int64(0)  # a plain 0 would be a type of its own, and `move_run` compiled for it too
        for k in range(n_slots):
            begin, end = runs.offset[symbol, k], runs.offset[symbol, k + 1]
            runs.offset[symbol, k] = kept
            for at in range(begin, end):
                ts, te = runs.ts[symbol, at], runs.te[symbol, at]
                if ts == LONG_AGO:
                    continue
                enough = plus(ts, shortest)
                if te != OPEN and (te < enough or (longest != UNBOUNDED and te > plus(ts, longest))):
                    continue  # SEM 2.3: it does not exist
                if longest != UNBOUNDED:
                    runs.admissible[symbol, at] = te
                elif runs.admissible[symbol, at] == NEVER:
                    # te is the row after last_row; an open run ends with last_row so far
                    stop = min(runs.last_row[symbol, at] + (2 if te != OPEN else 1), rows.offset[k + 1])
                    start = runs.first_row[symbol, at]
                    row = first_row_at(rows.time, start, stop, enough)
                    runs.admissible[symbol, at] = rows.time[row] if row < stop else NEVER
                if kept != at:
                    move_run(runs, symbol, at, kept, followed)
                kept += 1
        runs.offset[symbol, n_slots] = kept


@kernel
def move_run(runs, symbol, source, target, followed):
    """Copy one run of a symbol to another column."""
    move_plainly(runs, symbol, source, target)
    for pair in range(len(followed)):
        if followed[pair, 1] == symbol:
            runs.verdict[pair, target] = runs.verdict[pair, source]


@kernel
def move_plainly(runs, symbol, source, target):
    """The same of a symbol without followed-by verdicts."""
    runs.ts[symbol, target] = runs.ts[symbol, source]
    runs.te[symbol, target] = runs.te[symbol, source]
    runs.admissible[symbol, target] = runs.admissible[symbol, source]
    runs.first_row[symbol, target] = runs.first_row[symbol, source]
    runs.last_row[symbol, target] = runs.last_row[symbol, source]
    runs.carry[symbol, target] = runs.carry[symbol, source]
