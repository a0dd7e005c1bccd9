"""The pair join: matching pairs of each constraint first, then joined on the situations they share.

PieStream's way of putting a pattern together. Situations are identified by their column in `Runs`.
Before the join, situations without a partner are dropped from the leaves of the plan up, so that for
patterns without cycles every pair looked at is part of a configuration.
"""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.match import Matches, doubled, neighbours_of
from situ.operators.situations.kernels.relate import apart_since, certain_at, differs, narrow, narrow_apart
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


@kernel
def matching_pairs(runs, spec, b, s, tested, passed, most):
    """For each situation of b: the situations of s it stands to as asked, and since when that is certain.

    CSR: partners of column i are partner[offset[i] : offset[i + 1]]. Where room for more than `most` is
    needed it gives up; the last value tells that it did not.
    """
    ts, te, latest_te, admissible = runs.ts, runs.te, runs.latest_te, runs.admissible
    verdict, within, final = runs.verdict, spec.within, spec.final
    allowed, lower, upper = spec.relations[b, s], spec.lower[b, s], spec.upper[b, s]
    pair, converse = spec.verdict_of[b, s], spec.verdict_of[s, b]
    differences, first, last = spec.differences, spec.differ_from[b, s], spec.differ_to[b, s]
    equal, converse_equal = spec.equal[b, s], spec.equal[s, b]
    has_equal = len(verdict) > len(spec.followed)
    n_b = runs.offset[b, -1]
    offset = np.zeros(n_b + 1, np.int64)
    capacity, found = max(16, n_b), 0
    partner, since = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    near = 0
    for k in range(runs.offset.shape[1] - 1):
        for i in range(runs.offset[b, k], runs.offset[b, k + 1]):
            b_ts, b_te = ts[b, i], te[b, i]
            low, high = runs.offset[s, k], runs.offset[s, k + 1]
            if admissible[b, i] == NEVER or (final and b_te == OPEN):
                high = low
            if within != UNBOUNDED:
                low = first_at_least(ts, s, low, high, minus(admissible[b, i], within), near)
                near = low
                high = first_above(ts, s, low, high, plus(b_ts, within), low)
            low, high = narrow(ts, latest_te, s, low, high, b_ts, b_te, lower, upper, near)
            low, high = narrow_apart(
                ts, latest_te, s, low, high, differences, first, last, b, b_ts, b_te, near
            )
            if within == UNBOUNDED:
                near = low
            for c in range(low, high):
                c_ts, c_te = ts[s, c], te[s, c]
                if admissible[s, c] == NEVER or (final and c_te == OPEN):
                    continue
                if has_equal and differs(verdict, equal, i, converse_equal, c):
                    continue
                b_followed = pair >= 0 and verdict[pair, c] == b_te
                c_followed = converse >= 0 and verdict[converse, i] == c_te
                certain = certain_at(allowed, b_ts, b_te, c_ts, c_te, b_followed, c_followed)
                certain = max(certain, apart_since(differences, first, last, b, b_ts, b_te, c_ts, c_te))
                tested[b, s] += 1
                if certain == NEVER:
                    continue
                passed[b, s] += 1
                if found == capacity:
                    if 2 * capacity > most:
                        return offset, partner[:found], since[:found], False
                    capacity *= 2
                    partner, since = enlarged(partner, capacity), enlarged(since, capacity)
                partner[found] = c
                since[found] = certain
                found += 1
            offset[i + 1] = found
    return offset, partner[:found], since[:found], True


@kernel
def enlarged(array, capacity):
    """A longer array with the same beginning."""
    more = np.empty(capacity, np.int64)
    for i in range(len(array)):
        more[i] = array[i]
    return more


@kernel
def appended(first, second):
    """One array after the other."""
    both = enlarged(first, len(first) + len(second))
    for i in range(len(second)):
        both[len(first) + i] = second[i]
    return both


@kernel
def pair_search(runs, spec, order, before, work, most):
    """All matches with an instant after `before` (one for each slot), like `match.join`.

    Where room for more than `most` matches, or pairs, is needed it gives up; the last value tells that it
    did not.
    """
    ts, te, admissible = runs.ts, runs.te, runs.admissible
    relations, verdict, verdict_of = spec.relations, runs.verdict, spec.verdict_of
    differences, differ_from, differ_to = spec.differences, spec.differ_from, spec.differ_to
    within, final = spec.within, spec.final
    equal, has_equal = spec.equal, len(verdict) > len(spec.followed)
    n = ts.shape[0]
    tested, passed, visited = work.tested, work.passed, work.visited
    neighbours, n_neighbours = neighbours_of(order, relations)
    parent = np.zeros(n, np.int64)
    width = ts.shape[1]
    offsets = np.zeros((n, width + 1), np.int64)
    partners, sinces = np.empty(0, np.int64), np.empty(0, np.int64)
    for depth in range(1, n):
        parent[depth] = neighbours[depth, 0]  # patterns are connected and so are their plans
        offset, partner, since, is_whole = matching_pairs(
            runs, spec, parent[depth], order[depth], tested, passed, most
        )
        if not is_whole:
            return no_matches(n), False
        for i in range(len(offset)):
            offsets[depth, i] = offset[i] + len(partners)
        partners, sinces = appended(partners, partner), appended(sinces, since)
    dead = np.zeros((n, width), np.bool_)
    for depth in range(n - 1, 0, -1):
        b, s = parent[depth], order[depth]
        for i in range(runs.offset[b, -1]):
            fits = False
            for j in range(offsets[depth, i], offsets[depth, i + 1]):
                fits = fits or not dead[s, partners[j]]
            dead[b, i] = dead[b, i] or not fits
    capacity, found = 64, 0
    picks = np.empty((capacity, n), np.int64)
    slots = np.empty(capacity, np.int64)
    instants = np.empty(capacity, np.int64)
    pick = np.empty(n, np.int64)
    at = np.empty(n, np.int64)
    stop = np.empty(n, np.int64)
    earliest = np.empty(n, np.int64)
    instant = np.empty(n, np.int64)
    earliest[0], instant[0] = OPEN, LONG_AGO
    for k in range(len(before)):
        at[0], stop[0] = runs.offset[order[0], k], runs.offset[order[0], k + 1]
        depth = 0
        while depth >= 0:
            if at[depth] >= stop[depth]:
                depth -= 1
                continue
            s, j = order[depth], at[depth]
            at[depth] += 1
            visited[depth] += 1
            c = j if depth == 0 else partners[j]
            if dead[s, c]:
                continue
            c_ts, c_te, now = ts[s, c], te[s, c], admissible[s, c]
            if now == NEVER or (final and c_te == OPEN):
                continue
            now = max(now, instant[depth])
            if depth > 0:
                now = max(now, sinces[j])
            for other in range(1, n_neighbours[depth]):
                b = neighbours[depth, other]
                bound = pick[b]
                if has_equal and differs(verdict, equal[b, s], bound, equal[s, b], c):
                    now = NEVER
                    break
                b_te = te[b, bound]
                pair, converse = verdict_of[b, s], verdict_of[s, b]
                b_followed = pair >= 0 and verdict[pair, c] == b_te
                c_followed = converse >= 0 and verdict[converse, bound] == c_te
                certain = certain_at(relations[b, s], ts[b, bound], b_te, c_ts, c_te, b_followed, c_followed)
                since = apart_since(
                    differences, differ_from[b, s], differ_to[b, s], b, ts[b, bound], b_te, c_ts, c_te
                )
                certain = max(certain, since)
                tested[b, s] += 1
                if certain == NEVER:
                    now = NEVER
                    break
                passed[b, s] += 1
                now = max(now, certain)
            if now == NEVER:
                continue
            start = min(earliest[depth], c_ts)
            if final:
                now = max(c_te, instant[depth])
            if within != UNBOUNDED and now > plus(start, within):
                continue
            pick[s] = c
            if depth + 1 < n:
                depth += 1
                earliest[depth], instant[depth] = start, now
                b = pick[parent[depth]]
                at[depth], stop[depth] = offsets[depth, b], offsets[depth, b + 1]
            elif now > before[k]:
                if found == capacity:
                    if 2 * capacity > most:
                        return no_matches(n), False
                    picks, slots, instants = doubled(picks, slots, instants)
                    capacity *= 2
                for symbol in range(n):
                    picks[found, symbol] = pick[symbol]
                slots[found] = k
                instants[found] = now
                found += 1
    return Matches(picks[:found], slots[:found], instants[:found]), True


@kernel
def no_matches(n):
    """None, of n symbols."""
    return Matches(np.empty((0, n), np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
