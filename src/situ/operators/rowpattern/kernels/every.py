"""SKIP TILL ANY (ROW 9.2): every labelled subsequence that is a word of the pattern, each once.

Rows are taken in order, and a word's derivations are followed all at once, so no match is found twice. A row
is taken only where a match can still end in time behind it, and where it ends after what earlier steps told.
"""

import numpy as np

from situ.compiled.borrowed import borrowed
from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import (
    FAILED,
    FALSE,
    TRUE,
    as_histories,
    as_path,
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
    N_ROWS,
    N_STEPS,
    NO_DEPTH,
    NUMBER,
    OPEN_START,
    START,
    TOO_MANY_STEPS,
)
from situ.operators.rowpattern.kernels.search import enter, holds, last_read, leave
from situ.operators.rowpattern.kernels.subsequences import END, follows, ways_on
from situ.rows.kernels.numbers import LONG_AGO, NEVER, plus

TOO_MANY_MATCHES = 7


@kernel
def bounds(shape, rows, low, high, nearest, latest):
    """For each row of a history and each position the time of the first and of the last end behind it."""
    m = len(shape.variable)
    first, last = np.full(m, NEVER), np.full(m, LONG_AGO)
    end = high
    while end > low:
        begin = end - 1
        while begin > low and rows.time[begin - 1] == rows.time[end - 1]:
            begin -= 1
        for row in range(begin, end):  # rows of one time do not follow each other
            for q in range(m):
                nearest[row - low, q], latest[row - low, q] = NEVER, LONG_AGO
                chosen = shape.test[q]
                if 0 <= chosen < shape.n_truth and rows.truth[chosen, row] == FALSE:
                    continue
                for place in range(shape.follow[q], shape.follow[q + 1]):
                    r = shape.to[place]
                    near = rows.time[row] if r == END else first[r]
                    late = rows.time[row] if r == END else last[r]
                    nearest[row - low, q] = min(nearest[row - low, q], near)
                    latest[row - low, q] = max(latest[row - low, q], late)
        for row in range(begin, end):
            for q in range(m):
                first[q] = min(first[q], nearest[row - low, q])
                last[q] = max(last[q], latest[row - low, q])
        end = begin


@kernel
def _can_end(nearest, latest, row, stands, n, limit, before):
    """Whether a match through one of these positions can end in time, and behind what was told of."""
    found = False
    for i in range(n):
        found |= nearest[row, stands[i]] <= limit and latest[row, stands[i]] > before
    return found


@kernel
def scan_any(
    shape, rows, programs, path, histories, within, ahead, most_steps, most_matches, at_end, before, hope,
    state, told, match, row_of, position, stands, n_stands, ways, n_ways, chosen, known_at, nearest, latest,
    resume,
):  # fmt: skip
    """Every match of every start; the arguments behind `position` are room for the search, by depth.

    `hope`: rows at which a match can start at all, none for all.
    """
    shape, rows, path = as_shape(shape), as_rows(rows), as_path(path)
    histories, stands, ways = as_histories(histories), borrowed(stands), borrowed(ways)
    nearest, latest = borrowed(nearest), borrowed(latest)
    m = len(shape.variable)
    lag = ahead
    for one in shape.lag:
        lag = max(lag, one)
    mark, marked = np.zeros(m, np.uint8), np.zeros(m + 1, np.uint8)
    while state[HISTORY] < len(histories.low):
        h = state[HISTORY]
        low, high, now = histories.low[h], histories.high[h], histories.now[h]
        is_closed = histories.closed[h] or at_end
        if state[START] < 0:
            state[START], state[NUMBER], state[OPEN_START] = histories.start[h], histories.number[h], -1
            bounds(shape, rows, low, high, nearest, latest)
        least = before[h] if lag == 0 else LONG_AGO
        while state[START] < high:
            s = state[START]
            if len(hope) and not hope[s]:
                state[START] += 1
                continue
            limit = plus(rows.time[s], within)
            first_match, first_row, steps = state[N_MATCHES], state[N_ROWS], 0
            path.exact[:] = 0
            depth = 0
            chosen[0], path.row[0] = -1, s
            n_ways[0] = ways_on(shape, stands[0], -1, ways[0], marked, True)
            n_stands[0] = -1
            waits = lag > 0 and not is_closed and rows.time[max(s, high - lag)] <= limit
            if state[OPEN_START] < 0 and n_ways[0] and (limit > now or waits):
                state[OPEN_START] = s
            while depth >= 0:
                chosen[depth] += 1
                if chosen[depth] == n_ways[depth]:  # the next row, at the start there is none
                    chosen[depth] = -1
                    row = path.row[depth] + 1
                    if depth:
                        while row < high and rows.time[row] <= rows.time[path.row[depth - 1]]:
                            row += 1
                    path.row[depth] = row
                    if depth == 0 or row >= high or rows.time[row] > limit or n_ways[depth] == 0:
                        depth -= 1
                        if depth >= 0:
                            leave(programs, rows, path, depth)
                    continue
                way, row = ways[depth, chosen[depth]], path.row[depth]
                if way == END:
                    continue
                steps += 1
                if steps > most_steps:
                    state[BLAMED], state[BLAMED_ROW] = way, row
                    return TOO_MANY_STEPS
                variable = shape.variable[way]
                n = follows(shape, stands[depth], n_stands[depth], variable, stands[depth + 1], mark)
                if not _can_end(nearest, latest, row - low, stands[depth + 1], n, limit, least):
                    continue
                path.variable[depth] = variable
                enter(programs, rows, path, depth)
                said = holds(shape, rows, programs, path, way, depth, low, high, is_closed, 0)
                if said != TRUE:
                    leave(programs, rows, path, depth)
                    if said == FAILED:
                        state[BLAMED], state[BLAMED_ROW] = way, row
                        return FAILED_TEST
                    continue
                told[depth] = way
                read = last_read(shape, rows, programs, path, way, depth, low, high, 0)
                known_at[depth] = max(known_at[depth - 1] if depth else row, read)
                depth += 1
                if depth + 2 >= len(path.row):
                    return NO_DEPTH
                n_stands[depth] = n
                n_ways[depth] = ways_on(shape, stands[depth], n, ways[depth], marked, True)
                for i in range(n_ways[depth]):
                    if ways[depth, i] == END:
                        instant = rows.time[row]
                        if lag:
                            needed = max(known_at[depth - 1], row + ahead)
                            if needed < high:
                                instant = rows.time[needed]
                            elif is_closed:
                                instant = histories.over[h]
                            else:
                                break
                        if instant <= before[h]:
                            break
                        k, at = state[N_MATCHES], state[N_ROWS]
                        if k - first_match == most_matches:
                            state[BLAMED], state[BLAMED_ROW] = way, row
                            return TOO_MANY_MATCHES
                        if k == match.shape[1] or at + depth > len(position):
                            state[N_MATCHES], state[N_ROWS] = first_match, first_row
                            return FULL
                        match[0, k], match[1, k], match[2, k], match[3, k], match[4, k] = h, s, 0, instant, at
                        for d in range(depth):
                            row_of[at + d], position[at + d] = path.row[d], told[d]
                        state[N_MATCHES] += 1
                        state[N_ROWS] += depth
                        break
                path.row[depth], chosen[depth] = row, n_ways[depth] - 1  # the first row to come is the next
            state[N_STEPS] += steps
            state[START] += 1
        resume[0, h] = high if state[OPEN_START] < 0 else state[OPEN_START]
        resume[1, h] = state[NUMBER]
        state[HISTORY] += 1
        state[START] = -1
    return DONE
