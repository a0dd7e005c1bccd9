"""Counting instead of matching: how every pair of situations stands, and where candidates are lost.

Of a pair's situations that lie apart nothing is enumerated: two searches count them. Those that touch are
at most nA + nB for derived situations, which are disjoint.
"""

from typing import NamedTuple

import numpy as np

from situ.algebra import relations as r
from situ.compiled.jit import kernel
from situ.operators.situations.kernels.admit import move_run
from situ.operators.situations.kernels.judge import possible_until
from situ.operators.situations.kernels.layout import BOUND, LEFT, LEFT_END, RIGHT, RIGHT_END
from situ.operators.situations.kernels.match import neighbours_of
from situ.operators.situations.kernels.relate import apart_since, certain_at, narrow, narrow_apart
from situ.rows.kernels.numbers import (
    LONG_AGO,
    NEVER,
    OPEN,
    UNBOUNDED,
    first_above,
    first_at_least,
    minus,
    plus,
    shifted,
)

# Bins: the 15 atoms, then pairs that both go on, of which only the order of their starts is known.
OPEN_INSIDE, OPEN_TOGETHER, OPEN_COVERED = r.N_ATOMS, r.N_ATOMS + 1, r.N_ATOMS + 2
N_BINS = r.N_ATOMS + 3


class Pairs(NamedTuple):
    """How the pairs of one constraint stand, per bin; `near` pairs start at most the window apart."""

    near: np.ndarray  # int64[N_BINS]
    far: np.ndarray
    in_time: np.ndarray  # of the near ones in an asked relation: those the window lets through
    span: np.ndarray  # smallest window that lets one of the pairs in an asked relation through, OPEN if none


@kernel
def keep_existing(runs, followed, final):
    """Leave out runs that cannot match, in place; returns the running maximum of te of those that stay."""
    latest = np.empty(runs.te.shape, np.int64)
    for symbol in range(runs.ts.shape[0]):
        kept = 0
        for k in range(runs.offset.shape[1] - 1):
            begin, end = runs.offset[symbol, k], runs.offset[symbol, k + 1]
            runs.offset[symbol, k] = kept
            highest = LONG_AGO
            for at in range(begin, end):
                if runs.admissible[symbol, at] == NEVER or (final and runs.te[symbol, at] == OPEN):
                    continue
                if kept != at:
                    move_run(runs, symbol, at, kept, followed)
                highest = max(highest, runs.te[symbol, kept])
                latest[symbol, kept] = highest
                kept += 1
        runs.offset[symbol, runs.offset.shape[1] - 1] = kept
    return latest


@kernel
def new_pairs():
    """Nothing counted yet."""
    return Pairs(
        np.zeros(N_BINS, np.int64),
        np.zeros(N_BINS, np.int64),
        np.zeros(N_BINS, np.int64),
        np.full(N_BINS, OPEN),
    )


@kernel
def count_pairs(runs, spec, a, b):
    """How every A stands to every B of its slot: O((nA + nB) log n) and the pairs that touch."""
    pairs = new_pairs()
    allowed = spec.relations[a, b]
    count_apart(runs, spec, a, b, allowed, r.BEFORE_ONLY, r.FOLLOWED_BY, pairs)
    count_apart(runs, spec, b, a, allowed, r.AFTER_ONLY, r.FOLLOWS, pairs)
    count_touching(runs, spec, a, b, allowed, pairs)
    return pairs


@kernel
def count_apart(runs, spec, early, late, allowed, apart, directly, pairs):
    """Pairs whose `early` ends before `late` begins; `directly`: the bin of those that follow directly."""
    ts, te, latest, offset = runs.ts, runs.te, runs.latest_te, runs.offset
    verdict_of = spec.verdict_of[early, late]
    asked_apart, asked_directly = (allowed >> apart) & 1 == 1, (allowed >> directly) & 1 == 1
    for k in range(offset.shape[1] - 1):
        begin, end = offset[early, k], offset[early, k + 1]
        near = begin
        for at in range(offset[late, k], offset[late, k + 1]):
            l_ts = ts[late, at]
            now = te[late, at] if spec.final else runs.admissible[late, at]
            surely = first_at_least(latest, early, begin, end, l_ts, near)
            near = surely
            follows = (
                verdict_of >= 0 and surely > begin and te[early, surely - 1] == runs.verdict[verdict_of, at]
            )
            n_apart = surely - begin
            if follows:
                tell(pairs, directly, spec.within, ts[early, surely - 1], l_ts, now, asked_directly)
                n_apart -= 1
            last = begin + n_apart
            from_near, from_in_time = begin, begin
            if spec.within != UNBOUNDED:
                from_near = first_at_least(ts, early, begin, last, minus(l_ts, spec.within), last)
                from_in_time = first_at_least(ts, early, begin, last, minus(now, spec.within), last)
            pairs.near[apart] += last - from_near
            pairs.far[apart] += from_near - begin
            if asked_apart and n_apart > 0:
                pairs.in_time[apart] += last - from_in_time
                pairs.span[apart] = min(pairs.span[apart], length(ts[early, last - 1], now))
            for other in range(surely, end):  # given intervals overlap: some of these have ended as well
                if ts[early, other] >= l_ts:
                    break
                if te[early, other] < l_ts:
                    tell(pairs, apart, spec.within, ts[early, other], l_ts, now, asked_apart)


@kernel
def length(since, until):
    """`until - since`, below OPEN."""
    if since < 0 and until >= OPEN + since:
        return OPEN - 1
    return until - since


@kernel
def tell(pairs, bin_, within, first_ts, later_ts, now, asked):
    """Count one pair; `now` is its own detection instant."""
    if within != UNBOUNDED and later_ts > plus(first_ts, within):
        pairs.far[bin_] += 1
    else:
        pairs.near[bin_] += 1
        if asked and (within == UNBOUNDED or now <= plus(first_ts, within)):
            pairs.in_time[bin_] += 1
    if asked:
        pairs.span[bin_] = min(pairs.span[bin_], length(first_ts, now))


@kernel
def count_touching(runs, spec, a, b, allowed, pairs):
    """Pairs that share an instant or meet."""
    ts, te, admissible, offset = runs.ts, runs.te, runs.admissible, runs.offset
    for k in range(offset.shape[1] - 1):
        begin, end = offset[b, k], offset[b, k + 1]
        near = begin
        for i in range(offset[a, k], offset[a, k + 1]):
            a_ts, a_te = ts[a, i], te[a, i]
            near = first_at_least(runs.latest_te, b, begin, end, a_ts, near)
            for j in range(near, end):
                b_ts, b_te = ts[b, j], te[b, j]
                if b_ts > a_te:
                    break
                if b_te < a_ts:
                    continue
                certain = certain_at(allowed, a_ts, a_te, b_ts, b_te, False, False)
                now = max(admissible[a, i], admissible[b, j], certain)
                if spec.final and certain != NEVER:
                    now = max(a_te, b_te)
                bin_ = bin_of(a_ts, a_te, b_ts, b_te)
                tell(pairs, bin_, spec.within, min(a_ts, b_ts), max(a_ts, b_ts), now, certain != NEVER)


@kernel
def bin_of(a_ts, a_te, b_ts, b_te):
    """The bin of a pair that touches."""
    if a_te == b_ts:
        return r.MEETS
    if b_te == a_ts:
        return r.MET_BY
    group = 0 if a_ts < b_ts else 1 if a_ts == b_ts else 2
    if a_te == OPEN and b_te == OPEN:
        return OPEN_INSIDE + group
    first = r.OVERLAPS if group == 0 else r.STARTS if group == 1 else r.DURING
    return first + (0 if a_te < b_te else 1 if a_te == b_te else 2)


@kernel
def count_prefixes(runs, spec, order):
    """Partial configurations along a plan, per depth: candidates that start within the window of what is
    bound, those that stand to it as asked, and those of them that are certain in time: int64[n, 3].

    `order` may leave symbols out. The walk is the one of `match.join`, without its increments.
    """
    ts, te, latest_te, admissible, offset = runs.ts, runs.te, runs.latest_te, runs.admissible, runs.offset
    relations, lower, upper, verdict_of = spec.relations, spec.lower, spec.upper, spec.verdict_of
    within, final = spec.within, spec.final
    differences, differ_from, differ_to = spec.differences, spec.differ_from, spec.differ_to
    n = len(order)
    counts = np.zeros((n, 3), np.int64)
    at, stop = np.empty(n, np.int64), np.empty(n, np.int64)
    pick = np.empty(ts.shape[0], np.int64)
    near = np.zeros(n, np.int64)
    earliest, instant = np.empty(n, np.int64), np.empty(n, np.int64)
    earliest[0], instant[0] = OPEN, LONG_AGO
    neighbours, n_neighbours = neighbours_of(order, relations)
    for k in range(offset.shape[1] - 1):
        at[0], stop[0] = offset[order[0], k], offset[order[0], k + 1]
        counts[0, 0] += stop[0] - at[0]
        depth = 0
        while depth >= 0:
            if at[depth] >= stop[depth]:
                depth -= 1
                continue
            s, c = order[depth], at[depth]
            at[depth] += 1
            c_ts, c_te = ts[s, c], te[s, c]
            now = max(admissible[s, c], instant[depth])
            for j in range(n_neighbours[depth]):
                b = neighbours[depth, j]
                b_ts, b_te = ts[b, pick[b]], te[b, pick[b]]
                pair, converse = verdict_of[b, s], verdict_of[s, b]
                b_followed = pair >= 0 and runs.verdict[pair, c] == b_te
                c_followed = converse >= 0 and runs.verdict[converse, pick[b]] == c_te
                certain = certain_at(relations[b, s], b_ts, b_te, c_ts, c_te, b_followed, c_followed)
                if certain != NEVER:
                    first, last = differ_from[b, s], differ_to[b, s]
                    since = apart_since(differences, first, last, b, b_ts, b_te, c_ts, c_te)
                    certain = max(certain, since)
                now = max(now, certain)
                if certain == NEVER:
                    break
            if now == NEVER:
                continue
            counts[depth, 1] += 1
            start = min(earliest[depth], c_ts)
            if final:
                now = max(c_te, instant[depth])
            if within != UNBOUNDED and now > plus(start, within):
                continue
            counts[depth, 2] += 1
            pick[s] = c
            if depth + 1 == n:
                continue
            depth += 1
            earliest[depth], instant[depth] = start, now
            s = order[depth]
            low, high = offset[s, k], offset[s, k + 1]
            if within != UNBOUNDED:
                low = first_at_least(ts, s, low, high, minus(now, within), near[depth])
                near[depth] = low
                high = first_above(ts, s, low, high, plus(start, within), low)
            counts[depth, 0] += high - low
            for j in range(n_neighbours[depth]):
                b = neighbours[depth, j]
                low, high = narrow(
                    ts,
                    latest_te,
                    s,
                    low,
                    high,
                    ts[b, pick[b]],
                    te[b, pick[b]],
                    lower[b, s],
                    upper[b, s],
                    near[depth],
                )
                low, high = narrow_apart(
                    ts, latest_te, s, low, high, differences, differ_from[b, s], differ_to[b, s], b,
                    ts[b, pick[b]], te[b, pick[b]], near[depth],
                )  # fmt: skip
            at[depth], stop[depth] = low, high
    return counts


@kernel
def nearest_miss(runs, spec, q):
    """By how much the pair misses difference q that comes nearest of all that stand as asked; NEVER: none.

    Of every Y only the first X beyond the bound is looked at: O(n log n). Situations of events, whose ends
    are in the order of their starts.
    """
    difference = spec.differences[q]
    a, b, bound = difference[LEFT], difference[RIGHT], difference[BOUND]
    ends = runs.te if difference[LEFT_END] else runs.ts
    least = NEVER
    for k in range(runs.offset.shape[1] - 1):
        low, high = runs.offset[a, k], runs.offset[a, k + 1]
        near = low
        for j in range(runs.offset[b, k], runs.offset[b, k + 1]):
            y = runs.te[b, j] if difference[RIGHT_END] else runs.ts[b, j]
            if y == OPEN:
                break
            near = first_above(ends, a, low, high, shifted(y, bound), near)
            if near == high or ends[a, near] == OPEN:
                break
            pair, converse = spec.verdict_of[a, b], spec.verdict_of[b, a]
            followed = pair >= 0 and runs.verdict[pair, j] == runs.te[a, near]
            follows = converse >= 0 and runs.verdict[converse, near] == runs.te[b, j]
            stands = certain_at(
                spec.relations[a, b], runs.ts[a, near], runs.te[a, near], runs.ts[b, j], runs.te[b, j],
                followed, follows,
            )  # fmt: skip
            if stands != NEVER:
                least = min(least, ends[a, near] - y - bound)
    return least


@kernel
def surely_fits(waits, group, runs, pick, slot, which):
    """Which of the configurations `which` a situation of the group's absent symbol fits, however what goes on
    will end: bool[len(which)].

    What has not ended is tried as ending long after everything else: the absent one first, last and with the
    others.
    """
    symbol, positive, earliest = waits.absent[group], waits.positive[group], waits.earliest[group]
    choices = waits.choices[group : group + 2]
    value = np.empty(2 + 2 * len(positive), np.int64)
    found = np.zeros(len(which), np.bool_)
    for at in range(len(which)):
        m = which[at]
        k = slot[m]
        n_nodes, first_ts, first_te = 2, LONG_AGO, LONG_AGO
        for i in range(len(positive)):
            if positive[i] >= 0:
                begin = runs.ts[positive[i], pick[m, positive[i]]]
                if earliest[i, 0] != NEVER:
                    first_ts = max(first_ts, shifted(begin, -earliest[i, 0]))
                if earliest[i, 1] != NEVER:
                    first_te = max(first_te, shifted(begin, -earliest[i, 1]))
                n_nodes += 2
        low, high = runs.offset[symbol, k], runs.offset[symbol, k + 1]
        low = first_at_least(runs.ts, symbol, low, high, first_ts, low)
        low = first_at_least(runs.latest_te, symbol, low, high, first_te, low)
        for c in range(low, high):
            for way in range(3):
                value[0] = runs.ts[symbol, c]
                value[1] = later_end(runs.te[symbol, c], way == 0)
                is_open = runs.te[symbol, c] == OPEN
                for i in range((n_nodes - 2) // 2):
                    begin, end = (
                        runs.ts[positive[i], pick[m, positive[i]]],
                        runs.te[positive[i], pick[m, positive[i]]],
                    )
                    value[2 + 2 * i], value[3 + 2 * i] = begin, later_end(end, way == 1)
                    is_open |= end == OPEN
                until = possible_until(waits.bound, waits.is_strict, choices, n_nodes, value, OPEN - 1, True)
                found[at] = until == NEVER
                if not found[at] or not is_open:
                    break
            if found[at]:
                break
    return found


@kernel
def later_end(end, is_early):
    """An end that has not come as an instant beyond all others."""
    if end != OPEN:
        return end
    return OPEN // 4 if is_early else OPEN // 2
