"""Matches by a walk from start to start that takes the first way to a live position, and never goes back.

Behind `reach` every choice is right at once. A window (ROW 4.7) makes fewer candidates count: where the match
that a walk finds leaves it, the nearest row at which each position can end is worked out for a stretch of
rows, and the walk takes the first way that ends in time.
"""

import numpy as np

from situ.compiled.borrowed import borrowed
from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import AT_FIRST, AT_LAST, as_histories, as_shape
from situ.operators.rowpattern.kernels.reach import END, TO_END, TO_NOTHING, is_live
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
    """The first open way from position `at` with `row` next: a position, TO_END or TO_NOTHING.

    `last_in` >= 0: only ways that end up to that row, by `ends`.
    """
    for place in range(shape.follow[at], shape.follow[at + 1]):
        r, flags = shape.to[place], shape.flags[place]
        if flags & AT_FIRST and (s > low or begun):
            continue
        if r == END:
            if flags & AT_LAST and row < high:
                continue
            return TO_END
        if row >= high:
            continue
        if last_in >= 0:
            if row <= last_in and ends[row - base, r] <= last_in:
                return np.uint32(r)
        elif is_live(sets, live_at[row], r):
            return np.uint32(r)
    return TO_NOTHING


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
def goes_on_at(skip, skip_to, variable, position, at, depth, s):
    """The start behind a match of `depth` rows from `s` on, with its positions from `at` on; -1 for none."""
    if depth == 0 or skip == TO_NEXT:
        return s + 1
    if skip == PAST_LAST:
        return s + depth
    goes_to = -1
    for k in range(depth):
        if skip_to[variable[position[at + k]]] and (goes_to < 0 or skip == TO_LAST_OF):
            goes_to = s + k
    return goes_to


@kernel
def walk(
    shape, time, sets, live_at, ways, may_end, may_end_last, histories, within, skip, skip_to, state, match,
    position, ends, stretch,
):  # fmt: skip
    """As `scan`, of whole inputs whose tests read the row and its neighbours only.

    `ways` are those of reach.py, which are looked up; none where they depend on more than the live positions.
    """
    shape, histories, sets, ways = as_shape(shape), as_histories(histories), borrowed(sets), borrowed(ways)
    live_at, ends, time, variable = borrowed(live_at), borrowed(ends), borrowed(time), shape.variable
    state, match, position = borrowed(state), borrowed(match), borrowed(position)
    m, is_known, has_window = len(variable), len(ways) > 0, within >= 0
    # kept apart from the arrays that are written to, so that they stay in registers
    h, s, number, code = state[HISTORY], state[START], state[NUMBER], DONE
    n_matches, at, n_steps = state[N_MATCHES], state[N_ROWS], state[N_STEPS]
    while h < len(histories.low):
        low, high, begun = histories.low[h], histories.high[h], histories.begun[h]
        if s < 0:
            s, number = histories.start[h], histories.number[h]
            stretch[BASE], stretch[UNTIL], stretch[LAST_IN] = low, low, low
        while s < high:
            if is_known:
                began = s
                while s < high and ways[live_at[s], m] == TO_NOTHING:
                    s += 1
                n_steps += s - began
                if s == high:
                    break
                q = ways[live_at[s], m]
            else:
                q = _way(shape, sets, live_at, m, s, s, low, high, begun, ends, 0, -1)
            n_steps += 1
            if q == TO_NOTHING:
                s += 1
                continue
            if n_matches == match.shape[1]:
                code = FULL
                break
            limit = plus(time[s], within) if has_window else NEVER
            row, is_out = s, False
            full = s + len(position) - at  # there is no room for this row
            while q != TO_END:
                if has_window and time[row] > limit:
                    is_out = True
                    break
                if row == full:
                    code = FULL
                    break
                position[at + row - s] = q
                row += 1
                if is_known and row < high:
                    q = ways[live_at[row], q]
                else:
                    q = _way(shape, sets, live_at, q, row, s, low, high, begun, ends, 0, -1)
            n_steps += row - s
            if code != DONE:
                break
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
                        code = NO_DEPTH
                        break
                    _nearest(shape, sets, live_at, may_end, may_end_last, s, end, high, ends)
                    n_steps += end - s
                    stretch[BASE], stretch[UNTIL] = s, until
                row = s
                q = _way(shape, sets, live_at, m, s, s, low, high, begun, ends, stretch[BASE], last_in)
                if q == TO_NOTHING:
                    s += 1
                    continue
                while q != TO_END and row < full:
                    position[at + row - s] = q
                    row += 1
                    q = _way(shape, sets, live_at, q, row, s, low, high, begun, ends, stretch[BASE], last_in)
                    n_steps += 1
                if q != TO_END:
                    code = FULL
                    break
            depth = row - s
            goes_to = goes_on_at(skip, skip_to, variable, position, at, depth, s)
            number += 1
            if goes_to <= s:
                code = SKIPS_TO_NOTHING if goes_to < 0 else SKIPS_TO_ITSELF
                break
            match[0, n_matches], match[1, n_matches], match[2, n_matches] = h, s, number
            match[3, n_matches], match[4, n_matches] = NEVER, at
            n_matches += 1
            at += depth
            s = goes_to
        if code != DONE:
            break
        h += 1
        s = -1
    state[HISTORY], state[START], state[NUMBER] = h, s, number
    state[N_MATCHES], state[N_ROWS], state[N_STEPS] = n_matches, at, n_steps
    return code
