"""Counting instead of matching: how every pair of situations stands, and where candidates are lost.

Of a pair's situations that lie apart nothing is enumerated: two searches count them. Those that touch are
at most nA + nB for derived situations, which are disjoint.
"""

from typing import NamedTuple

import numpy as np

from situ.algebra import relations as r
from situ.compiled.jit import kernel
from situ.operators.situations.kernels.admit import move_run
from situ.operators.situations.kernels.match import neighbours_of
from situ.operators.situations.kernels.relate import certain_at, narrow
from situ.rows.kernels.numbers import (
    LONG_AGO,
    NEVER,
    OPEN,
    UNBOUNDED,
    first_above,
    first_at_least,
    minus,
    plus,
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

    The walk is the one of `match.join`, without its increments.
    """
    ts, te, latest_te, admissible, offset = runs.ts, runs.te, runs.latest_te, runs.admissible, runs.offset
    relations, lower, upper, verdict_of = spec.relations, spec.lower, spec.upper, spec.verdict_of
    within, final = spec.within, spec.final
    n = len(order)
    counts = np.zeros((n, 3), np.int64)
    pick, at, stop = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
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
            at[depth], stop[depth] = low, high
    return counts
