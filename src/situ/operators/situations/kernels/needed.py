"""Which rows a query needs though no condition begins or ends at them: matches wait for them."""

from typing import NamedTuple

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.derive import after_gap
from situ.rows.kernels.numbers import UNBOUNDED, minus, plus


class Marks(NamedTuple):
    """What must still be told from condensed rows; of runs, those that conditions have by themselves."""

    delays: np.ndarray  # int64[M, 3]: symbol, whether its end, and how long after it the next row is needed
    counted: np.ndarray  # int64[Q, 2]: symbol, and how many rows are needed from the end of its runs on
    silence: np.int64  # the shortest gap between rows that must be seen, 0 for none
    everything: bool  # all rows are needed


@kernel
def needed(rows, marks, forget_after):
    """Which rows stand alone. A run may have begun or ended before a slot's first row. O(rows * marks)."""
    time, masks = rows.time, rows.mask
    alone = np.full(len(time), marks.everything)
    if marks.everything:
        return alone
    for k in range(len(rows.offset) - 1):
        begin, end = rows.offset[k], rows.offset[k + 1]
        if begin == end:
            continue
        for m in range(len(marks.delays)):
            symbol, of_end, delay = marks.delays[m]
            at = begin
            wanted = plus(time[begin], delay)
            while at < end and time[at] < wanted:
                alone[at] = True
                at += 1
            if at < end:
                alone[at] = True
            held = bool((np.uint64(masks[begin]) >> np.uint64(symbol)) & np.uint64(1))
            at = begin
            for row in range(begin + 1, end):
                holds = bool((np.uint64(masks[row]) >> np.uint64(symbol)) & np.uint64(1))
                if forget_after != UNBOUNDED and after_gap(time[row - 1], time[row], forget_after):
                    held = False
                if holds != held and holds != bool(of_end):
                    wanted = plus(time[row], delay)
                    at = max(at, row)
                    while at < end and time[at] < wanted:
                        at += 1
                    if at < end:
                        alone[at] = True
                held = holds
        for m in range(len(marks.counted)):
            symbol, n_rows = marks.counted[m]
            left = n_rows
            for row in range(begin, end):
                bit = np.uint64(1) << np.uint64(symbol)
                if row > begin and np.uint64(masks[row - 1]) & bit and not np.uint64(masks[row]) & bit:
                    left = n_rows
                if left > 0:
                    alone[row] = True
                    left -= 1
        if marks.silence > 0:
            seen = time[begin]  # the last row that stands alone: no gap may seem to follow it
            for row in range(begin + 1, end):
                if time[row - 1] <= minus(time[row], marks.silence):
                    alone[row - 1] = True
                    alone[row] = True
                    seen = time[row]
                elif row + 1 < end and seen <= minus(time[row + 1], marks.silence):
                    alone[row] = True
                    seen = time[row]
    return alone
