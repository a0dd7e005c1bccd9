"""Which positions can still reach the end, row by row from the back: one pass for every pattern (ROW 4.10).

Tests that read only the row and its neighbours make a row one of few classes. The set of live positions at a
row follows from that of the row behind it and from the row's class; sets are numbered as they appear, and
what follows from which is looked up the next time.
"""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import AT_FIRST, AT_LAST

END = -1
DEAD = -2  # no way is open
# the same where positions are looked up: without a sign, so that none is taken for a place from the back
TO_END, TO_NOTHING = np.uint32(0xFFFFFFFF), np.uint32(0xFFFFFFFE)
DONE, FULL = 0, 1

# places in the state of a pass
HISTORY, ROW, CURRENT, N_SETS = 0, 1, 2, 3


@kernel
def pack(truth, first, n, packed):
    """Up to eight tests as the bits of a byte: bit t is test first + t.

    Test by test over blocks that stay in the nearest cache: so the compiler works on many rows at once.
    """
    packed[:] = 0
    for begin in range(0, len(packed), 8192):
        to = packed[begin : begin + 8192]
        for t in range(n):
            line, shift = truth[first + t, begin : begin + 8192], np.uint8(t)
            for i in range(len(to)):
                to[i] |= (line[i] & np.uint8(1)) << shift


@kernel
def leading(shape, live, may_end, n_words, out):
    """The positions with a way to one that is live, or that may end behind a row that is not the last."""
    for q in range(len(shape.variable)):
        leads = may_end[q]
        place = shape.follow[q]
        while not leads and place < shape.follow[q + 1]:
            r = shape.to[place]
            leads = r >= 0 and (live[r >> 6] >> np.uint64(r & 63)) & np.uint64(1) != 0
            place += 1
        if leads:
            out[q >> 6] |= np.uint64(1) << np.uint64(q & 63)


@kernel
def mix(mixed, value):
    """A number of 31 bits of two such numbers, in which those of both are spread."""
    mixed = (mixed * 1_000_003 + value) & 0x7FFFFFFF
    return mixed ^ (mixed >> 15)


@kernel
def _place(live, known):
    """Where to look a set up first."""
    mixed = np.int64(0)
    for word in live:
        for shift in (0, 31, 62):
            mixed = mix(mixed, np.int64((word >> np.uint64(shift)) & np.uint64(0x7FFFFFFF)))
    return mixed & (len(known) - 1)


@kernel
def number_of(live, sets, lead, known, shape, may_end, state):
    """The number of a set of positions, a new one if it has none; -1 where there is no room."""
    n_words = len(live)
    at = _place(live, known)
    while known[at] >= 0:
        same = True
        for w in range(n_words):
            same &= sets[known[at], w] == live[w]
        if same:
            return known[at]
        at = (at + 1) & (len(known) - 1)
    number = state[N_SETS]
    if number == len(sets):
        return -1
    known[at] = number
    for w in range(n_words):
        sets[number, w] = live[w]
        lead[number, w] = np.uint64(0)
    leading(shape, live, may_end, n_words, lead[number])
    state[N_SETS] += 1
    return number


@kernel
def _before(current, kind, shape, holds, may_end, sets, lead, known, live, state):
    """The set of a row of this class whose next row has the set `current`; -1 where there is no room."""
    for w in range(len(live)):
        live[w] = lead[current, w] & holds[kind, w]
    return number_of(live, sets, lead, known, shape, may_end, state)


@kernel
def close(shape, holds, may_end, sets, lead, known, follows, state):
    """Work out every set that can follow, before any row is looked at; FULL where they are too many."""
    live = np.empty(sets.shape[1], np.uint64)
    current = 0
    while current < state[N_SETS]:
        for kind in range(len(holds)):
            after = _before(current, kind, shape, holds, may_end, sets, lead, known, live, state)
            if after < 0:
                return FULL
            follows[current, kind] = after
        current += 1
    return DONE


@kernel
def look_up(classes, low, high, follows, live_at):
    """As `reach`, where every set is known: four histories at once, as rows wait for those behind them."""
    h = 0
    while h < len(low):
        least = 0
        if h + 3 < len(low):
            least = min(
                high[h] - low[h], high[h + 1] - low[h + 1], high[h + 2] - low[h + 2], high[h + 3] - low[h + 3]
            )
        if least < 64:
            _look_up(classes, low[h], high[h], follows, np.uint16(0), live_at)
            h += 1
            continue
        a, b, c, d = high[h] - least, high[h + 1] - least, high[h + 2] - least, high[h + 3] - least
        class_a, class_b = classes[a : a + least], classes[b : b + least]
        class_c, class_d = classes[c : c + least], classes[d : d + least]
        live_a, live_b = live_at[a : a + least], live_at[b : b + least]
        live_c, live_d = live_at[c : c + least], live_at[d : d + least]
        now_a, now_b, now_c, now_d = np.uint16(0), np.uint16(0), np.uint16(0), np.uint16(0)
        for i in range(least - 1, -1, -1):
            now_a = follows[now_a, class_a[i]]
            now_b = follows[now_b, class_b[i]]
            now_c = follows[now_c, class_c[i]]
            now_d = follows[now_d, class_d[i]]
            live_a[i] = now_a
            live_b[i] = now_b
            live_c[i] = now_c
            live_d[i] = now_d
        _look_up(classes, low[h], a, follows, now_a, live_at)
        _look_up(classes, low[h + 1], b, follows, now_b, live_at)
        _look_up(classes, low[h + 2], c, follows, now_c, live_at)
        _look_up(classes, low[h + 3], d, follows, now_d, live_at)
        h += 4


@kernel
def _look_up(classes, low, high, follows, current, live_at):
    """Of rows `high` - 1 down to `low` of one history; `current` is the set of the row behind them."""
    for row in range(high - 1, low - 1, -1):
        current = follows[current, classes[row]]
        live_at[row] = current


@kernel
def reach(shape, classes, low, high, holds, may_end, sets, lead, known, follows, state, live_at):
    """Number the live positions of every row, history by history from its last row on.

    Set 0 stands behind a last row: its `lead` are the positions that may end there. `follows` [sets, classes]
    is what was found before, -1 for not yet.
    """
    live = np.empty(sets.shape[1], np.uint64)
    while state[HISTORY] < len(low):
        h = state[HISTORY]
        row, current = state[ROW], state[CURRENT]
        if row < 0:
            row, current = high[h] - 1, 0
        while row >= low[h]:
            kind = classes[row]
            after = follows[current, kind]
            if after < 0:
                after = _before(current, kind, shape, holds, may_end, sets, lead, known, live, state)
                if after < 0:
                    state[ROW], state[CURRENT] = row, current
                    return FULL
                follows[current, kind] = after
            live_at[row] = after
            current = after
            row -= 1
        state[HISTORY] += 1
        state[ROW] = -1
    return DONE


@kernel
def simulate(shape, classes, low, high, holds, may_end, last_lead, sets, live_at):
    """The same with a set for every row, where there are too many to number."""
    n_words = sets.shape[1]
    lead = np.empty(n_words, np.uint64)
    for h in range(len(low)):
        for row in range(high[h] - 1, low[h] - 1, -1):
            if row == high[h] - 1:
                lead[:] = last_lead
            else:
                lead[:] = np.uint64(0)
                leading(shape, sets[row + 1], may_end, n_words, lead)
            for w in range(n_words):
                sets[row, w] = lead[w] & holds[classes[row], w]
            live_at[row] = row


@kernel
def is_live(sets, number, position):
    """Whether a position belongs to a set."""
    return (sets[number, position >> 6] >> np.uint64(position & 63)) & np.uint64(1) != 0


@kernel
def ways(shape, sets):
    """[sets, M + 1]: the first open way from each position, the start last, to a row of this set.

    A position, TO_END or TO_NOTHING; without ways that are for first rows only.
    """
    m = len(shape.variable)
    first = np.full((len(sets), m + 1), TO_NOTHING, np.uint32)
    for number in range(len(sets)):
        for q in range(m + 1):
            for place in range(shape.follow[q], shape.follow[q + 1]):
                r, flags = shape.to[place], shape.flags[place]
                if flags & AT_FIRST or (r == END and flags & AT_LAST):
                    continue
                if r == END or is_live(sets, number, r):
                    first[number, q] = TO_END if r == END else r
                    break
    return first


@kernel
def hopes(shape, sets, live_at, low, high, begun, hope):
    """Flag the rows at which a match may start: those with a live way from the start."""
    m = len(shape.variable)
    for h in range(len(low)):
        for row in range(low[h], high[h]):
            for place in range(shape.follow[m], shape.follow[m + 1]):
                r, flags = shape.to[place], shape.flags[place]
                if flags & AT_FIRST and (row > low[h] or begun[h]):
                    continue
                if flags & AT_LAST:
                    continue
                if r == END or is_live(sets, live_at[row], r):
                    hope[row] = 1
                    break


@kernel
def enlist(sets, known):
    """Enter all sets but the first into an empty table."""
    for number in range(1, len(sets)):
        at = _place(sets[number], known)
        while known[at] >= 0:
            at = (at + 1) & (len(known) - 1)
        known[at] = number
