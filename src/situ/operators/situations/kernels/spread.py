"""Given intervals as runs: they may overlap each other, so the running maximum of te is kept (SEM 6.2)."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.layout import Runs
from situ.rows.kernels.numbers import OPEN, UNBOUNDED, plus


@kernel
def spread(slot, ts, te, known, mask, at_least, at_most, n_slots):
    """Runs of every symbol from intervals sorted by (slot, ts).

    `first_row` holds each run's interval. An interval counts as one event whose rows are its begin and
    its end, so a minimum duration is reached at te (SEM 2.4, 6.2).
    """
    n = len(at_least)
    capacity = len(slot)
    latest = np.empty((n, capacity), np.int64)
    runs = Runs(
        np.empty((n, capacity), np.int64),
        np.empty((n, capacity), np.int64),
        np.empty((n, capacity), np.int64),
        latest,
        np.empty((n, capacity), np.int64),
        np.empty((n, capacity), np.int64),
        np.full((n, capacity), -1, np.int64),
        np.empty((0, capacity), np.int64),
        np.zeros((n, n_slots + 1), np.int64),
    )
    for symbol in range(n):
        at = 0
        bit = np.uint64(1) << np.uint64(symbol)
        for i in range(capacity):
            if not mask[i] & bit:
                continue
            instant = known[i]
            if te[i] != OPEN and (
                te[i] < plus(ts[i], at_least[symbol]) or too_long(ts[i], te[i], at_most[symbol])
            ):
                continue  # SEM 2.3: it does not exist
            if at_most[symbol] != UNBOUNDED or at_least[symbol] > 0:
                instant = te[i]
            runs.ts[symbol, at] = ts[i]
            runs.te[symbol, at] = te[i]
            runs.admissible[symbol, at] = instant
            runs.first_row[symbol, at] = i
            runs.last_row[symbol, at] = i
            same_slot = runs.offset[symbol, slot[i] + 1] > 0
            latest[symbol, at] = max(te[i], latest[symbol, at - 1]) if same_slot else te[i]
            runs.offset[symbol, slot[i] + 1] += 1
            at += 1
        for k in range(n_slots):
            runs.offset[symbol, k + 1] += runs.offset[symbol, k]
    return runs


@kernel
def too_long(ts, te, longest):
    """Does [ts, te) exceed an upper duration bound?"""
    return longest != UNBOUNDED and te > plus(ts, longest)
