"""Candidates that lead to no match, counted by how far they come and by what stops them."""

from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.furthest import (
    COMPLETE,
    DEPTH,
    GROW,
    HERE,
    HISTORY,
    N_COMPLETE,
    N_LOOKED,
    N_STEPS,
    REASON,
    ROW,
    STAMP,
    START,
    follow,
)
from situ.operators.rowpattern.kernels.furthest_next import build

# how counting ended
DONE, NO_DEPTH, ENOUGH = 0, 1, 2

# of the candidate that came furthest of all
ROWS, AT_HISTORY, AT_START, LAST, WHY, AT_ROW = 0, 1, 2, 3, 4, 5
N_FURTHEST = 6


@kernel
def count(
    shape, rows, programs, path, stack, memory, memo, histories, within, tried, number, needs_rows,
    is_next, most_steps, state, told, mark, asked, held, stopped, failed, died, furthest, wanted,
):  # fmt: skip
    """Go on with a count where `state` says it stands: of every start of `tried` that has no candidate.

    `number` [rows]: of the match sought at each. `needs_rows`: an empty candidate is none. `is_next`: by SKIP
    TILL NEXT. `asked`, `held` [M]: tests of positions. `stopped` [V + 1, N_REASONS]: by the last variable, 0
    for none. `failed` [V + 1, V]: variables that were waited for there. `died` [some]: by the number of rows
    taken, the largest being that and more, the latest instant at which such a candidate ended. `wanted` [V]:
    what the one that came furthest of all waited for.
    """
    while state[HISTORY] < len(histories.low):
        h = state[HISTORY]
        low, high = histories.low[h], histories.high[h]
        if state[START] < low:
            state[START] = low
        while state[START] < high:
            s = state[START]
            if not tried[s]:
                state[START] += 1
                continue
            if state[N_STEPS] > most_steps:
                return ENOUGH
            outcome = _tried(
                shape, rows, programs, path, stack, memory, memo, s, low, high, histories.begun[h], within,
                number[s], needs_rows, is_next, False, state, told, mark, asked, held,
            )  # fmt: skip
            if outcome == GROW:
                return NO_DEPTH
            state[START] += 1
            state[N_LOOKED] += 1
            if outcome == COMPLETE:
                state[N_COMPLETE] += 1
                continue
            _tried(
                shape, rows, programs, path, stack, memory, memo, s, low, high, histories.begun[h], within,
                number[s], needs_rows, is_next, True, state, told, mark, asked, held,
            )  # fmt: skip
            depth, here = told[DEPTH], told[HERE]
            last = 0 if here == len(shape.variable) else shape.variable[here] + 1
            stopped[last, told[REASON]] += 1
            for variable in range(len(mark)):
                if mark[variable] == state[STAMP]:
                    failed[last, variable] += 1
            at = min(depth, len(died) - 1)
            died[at] = max(died[at], rows.time[min(told[ROW], high - 1)])
            if depth > furthest[ROWS]:
                furthest[ROWS], furthest[AT_HISTORY], furthest[AT_START] = depth, h, s
                furthest[LAST], furthest[WHY], furthest[AT_ROW] = here, told[REASON], told[ROW]
                wanted[:] = mark == state[STAMP]
        state[HISTORY] += 1
        state[START] = -1
    return DONE


@kernel
def _tried(
    shape, rows, programs, path, stack, memory, memo, s, low, high, begun, within, number, needs_rows,
    is_next, counts, state, told, mark, asked, held,
):  # fmt: skip
    if is_next:
        return build(
            shape, rows, programs, path, s, low, high, within, number, counts, state, told, mark, asked, held
        )
    return follow(
        shape, rows, programs, path, stack, memory, memo, s, low, high, begun, within, number, needs_rows,
        counts, state, told, mark, asked, held,
    )  # fmt: skip
