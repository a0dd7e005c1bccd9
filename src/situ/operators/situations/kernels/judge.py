"""When a configuration that stands as asked may be reported: what must wait for more than its own endpoints.

The join gives every configuration with the instant from which its relations, and what differences no later
event must tell, are certain. Here come the rest: differences that an event instant decides (SEM 9.3), NO
groups (SEM 11), undecided gaps (SEM 14.3), and the window to the instant that results.
"""

from typing import NamedTuple

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.admit import first_row_at
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
    latest: np.ndarray
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
    history: np.ndarray  # int64[H]: where new histories begin (SEM 8.5), by slot, ascending
    history_offset: np.ndarray  # int64[K + 1]


@kernel
def possible_until(bound, is_strict, choices, n_nodes, value, t, ts_counts):
    """U of SEM 11.4 for nodes of these values, of which those <= t have occurred.

    NEVER: nothing bounds what has not occurred; LONG_AGO: no choice of relations is left.
    """
    best = LONG_AGO
    for choice in range(choices[0], choices[1]):
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
def impossible_from(bound, is_strict, choices, n_nodes, value, t, ts_counts):
    """The first instant from t on at which a C is possible no more; NEVER where none is known yet."""
    while True:
        until = max(t, possible_until(bound, is_strict, choices, n_nodes, value, t, ts_counts))
        following = NEVER
        for x in range(n_nodes):
            if t < value[x] < following:
                following = value[x]
        if until < following or following == NEVER:
            return until
        t = following


@kernel
def history_at(history, offset, k, instant):
    """Where the history of this instant begins, LONG_AGO where that was before the step (SEM 8.5)."""
    at = first_event(history, offset[k], offset[k + 1], instant + 1, offset[k]) - 1
    return history[at] if at >= offset[k] else LONG_AGO


@kernel
def wait_for_absence(waits, group, runs, heard, pick, slot, instant):
    """Move each `instant` to the first one at which no C can fit any more; NEVER where none is known (yet).

    The situations of C are looked at in the order of their starts, from the first that what has started does
    not rule out, up to the last that does not start too late. The loop reads arrays and scalars only: passing
    the tuples on would count references per configuration.
    """
    ts, te, latest_te, admissible, offset = runs.ts, runs.te, runs.latest_te, runs.admissible, runs.offset
    bound, is_strict, choices = waits.bound, waits.is_strict, waits.choices[group : group + 2]
    earliest, latest, positive = waits.earliest[group], waits.latest[group], waits.positive[group]
    history, history_offset = heard.history, heard.history_offset
    symbol, is_given, shortest = waits.absent[group], waits.is_given, waits.silence[waits.absent[group]]
    n_positive = 0
    while n_positive < len(positive) and positive[n_positive] >= 0:
        n_positive += 1
    n_nodes = 2 + 2 * n_positive
    value = np.empty(n_nodes, np.int64)
    near = 0
    for m in range(len(slot)):
        since = instant[m]
        if since == NEVER:
            continue
        k = slot[m]
        # those of other histories do not count (SEM 11.10); the window keeps a configuration in one
        first_ts = history_at(history, history_offset, k, ts[positive[0], pick[m, positive[0]]])
        first_te, last_ts = LONG_AGO, NEVER
        for i in range(n_positive):
            at = pick[m, positive[i]]
            begin, end = ts[positive[i], at], te[positive[i], at]
            value[2 + 2 * i], value[3 + 2 * i] = begin, end
            if earliest[i, 0] != NEVER:
                first_ts = max(first_ts, shifted(begin, -earliest[i, 0]))
            if earliest[i, 1] != NEVER:
                first_te = max(first_te, shifted(begin, -earliest[i, 1]))
            if latest[i, 0] != NEVER:
                last_ts = min(last_ts, plus(begin, latest[i, 0]))
            if latest[i, 1] != NEVER:
                last_ts = min(last_ts, plus(end, latest[i, 1]))
        value[0], value[1] = OPEN, OPEN
        to_come = impossible_from(bound, is_strict, choices, n_nodes, value, since, not is_given)
        now = to_come
        if to_come != NEVER:
            low, high = offset[symbol, k], offset[symbol, k + 1]
            low = first_at_least(ts, symbol, low, high, first_ts, near)
            # one that turns out too short was possible until it ended
            low = first_at_least(latest_te, symbol, low, high, min(first_te, since + 1), low)
            near = low
            last_ts = min(last_ts, to_come)
            for c in range(low, high):
                value[0], value[1] = ts[symbol, c], te[symbol, c]
                if value[0] > last_ts or now == NEVER:
                    break
                known = admissible[symbol, c] if is_given else value[0]
                if known <= to_come:  # before it is known it is one to come: of those none fits any more
                    of_this = impossible_from(
                        bound, is_strict, choices, n_nodes, value, max(since, known), True
                    )
                    now = max(now, of_this)
            if shortest > 0 and now != NEVER:  # short gaps are no situations, but that one might have been
                begin, end = gap_at(heard, symbol, k, to_come)
                value[0], value[1] = begin, end
                is_short = begin != LONG_AGO and end != OPEN and end - begin < shortest
                if is_short and begin <= to_come:  # else an earlier step has seen the gap
                    of_this = impossible_from(
                        bound, is_strict, choices, n_nodes, value, max(since, begin), True
                    )
                    now = max(now, of_this)
        instant[m] = now


@kernel
def gap_at(heard, symbol, k, instant):
    """The events of the symbol's source around an instant: the last one up to it, the first one behind it."""
    before, after = heard.last[symbol, k], OPEN
    low, high = heard.offset[k], heard.offset[k + 1]
    row = first_event(heard.time, low, high, instant + 1, low)
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
def first_event(time, low, high, wanted, near):
    """The first row in [low, high) at or after `wanted`, else high; it gallops on from `near`."""
    if low <= near < high and time[near] < wanted:
        low, reach = near + 1, 1
        while low + reach < high and time[low + reach] < wanted:
            low += reach + 1
            reach *= 2
        high = min(high, low + reach)
    return first_row_at(time, low, high, wanted)


@kernel
def wait_for_events(waits, runs, heard, pick, slot, instant, horizon):
    """Move each `instant` to the first event that makes its differences certain (SEM 9.3); NEVER: not yet."""
    has_gaps = waits.has_gaps
    time, offset, gap_eve, gap_since = heard.time, heard.offset, heard.gap_eve, heard.gap_since
    for q in range(len(waits.differences)):
        symbol, is_end, length = waits.differences[q]
        x, near = (runs.te, runs.last_row) if is_end else (runs.ts, runs.first_row)
        for m in range(len(slot)):
            k, at, now = slot[m], pick[m, symbol], instant[m]
            enough = plus(x[symbol, at], length)
            if enough <= horizon[k]:  # an earlier step has seen that event: in which gaps did it lie
                now = max(now, enough)
                for other in range(len(has_gaps)):
                    if has_gaps[other] and gap_eve[other, k] < enough:
                        now = max(now, gap_since[other, k])
            elif now != NEVER:
                row = first_event(time, offset[k], offset[k + 1], enough, near[symbol, at])
                now = max(now, time[row]) if row < offset[k + 1] else NEVER
            instant[m] = now


@kernel
def decided_from(heard, symbol, k, begin, end, instant):
    """The first instant from this one on that is in no undecided gap which begins in (begin, end]."""
    low, high = heard.gap_offset[symbol, k], heard.gap_offset[symbol, k + 1]
    gap = first_at_least(heard.gap_begin, symbol, low, high, instant + 1, low) - 1
    if gap >= low and begin < heard.gap_begin[symbol, gap] <= end and heard.gap_end[symbol, gap] > instant:
        return heard.gap_end[symbol, gap]
    return instant


@kernel
def wait_for_gaps(waits, runs, heard, pick, slot, instant):
    """Move each `instant` out of the undecided gaps in which it lies (SEM 14.3); NEVER: not decided yet."""
    for m in range(len(slot)):
        now = decided = instant[m]
        history = history_at(heard.history, heard.history_offset, slot[m], runs.ts[0, pick[m, 0]])
        for symbol in range(len(waits.has_gaps)):
            if waits.has_gaps[symbol] and now != NEVER:
                begin, end = history, OPEN  # of an absent symbol all situations of the history count
                if symbol < pick.shape[1]:
                    begin, end = runs.ts[symbol, pick[m, symbol]], runs.te[symbol, pick[m, symbol]]
                decided = max(decided, decided_from(heard, symbol, slot[m], begin, end, now))
        instant[m] = decided


@kernel
def hide_undecided(heard, k, ts, te, instant, symbol):
    """Set te to OPEN, in place, where it is not known at the match's instant whether it is one."""
    for m in range(len(te)):
        if te[m] <= instant[m] and decided_from(heard, symbol, k[m], ts[m], te[m], te[m]) > instant[m]:
            te[m] = OPEN


@kernel
def drop_beyond_window(within, ts, pick, instant):
    """Set each `instant` to NEVER that comes later than the window after the first start."""
    for m in range(len(instant)):
        begin = OPEN
        for symbol in range(pick.shape[1]):
            begin = min(begin, ts[symbol, pick[m, symbol]])
        if instant[m] > plus(begin, within):
            instant[m] = NEVER


@kernel
def judge(waits, runs, heard, pick, slot, instant, horizon):
    """Set each configuration's `instant` to that of its match, NEVER where there is none (yet).

    Those that lie beyond what is complete are when it is reported if nothing happens until then.
    `horizon[k]` is the last event before the step.
    """
    if len(waits.differences):
        wait_for_events(waits, runs, heard, pick, slot, instant, horizon)
    for group in range(len(waits.absent)):
        wait_for_absence(waits, group, runs, heard, pick, slot, instant)
    for symbol in range(len(waits.has_gaps)):
        if waits.has_gaps[symbol]:
            wait_for_gaps(waits, runs, heard, pick, slot, instant)
            break
    if waits.within != UNBOUNDED:
        drop_beyond_window(waits.within, runs.ts, pick, instant)


@kernel
def take_due(pick, slot, instant, before, clock, due):
    """Move the matches with an instant in (before, clock] of their slot to the front; how many they are.

    `due` becomes each slot's first instant that lies ahead, NEVER for none.
    """
    for k in range(len(due)):
        due[k] = NEVER
    n = 0
    for m in range(len(slot)):
        k, now = slot[m], instant[m]
        if now > clock[k]:
            due[k] = min(due[k], now)
        elif now > before[k]:
            for symbol in range(pick.shape[1]):
                pick[n, symbol] = pick[m, symbol]
            slot[n], instant[n] = k, now
            n += 1
    return n
