"""When a configuration that stands as asked may be reported: what must wait for more than its own endpoints.

The join gives every configuration with the instant from which its relations, and what differences no later
event must tell, are certain. Here come the rest: differences that an event instant decides (SEM 9.3), NO
groups (SEM 11), undecided gaps (SEM 14.3), and the window to the instant that results.
"""

from typing import NamedTuple

import numpy as np

from situ.compiled.jit import kernel
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, first_at_least, plus, shifted


class Waits(NamedTuple):
    """What a query's matches wait for, as numbers; see absences.Groups for the groups."""

    differences: np.ndarray  # int64[Q, 3]: X, x's end, and how long after it an event instant must come
    absent: np.ndarray
    positive: np.ndarray
    choices: np.ndarray
    bound: np.ndarray
    is_strict: np.ndarray
    earliest: np.ndarray
    has_gaps: np.ndarray  # bool[n]: which symbols ignore gaps
    silence: np.ndarray  # int64[n]: the least length of a silence, 0 for what is none
    within: np.int64
    is_given: bool  # situations are given intervals: known from a row of theirs on (SEM 11.8)


class Heard(NamedTuple):
    """What beside situations is known of a step's slots."""

    time: np.ndarray  # int64[N]: every event instant, by slot
    offset: np.ndarray  # int64[K + 1]
    own: np.ndarray  # uint64[N]: bit i set where the row is an event of symbol i's source
    last: np.ndarray  # int64[n, K]: the last event of the symbol's source before the step, LONG_AGO for none
    gap_begin: np.ndarray  # int64[n, cap]: undecided gaps of symbols that ignore them, by slot, ascending
    gap_end: np.ndarray  # NEVER while undecided
    gap_offset: np.ndarray  # int64[n, K + 1]
    gap_since: np.ndarray  # int64[n, K]: begin of the gap that was undecided before the step, LONG_AGO: none
    gap_eve: np.ndarray  # int64[n, K]: the last event instant before that, OPEN for none


@kernel
def possible_until(waits, group, n_nodes, value, t, ts_counts):
    """U of SEM 11.4 for nodes of these values, of which those <= t have occurred.

    NEVER: nothing bounds what has not occurred; LONG_AGO: no choice of relations is left.
    """
    bound, is_strict = waits.bound, waits.is_strict
    best = LONG_AGO
    for choice in range(waits.choices[group], waits.choices[group + 1]):
        until = NEVER
        fits = True
        for y in range(n_nodes):
            if value[y] > t:
                continue
            for x in range(n_nodes):
                ahead = bound[choice, x, y]
                if x == y or ahead == NEVER:
                    continue
                limit = shifted(value[y], ahead)
                if value[x] > t:
                    if limit < until and (x > 0 or ts_counts):
                        until = limit
                elif value[x] > limit or (value[x] == limit and is_strict[choice, x, y]):
                    fits = False
                    break
            if not fits:
                break
        if fits and until > best:
            best = until
    return best


@kernel
def impossible_from(waits, group, n_nodes, value, t, ts_counts):
    """The first instant from t on at which a C is possible no more; NEVER where none is known yet."""
    while True:
        until = max(t, possible_until(waits, group, n_nodes, value, t, ts_counts))
        following = NEVER
        for x in range(n_nodes):
            if t < value[x] < following:
                following = value[x]
        if until < following or following == NEVER:
            return until
        t = following


@kernel
def absent_from(waits, group, runs, heard, k, pick, since, value):
    """The first instant from `since` on at which no C can fit any more; NEVER where none is known (yet).

    `value` is room for the nodes. The situations of C are looked at in the order of their starts, from the
    first that what has started does not rule out.
    """
    ts, te = runs.ts, runs.te
    symbol = waits.absent[group]
    n_nodes = 2
    first_ts, first_te = LONG_AGO, LONG_AGO
    for i in range(waits.positive.shape[1]):
        other = waits.positive[group, i]
        if other < 0:
            break
        value[n_nodes] = ts[other, pick[other]]
        value[n_nodes + 1] = te[other, pick[other]]
        if waits.earliest[group, i, 0] != NEVER:
            first_ts = max(first_ts, shifted(value[n_nodes], -waits.earliest[group, i, 0]))
        if waits.earliest[group, i, 1] != NEVER:
            first_te = max(first_te, shifted(value[n_nodes], -waits.earliest[group, i, 1]))
        n_nodes += 2
    value[0], value[1] = OPEN, OPEN
    to_come = impossible_from(waits, group, n_nodes, value, since, not waits.is_given)
    if to_come == NEVER:
        return NEVER
    latest = to_come
    low, high = runs.offset[symbol, k], runs.offset[symbol, k + 1]
    low = first_at_least(ts, symbol, low, high, first_ts, low)
    low = first_at_least(runs.latest_te, symbol, low, high, first_te, low)
    for c in range(low, high):
        value[0], value[1] = ts[symbol, c], te[symbol, c]
        if value[0] > to_come:
            break
        known = runs.admissible[symbol, c] if waits.is_given else value[0]
        if known > to_come:  # before it is known it is one to come, and of those none fits any more
            continue
        latest = max(latest, impossible_from(waits, group, n_nodes, value, max(since, known), True))
        if latest == NEVER:
            return NEVER
    if waits.silence[symbol] > 0:  # short gaps are no situations, but the one at that instant might have been
        value[0], value[1] = gap_at(heard, symbol, k, to_come)
        is_short = value[0] != LONG_AGO and value[1] != OPEN and value[1] - value[0] < waits.silence[symbol]
        if is_short and value[0] <= to_come:  # else an earlier step has seen the gap
            latest = max(latest, impossible_from(waits, group, n_nodes, value, max(since, value[0]), True))
    return latest


@kernel
def gap_at(heard, symbol, k, instant):
    """The events of the symbol's source around an instant: the last one up to it, the first one behind it."""
    before, after = heard.last[symbol, k], OPEN
    low, high = heard.offset[k], heard.offset[k + 1]
    row = first_event(heard.time, low, high, instant + 1)
    own = np.uint64(1) << np.uint64(symbol)
    at = row - 1
    while at >= low:
        if heard.own[at] & own:
            before = heard.time[at]
            break
        at -= 1
    while row < high:
        if heard.own[row] & own:
            after = heard.time[row]
            break
        row += 1
    return before, after


@kernel
def first_event(time, low, high, wanted):
    """The first row in [low, high) at or after `wanted`, else high."""
    while low < high:
        middle = (low + high) >> 1
        if time[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def told_from(waits, runs, heard, k, pick, horizon, since):
    """The first event instant at which every difference that waits for one is certain (SEM 9.3)."""
    for q in range(len(waits.differences)):
        symbol = waits.differences[q, 0]
        at = pick[symbol]
        x = runs.te[symbol, at] if waits.differences[q, 1] else runs.ts[symbol, at]
        enough = plus(x, waits.differences[q, 2])
        if enough <= horizon:  # an earlier step has seen that event: in which undecided gaps did it lie
            since = max(since, enough)
            for other in range(len(waits.has_gaps)):
                if waits.has_gaps[other] and heard.gap_eve[other, k] < enough:
                    since = max(since, heard.gap_since[other, k])
            continue
        row = first_event(heard.time, heard.offset[k], heard.offset[k + 1], enough)
        if row == heard.offset[k + 1]:
            return NEVER
        since = max(since, heard.time[row])
    return since


@kernel
def decided_from(heard, symbol, k, begin, end, instant):
    """The first instant from this one on that is in no undecided gap which begins in (begin, end]."""
    low, high = heard.gap_offset[symbol, k], heard.gap_offset[symbol, k + 1]
    gap = first_at_least(heard.gap_begin, symbol, low, high, instant + 1, low) - 1
    if gap >= low and begin < heard.gap_begin[symbol, gap] <= end and heard.gap_end[symbol, gap] > instant:
        return heard.gap_end[symbol, gap]
    return instant


@kernel
def out_of_gaps(waits, runs, heard, k, pick, now):
    """When it is decided what the gaps mean in which this instant lies (SEM 14.3); NEVER: not yet."""
    decided = now
    for symbol in range(len(waits.has_gaps)):
        if waits.has_gaps[symbol]:
            begin, end = LONG_AGO, OPEN  # of an absent symbol all situations count
            if symbol < len(pick):
                begin, end = runs.ts[symbol, pick[symbol]], runs.te[symbol, pick[symbol]]
            decided = max(decided, decided_from(heard, symbol, k, begin, end, now))
    return decided


@kernel
def hide_undecided(heard, k, ts, te, instant, symbol):
    """Set te to OPEN, in place, where it is not known at the match's instant whether it is one."""
    for m in range(len(te)):
        if te[m] <= instant[m] and decided_from(heard, symbol, k[m], ts[m], te[m], te[m]) > instant[m]:
            te[m] = OPEN


@kernel
def judge(waits, runs, heard, pick, slot, instant, horizon):
    """Set each configuration's `instant` to that of its match, NEVER where there is none (yet).

    Those that lie beyond what is complete are when it is reported if nothing happens until then.
    `horizon[k]` is the last event before the step.
    """
    n = pick.shape[1]
    value = np.empty(max(2, waits.bound.shape[1]), np.int64)
    for m in range(len(slot)):
        k = slot[m]
        own = pick[m]
        now = told_from(waits, runs, heard, k, own, horizon[k], instant[m])
        for group in range(len(waits.absent)):
            if now == NEVER:
                break
            now = absent_from(waits, group, runs, heard, k, own, now, value)
        if now != NEVER:
            now = out_of_gaps(waits, runs, heard, k, own, now)
        if now != NEVER and waits.within != UNBOUNDED:
            begin = runs.ts[0, own[0]]
            for symbol in range(1, n):
                begin = min(begin, runs.ts[symbol, own[symbol]])
            if now > plus(begin, waits.within):
                now = NEVER
        instant[m] = now
