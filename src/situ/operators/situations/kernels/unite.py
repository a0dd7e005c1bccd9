"""Rows of several sources as rows of one, an instant each: every source's conditions are known (SEM 13)."""

from typing import NamedTuple

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.admit import first_row_at
from situ.operators.situations.kernels.derive import after_gap
from situ.operators.situations.kernels.layout import Rows
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, plus


class United(NamedTuple):
    """Rows whose masks hold the conditions of all sources, as they stand since each one's latest event."""

    rows: Rows
    own: np.ndarray  # uint64[N]: bit i set where the instant is an event of symbol i's source
    place: np.ndarray  # int64[S, N]: which of the rows given is the source's at this instant, -1 for none


@kernel
def unite(time, mask, offset, symbols_of, n_symbols, horizon, held, forget_after):
    """Rows by slot and time, at most one for each source and instant, as `United`.

    `symbols_of[s]` are the bits of source s's symbols; bit n_symbols + s of a mask says that a row is of it.
    `horizon` and `held` are each slot's last instant before these rows, and what held there.
    """
    n_slots, n_sources, size = len(offset) - 1, len(symbols_of), len(time)
    times = np.empty(size, np.int64)
    masks = np.empty(size, np.uint64)
    own = np.empty(size, np.uint64)
    place = np.full((n_sources, size), -1, np.int64)
    offsets = np.zeros(n_slots + 1, np.int64)
    n = 0
    for k in range(n_slots):
        begin = n
        holds, previous = held[k], horizon[k]
        for row in range(offset[k], offset[k + 1]):
            if n == begin or time[row] != times[n - 1]:
                if forget_after != UNBOUNDED and after_gap(previous, time[row], forget_after):
                    holds = np.uint64(0)
                previous = time[row]
                times[n], own[n] = time[row], np.uint64(0)
                n += 1
            for s in range(n_sources):
                if (np.uint64(mask[row]) >> np.uint64(n_symbols + s)) & np.uint64(1):
                    holds = (holds & ~symbols_of[s]) | (np.uint64(mask[row]) & symbols_of[s])
                    own[n - 1] |= symbols_of[s]
                    place[s, n - 1] = row
            masks[n - 1] = holds
        offsets[k + 1] = n
    return United(Rows(times[:n], masks[:n], offsets), own[:n], place[:, :n])


@kernel
def at_own_events(rows, own, runs, at_least, at_most):
    """Let runs see the events of their own source only (SEM 13.3), in place, before `admit` looks at them.

    Open runs end, so far, with the last of these; one with only a minimum length is admissible at the first
    of them that is late enough.
    """
    for symbol in range(runs.ts.shape[0]):
        bit = np.uint64(1) << np.uint64(symbol)
        has_minimum = at_least[symbol] > 0 and at_most[symbol] == UNBOUNDED
        for k in range(len(rows.offset) - 1):
            for at in range(runs.offset[symbol, k], runs.offset[symbol, k + 1]):
                first, last = runs.first_row[symbol, at], runs.last_row[symbol, at]
                is_open = runs.te[symbol, at] == OPEN
                while is_open and last >= first and not own[last] & bit:
                    last -= 1
                runs.last_row[symbol, at] = last
                if has_minimum and runs.admissible[symbol, at] == NEVER and runs.ts[symbol, at] != LONG_AGO:
                    stop = min(last + (1 if is_open else 2), rows.offset[k + 1])
                    row = first_row_at(rows.time, first, stop, plus(runs.ts[symbol, at], at_least[symbol]))
                    while row < stop and not own[row] & bit:
                        row += 1
                    if row < stop:
                        runs.admissible[symbol, at] = rows.time[row]
