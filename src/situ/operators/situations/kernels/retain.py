"""What a slot keeps after a step: situations the window still reaches (SEM 8.4)."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.layout import as_entries, as_runs, as_spec
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, minus, plus


@kernel
def oldest_kept(horizon, within):
    """The smallest ts that can still be in a match after `horizon`."""
    return LONG_AGO if within == UNBOUNDED else minus(horizon, within)


@kernel
def retain(runs, spec, horizon):
    """The entries to keep, by slot, symbol, ts, their offsets, and the column each comes from."""
    runs, spec = as_runs(runs), as_spec(spec)
    n, n_slots = runs.ts.shape[0], runs.offset.shape[1] - 1
    n_followed = len(spec.followed)
    size = 0
    first = np.empty((n_slots, n), np.int64)
    offset = np.zeros(n_slots + 1, np.int64)
    for k in range(n_slots):
        oldest = oldest_kept(horizon[k], spec.within)
        for symbol in range(n):
            at, end = runs.offset[symbol, k], runs.offset[symbol, k + 1]
            while at < end and runs.ts[symbol, at] < oldest:
                at += 1
            first[k, symbol] = at
            size += end - at
        offset[k + 1] = size
    rows = np.empty((4 + n_followed, size), np.int64)
    kept = as_entries(rows, offset)
    column = np.empty(size, np.int64)
    e = 0
    for k in range(n_slots):
        for symbol in range(n):
            for at in range(first[k, symbol], runs.offset[symbol, k + 1]):
                column[e] = at
                kept.symbol[e] = symbol
                kept.ts[e] = runs.ts[symbol, at]
                kept.te[e] = runs.te[symbol, at]
                kept.admissible[e] = runs.admissible[symbol, at]
                for pair in range(n_followed):
                    if spec.followed[pair, 1] == symbol:
                        kept.verdict[pair, e] = runs.verdict[pair, at]
                    else:
                        kept.verdict[pair, e] = 0
                e += 1
    return rows, offset, column


@kernel
def stays(runs, n_positive, within, now, reach, at_least, at_most, undecided, history):
    """Which runs can still matter, where some symbols are absent (SEM 11.7): bool[n, cap].

    The symbols from `n_positive` on are absent: `reach` says how long before the window one of them may have
    ended, UNBOUNDED for ever; then of those that ended before it the oldest stays. The bounds are on lengths:
    what violates them is gone, but for ends since `undecided`, the begin of a gap (SEM 14.3: configurations
    may wait for it that became certain at such an end), OPEN for none. So is what an earlier history than
    that which begins at `history` has left (SEM 11.10).
    """
    n, n_slots = runs.ts.shape[0], runs.offset.shape[1] - 1
    keep = np.zeros(runs.ts.shape, np.bool_)
    for symbol in range(n):
        for k in range(n_slots):
            oldest = oldest_kept(now[k], within)
            has_oldest = False
            for at in range(runs.offset[symbol, k], runs.offset[symbol, k + 1]):
                ts, te = runs.ts[symbol, at], runs.te[symbol, at]
                if symbol < n_positive:
                    keep[symbol, at] = ts >= oldest
                elif ts < history[k]:
                    keep[symbol, at] = False
                elif te == OPEN:
                    keep[symbol, at] = True
                elif te < plus(ts, at_least[symbol]) or (
                    at_most[symbol] != UNBOUNDED and te > plus(ts, at_most[symbol])
                ):
                    keep[symbol, at] = te >= undecided[k]
                elif reach[symbol] != UNBOUNDED:
                    keep[symbol, at] = te >= minus(oldest, reach[symbol])
                else:
                    keep[symbol, at] = te >= oldest or not has_oldest
                    has_oldest = True
    return keep


@kernel
def retain_some(runs, followed, keep, horizon):
    """`retain` of the runs that are marked; an admissible instant that lies ahead is not told."""
    n, n_slots = runs.ts.shape[0], runs.offset.shape[1] - 1
    n_followed, size = len(followed), 0
    for symbol in range(n):
        for at in range(runs.offset[symbol, n_slots]):
            size += keep[symbol, at]
    rows = np.empty((4 + n_followed, size), np.int64)
    offset = np.zeros(n_slots + 1, np.int64)
    kept = as_entries(rows, offset)
    column = np.empty(size, np.int64)
    e = 0
    for k in range(n_slots):
        for symbol in range(n):
            for at in range(runs.offset[symbol, k], runs.offset[symbol, k + 1]):
                if not keep[symbol, at]:
                    continue
                column[e] = at
                kept.symbol[e] = symbol
                kept.ts[e] = runs.ts[symbol, at]
                kept.te[e] = runs.te[symbol, at]
                admissible = runs.admissible[symbol, at]
                kept.admissible[e] = admissible if admissible <= horizon[k] else NEVER
                for pair in range(n_followed):
                    if followed[pair, 1] == symbol:
                        kept.verdict[pair, e] = runs.verdict[pair, at]
                    else:
                        kept.verdict[pair, e] = 0
                e += 1
        offset[k + 1] = e
    return rows, offset, column


@kernel
def oldest_kept_each(horizon, within):
    """`oldest_kept` for each slot."""
    oldest = np.empty(len(horizon), np.int64)
    for k in range(len(horizon)):
        oldest[k] = oldest_kept(horizon[k], within)
    return oldest
