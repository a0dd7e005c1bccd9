"""Matches by a walk from start to start that takes the first way to a live position, and never goes back.

Behind `reach` every choice is right at once. A window (ROW 4.7) makes fewer candidates count: where the match
that a walk finds leaves it, the nearest row at which each position can end is worked out for a stretch of
rows, and the walk takes the first way that ends in time.
"""

import numpy as np

from situ.compiled.borrowed import borrowed
from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import AT_FIRST, AT_LAST, as_histories, as_shape
from situ.operators.rowpattern.kernels.reach import DEAD, END, is_live
from situ.operators.rowpattern.kernels.scan import (
    DONE,
    FULL,
    HISTORY,
    N_MATCHES,
    N_ROWS,
    N_STEPS,
    NO_DEPTH,
    NUMBER,
    PAST_LAST,
    SKIPS_TO_ITSELF,
    SKIPS_TO_NOTHING,
    START,
    TO_LAST_OF,
    TO_NEXT,
)
from situ.rows.kernels.numbers import NEVER, plus

# places in what is known of nearest ends
BASE, UNTIL, LAST_IN, WANTED = 0, 1, 2, 3


@kernel
def _way(shape, sets, live_at, at, row, s, low, high, begun, ends, base, last_in):
    """The first open way from position `at` with `row` next: a position, END or DEAD.

    `last_in` >= 0: only ways that end up to that row, by `ends`.
    """
    for place in range(shape.follow[at], shape.follow[at + 1]):
        r, flags = shape.to[place], shape.flags[place]
        if flags & AT_FIRST and (s > low or begun):
            continue
        if r == END:
            if flags & AT_LAST and row < high:
                continue
            return END
        if row >= high:
            continue
        if last_in >= 0:
            if row <= last_in and ends[row - base, r] <= last_in:
                return r
        elif is_live(sets, live_at[row], r):
            return r
    return DEAD


@kernel
def _nearest(shape, sets, live_at, may_end, may_end_last, begin, end, high, ends):
    """For rows begin to end - 1 and each position the first row at which a match through it can end."""
    for row in range(end - 1, begin - 1, -1):
        for q in range(len(shape.variable)):
            nearest = NEVER
            if is_live(sets, live_at[row], q):
                if may_end[q] or (may_end_last[q] and row + 1 == high):
                    nearest = row
                elif row + 1 < end:
                    for place in range(shape.follow[q], shape.follow[q + 1]):
                        r = shape.to[place]
                        if r >= 0:
                            nearest = min(nearest, ends[row + 1 - begin, r])
            ends[row - begin, q] = nearest


@kernel
def walk(
    shape, time, sets, live_at, ways, may_end, may_end_last, histories, within, skip, skip_to, state, match,
    position, ends, stretch,
):  # fmt: skip
    """As `scan`, of whole inputs whose tests read the row and its neighbours only.

    `ways` are those of reach.py, which are looked up; none where they depend on more than the live positions.
    """
    shape, histories, sets = as_shape(shape), as_histories(histories), borrowed(sets)
    live_at, ends = borrowed(live_at), borrowed(ends)
    m, is_known = len(shape.variable), len(ways) > 0
    while state[HISTORY] < len(histories.low):
        h = state[HISTORY]
        low, high, begun = histories.low[h], histories.high[h], histories.begun[h]
        if state[START] < 0:
            state[START], state[NUMBER] = histories.start[h], histories.number[h]
            stretch[BASE], stretch[UNTIL], stretch[LAST_IN] = low, low, low
        while state[START] < high:
            s = state[START]
            if is_known:
                while s < high and ways[live_at[s], m] == DEAD:
                    s += 1
                state[N_STEPS] += s - state[START]
                state[START] = s
                if s == high:
                    break
                q = np.int64(ways[live_at[s], m])
            else:
                q = _way(shape, sets, live_at, m, s, s, low, high, begun, ends, 0, -1)
            state[N_STEPS] += 1
            if q == DEAD:
                state[START] += 1
                continue
            if state[N_MATCHES] == match.shape[1]:
                return FULL
            at = state[N_ROWS]
            limit = plus(time[s], within) if within >= 0 else NEVER
            row, is_out = s, False
            while q != END:
                if time[row] > limit:
                    is_out = True
                    break
                if at + row - s >= len(position):
                    return FULL
                position[at + row - s] = q
                row += 1
                if is_known and row < high:
                    q = np.int64(ways[live_at[row], q])
                else:
                    q = _way(shape, sets, live_at, q, row, s, low, high, begun, ends, 0, -1)
            state[N_STEPS] += row - s
            if is_out:
                last_in = max(stretch[LAST_IN], s)
                while last_in + 1 < high and time[last_in + 1] <= limit:
                    last_in += 1
                stretch[LAST_IN] = last_in
                if s >= stretch[UNTIL]:
                    until = min(high, s + max(256, last_in - s + 1))
                    end = last_in + 1
                    latest = plus(time[until - 1], within)
                    while end < high and time[end] <= latest:
                        end += 1
                    if end - s > len(ends):
                        stretch[WANTED] = end - s
                        return NO_DEPTH
                    _nearest(shape, sets, live_at, may_end, may_end_last, s, end, high, ends)
                    state[N_STEPS] += end - s
                    stretch[BASE], stretch[UNTIL] = s, until
                row = s
                q = _way(shape, sets, live_at, m, s, s, low, high, begun, ends, stretch[BASE], last_in)
                if q == DEAD:
                    state[START] += 1
                    continue
                while q != END:
                    if at + row - s >= len(position):
                        return FULL
                    position[at + row - s] = q
                    row += 1
                    q = _way(shape, sets, live_at, q, row, s, low, high, begun, ends, stretch[BASE], last_in)
                    state[N_STEPS] += 1
            depth = row - s
            goes_to = s + 1
            if depth and skip != TO_NEXT:
                goes_to = row
                if skip != PAST_LAST:
                    goes_to = -1
                    for k in range(depth):
                        if skip_to[shape.variable[position[at + k]]] and (goes_to < 0 or skip == TO_LAST_OF):
                            goes_to = s + k
            state[NUMBER] += 1
            if goes_to <= s:
                return SKIPS_TO_NOTHING if goes_to < 0 else SKIPS_TO_ITSELF
            n = state[N_MATCHES]
            match[0, n], match[1, n], match[2, n], match[3, n], match[4, n] = h, s, state[NUMBER], NEVER, at
            state[N_MATCHES] += 1
            state[N_ROWS] += depth
            state[START] = goes_to
        state[HISTORY] += 1
        state[START] = -1
    return DONE
