"""How two situations stand to each other, and where in a sorted list those that fit can be."""

from situ.algebra import relations as r
from situ.compiled.jit import kernel
from situ.operators.situations.kernels.layout import AT_Y, BOUND, LEFT, LEFT_END, RIGHT_END
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, first_above, first_at_least, shifted

# Of two symbols that only differences relate: every relation may hold, and yet the two are not free.
LINKED = r.ALL | 1 << r.N_ATOMS

_INSIDE = 1 << r.OVERLAPS | 1 << r.FINISHED_BY | 1 << r.CONTAINS  # the first starts earlier
_TOGETHER = 1 << r.STARTS | 1 << r.EQUALS | 1 << r.STARTED_BY
_COVERED = 1 << r.DURING | 1 << r.FINISHES | 1 << r.OVERLAPPED_BY

# Where a candidate S can stand in its list, sorted by ts, given a bound situation B: from `lower` ...
ANY, TE_FROM_B_TS, TE_ABOVE_B_TS, TS_FROM_B_TS, TS_ABOVE_B_TS, TS_FROM_B_TE, TS_ABOVE_B_TE, LAST_ONE = range(
    8
)
# ... to `upper`.
TS_BELOW_B_TS, TS_TO_B_TS, TS_BELOW_B_TE, TS_TO_B_TE, NO_LIMIT, FIRST_ONE = range(6)

# In the order of where S starts: (relations of B to S, lower bound, upper bound).
RANGES = (
    (r.AFTER, ANY, TS_BELOW_B_TS),
    (1 << r.MET_BY, TE_FROM_B_TS, TS_BELOW_B_TS),
    (_COVERED, TE_ABOVE_B_TS, TS_BELOW_B_TS),
    (_TOGETHER, TS_FROM_B_TS, TS_TO_B_TS),
    (_INSIDE, TS_ABOVE_B_TS, TS_BELOW_B_TE),
    (1 << r.MEETS, TS_FROM_B_TE, TS_TO_B_TE),
    (r.BEFORE, TS_ABOVE_B_TE, NO_LIMIT),
)


def bounds_of(allowed: int) -> tuple[int, int]:
    """`lower` and `upper` for a set of relations of B to S: the hull of what its members allow."""
    if allowed == 1 << r.FOLLOWED_BY:
        return TS_ABOVE_B_TE, FIRST_ONE  # only the first run after B can follow it
    if allowed == 1 << r.FOLLOWS:
        return LAST_ONE, TS_BELOW_B_TS
    fitting = [(lower, upper) for relations, lower, upper in RANGES if allowed & relations]
    return fitting[0][0], fitting[-1][1]


@kernel
def narrow(ts, latest_te, symbol, low, high, b_ts, b_te, lower, upper, near):
    """Part of [low, high) in which a candidate can stand: two searches that start at `near`."""
    if upper == TS_BELOW_B_TS:
        high = first_at_least(ts, symbol, low, high, b_ts, near)
    elif upper == TS_TO_B_TS:
        high = first_above(ts, symbol, low, high, b_ts, near)
    elif upper == TS_BELOW_B_TE:
        high = first_at_least(ts, symbol, low, high, b_te, near)
    elif upper == TS_TO_B_TE:
        high = first_above(ts, symbol, low, high, b_te, near)
    if lower == TE_FROM_B_TS:
        low = first_at_least(latest_te, symbol, low, high, b_ts, near)
    elif lower == TE_ABOVE_B_TS:
        low = first_above(latest_te, symbol, low, high, b_ts, near)
    elif lower == TS_FROM_B_TS:
        low = first_at_least(ts, symbol, low, high, b_ts, near)
    elif lower == TS_ABOVE_B_TS:
        low = first_above(ts, symbol, low, high, b_ts, near)
    elif lower == TS_FROM_B_TE:
        low = first_at_least(ts, symbol, low, high, b_te, near)
    elif lower == TS_ABOVE_B_TE:
        low = first_above(ts, symbol, low, high, b_te, near)
    elif lower == LAST_ONE:
        low = max(low, high - 1)
    if upper == FIRST_ONE:
        high = min(high, low + 1)
    return low, high


@kernel
def certain_at(allowed, a_ts, a_te, b_ts, b_te, a_followed, b_followed):
    """Earliest instant at which A is certain to stand to B as allowed (SEM 4.2), NEVER if it is not.

    OPEN ends are unknown and later than everything known. `a_followed`: B follows A, if A is before B.
    """
    if a_te <= b_ts:
        atom = r.MEETS if a_te == b_ts else r.FOLLOWED_BY if a_followed else r.BEFORE_ONLY
        return b_ts if (allowed >> atom) & 1 else NEVER
    if b_te <= a_ts:
        atom = r.MET_BY if b_te == a_ts else r.FOLLOWS if b_followed else r.AFTER_ONLY
        return a_ts if (allowed >> atom) & 1 else NEVER
    if a_ts < b_ts:
        first_atom, group, later_ts = r.OVERLAPS, _INSIDE, b_ts
    elif a_ts == b_ts:
        first_atom, group, later_ts = r.STARTS, _TOGETHER, a_ts
    else:
        first_atom, group, later_ts = r.DURING, _COVERED, a_ts
    if allowed & group == group:
        return later_ts
    if a_te == OPEN and b_te == OPEN:
        return NEVER
    # within each group the atoms are numbered by A.te < B.te, A.te = B.te, A.te > B.te
    atom = first_atom + (0 if a_te < b_te else 1 if a_te == b_te else 2)
    return min(a_te, b_te) if (allowed >> atom) & 1 else NEVER


@kernel
def differs(codes, b_row, b, c_row, c):
    """Whether B and C must have equal codes, which stand in these rows (-1: they need not), and have not."""
    return b_row >= 0 and codes[b_row, b] != codes[c_row, c]


@kernel
def narrow_apart(ts, latest_te, symbol, low, high, differences, first, last, b, b_ts, b_te, near):
    """Part of [low, high) in which a candidate is as far from B as differences first .. last ask (SEM 9)."""
    for q in range(first, last):
        bound = differences[q, BOUND]
        if differences[q, LEFT] == b:  # the candidate's y is at least x - bound
            x = b_te if differences[q, LEFT_END] else b_ts
            if x == OPEN:
                return low, low  # until x has occurred nothing is certain
            least = shifted(x, -bound)
            if differences[q, RIGHT_END]:
                low = first_at_least(latest_te, symbol, low, high, least, near)
            else:
                low = first_at_least(ts, symbol, low, high, least, near)
        else:  # the candidate's x is at most y + bound
            y = b_te if differences[q, RIGHT_END] else b_ts
            if y == OPEN:
                continue
            most = shifted(y, bound)
            if differences[q, LEFT_END]:  # ends may be out of order, but ts < te <= most
                high = first_at_least(ts, symbol, low, high, most, near)
            else:
                high = first_above(ts, symbol, low, high, most, near)
    return low, high


@kernel
def apart_since(differences, first, last, b, b_ts, b_te, c_ts, c_te):
    """Since when B and C are as far apart as asked, as far as no later event must tell (SEM 9.3); NEVER."""
    since = LONG_AGO
    for q in range(first, last):
        if differences[q, LEFT] == b:
            x = b_te if differences[q, LEFT_END] else b_ts
            y = c_te if differences[q, RIGHT_END] else c_ts
        else:
            x = c_te if differences[q, LEFT_END] else c_ts
            y = b_te if differences[q, RIGHT_END] else b_ts
        if x == OPEN or (y == OPEN and differences[q, AT_Y]):
            return NEVER
        if y != OPEN and y < shifted(x, -differences[q, BOUND]):
            return NEVER
        since = max(since, y if differences[q, AT_Y] else x)
    return since
