"""How far partial matches come under SKIP TILL NEXT that end in no match (ROW 9.3, 9.4)."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.furthest import (
    COMPLETE,
    CONDITION,
    DEPTH,
    FAILS,
    GROW,
    HERE,
    N_STEPS,
    NO_ROWS,
    REASON,
    ROW,
    STAMP,
    WINDOW,
)
from situ.operators.rowpattern.kernels.layout import TRUE
from situ.operators.rowpattern.kernels.machine import enter, leave
from situ.operators.rowpattern.kernels.search import END, holds
from situ.operators.rowpattern.kernels.subsequences import follows, ways_on
from situ.rows.kernels.numbers import plus


@kernel
def build(shape, rows, programs, path, s, low, high, within, number, counts, state, told, mark, asked, held):
    """Build the partial match of start `s`, all rows known; what it waits for at its end is marked."""
    m = len(shape.variable)
    marked, marks = np.zeros(m, np.uint8), np.zeros(len(mark), np.uint8)
    stands, after, ways = np.empty(m + 1, np.int64), np.empty(m + 1, np.int64), np.empty(m + 1, np.int64)
    limit = plus(rows.time[s], within)
    path.exact[:] = 0
    told[DEPTH], told[HERE], told[REASON] = 0, m, CONDITION
    n_stands, row, last = -1, s, s
    while True:
        depth = told[DEPTH]
        n_ways = ways_on(shape, stands, n_stands, ways, marks, False)
        for i in range(n_ways):
            if ways[i] == END:
                return COMPLETE
        if depth + 1 >= len(path.row):
            return GROW
        taken = -1
        while row < high and taken < 0 and rows.time[row] <= limit and (depth > 0 or row == s):
            if depth == 0 or rows.time[row] > rows.time[last]:
                taken = _taken(shape, rows, programs, path, ways, n_ways, depth, row, low, high, number,
                               counts, asked, held)  # fmt: skip
                state[N_STEPS] += 1
            row += 1
        if taken < 0:
            break
        last = row - 1
        n_stands = follows(shape, stands, n_stands, shape.variable[taken], after, marked)
        stands, after = after, stands
        told[DEPTH], told[HERE] = depth + 1, taken
    told[ROW] = s
    if told[DEPTH] > 0:
        told[REASON], told[ROW] = WINDOW if row < high else NO_ROWS, row
    state[STAMP] += 1
    for i in range(n_ways):
        mark[shape.variable[ways[i]]] = state[STAMP]
    return FAILS


@kernel
def _taken(shape, rows, programs, path, ways, n_ways, depth, row, low, high, number, counts, asked, held):
    """The position by which a row is taken, -1 for none."""
    path.row[depth] = row
    for i in range(n_ways):
        at = ways[i]
        path.variable[depth] = shape.variable[at]
        enter(programs, rows, path, depth)
        is_held = holds(shape, rows, programs, path, at, depth, low, high, True, number) == TRUE
        if counts and at < len(asked):
            asked[at] += 1
            held[at] += is_held
        if is_held:
            return at
        leave(programs, rows, path, depth)
    return -1
