"""How far the candidates of one start come, and what stops the first of those with most rows."""

from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import AT_FIRST, AT_LAST, BY_MEMORY, BY_STATE, TRUE
from situ.operators.rowpattern.kernels.machine import enter, leave
from situ.operators.rowpattern.kernels.memory import forget, is_new
from situ.operators.rowpattern.kernels.search import END, holds
from situ.rows.kernels.numbers import NEVER, plus

# places in the state of a count
HISTORY, START, SEARCH, N_STEPS, N_LOOKED, N_COMPLETE, STAMP = 0, 1, 2, 3, 4, 5, 6
N_STATE = 7

# what stops a candidate
CONDITION, NO_ROWS, WINDOW, ANCHOR = 0, 1, 2, 3
N_REASONS = 4

# what is told of a candidate: rows taken, the position of the last one (M for none), what stopped it, the row
# it ended at
DEPTH, HERE, REASON, ROW = 0, 1, 2, 3
N_TOLD = 4

# what became of a start
FAILS, COMPLETE, GROW = 0, 1, 2


@kernel
def follow(
    shape, rows, programs, path, stack, memory, memo, s, low, high, begun, within, number, needs_rows,
    counts, state, told, mark, asked, held,
):  # fmt: skip
    """Look for a candidate of start `s`, all rows known; of those that fail the first with most rows is told.

    With `counts` tests are counted. Variables that failed behind the last row of the candidate told of are
    marked with state[STAMP].
    """
    n_positions = len(shape.variable)
    limit = plus(rows.time[s], within) if within >= 0 else NEVER
    state[SEARCH] += 1
    state[STAMP] += 1
    forget(memory)
    path.exact[:] = 0
    depth = 0
    stack.list[0], stack.place[0] = n_positions, shape.follow[n_positions]
    told[DEPTH], told[HERE], told[REASON] = 0, n_positions, ANCHOR
    is_furthest = True  # is the list of ways that of the candidate told of
    while True:
        here, place = stack.list[depth], stack.place[depth]
        if place == shape.follow[here + 1]:
            if depth == 0:
                told[ROW] = s + told[DEPTH]
                return FAILS
            if depth == told[DEPTH]:
                is_furthest = False
            depth -= 1
            leave(programs, rows, path, depth)
            continue
        stack.place[depth] = place + 1
        target, flags, row = shape.to[place], shape.flags[place], s + depth
        if flags & AT_FIRST and (s > low or begun):
            continue
        if target == END:
            if (flags & AT_LAST and row < high) or (needs_rows and depth == 0):
                continue
            return COMPLETE
        stops = is_furthest and depth == told[DEPTH]
        if row == high or rows.time[row] > limit:
            if stops and told[REASON] != CONDITION:
                told[REASON] = NO_ROWS if row == high else WINDOW
            continue
        if memo == BY_STATE:
            seen = (depth * n_positions + target) * 2
            if stack.seen[seen] == state[SEARCH]:
                if stops:  # it failed, or there were a candidate with more rows
                    _blame(shape, target, state, told, mark)
                continue
            stack.seen[seen] = state[SEARCH]
        state[N_STEPS] += 1
        path.row[depth], path.variable[depth] = row, shape.variable[target]
        enter(programs, rows, path, depth)
        says = holds(shape, rows, programs, path, target, depth, low, high, True, number)
        if counts and target < len(asked):
            asked[target] += 1
            held[target] += says == TRUE
        if says != TRUE:
            leave(programs, rows, path, depth)
            if stops:
                _blame(shape, target, state, told, mark)
            continue
        if memo == BY_MEMORY and not is_new(memory, path, depth, target * 2):
            leave(programs, rows, path, depth)
            continue
        depth += 1
        if depth + 1 >= len(stack.list):
            return GROW
        stack.list[depth], stack.place[depth] = target, shape.follow[target]
        if depth > told[DEPTH]:
            is_furthest = True
            state[STAMP] += 1
            told[DEPTH], told[HERE], told[REASON] = depth, target, ANCHOR


@kernel
def _blame(shape, target, state, told, mark):
    """A condition failed where the candidate told of could have gone on."""
    told[REASON] = CONDITION
    mark[shape.variable[target]] = state[STAMP]
