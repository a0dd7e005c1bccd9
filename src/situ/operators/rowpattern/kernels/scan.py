"""From start to start through histories (ROW 4.8), each start searched; what is found goes to buffers."""

import numpy as np

from situ.compiled.borrowed import borrowed
from situ.compiled.jit import inlined, kernel
from situ.operators.rowpattern.kernels.layout import (
    as_histories,
    as_memory,
    as_path,
    as_programs,
    as_rows,
    as_shape,
    as_stack,
)
from situ.operators.rowpattern.kernels.search import (
    ALL,
    DEPTH,
    ERROR,
    FIRST,
    FURTHEST,
    GROW,
    INSTANT,
    IS_ALIVE,
    LAST_END,
    MATCH,
    NONE,
    POSITION,
    ROW,
    STEPS,
    TOO_LONG,
    UNDECIDED,
    attempt,
)
from situ.rows.kernels.numbers import LONG_AGO, NEVER, plus

# how a scan ended
DONE, FULL, NO_DEPTH, FAILED_TEST, TOO_MANY_STEPS, SKIPS_TO_NOTHING, SKIPS_TO_ITSELF = 0, 1, 2, 3, 4, 5, 6

# where starts go on
PAST_LAST, TO_NEXT, TO_FIRST_OF, TO_LAST_OF = 0, 1, 2, 3

# places in the state of a scan
HISTORY, START, NUMBER, SETTLED, OPEN_START, N_MATCHES, N_ROWS, N_STEPS, SEARCH, N_OUT, BLAMED, BLAMED_ROW = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
N_STATE = 12


@kernel
def scan(
    shape, rows, programs, path, stack, memory, memo, histories, within, skip, skip_to, is_maximal, in_turn,
    ahead, most_steps, at_end, hope, state, told, match, position, out, resume,
):  # fmt: skip
    """Go on with a scan where `state` says it stands, to the end or until something is in the way.

    `match` [5, room]: history, start, number, instant, offset of rows; `position` of each row. `out` [5,
    room]: history, start, end of the window, variable and instant of decision of starts that the window
    ended (ROW 8.8). `skip_to`: which
    variables the skip looks for. `in_turn`: does a start wait for those before it (ROW 8.3). `ahead`: how
    many rows behind the last one measures read. `hope`: rows at which a match can start at all, none for all.
    `resume` [2, histories]: where to go on in a later step, and how many matches lie before it.
    """
    shape, rows, programs, path = as_shape(shape), as_rows(rows), as_programs(programs), as_path(path)
    stack, memory, histories = as_stack(stack), as_memory(memory), as_histories(histories)
    state, told, match, position = borrowed(state), borrowed(told), borrowed(match), borrowed(position)
    hope, out, resume = borrowed(hope), borrowed(out), borrowed(resume)
    no_ends = np.empty(0, np.int64)
    while state[HISTORY] < len(histories.low):
        h = state[HISTORY]
        low, high, now = histories.low[h], histories.high[h], histories.now[h]
        is_closed, begun = histories.closed[h] or at_end, histories.begun[h]
        if state[START] < 0:
            state[START], state[NUMBER] = histories.start[h], histories.number[h]
            state[SETTLED], state[OPEN_START] = LONG_AGO, -1
        while state[START] < high:
            s = state[START]
            if len(hope) and not hope[s]:
                state[START] += 1
                continue
            if state[N_MATCHES] == match.shape[1] or state[N_OUT] == out.shape[1]:
                return FULL
            outcome = _search(
                shape, rows, programs, path, stack, memory, memo, s, low, high, now, is_closed,
                histories.over[h], begun, within, is_maximal, most_steps, state, told, no_ends,
            )  # fmt: skip
            if outcome == GROW:
                return NO_DEPTH
            if outcome in (ERROR, TOO_LONG):
                state[BLAMED], state[BLAMED_ROW] = told[POSITION], told[ROW]
                return FAILED_TEST if outcome == ERROR else TOO_MANY_STEPS
            depth, instant = told[DEPTH], told[INSTANT]
            if outcome == MATCH and depth and ahead:
                if s + depth - 1 + ahead < high:
                    instant = max(instant, rows.time[s + depth - 1 + ahead])
                elif is_closed:
                    instant = histories.over[h]
                else:
                    outcome = UNDECIDED
            if outcome == UNDECIDED:
                if state[OPEN_START] < 0:
                    state[OPEN_START] = s
                    resume[1, h] = state[NUMBER]
                if in_turn:
                    break
                state[START] += 1
                continue
            if in_turn:
                instant = max(instant, state[SETTLED])
                state[SETTLED] = instant
            if outcome == NONE:
                if told[FURTHEST] >= 0:
                    n = state[N_OUT]
                    out[0, n], out[1, n], out[2, n] = h, s, plus(rows.time[s], within)
                    out[3, n], out[4, n] = shape.variable[told[FURTHEST]], instant
                    state[N_OUT] += 1
                state[START] += 1
                continue
            if is_maximal and depth == 0:
                state[START] += 1
                continue
            n, at = state[N_MATCHES], state[N_ROWS]
            if at + depth > len(position):
                return FULL
            goes_to = s + 1
            if depth and skip != TO_NEXT:
                goes_to = s + depth
                if skip != PAST_LAST:
                    goes_to = -1
                    for k in range(depth):
                        if skip_to[shape.variable[stack.list[k + 1]]] and (goes_to < 0 or skip == TO_LAST_OF):
                            goes_to = s + k
                    if goes_to <= s:
                        state[NUMBER] += 1
                        return SKIPS_TO_NOTHING if goes_to < 0 else SKIPS_TO_ITSELF
            state[NUMBER] += 1
            match[0, n], match[1, n], match[2, n], match[3, n], match[4, n] = h, s, state[NUMBER], instant, at
            for k in range(depth):
                position[at + k] = stack.list[k + 1]
            state[N_MATCHES] += 1
            state[N_ROWS] += depth
            state[START] = goes_to
        if state[OPEN_START] < 0:
            resume[0, h], resume[1, h] = max(state[START], high), state[NUMBER]
        else:
            resume[0, h] = state[OPEN_START]
        state[HISTORY] += 1
        state[START] = -1
    return DONE


@inlined
def _search(
    shape, rows, programs, path, stack, memory, memo, s, low, high, now, is_closed, over, begun, within,
    is_maximal, most_steps, state, told, no_ends,
):  # fmt: skip
    """The match of a start, of MAXIMAL the one 5.1 names, with the first instant at which it is certain."""
    number = state[NUMBER] + 1
    looks_for = ALL if is_maximal else FIRST
    instant, furthest, is_again = NEVER, -1, False
    while True:
        state[SEARCH] += 1
        outcome = attempt(
            shape, rows, programs, path, stack, memory, s, low, high, now, is_closed, begun, within, over,
            looks_for, memo, most_steps, number, state[SEARCH], no_ends, told,
        )  # fmt: skip
        state[N_STEPS] += told[STEPS]
        if is_again:
            told[INSTANT] = instant
            break
        instant, furthest, last = told[INSTANT], told[FURTHEST], told[LAST_END]
        if outcome not in (MATCH, NONE):
            break
        looks_ahead = _looks_ahead(shape)
        if looks_ahead:
            instant = _certain_at(
                shape, rows, programs, path, stack, memory, memo, s, low, high, over, begun, within,
                looks_for, most_steps, number, state, told.copy(), no_ends,
            )  # fmt: skip
            told[INSTANT] = instant
        is_again = (is_maximal and last >= 0) or (looks_ahead and outcome == MATCH)
        if not is_again:
            break
        looks_for = last if is_maximal else FIRST
    told[FURTHEST] = furthest
    return outcome


@kernel
def _looks_ahead(shape):
    """Whether some test reads rows behind the one it is asked of."""
    most = 0
    for one in shape.lag:
        most = max(most, one)
    return most > 0


@kernel
def _certain_at(
    shape, rows, programs, path, stack, memory, memo, s, low, high, over, begun, within, looks_for,
    most_steps, number, state, told, no_ends,
):  # fmt: skip
    """The first instant at which a start is decided, where tests wait for rows behind theirs.

    What is decided stays decided, so it is looked for between the start and what is known now.
    """
    limit = plus(rows.time[s], within) if within >= 0 else NEVER
    least, most = s + 1, high + 1  # numbers of rows known; `most`: only the end, or time that passed, decides
    is_last = False
    while True:
        if least < most:
            known = (least + most) >> 1
            now = rows.time[known - 1]
        else:  # did the window decide before the next row came
            known, now, is_last = min(least - 1, high), limit, True
            comes_later = least > high or rows.time[least - 1] > limit
            if within < 0 or known <= s or limit < rows.time[known - 1] or not comes_later:
                break
        state[SEARCH] += 1
        outcome = attempt(
            shape, rows, programs, path, stack, memory, s, low, known, now, False, begun, within, over,
            looks_for, memo, most_steps, number, state[SEARCH], no_ends, told,
        )  # fmt: skip
        state[N_STEPS] += told[STEPS]
        if is_last and outcome != UNDECIDED:
            return limit
        if is_last:
            break
        if outcome == UNDECIDED:
            least = known + 1
        else:
            most = known
    return over if least > high else rows.time[least - 1]


@kernel
def scan_ends(
    shape, rows, programs, path, stack, memory, memo, histories, within, ahead, most_steps, at_end, before,
    state, told, match, position, ends, resume,
):  # fmt: skip
    """INCREMENTAL MATCH (ROW 5.2): for every end row the earliest start of a candidate that ends there.

    `before` [histories]: ends up to this instant were told of in earlier steps. `ends` has room for the rows
    of the longest history. The rest is as in `scan`.
    """
    shape, rows, programs, path = as_shape(shape), as_rows(rows), as_programs(programs), as_path(path)
    stack, memory, histories = as_stack(stack), as_memory(memory), as_histories(histories)
    state, told, match, position = borrowed(state), borrowed(told), borrowed(match), borrowed(position)
    before, ends, resume = borrowed(before), borrowed(ends), borrowed(resume)
    while state[HISTORY] < len(histories.low):
        h = state[HISTORY]
        low, high, begun = histories.low[h], histories.high[h], histories.begun[h]
        is_closed = histories.closed[h] or at_end
        now = histories.now[h]
        if state[START] < 0:
            state[NUMBER], state[OPEN_START] = histories.number[h], -1
            ends[: high - low] = -1
            for s in range(histories.start[h], high):
                state[SEARCH] += 1
                outcome = attempt(
                    shape, rows, programs, path, stack, memory, s, low, high, now, is_closed, begun, within,
                    histories.over[h], ALL, memo, most_steps, 0, state[SEARCH], ends, told,
                )  # fmt: skip
                state[N_STEPS] += told[STEPS]
                if outcome == GROW:
                    return NO_DEPTH
                if outcome in (ERROR, TOO_LONG):
                    state[START] = s
                    state[BLAMED], state[BLAMED_ROW] = told[POSITION], told[ROW]
                    return FAILED_TEST if outcome == ERROR else TOO_MANY_STEPS
                if told[IS_ALIVE] and state[OPEN_START] < 0:
                    state[OPEN_START] = s
            state[START] = low
        while state[START] < high:
            e = state[START]
            s = ends[e - low]
            instant = rows.time[e + ahead] if e + ahead < high else histories.over[h]
            waits = e + ahead >= high and not is_closed  # for a row that its measures read
            if waits and s >= 0 and (state[OPEN_START] < 0 or s < state[OPEN_START]):
                state[OPEN_START] = s
            if s < 0 or waits or instant <= before[h]:
                state[START] += 1
                continue
            depth = e - s + 1
            n, at = state[N_MATCHES], state[N_ROWS]
            if n == match.shape[1] or at + depth > len(position):
                return FULL
            state[SEARCH] += 1
            attempt(
                shape, rows, programs, path, stack, memory, s, low, high, now, is_closed, begun, within,
                histories.over[h], e, memo, most_steps, 0, state[SEARCH], ends[:0], told,
            )  # fmt: skip
            instant = max(instant, told[INSTANT])  # `$` is seen to hold at the end
            state[NUMBER] += 1
            match[0, n], match[1, n], match[2, n], match[3, n], match[4, n] = h, s, state[NUMBER], instant, at
            for k in range(depth):
                position[at + k] = stack.list[k + 1]
            state[N_MATCHES] += 1
            state[N_ROWS] += depth
            state[START] += 1
        resume[0, h] = high if state[OPEN_START] < 0 else state[OPEN_START]
        resume[1, h] = state[NUMBER]
        state[HISTORY] += 1
        state[START] = -1
    return DONE
