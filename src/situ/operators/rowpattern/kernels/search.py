"""The exact search: candidates of one start in order of preferment, depth first (ROW 4.5).

A state is a position at a row, and a search comes by each at most once: what was tried there before has
failed, as no test reads the way to it. (Where tests do, states are told apart by what they read: memory.py.)
So a start takes at most as many steps as there are rows it reaches, times positions.

Certainty falls out of the order: a search that meets END before it needs a row that is not known has found
what no later row can change; one that needs such a row first is undecided (ROW 8.3).
"""

from situ.compiled.jit import inlined, kernel
from situ.operators.rowpattern.kernels.aggregates import enter as enter_programs
from situ.operators.rowpattern.kernels.aggregates import leave as leave_programs
from situ.operators.rowpattern.kernels.layout import (
    AT_FIRST,
    AT_LAST,
    BY_MEMORY,
    BY_STATE,
    FAILED,
    FALSE,
    TRUE,
    UNKNOWN,
)
from situ.operators.rowpattern.kernels.machine import test
from situ.operators.rowpattern.kernels.memory import forget, is_new
from situ.rows.kernels.numbers import NEVER, plus

END = -1

# what became of a start
NONE, MATCH, UNDECIDED, GROW, ERROR, TOO_LONG, NEVER_ENDS = 0, 1, 2, 3, 4, 5, 6

# what a search looks for: its first END, or (any end row from 0 on) one there, or all
FIRST, ALL = -1, -2

# places in what a search tells
DEPTH, INSTANT, STEPS, POSITION, ROW, LAST_END, IS_ALIVE, FURTHEST = 0, 1, 2, 3, 4, 5, 6, 7
N_TOLD = 8


@inlined
def enter(programs, rows, path, depth):
    """Take the row at this depth into what programs read of the path; None where there are none."""
    if programs is not None:
        enter_programs(programs, rows, path, depth)


@inlined
def leave(programs, rows, path, depth):
    """Take it back."""
    if programs is not None:
        leave_programs(programs, rows, path, depth)


@inlined
def holds(shape, rows, programs, path, position, depth, low, known, is_closed, number):
    """What the test of a position says of the row at `depth` of the path."""
    chosen = shape.test[position]
    if chosen < 0:
        return TRUE
    row = path.row[depth]
    if programs is None or chosen < shape.n_truth:
        if not is_closed and row + shape.lag[chosen] >= known:
            return UNKNOWN
        return int(rows.truth[chosen, row])
    return test(programs, chosen - shape.n_truth, rows, path, depth, low, known, is_closed, number)


@kernel
def last_read(shape, rows, programs, path, position, depth, low, high, number):
    """The last row that the test of a position reads for the one at `depth`, which has been entered.

    NEXT of a row taken earlier may lead to one that was known long before.
    """
    chosen = shape.test[position]
    row = path.row[depth]
    last = row + shape.lag[chosen] if chosen >= 0 else row
    if programs is None or chosen < shape.n_truth:
        return last
    program = chosen - shape.n_truth
    while last > row:
        known = min(last, high)
        if test(programs, program, rows, path, depth, low, known, False, number) == UNKNOWN:
            break
        last -= 1
    return last


@kernel
def attempt(
    shape, rows, programs, path, stack, memory, s, low, known, now, is_closed, begun, within, over,
    looks_for, memo, most_steps, number, search, ends, told,
):  # fmt: skip
    """Look for the match of start `s`; `search` is a number no search before it had.

    MATCH: its positions are in stack.list[1:told[DEPTH] + 1], its instant in told. `ends`: of ALL, the
    first start of a candidate that ends at each row.
    """
    # once for the whole search: an array that is taken from a tuple is counted each time
    follow, to, way_flags, variable, test_of = shape.follow, shape.to, shape.flags, shape.variable, shape.test
    lag, n_truth, time, truth = shape.lag, shape.n_truth, rows.time, rows.truth
    path_row, path_variable = path.row, path.variable
    listed, places, pendings, seen = stack.list, stack.place, stack.pending, stack.seen
    is_tracked = False  # is something combined of the path
    if programs is not None:
        is_tracked = len(programs.member) + len(programs.aggregate) > 0
    n_positions = len(variable)
    limit = plus(time[s], within) if within >= 0 else NEVER
    instant = time[s]
    depth, steps = 0, 0
    listed[0], places[0], pendings[0] = n_positions, follow[n_positions], 0
    told[LAST_END], told[IS_ALIVE], told[FURTHEST], told[POSITION] = -1, 0, -1, -1
    forget(memory)
    path.exact[:] = 0
    while True:
        here = listed[depth]
        place = places[depth]
        if place == follow[here + 1]:  # nothing is left to try
            if depth == 0:
                break
            depth -= 1
            if programs is not None and is_tracked:
                leave(programs, rows, path, depth)
            continue
        places[depth] = place + 1
        target, flags = to[place], way_flags[place]
        row = s + depth
        if flags & AT_FIRST and (s > low or begun):
            continue
        if target == END:
            if flags & AT_LAST:
                if row < known:
                    instant = max(instant, time[row])
                    continue
                if not is_closed:
                    told[INSTANT] = instant
                    return UNDECIDED
                instant = max(instant, over)
            if looks_for == ALL:
                if depth > 0 and pendings[depth] and not len(ends):
                    told[INSTANT], told[STEPS] = instant, steps
                    return UNDECIDED
                if depth > 0 and not pendings[depth]:
                    told[LAST_END] = max(told[LAST_END], row - 1)
                    if len(ends) and ends[row - 1 - low] < 0:
                        ends[row - 1 - low] = s
                continue
            if looks_for >= 0 and row - 1 != looks_for:
                continue
            told[INSTANT], told[STEPS], told[DEPTH] = instant, steps, depth
            return UNDECIDED if pendings[depth] else MATCH
        if looks_for >= 0 and row > looks_for:
            continue
        if row >= known:
            if is_closed or now >= limit:
                instant = max(instant, limit if within >= 0 else over)
                if told[FURTHEST] < 0 and now >= limit and depth > 0:
                    told[FURTHEST] = listed[depth]
                continue
            told[IS_ALIVE] = 1
            if looks_for == ALL and len(ends):
                continue
            told[INSTANT], told[STEPS] = instant, steps
            return UNDECIDED
        if time[row] > limit:
            instant = max(instant, limit)
            if told[FURTHEST] < 0 and depth > 0:
                told[FURTHEST] = listed[depth]
            continue
        pending = pendings[depth]
        state = (depth * n_positions + target) * 2 + pending
        if memo == BY_STATE:
            if seen[state] == search:
                continue
            seen[state] = search
        steps += 1
        if steps > most_steps:
            told[POSITION], told[ROW], told[STEPS] = target, row, steps
            return TOO_LONG
        instant = max(instant, time[row])
        path_row[depth], path_variable[depth] = row, variable[target]
        chosen = test_of[target]
        if programs is not None and is_tracked:
            enter(programs, rows, path, depth)
        if chosen < 0:
            said = TRUE
        elif programs is None or chosen < n_truth:
            is_known = is_closed or row + lag[chosen] < known
            said = int(truth[chosen, row]) if is_known else UNKNOWN
        else:
            said = test(programs, chosen - n_truth, rows, path, depth, low, known, is_closed, number)
        if said == FALSE:
            if programs is not None and is_tracked:
                leave(programs, rows, path, depth)
            continue
        if said == FAILED:
            told[POSITION], told[ROW], told[STEPS] = target, row, steps
            return ERROR
        if memo == BY_MEMORY and not is_new(memory, path, depth, target * 2 + pending):
            if programs is not None and is_tracked:
                leave(programs, rows, path, depth)
            continue
        depth += 1
        if (depth + 1) >= len(listed):
            return GROW
        listed[depth], places[depth] = target, follow[target]
        pendings[depth] = 1 if said == UNKNOWN else pending
    told[INSTANT], told[STEPS], told[DEPTH] = instant, steps, 0
    return NONE
