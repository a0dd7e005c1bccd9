"""TPStream as published (dissertation, Alg. 5.1 to 5.4): started buffers, power sets, range queries.

Kept as the paper has it: situations that have started but not ended wait in a buffer of their own, and each
trigger tries every combination of them. Where the paper leaves a case open, it is settled so that results
are those of docs/semantics: situations that end at an instant are known to have ended before anything is
matched at it, and a match is published at its detection time only. Events at which no condition changes are
skipped with one comparison, which the paper's loop over all definitions does not do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.baselines.allen import LONG_AGO, NEVER, OPEN, certain_at, compiled, search
from benchmarks.baselines.pattern import PUBLISHED, Pattern
from benchmarks.data import Events


class Buffers(NamedTuple):
    """Finished situations of each symbol, from first[s] to last[s]; since[s]: start of the ongoing one."""

    ts: np.ndarray
    te: np.ndarray
    first: np.ndarray
    last: np.ndarray
    since: np.ndarray


class Search(NamedTuple):
    """Room for one search: the partial result, and what is left to try at each depth."""

    pick_ts: np.ndarray
    pick_te: np.ndarray
    is_set: np.ndarray  # in the partial result from the beginning
    from_: np.ndarray  # [n, 13 n]: a constraint gives at most 13 ranges
    to: np.ndarray
    n_ranges: np.ndarray
    spare_from: np.ndarray
    spare_to: np.ndarray


class TPStream:
    """The matcher of one partition."""

    def __init__(self, pattern: Pattern, published: int = PUBLISHED) -> None:
        n = pattern.n
        self.pattern = pattern
        empty, zeros = np.empty((n, 0), np.int64), np.zeros(n, np.int64)
        self.buffers = Buffers(empty, empty, zeros, zeros.copy(), np.full(n, LONG_AGO))
        self.mask = np.uint64(0)
        self.out = np.empty((published, n + 1), np.int64)  # the situations' starts, and the instant

    def step(self, events: Events) -> int:
        """Take in a batch; the number of matches published."""
        n, kept = self.pattern.n, self.buffers
        room = int((kept.last - kept.first).max(initial=0)) + _most_ends(events.mask, self.mask, n) + 1
        ts, te = np.empty((n, room), np.int64), np.empty((n, room), np.int64)
        for s in range(n):
            size = kept.last[s] - kept.first[s]
            ts[s, :size], te[s, :size] = (row[s, kept.first[s] : kept.last[s]] for row in (kept.ts, kept.te))
        self.buffers = Buffers(ts, te, np.zeros(n, np.int64), kept.last - kept.first, kept.since)
        space = Search(
            *(np.empty(n, np.int64) for _ in range(2)),
            np.zeros(n, np.bool_),
            *(np.empty((n, 13 * n), np.int64) for _ in range(2)),
            np.zeros(n, np.int64),
            *(np.empty(13 * n, np.int64) for _ in range(2)),
        )
        count, mask = _advance(
            events.time, events.mask, self.mask, self.buffers, self.pattern, space, self.out
        )
        self.mask = np.uint64(mask)  # Numba hands it back as a plain int
        return int(count)


@compiled
def _most_ends(mask, before, n):
    ends = np.zeros(n, np.int64)
    for i in range(len(mask)):
        now = np.uint64(mask[i])
        if now != before:
            gone = before & ~now
            for s in range(n):
                ends[s] += (gone >> np.uint64(s)) & np.uint64(1)
            before = now
    return ends.max()


@compiled
def _advance(time, mask, before, buffers, pattern, space, out):
    """Alg. 5.1 and 5.4 over a batch."""
    relations, orders, within = pattern.relations, pattern.orders, pattern.within
    n = len(relations)
    free = (1 << 13) - 1
    since, first, last = buffers.since, buffers.first, buffers.last
    count = 0
    ongoing = np.empty(n, np.int64)  # symbols with a situation that has started, not counting this instant's
    subset = np.empty(n, np.int64)
    one = np.uint64(1)
    for i in range(len(time)):
        now = np.uint64(mask[i])
        if now == before:
            continue
        t = time[i]
        started, finished = now & ~before, before & ~now
        before = now
        n_touched = 0
        for s in range(n):  # Alg. 5.4 line 1, and Alg. 5.1 for all definitions
            while first[s] < last[s] and buffers.ts[s, first[s]] < t - within:
                first[s] += 1
            n_touched += (((started | finished) >> np.uint64(s)) & one) != 0
        for s in range(n):  # those that trigger nothing are only moved
            if (finished >> np.uint64(s)) & one and not pattern.trigger_te[s]:
                _finish(buffers, s, t, within)
            if (started >> np.uint64(s)) & one and not pattern.trigger_ts[s]:
                since[s] = t
        for s in range(n):  # lines 10-20
            if not ((finished >> np.uint64(s)) & one and pattern.trigger_te[s]):
                continue
            ts = _finish(buffers, s, t, within)
            k = 0
            n_related = 0
            for related in (True, False):
                for o in range(n):
                    is_ongoing = since[o] != LONG_AGO and not (finished >> np.uint64(o)) & one
                    if is_ongoing and o != s and (relations[s, o] != free) == related:
                        ongoing[k] = o
                        k += 1
                if related:
                    n_related = k
            related_bits = (1 << n_related) - 1
            for chosen in range(1 << k):
                if chosen & related_bits == 0 and n_touched == 1:
                    continue
                count = _try(
                    s,
                    ts,
                    t,
                    chosen,
                    ongoing,
                    k,
                    subset,
                    t,
                    buffers,
                    relations,
                    orders[s],
                    within,
                    space,
                    out,
                    count,
                )
        for s in range(n):  # lines 2-9
            if not ((started >> np.uint64(s)) & one and pattern.trigger_ts[s]):
                continue
            k = 0
            for o in range(n):
                if since[o] != LONG_AGO and (
                    relations[s, o] == free or certain_at(relations[s, o], t, OPEN, since[o], OPEN) != NEVER
                ):
                    ongoing[k] = o
                    k += 1
            since[s] = t
            for chosen in range(1 << k):
                count = _try(
                    s,
                    t,
                    OPEN,
                    chosen,
                    ongoing,
                    k,
                    subset,
                    t,
                    buffers,
                    relations,
                    orders[s],
                    within,
                    space,
                    out,
                    count,
                )
    return count, before


@compiled
def _finish(buffers, s, t, within):
    ts = buffers.since[s]
    buffers.ts[s, buffers.last[s]], buffers.te[s, buffers.last[s]] = ts, t
    buffers.last[s] += 1
    if ts < t - within:  # it had left the window before it ended
        buffers.first[s] = buffers.last[s]
    buffers.since[s] = LONG_AGO
    return ts


@compiled
def _try(s, s_ts, s_te, chosen, ongoing, k, subset, t, buffers, relations, order, within, space, out, count):
    """performMatch with s and the chosen ongoing situations in the partial result."""
    pick_ts, pick_te, is_set = space.pick_ts, space.pick_te, space.is_set
    pick_ts[s], pick_te[s] = s_ts, s_te
    subset[0], size = s, 1
    for j in range(k):
        if (chosen >> j) & 1:
            o = ongoing[j]
            pick_ts[o], pick_te[o] = buffers.since[o], OPEN
            subset[size] = o
            size += 1
    instant, earliest = LONG_AGO, OPEN
    for j in range(size):
        a = subset[j]
        earliest = min(earliest, pick_ts[a])
        instant = max(instant, pick_ts[a])
        for i in range(j):
            b = subset[i]
            if relations[a, b] != (1 << 13) - 1:
                certain = certain_at(relations[a, b], pick_ts[a], pick_te[a], pick_ts[b], pick_te[b])
                if certain == NEVER:
                    return count
                instant = max(instant, certain)
    if earliest < t - within:
        return count
    for j in range(size):
        is_set[subset[j]] = True
    count = _perform_match(t, instant, buffers, relations, order, within, space, out, count)
    for j in range(size):
        is_set[subset[j]] = False
    return count


@compiled
def _perform_match(t, instant, buffers, relations, order, within, space, out, count):
    """Alg. 5.3 without recursion: the symbols that are not set, in order, each from its buffer."""
    pick_ts, pick_te, is_set = space.pick_ts, space.pick_te, space.is_set
    from_, to, n_ranges = space.from_, space.to, space.n_ranges
    n = len(order)
    free = (1 << 13) - 1
    steps = np.empty(n, np.int64)
    n_steps = 0
    for j in range(n):
        if not is_set[order[j]]:
            steps[n_steps] = order[j]
            n_steps += 1
    instants = np.empty(n_steps + 1, np.int64)
    instants[0] = instant
    depth = 0
    if n_steps:
        _find_matches(0, steps, relations, buffers, space)
    while depth >= 0:
        if depth == n_steps:
            if instants[depth] == t:
                row = count % len(out)
                for s in range(n):
                    out[row, s] = pick_ts[s]
                out[row, n] = t
                count += 1
            depth -= 1
            continue
        s = steps[depth]
        if n_ranges[depth] == 0:
            depth -= 1
            continue
        last = n_ranges[depth] - 1
        position = from_[depth, last]
        from_[depth, last] += 1
        if from_[depth, last] >= to[depth, last]:
            n_ranges[depth] -= 1
        c_ts, c_te = buffers.ts[s, position], buffers.te[s, position]
        now = max(instants[depth], c_ts)
        for b in range(n):
            if relations[s, b] != free and (is_set[b] or _is_bound(steps, depth, b)):
                certain = certain_at(relations[b, s], pick_ts[b], pick_te[b], c_ts, c_te)
                now = max(now, certain)
        pick_ts[s], pick_te[s] = c_ts, c_te
        depth += 1
        instants[depth] = now
        if depth < n_steps:
            _find_matches(depth, steps, relations, buffers, space)
    return count


@compiled
def _is_bound(steps, depth, symbol):
    found = False
    for j in range(depth):
        found |= steps[j] == symbol
    return found


@compiled
def _find_matches(depth, steps, relations, buffers, space):
    """findMatches: for each constraint the union of its relations' ranges, then their intersection."""
    s = steps[depth]
    from_, to, n_ranges = space.from_[depth], space.to[depth], 1
    from_[0], to[0] = buffers.first[s], buffers.last[s]
    n = len(relations)
    for b in range(n):
        allowed = relations[b, s]
        if allowed == (1 << 13) - 1 or b == s or not (space.is_set[b] or _is_bound(steps, depth, b)):
            continue
        n_found = 0
        for atom in range(13):
            if not (allowed >> atom) & 1:
                continue
            low, high = search(
                atom,
                buffers.ts[s],
                buffers.te[s],
                buffers.first[s],
                buffers.last[s],
                space.pick_ts[b],
                space.pick_te[b],
            )
            for j in range(n_ranges):
                begin, end = max(low, from_[j]), min(high, to[j])
                if begin < end:
                    space.spare_from[n_found], space.spare_to[n_found] = begin, end
                    n_found += 1
        n_ranges = n_found
        for j in range(n_found):
            from_[j], to[j] = space.spare_from[j], space.spare_to[j]
    if n_ranges == 1 and from_[0] >= to[0]:
        n_ranges = 0
    space.n_ranges[depth] = n_ranges
