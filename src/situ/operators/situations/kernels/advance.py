"""A whole step in one call: single events and small batches spend more on calls than on work."""

import numpy as np

from situ.compiled.jit import inlined, kernel
from situ.operators.situations.kernels.layout import as_runs
from situ.operators.situations.kernels.match import Matches, join
from situ.operators.situations.kernels.retain import retain
from situ.operators.situations.kernels.situate import situate
from situ.rows.kernels.numbers import first_above


@inlined
def _step(rows, state, kept, offset, spec, full, deltas, costs, work):
    """Situations, their matches and what to keep of them: `situate`, `join`, `endpoints`, `retain`."""
    runs, after = situate(rows, state, kept, offset, spec)
    horizon = state[0]
    step = (horizon, 0, len(horizon), 1, 0)
    orders = full if is_cheaper_at_once(runs, horizon, costs, full[0, 0]) else deltas
    matches = by_instant(join(runs, spec, orders, step, work))
    keep, keep_offset, column = retain(runs, spec, after[0])
    ends, is_over = endpoints(runs, matches)
    return runs, (after, keep, keep_offset), column, matches.pick, ends, is_over


@kernel
def advance(rows, state, kept, offset, spec, full, deltas, costs, work):
    """A step with all that aggregates need, its matches in order of their instants.

    Takes and returns plain tuples; `full` and `deltas` are the plan's orders, `costs` those of a situation.
    """
    return _step(rows, state, kept, offset, spec, full, deltas, costs, work)


@kernel
def advance_plainly(rows, state, kept, offset, spec, full, deltas, costs, work):
    """`advance` where no aggregates are asked for, without what only they need: arrays cost to hand over."""
    step = _step(rows, state, kept, offset, spec, full, deltas, costs, work)
    return step[1], step[4], step[5]


@kernel
def is_cheaper_at_once(runs, before, costs, first):
    """Whether one join of all situations, from `first` on, is less work than one from each that was touched.

    `costs` are those the plan expects of a situation that a join begins with, by its symbol.
    """
    runs = as_runs(runs)
    from_touched = 0.0
    for symbol in range(len(costs)):
        n_touched = 0
        for k in range(len(before)):
            low, high = runs.offset[symbol, k], runs.offset[symbol, k + 1]
            n_touched += high - first_above(runs.latest_te, symbol, low, high, before[k], high)
        from_touched += costs[symbol] * n_touched
    return costs[first] * runs.offset[first, -1] <= from_touched


@kernel
def endpoints(runs, matches):
    """Rows of each symbol's ts, each symbol's te, instants, slots; and bits, set where te is not beyond."""
    size, n = matches.pick.shape
    ends = np.empty((2 * n + 2, size), np.int64)
    is_over = np.empty((n, (size + 7) >> 3), np.uint8)
    fill_endpoints(runs, matches, ends, is_over)
    return ends, is_over


@kernel
def by_instant(matches):
    """The matches in order of their instants, those of one instant as they were."""
    if is_ascending(matches.instant):
        return matches
    order = order_of(matches.instant)
    size, n = matches.pick.shape
    pick = np.empty((size, n), np.int64)
    slot = np.empty(size, np.int64)
    instant = np.empty(size, np.int64)
    for m in range(size):
        for symbol in range(n):
            pick[m, symbol] = matches.pick[order[m], symbol]
        slot[m] = matches.slot[order[m]]
        instant[m] = matches.instant[order[m]]
    return Matches(pick, slot, instant)


@kernel
def order_of(instant):
    """The stable order of instants, by merging; a sort of NumPy's takes seconds to compile."""
    size = len(instant)
    order = np.empty(size, np.int64)
    merged = np.empty(size, np.int64)
    for m in range(size):
        order[m] = m
    width = 1
    while width < size:
        for low in range(0, size, 2 * width):
            middle, high = min(low + width, size), min(low + 2 * width, size)
            left, right = low, middle
            for at in range(low, high):
                takes_left = left < middle
                if takes_left and right < high:
                    takes_left = instant[order[left]] <= instant[order[right]]
                if takes_left:
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@kernel
def is_ascending(instant):
    """Whether matches are in order of their instants already, as most often."""
    ascending = True
    for m in range(1, len(instant)):
        ascending &= instant[m] >= instant[m - 1]
    return ascending


@kernel
def fill_endpoints(runs, matches, ends, is_over):
    """Write what `endpoints` returns, symbol by symbol."""
    runs = as_runs(runs)
    pick, slot, instant = matches
    size, n = pick.shape
    for symbol in range(n):
        for m in range(size):
            at = pick[m, symbol]
            ends[symbol, m] = runs.ts[symbol, at]
            ends[n + symbol, m] = runs.te[symbol, at]
        for begin in range(0, size, 8):
            byte = 0
            for m in range(begin, min(begin + 8, size)):
                byte |= (ends[n + symbol, m] <= instant[m]) << (m - begin)
            is_over[symbol, begin >> 3] = byte
    for m in range(size):
        ends[2 * n, m] = instant[m]
        ends[2 * n + 1, m] = slot[m]


@kernel
def is_any_late(time, codes, horizon, complete):
    """Whether some row's instant is complete, or its slot's horizon has reached it (SEM 8.1)."""
    found = False
    for row in range(len(time)):
        found |= time[row] < complete or time[row] <= horizon[codes[row]]
    return found
