"""The machine that runs conditions as programs: compiled once, for all queries.

A program is a list of instructions without jumps over registers (operations.py). What Spark would not
evaluate is evaluated too, and that it raised is a state of its value like null: AND, CASE and the like pass
it on only where Spark would have come to it.

`test` runs a program that may read the path, of one row. `test_rows` runs one that reads rows and their
neighbours, each instruction on a block of rows. Fields are taken from their tuples once, before any loop:
each time counts references of an array, which costs more than an instruction.
"""

import numpy as np

from situ.compiled.jit import inlined, kernel
from situ.operators.rowpattern.kernels.aggregates import enter as enter
from situ.operators.rowpattern.kernels.aggregates import leave as leave
from situ.operators.rowpattern.kernels.aggregates import real_aggregate, whole_aggregate
from situ.operators.rowpattern.kernels.layout import (
    FAILED,
    FALSE,
    NULL,
    UNKNOWN,
    VALID,
    as_path,
    as_programs,
    as_rows,
)
from situ.operators.rowpattern.kernels.operate import is_less, operate
from situ.operators.rowpattern.kernels.operations import (
    AGGREGATE_FLOAT,
    AGGREGATE_INT,
    CHOOSE,
    CLASSIFIER,
    CONSTANT_FLOAT,
    CONSTANT_INT,
    HERE,
    IS_ROW,
    LESS_FLOAT,
    LOAD_FLOAT,
    LOAD_INT,
    NOTHING,
    NUMBER,
    START,
    TAKEN,
    TEXT,
)

BLOCK = 512  # rows: what a few registers hold of them stays in the processor's nearest cache
_OUTSIDE, _YET_TO_COME = -1, -2  # instead of a row


@inlined
def test(programs, program, rows, path, depth, low, high, at_end, number):
    """What a test that reads the path says of the row at `depth`, which has been entered.

    The row's history is from `low` to before `high`; `at_end`: nothing follows it. `number` is MATCH_NUMBER.
    """
    code, begin = programs.code, programs.begin
    ints, floats, state = path.ints, path.floats, path.state
    row_at, count = path.row, path.count
    int_lines, int_states, float_lines, float_states = (
        rows.ints,
        rows.int_state,
        rows.floats,
        rows.float_state,
    )
    out = 0
    for k in range(begin[program], begin[program + 1]):
        op, out, a, b, c, d = code[k, 0], code[k, 1], code[k, 2], code[k, 3], code[k, 4], code[k, 5]
        found, value, size = NULL, np.int64(0), 0.0
        if op <= CLASSIFIER:
            place = _place(row_at, count, b, c, d, depth, low, high, at_end)
            if place == _YET_TO_COME:
                return UNKNOWN
            if op == IS_ROW:
                found, value = VALID, np.int64(place != _OUTSIDE)
            elif place != _OUTSIDE:
                if op == LOAD_INT:
                    found, value = int_states[a, place], int_lines[a, place]
                elif op == LOAD_FLOAT:
                    found, size = float_states[a, place], float_lines[a, place]
                else:
                    at = _first_at_least(row_at, depth, place)
                    if at <= depth and row_at[at] == place:
                        found, value = VALID, rows.texts[a + path.variable[at]]
        elif op == AGGREGATE_INT:
            found, value = whole_aggregate(programs, a, path, depth, d)
        elif op == AGGREGATE_FLOAT:
            found, size = real_aggregate(programs, a, rows, path, depth)
        elif op == NUMBER:
            found, value = VALID, np.int64(number)
        elif op == TAKEN:
            found, value = VALID, row_at[depth] - row_at[0] + 1
        elif op < AGGREGATE_INT:
            found, value, size = _constant(op, a, programs.ints, programs.floats, rows.texts)
        elif op == CHOOSE:
            chosen = b if state[a, 0] == VALID and ints[a, 0] != 0 else c
            found = FAILED if state[a, 0] == FAILED else state[chosen, 0]
            value, size = ints[chosen, 0], floats[chosen, 0]
        else:
            found, value, size = operate(
                op, c, d, ints[a, 0], ints[b, 0], floats[a, 0], floats[b, 0], state[a, 0], state[b, 0]
            )
        ints[out, 0] = value
        floats[out, 0] = size
        state[out, 0] = found
    found = state[out, 0]  # what the last instruction gave
    return ints[out, 0] if found == VALID else np.int64(FAILED if found == FAILED else FALSE)


@inlined
def _place(row_at, count, base, offset, shift, depth, low, high, at_end):
    """The row `shift` behind the tested one, the match's first or the `offset`-th of a group."""
    row = row_at[depth]
    if base == START:
        if row_at[0] + offset > row:
            return _OUTSIDE
        row = row_at[0] + offset
    elif base != HERE:
        taken = count[base, depth]
        wanted = offset + 1 if offset >= 0 else taken + offset + 1
        if wanted < 1 or wanted > taken:
            return _OUTSIDE
        begin, end = 0, depth  # the first depth by which so many were taken
        while begin < end:
            middle = (begin + end) >> 1
            if count[base, middle] < wanted:
                begin = middle + 1
            else:
                end = middle
        row = row_at[begin]
    row += shift
    if row >= high:
        return _OUTSIDE if at_end else _YET_TO_COME
    return row if row >= low else _OUTSIDE


@kernel
def _first_at_least(values, last, wanted):
    """The first place up to `last` of ascending values with at least this one; one more for none."""
    begin, end = 0, last + 1
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@inlined
def _constant(op, a, ints, floats, texts):
    """State, int and float of a constant."""
    if op == CONSTANT_INT:
        return VALID, ints[a], 0.0
    if op == CONSTANT_FLOAT:
        return VALID, np.int64(0), floats[a]
    if op == TEXT:
        return VALID, texts[a], 0.0
    return NULL, np.int64(0), 0.0


@kernel
def test_rows(programs, program, outs, rows, path, low, high, truth):
    """What tests that read no path say of the rows of all histories, a line of `truth` each. O(N).

    One program has the values of all of them, in these registers. Tuples need not have names.
    """
    programs, rows, path = as_programs(programs), as_rows(rows), as_path(path)
    code, first, last = programs.code, programs.begin[program], programs.begin[program + 1]
    ints, floats, state = path.ints, path.floats, path.state
    for h in range(low.size):
        for row in range(low[h], high[h], BLOCK):
            n = min(high[h] - row, BLOCK)
            for k in range(first, last):
                op, out, a, b, c, d = code[k, 0], code[k, 1], code[k, 2], code[k, 3], code[k, 4], code[k, 5]
                if op == LOAD_INT:
                    begin, end = _within(row + d, n, low[h], high[h])
                    _load(ints, state, rows.ints, rows.int_state, out, a, row + d, n, begin, end)
                elif op == LOAD_FLOAT:
                    begin, end = _within(row + d, n, low[h], high[h])
                    _load(floats, state, rows.floats, rows.float_state, out, a, row + d, n, begin, end)
                elif op == IS_ROW:
                    begin, end = _within(row + d, n, low[h], high[h])
                    for i in range(n):
                        ints[out, i] = begin <= row + d + i < end
                        state[out, i] = VALID
                elif op <= NOTHING or op == TEXT:
                    found, value, size = _constant(op, a, programs.ints, programs.floats, rows.texts)
                    for i in range(n):
                        ints[out, i] = value
                        floats[out, i] = size
                        state[out, i] = found
                elif op == LESS_FLOAT:
                    _less_of_all(ints, floats, state, out, a, b, c, d, n)
                elif op == CHOOSE:
                    for i in range(n):
                        chosen = b if state[a, i] == VALID and ints[a, i] != 0 else c
                        state[out, i] = FAILED if state[a, i] == FAILED else state[chosen, i]
                        ints[out, i] = ints[chosen, i]
                        floats[out, i] = floats[chosen, i]
                else:
                    for i in range(n):
                        found, value, size = operate(
                            op,
                            c,
                            d,
                            ints[a, i],
                            ints[b, i],
                            floats[a, i],
                            floats[b, i],
                            state[a, i],
                            state[b, i],
                        )
                        ints[out, i] = value
                        floats[out, i] = size
                        state[out, i] = found
            for k in range(outs.size):
                _tell(ints, state, outs[k], truth[k, row : row + n])


@kernel
def _within(begin, n, low, high):
    """Which of n rows from `begin` on are of the history."""
    first = min(max(low, begin), begin + n)
    return first, max(min(high, begin + n), first)


@kernel
def _load(values, state, lines, states, out, line, begin, n, first, last):
    """A line of n rows from `begin` on, null where they are not from `first` to before `last`.

    Slices, for the compiler to see that no place is negative: it then works on several rows at once.
    """
    state[out, :n] = NULL
    there, known = lines[line, first:last], states[line, first:last]
    to, found = values[out, first - begin : last - begin], state[out, first - begin : last - begin]
    for i in range(last - first):
        to[i] = there[i]
    for i in range(last - first):
        found[i] = known[i]


@kernel
def _less_of_all(ints, floats, state, out, a, b, negated, swapped, n):
    """The comparison that most conditions over neighbours are, so that it works on several rows at once."""
    left, right, found, result = state[a], state[b], state[out], ints[out]
    x, y = (floats[b], floats[a]) if swapped else (floats[a], floats[b])
    for i in range(n):
        result[i] = is_less(x[i], y[i]) != negated
    for i in range(n):
        found[i] = right[i] if left[i] == VALID else left[i]


@kernel
def _tell(ints, state, out, line):
    """The verdicts of a block of rows."""
    value, found = ints[out], state[out]
    for i in range(line.size):
        line[i] = value[i] * (found[i] == VALID) + FAILED * (found[i] == FAILED)
