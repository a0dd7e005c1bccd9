"""Silences: the gaps between events, as situations (SEM 12)."""

from typing import NamedTuple

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.derive import after_gap
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, minus, plus


class Column(NamedTuple):
    """Runs of one symbol, as rows of `Runs` hold them."""

    ts: np.ndarray
    te: np.ndarray
    admissible: np.ndarray
    first_row: np.ndarray
    last_row: np.ndarray
    carry: np.ndarray
    offset: np.ndarray  # int64[K + 1]


@kernel
def n_long_gaps(rows, own, bit, least, last):
    """How many gaps of at least this length there are, and one more for each slot."""
    n = len(last)
    for k in range(len(last)):
        previous = last[k]
        for row in range(rows.offset[k], rows.offset[k + 1]):
            if own[row] & bit:
                n += previous != LONG_AGO and previous <= minus(rows.time[row], least)
                previous = rows.time[row]
    return n


@kernel
def silences(rows, own, runs, entries, symbol, least, most, is_absent, last, forget_after):
    """The silences of a symbol: those carried over, and gaps between events of its source.

    Gaps last at least `least`. `last[k]` is the event before the slot's rows, updated in place. What begins
    with the last event is open, however short so far. Of a positive symbol those longer than `most` do not
    exist; of an absent one they might have been until then (SEM 11.3), and stay. O(rows).
    """
    n_slots = len(rows.offset) - 1
    bit = np.uint64(1) << np.uint64(symbol)
    size = n_long_gaps(rows, own, bit, least, last) + runs.offset[symbol, n_slots]
    ts, te, admissible = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    first_row, last_row = np.empty(size, np.int64), np.empty(size, np.int64)
    carry = np.full(size, -1, np.int64)
    offset = np.zeros(n_slots + 1, np.int64)
    n = 0
    for k in range(n_slots):
        begin = rows.offset[k]
        entry = np.int64(-1)  # what is kept of the silence that goes on
        for at in range(runs.offset[symbol, k], runs.offset[symbol, k + 1]):
            e = runs.carry[symbol, at]
            if e < 0:
                continue
            if entries.te[e] == OPEN and entries.ts[e] == last[k]:
                entry = e
                continue
            ts[n], te[n], carry[n] = entries.ts[e], entries.te[e], e
            first_row[n], last_row[n] = begin, begin - 1
            n += 1
        previous, row_before = last[k], begin - 1
        for row in range(begin, rows.offset[k + 1]):
            if not own[row] & bit:
                continue
            now = rows.time[row]
            is_forgotten = forget_after != UNBOUNDED and after_gap(previous, now, forget_after)
            is_long = previous != LONG_AGO and (is_forgotten or previous <= minus(now, least))
            if is_long and (row_before >= begin or entry >= 0):  # else it began before the window
                ts[n], te[n], carry[n] = previous, OPEN if is_forgotten else now, entry
                first_row[n] = row_before if row_before >= begin else begin
                last_row[n] = row_before
                if is_forgotten or is_absent or most == UNBOUNDED or now <= plus(previous, most):
                    n += 1
            previous, row_before, entry = now, row, np.int64(-1)
        if previous != LONG_AGO and (row_before >= begin or entry >= 0):
            ts[n], te[n], carry[n] = previous, OPEN, entry
            first_row[n] = row_before if row_before >= begin else begin
            last_row[n] = row_before
            n += 1
        last[k] = previous
        offset[k + 1] = n
    for i in range(n):
        admissible[i] = plus(ts[i], least)
        if most != UNBOUNDED:
            admissible[i] = te[i] if te[i] != OPEN else NEVER
    return Column(ts[:n], te[:n], admissible[:n], first_row[:n], last_row[:n], carry[:n], offset)
