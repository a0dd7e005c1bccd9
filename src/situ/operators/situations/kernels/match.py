"""The multi-way join over situations, depth first: no partial result is ever stored.

A step over the instants (before, now] emits exactly the configurations whose detection instant falls
in it (SEM 4.3). Its td is an endpoint of one of its situations, so some situation of it was *touched*
in the step. The first touched symbol in the plan's sequence of anchors is the anchor: symbols before
it are untouched, symbols after it any. So each configuration is found once, from one anchor.
"""

from typing import NamedTuple

import numpy as np

from situ.algebra.relations import ALL
from situ.compiled.jit import kernel
from situ.operators.situations.kernels.layout import as_runs, as_spec
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

MOST_AT_ONCE = 1 << 20  # matches of a step in one call


class Matches(NamedTuple):
    """M matches; `pick[m, i]` is the column of symbol i's situation in `Runs`."""

    pick: np.ndarray  # int64[M, n]
    slot: np.ndarray  # int64[M]
    instant: np.ndarray  # int64[M]


class Work(NamedTuple):
    """What a join did, per pair (bound symbol, candidate symbol): the planner's statistics."""

    in_window: np.ndarray  # float64[n, n]: candidates the window left
    in_range: np.ndarray  # candidates this pair's range left of them
    tested: np.ndarray
    passed: np.ndarray
    visited: np.ndarray  # int64[n]: candidates looked at, per depth


class Step(NamedTuple):
    """Which instants a join covers, and from which situations it sets out."""

    before: np.ndarray  # int64[K]: LONG_AGO where everything is new
    first_slot: np.int64  # slots [first_slot, last_slot)
    last_slot: np.int64
    share: np.int64  # with one slot only: share `part` of `share` of the first symbol's situations
    part: np.int64


class Search(NamedTuple):
    """Where a search stands, so that it can go on once there is room for more matches."""

    place: np.ndarray  # int64[3]: its order, slot and depth; -1 before it has begun
    at: np.ndarray  # int64[n], by depth: the next candidate
    stop: np.ndarray
    near: np.ndarray  # where the last search for a range began
    earliest: np.ndarray  # least start so far
    instant: np.ndarray  # latest instant so far
    pick: np.ndarray  # by symbol: the situation chosen


def new_work(n: int) -> Work:
    """Counters at zero."""
    return Work(*(np.zeros((n, n)) for _ in range(4)), np.zeros(n, np.int64))


@kernel
def is_touched(ts, te, admissible, before, trigger_ts, trigger_te, trigger_admissible):
    """Did an instant of it at which a match can be reported occur after `before`?"""
    return (
        (trigger_ts and ts > before)
        or (trigger_te and te > before and te != OPEN)
        or (trigger_admissible and admissible > before and admissible != NEVER)
    )


@kernel
def neighbours_of(order, relations):
    """For each depth of a plan: the symbols bound earlier that constrain the next one, and how many."""
    n = len(order)
    neighbours = np.empty((n, n), np.int64)
    n_neighbours = np.zeros(n, np.int64)
    for depth in range(n):
        for earlier in range(depth):
            if relations[order[earlier], order[depth]] != ALL:
                neighbours[depth, n_neighbours[depth]] = order[earlier]
                n_neighbours[depth] += 1
    return neighbours, n_neighbours


@kernel
def new_search(n):
    """A search that has not begun."""
    return Search(
        np.full(3, -1, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.zeros(n, np.int64),
        np.full(n, OPEN, np.int64),
        np.full(n, LONG_AGO, np.int64),
        np.empty(n, np.int64),
    )


@kernel
def join(runs, spec, orders, step, work):
    """All matches of the step, by slot; what was done is added to `work`.

    It gives up with MOST_AT_ONCE or more: memory for so many is asked for where somebody looks at what is
    left of it (joins.py).
    """
    n = len(spec[0])
    state = new_search(n)
    picks = np.empty((64, n), np.int64)
    slots = np.empty(64, np.int64)
    instants = np.empty(64, np.int64)
    found = np.int64(0)  # a plain 0 would be a type of its own, and `search` compiled for it too
    while True:
        found = search(runs, spec, orders, step, work, state, (picks, slots, instants), found)
        if state.place[0] < 0 or found >= MOST_AT_ONCE:
            return Matches(picks[:found], slots[:found], instants[:found])
        picks, slots, instants = doubled(picks, slots, instants)


@kernel
def search(runs, spec, orders, step, work, state, room, found):
    """Add matches to the `found` ones in `room` until it is full or there are no more; how many there are.

    Each of `orders` begins with its anchor, in anchor sequence. With one order it is a plain join of all
    situations, of which those with an instant after `before` are kept: right for a first or a large step.

    The loop reads arrays and scalars only: passing the tuples on would count references per candidate.
    """
    runs, spec = as_runs(runs), as_spec(spec)
    before_step, first_slot, last_slot, share, part = step
    ts, te, latest_te, admissible = runs.ts, runs.te, runs.latest_te, runs.admissible
    offset, verdict = runs.offset, runs.verdict
    relations, lower, upper, verdict_of = spec.relations, spec.lower, spec.upper, spec.verdict_of
    trigger_ts, trigger_te, trigger_admissible = spec.trigger_ts, spec.trigger_te, spec.trigger_admissible
    within, final = spec.within, spec.final
    differences, differ_from, differ_to = spec.differences, spec.differ_from, spec.differ_to
    has_differences = len(differences) > 0
    equal, has_equal = spec.equal, len(verdict) > len(spec.followed)
    n = ts.shape[0]
    in_window, in_range, tested, passed, visited = work
    place, at, stop, near, earliest, instant, pick = state
    picks, slots, instants = room
    capacity = len(slots)
    is_delta = len(orders) > 1
    rank = np.empty(n, np.int64)
    for turn in range(len(orders)):
        rank[orders[turn, 0]] = turn
    goes_on = place[0] >= 0
    for turn in range(place[0] if goes_on else 0, len(orders)):
        order = orders[turn]
        anchor = order[0]
        neighbours, n_neighbours = neighbours_of(order, relations)
        for k in range(place[1] if goes_on else first_slot, last_slot):
            before = before_step[k]
            if goes_on:
                depth, goes_on = place[2], False
            else:
                low, high = offset[anchor, k], offset[anchor, k + 1]
                if is_delta:
                    low = first_above(latest_te, anchor, low, high, before, high)
                at[0] = low + (high - low) * part // share
                stop[0] = low + (high - low) * (part + 1) // share
                depth = 0
            while depth >= 0:
                if at[depth] >= stop[depth]:
                    depth -= 1
                    continue
                if found == capacity and depth + 1 == n:
                    place[0], place[1], place[2] = turn, k, depth
                    return found
                s, c = order[depth], at[depth]
                at[depth] += 1
                visited[depth] += 1
                c_ts, c_te, now = ts[s, c], te[s, c], admissible[s, c]
                if now == NEVER or (final and c_te == OPEN):
                    continue
                if is_delta and rank[s] <= turn:
                    touched = is_touched(
                        c_ts, c_te, now, before, trigger_ts[s], trigger_te[s], trigger_admissible[s]
                    )
                    if touched != (s == anchor):
                        continue
                now = max(now, instant[depth])
                for j in range(n_neighbours[depth]):
                    b = neighbours[depth, j]
                    bound = pick[b]
                    if has_equal and differs(verdict, equal[b, s], bound, equal[s, b], c):
                        now = NEVER
                        break
                    b_te = te[b, bound]
                    pair, converse = verdict_of[b, s], verdict_of[s, b]
                    b_followed = pair >= 0 and verdict[pair, c] == b_te
                    c_followed = converse >= 0 and verdict[converse, bound] == c_te
                    certain = certain_at(
                        relations[b, s], ts[b, bound], b_te, c_ts, c_te, b_followed, c_followed
                    )
                    tested[b, s] += 1
                    if has_differences and certain != NEVER:
                        since = apart_since(
                            differences, differ_from[b, s], differ_to[b, s], b, ts[b, bound], b_te, c_ts, c_te
                        )
                        certain = max(certain, since)
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
                if depth + 1 == n:
                    if now > before:
                        for symbol in range(n):
                            picks[found, symbol] = pick[symbol]
                        slots[found] = k
                        instants[found] = now
                        found += 1
                    continue
                depth += 1
                earliest[depth], instant[depth] = start, now
                s = order[depth]
                low, high = offset[s, k], offset[s, k + 1]
                if within != UNBOUNDED:
                    low = first_at_least(ts, s, low, high, minus(now, within), near[depth])
                    near[depth] = low
                    high = first_above(ts, s, low, high, plus(start, within), low)
                reachable = high - low
                for j in range(n_neighbours[depth]):
                    b = neighbours[depth, j]
                    size = high - low
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
                    if has_differences:
                        low, high = narrow_apart(
                            ts,
                            latest_te,
                            s,
                            low,
                            high,
                            differences,
                            differ_from[b, s],
                            differ_to[b, s],
                            b,
                            ts[b, pick[b]],
                            te[b, pick[b]],
                            near[depth],
                        )
                    in_window[b, s] += reachable
                    if size > 0:
                        in_range[b, s] += reachable * ((high - low) / size)
                if within == UNBOUNDED:
                    near[depth] = low
                at[depth], stop[depth] = low, high
    place[0] = -1
    return found


@kernel
def doubled(picks, slots, instants):
    """Room for twice as many matches."""
    size, n = picks.shape
    more_picks = np.empty((2 * size, n), np.int64)
    more_slots = np.empty(2 * size, np.int64)
    more_instants = np.empty(2 * size, np.int64)
    for i in range(size):
        for symbol in range(n):
            more_picks[i, symbol] = picks[i, symbol]
        more_slots[i] = slots[i]
        more_instants[i] = instants[i]
    return more_picks, more_slots, more_instants
