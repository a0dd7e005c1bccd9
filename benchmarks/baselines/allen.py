"""Allen's relations for compiled baselines: which one holds, since when it is certain, where to search."""

import numba
import numpy as np

compiled = numba.njit(cache=True, nogil=True)

OPEN = np.int64(1) << np.int64(62)  # the end of a situation that has not ended
NEVER = np.int64(-1)
LONG_AGO = -OPEN

_STARTS_EARLIER, _STARTS_TOGETHER, _STARTS_LATER = 0b11100, 0b11100000, 0b11100000000


@compiled
def relation(a_ts, a_te, b_ts, b_te):
    """The number of the relation of A to B, 0 (before) to 12 (after), as situ.algebra numbers them."""
    if a_te <= b_ts:
        return 1 if a_te == b_ts else 0
    if b_te <= a_ts:
        return 11 if b_te == a_ts else 12
    first = 2 if a_ts < b_ts else (5 if a_ts == b_ts else 8)
    return first + (0 if a_te < b_te else (1 if a_te == b_te else 2))


@compiled
def certain_at(allowed, a_ts, a_te, b_ts, b_te):
    """The earliest detection time of Table 5.2, with prefix groups; NEVER if it is not certain (yet)."""
    later = max(a_ts, b_ts)
    if a_te > b_ts and b_te > a_ts:
        group = _STARTS_EARLIER if a_ts < b_ts else (_STARTS_TOGETHER if a_ts == b_ts else _STARTS_LATER)
        if allowed & group == group:
            return later
        if a_te == OPEN and b_te == OPEN:
            return NEVER
        later = min(a_te, b_te)
    return later if (allowed >> relation(a_ts, a_te, b_ts, b_te)) & 1 else NEVER


@compiled
def lower_bound(values, low, high, x):
    """The first position in [low, high) of a sorted row whose value is at least x."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def search(atom, ts, te, low, high, a_ts, a_te):
    """Positions of situations B, sorted by ts and by te alike, with A `atom` B: four binary searches."""
    ts_from, ts_to, te_from, te_to = LONG_AGO, OPEN - 1, LONG_AGO, OPEN - 1
    if atom == 0:
        ts_from = a_te + 1
    elif atom == 1:
        ts_from, ts_to = a_te, a_te
    elif atom == 11:
        te_from, te_to = a_ts, a_ts
    elif atom == 12:
        te_to = a_ts - 1
    else:
        if atom <= 4:
            ts_from, ts_to = a_ts + 1, a_te - 1
        elif atom <= 7:
            ts_from, ts_to = a_ts, a_ts
        else:
            ts_to, te_from = a_ts - 1, a_ts + 1
        ends = (atom - 2) % 3
        if ends == 0:
            te_from = max(te_from, a_te + 1)
        elif ends == 1:
            te_from, te_to = a_te, a_te
        else:
            te_to = a_te - 1
    first = max(lower_bound(ts, low, high, ts_from), lower_bound(te, low, high, te_from))
    last = min(lower_bound(ts, low, high, ts_to + 1), lower_bound(te, low, high, te_to + 1))
    return first, last
