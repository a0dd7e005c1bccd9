"""Matches whose rows need not be neighbours (ROW 9): SKIP TILL NEXT, and all of them by SKIP TILL ANY.

A partial match is a word of variables, so what may follow it is found with all derivations of the word at
once: the positions they stand at, in order of preferment.
"""

import numpy as np

from situ.compiled.borrowed import borrowed
from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import (
    FAILED,
    TRUE,
    UNKNOWN,
    as_histories,
    as_path,
    as_programs,
    as_rows,
    as_shape,
)
from situ.operators.rowpattern.kernels.scan import (
    BLAMED,
    BLAMED_ROW,
    DONE,
    FAILED_TEST,
    FULL,
    HISTORY,
    N_MATCHES,
    N_OUT,
    N_ROWS,
    N_STEPS,
    NO_DEPTH,
    NUMBER,
    OPEN_START,
    PAST_LAST,
    SETTLED,
    SKIPS_TO_ITSELF,
    SKIPS_TO_NOTHING,
    START,
    TO_LAST_OF,
    TO_NEXT,
    TOO_MANY_STEPS,
)
from situ.operators.rowpattern.kernels.search import enter, holds, last_read, leave
from situ.rows.kernels.numbers import LONG_AGO, plus

END = -1
NOTHING, TAKEN, WAITS, WRONG = 0, 1, 2, 3


@kernel
def follows(shape, stands, n, variable, after, mark):
    """The positions that derivations at `stands[:n]` may go to with a row of this variable, in order.

    n < 0: from the start. `mark` has room for every position, all zero.
    """
    found = 0
    for i in range(max(n, 1)):
        at = len(shape.variable) if n < 0 else stands[i]
        for place in range(shape.follow[at], shape.follow[at + 1]):
            r = shape.to[place]
            if r != END and shape.variable[r] == variable and not mark[r]:
                mark[r] = 1
                after[found] = r
                found += 1
    for i in range(found):
        mark[after[i]] = 0
    return found


@kernel
def ways_on(shape, stands, n, ways, mark, past_end):
    """The ways on of a partial match: a position for each variable that may follow, END; in order (ROW 9.3).

    `past_end`: also those behind END. `mark` has room for every variable, all zero.
    """
    found = 0
    has_end = False
    for i in range(max(n, 1)):
        at = len(shape.variable) if n < 0 else stands[i]
        for place in range(shape.follow[at], shape.follow[at + 1]):
            r = shape.to[place]
            if r == END:
                if n >= 0 and not has_end:
                    ways[found] = END
                    found += 1
                    has_end = True
            elif not mark[shape.variable[r]] and (past_end or not has_end):
                mark[shape.variable[r]] = 1
                ways[found] = r
                found += 1
        if has_end and not past_end:
            break
    for i in range(found):
        if ways[i] != END:
            mark[shape.variable[ways[i]]] = 0
    return found


@kernel
def _take(shape, rows, programs, path, ways, n_ways, depth, row, low, high, is_closed, number, told):
    """Try a row at `depth` by each way in turn; told[0] is the position by which it is taken.

    told[1] is the last row that was read for it.
    """
    path.row[depth] = row
    told[1] = row
    for i in range(n_ways):
        if ways[i] == END:
            continue
        path.variable[depth] = shape.variable[ways[i]]
        enter(programs, rows, path, depth)
        read = last_read(shape, rows, programs, path, ways[i], depth, low, high, number)
        told[1] = max(told[1], read)
        said = holds(shape, rows, programs, path, ways[i], depth, low, high, is_closed, number)
        if said == TRUE:
            told[0] = ways[i]
            return TAKEN
        leave(programs, rows, path, depth)
        if said == UNKNOWN:
            return WAITS
        if said == FAILED:
            told[0] = ways[i]
            return WRONG
    return NOTHING


@kernel
def _known_at(rows, row, high, over, instant):
    """The instant from which on what was read with a row is known; `row` is the last one read."""
    return max(instant, rows.time[row] if row < high else over)


@kernel
def scan_next(
    shape, rows, programs, path, histories, within, skip, skip_to, in_turn, ahead, most_steps, at_end, hope,
    state, told, match, row_of, position, out, resume,
):  # fmt: skip
    """SKIP TILL NEXT (ROW 9.3, 9.4): at most one match for a start, built without going back.

    `hope`: rows at which a match can start at all, none for all.
    """
    shape, rows, programs, path = as_shape(shape), as_rows(rows), as_programs(programs), as_path(path)
    histories, told = as_histories(histories), borrowed(told)
    m, n_variables = len(shape.variable), len(skip_to)
    mark, marked = np.zeros(m, np.uint8), np.zeros(n_variables, np.uint8)
    stands, after, ways = np.empty(m + 1, np.int64), np.empty(m + 1, np.int64), np.empty(m + 1, np.int64)
    while state[HISTORY] < len(histories.low):
        h = state[HISTORY]
        low, high, now = histories.low[h], histories.high[h], histories.now[h]
        is_closed = histories.closed[h] or at_end
        if state[START] < 0:
            state[START], state[NUMBER] = histories.start[h], histories.number[h]
            state[SETTLED], state[OPEN_START] = LONG_AGO, -1
        while state[START] < high:
            s = state[START]
            if len(hope) and not hope[s]:
                state[START] += 1
                continue
            n, at = state[N_MATCHES], state[N_ROWS]
            if n == match.shape[1] or state[N_OUT] == out.shape[1]:
                return FULL
            path.exact[:] = 0
            number = state[NUMBER] + 1
            limit = plus(rows.time[s], within)
            n_ways = ways_on(shape, stands, -1, ways, marked, False)
            said = _take(shape, rows, programs, path, ways, n_ways, 0, s, low, high, is_closed, number, told)
            state[N_STEPS] += 1
            over = histories.over[h]
            instant = _known_at(rows, told[1], high, over, rows.time[s])
            depth, longest, steps, n_stands = 0, 0, 0, -1
            is_over, is_open = said == NOTHING, said == WAITS
            row = s
            while said == TAKEN and not is_over and not is_open:
                if at + depth >= len(position) or depth + 2 >= len(path.row):
                    return FULL if at + depth >= len(position) else NO_DEPTH
                row_of[at + depth], position[at + depth] = row, told[0]
                n_stands = follows(shape, stands, n_stands, shape.variable[told[0]], after, mark)
                stands, after = after, stands
                depth += 1
                n_ways = ways_on(shape, stands, n_stands, ways, marked, False)
                if n_ways and ways[0] == END:
                    longest, is_over = depth, True
                    break
                for i in range(n_ways):
                    if ways[i] == END:
                        longest = depth
                last = row
                row += 1
                said = NOTHING
                while said == NOTHING:
                    if row >= high:
                        if is_closed or now >= limit:
                            is_over, instant = True, max(instant, limit)
                        else:
                            is_open = True
                        break
                    if rows.time[row] > limit:
                        is_over, instant = True, max(instant, limit)
                        break
                    if rows.time[row] > rows.time[last]:
                        steps += 1
                        said = _take(
                            shape, rows, programs, path, ways, n_ways, depth, row, low, high, is_closed,
                            number, told,
                        )  # fmt: skip
                        instant = _known_at(rows, told[1], high, over, instant)
                    if said == NOTHING:
                        row += 1
                if said == WAITS:
                    is_open = True
            state[N_STEPS] += steps
            if said == WRONG or steps > most_steps:
                state[BLAMED], state[BLAMED_ROW] = told[0] if said == WRONG else ways[0], row
                return FAILED_TEST if said == WRONG else TOO_MANY_STEPS
            if longest and is_over and ahead and not is_open:
                end = row_of[at + longest - 1] + ahead
                if end < high:
                    instant = max(instant, rows.time[end])
                elif is_closed:
                    instant = histories.over[h]
                else:
                    is_open = True
            if is_open:
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
            if longest == 0:
                if depth and now >= limit:
                    k = state[N_OUT]
                    out[0, k], out[1, k], out[2, k] = h, s, limit
                    out[3, k], out[4, k] = shape.variable[position[at + depth - 1]], instant
                    state[N_OUT] += 1
                state[START] += 1
                continue
            goes_to = s + 1
            if skip == PAST_LAST:
                goes_to = row_of[at + longest - 1] + 1
            elif skip != TO_NEXT:
                goes_to = -1
                for k in range(longest):
                    if skip_to[shape.variable[position[at + k]]] and (goes_to < 0 or skip == TO_LAST_OF):
                        goes_to = row_of[at + k]
            state[NUMBER] += 1
            if goes_to <= s:
                return SKIPS_TO_NOTHING if goes_to < 0 else SKIPS_TO_ITSELF
            match[0, n], match[1, n], match[2, n], match[3, n], match[4, n] = h, s, number, instant, at
            state[N_MATCHES] += 1
            state[N_ROWS] += longest
            state[START] = goes_to
        if state[OPEN_START] < 0:
            resume[0, h], resume[1, h] = high, state[NUMBER]
        else:
            resume[0, h] = state[OPEN_START]
        state[HISTORY] += 1
        state[START] = -1
    return DONE
