"""Matches of patterns whose tests also read the match's first row: three walks from each start (ROW 4.10).

Forth over the sets of positions that can be reached, in which tests of the first row only clear bits; back
over the same rows, to keep those positions that reach an end; forth again by the first open way. A start
takes as many steps as it reaches rows, whatever the pattern. What `reach` says of the rows beforehand, with
such tests taken to hold, keeps starts short that lead nowhere.
"""

import numpy as np

from situ.compiled.borrowed import borrowed
from situ.compiled.jit import inlined, kernel
from situ.operators.rowpattern.kernels.layout import (
    AT_LAST,
    FAILED,
    TRUE,
    VALID,
    as_histories,
    as_path,
    as_programs,
    as_rows,
    as_shape,
)
from situ.operators.rowpattern.kernels.machine import test
from situ.operators.rowpattern.kernels.operate import is_equal, is_less
from situ.operators.rowpattern.kernels.operations import EQUAL_FLOAT, EQUAL_INT, LESS_INT
from situ.operators.rowpattern.kernels.reach import END, TO_END, TO_NOTHING
from situ.operators.rowpattern.kernels.scan import (
    DONE,
    FAILED_TEST,
    FULL,
    HISTORY,
    N_MATCHES,
    N_ROWS,
    N_STEPS,
    NO_DEPTH,
    NUMBER,
    SKIPS_TO_ITSELF,
    SKIPS_TO_NOTHING,
    START,
)
from situ.operators.rowpattern.kernels.walk import goes_on_at
from situ.rows.kernels.numbers import NEVER, plus


@inlined
def _has(sets, at, position):
    """Whether a set, a line of words, holds a position."""
    return (sets[at, position >> 6] >> np.uint64(position & 63)) & np.uint64(1) != 0


@inlined
def _behind(follow, after, reached, k, w):
    """The positions, a word of them, behind those of line k; listed in `after` where sets are few."""
    if len(after):
        return after[reached[k, 0]]
    found = np.uint64(0)
    for q in range(len(follow) - 1):
        if _has(reached, k, q):
            found |= follow[q, w]
    return found


@inlined
def _leading(follow, before, reached, k, w):
    """The positions of line k, a word of them, with a way to the next line; `before` as in `_behind`."""
    if len(before):
        return reached[k, 0] & before[reached[k + 1, 0]]
    rest, found, q = reached[k, w], np.uint64(0), w << 6
    while rest != 0:
        if rest & np.uint64(1):
            for v in range(follow.shape[1]):
                if follow[q, v] & reached[k + 1, v]:
                    found |= np.uint64(1) << np.uint64(q & 63)
        rest >>= np.uint64(1)
        q += 1
    return found


@kernel
def _asked(programs, program, rows, path, depth, low, high, number):
    """What the machine says; not inlined, as it is long."""
    return test(programs, program, rows, path, depth, low, high, True, number)


@inlined
def _compared(op, negated, swapped, here, start, row, s, ints, int_states, floats, float_states):
    """A comparison of the tested row's value with the first row's, as the machine makes it."""
    if op in (EQUAL_INT, LESS_INT):
        left, right = int_states[here, row], int_states[start, s]
        x, y = ints[here, row], ints[start, s]
        if op == EQUAL_INT:
            holds = x == y
        else:
            holds = y < x if swapped else x < y
    else:
        left, right = float_states[here, row], float_states[start, s]
        u, v = floats[here, row], floats[start, s]
        if op == EQUAL_FLOAT:
            holds = is_equal(u, v)
        else:
            holds = is_less(v, u) if swapped else is_less(u, v)
    if left == FAILED or right == FAILED:
        return FAILED
    return TRUE if left == VALID and right == VALID and holds != (negated != 0) else 0


@kernel
def scan_starts(
    shape, rows, programs, path, compare, follow, after, before, ends, ends_last, depends, sets, live_at,
    ways, histories, within, skip, skip_to, reached, state, match, position,
):  # fmt: skip
    """As `walk`, of tests that also read the first row, or MATCH_NUMBER.

    `follow` [M + 1, words]: the positions behind each, the start last; `after` and `before` [2 ** M]: behind
    and before each set of them, none where these are too many. `ends`, `ends_last`, `depends`
    [words]: positions at which a match may end, at a last row, and whose test reads the first row. `reached`
    [room, words] has room for the rows of one start. FAILED_TEST: only preferment order can say whether a
    test that raised is reached at all (ROW 2.6).
    """
    shape, rows, programs, path = as_shape(shape), as_rows(rows), as_programs(programs), as_path(path)
    histories, sets, live_at, ways = (
        as_histories(histories),
        borrowed(sets),
        borrowed(live_at),
        borrowed(ways),
    )
    state, match, position = borrowed(state), borrowed(match), borrowed(position)
    compare, follow, reached = borrowed(compare), borrowed(follow), borrowed(reached)
    ends, ends_last, depends = borrowed(ends), borrowed(ends_last), borrowed(depends)
    place_of, to, flags, variable = shape.follow, shape.to, shape.flags, shape.variable
    test_of, n_truth, time = shape.test, shape.n_truth, rows.time
    ints, int_states, floats, float_states = rows.ints, rows.int_state, rows.floats, rows.float_state
    m, n_words, has_window = len(variable), follow.shape[1], within >= 0
    none, one = np.uint64(0), np.uint64(1)
    h, s, number, code = state[HISTORY], state[START], state[NUMBER], DONE
    n_matches, at, n_steps = state[N_MATCHES], state[N_ROWS], state[N_STEPS]
    while h < len(histories.low):
        low, high = histories.low[h], histories.high[h]
        if s < 0:
            s, number = histories.start[h], histories.number[h]
        while s < high:
            n_steps += 1
            if ways[live_at[s], m] == TO_NOTHING:
                s += 1
                continue
            if n_matches == match.shape[1]:
                code = FULL
                break
            path.row[0] = s
            limit = plus(time[s], within) if has_window else NEVER
            row, last = s, s - 1
            while row < high and not (has_window and time[row] > limit):
                k = row - s
                if k == len(reached):
                    code = NO_DEPTH
                    break
                is_any, may_end = False, ends_last if row + 1 == high else ends
                for w in range(n_words):
                    here = follow[m, w] if k == 0 else _behind(follow, after, reached, k - 1, w)
                    here &= sets[live_at[row], w]
                    asked = here & depends[w]
                    q = w << 6
                    while asked != none:
                        if asked & one:
                            program = test_of[q] - n_truth
                            if compare[program, 0] >= 0:
                                said = _compared(
                                    compare[program, 0], compare[program, 1], compare[program, 2],
                                    compare[program, 3], compare[program, 4], row, s, ints, int_states,
                                    floats, float_states,
                                )  # fmt: skip
                            else:
                                path.row[min(k, 1)] = row
                                said = _asked(programs, program, rows, path, min(k, 1), low, high, number + 1)
                            if said == FAILED:
                                code = FAILED_TEST
                            elif said != TRUE:
                                here &= ~(one << np.uint64(q & 63))
                        asked >>= one
                        q += 1
                    reached[k, w] = here
                    is_any |= here != none
                    if here & may_end[w]:
                        last = row
                n_steps += 1
                if code != DONE or not is_any:
                    break
                row += 1
            if code != DONE:
                break
            for k in range(last - s, -1, -1):
                may_end = ends_last if s + k + 1 == high else ends
                for w in range(n_words):
                    kept = reached[k, w] & may_end[w]
                    if k < last - s:
                        kept |= _leading(follow, before, reached, k, w)
                    reached[k, w] = kept
            n_steps += last - s + 1
            row, now = s, m
            found = TO_NOTHING
            while True:
                found = TO_NOTHING
                for place in range(place_of[now], place_of[now + 1]):
                    target = to[place]
                    if target == END:
                        if flags[place] & AT_LAST and row < high:
                            continue
                        found = TO_END
                        break
                    if row <= last and _has(reached, row - s, target):
                        found = np.uint32(target)
                        break
                if found >= TO_NOTHING:
                    break
                if at + row - s == len(position):
                    code = FULL
                    break
                position[at + row - s] = found
                now = np.int64(found)
                row += 1
            if code != DONE:
                break
            n_steps += row - s
            if found == TO_NOTHING:
                s += 1
                continue
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
