"""PieStream as published (Alg. 1 to 3): an automaton per relation of each pair, then hash joins of the pairs.

Every constraint has one automaton per allowed relation over the letters O, I, Z, E (which of the two
conditions hold); `before` and `after` are derived from the endpoints in the window. Detected pairs are
joined in sequence on the starts of the situations they share, incrementally, with a hash index on every
queue and every intermediate result. A relation is detected at its trigger time, so prefix groups bring
nothing forward; followed-by is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.baselines.allen import LONG_AGO, compiled
from benchmarks.baselines.pattern import FREE, PUBLISHED, Pattern
from benchmarks.data import Events

O, I, Z, E = range(4)  # noqa: E741 - the paper's letters: bit 1 is the first condition, bit 0 the second
PATHS = {  # the letters a pair runs through, by the number of its relation; the last change is the trigger
    1: (Z, I),
    2: (Z, E, I),
    3: (Z, E, O),
    4: (Z, E, Z),
    5: (O, E, I),
    6: (O, E, O),
    7: (O, E, Z),
    8: (I, E, I),
    9: (I, E, O),
    10: (I, E, Z),
    11: (I, Z),
}


class Plan(NamedTuple):
    """m constraints in join order; queue j holds pairs of constraint j, result j joins queues 0 to j."""

    left: np.ndarray
    right: np.ndarray
    automaton: np.ndarray  # int64[M]: constraint of each automaton
    transition: np.ndarray  # int64[M, 4 states, 4 letters]
    final: np.ndarray  # int64[M]: its last state
    has_before: np.ndarray
    has_after: np.ndarray
    shared: np.ndarray  # int64[m, 2]: symbols on which queue j joins result j - 1, -1 for none


class Pool(NamedTuple):
    """Tuples of all queues and results; kind j < m is queue j, kind m + j result j."""

    starts: np.ndarray  # int64[cap, n]
    kind: np.ndarray
    next: np.ndarray
    heads: np.ndarray  # hash table over (kind, join key)


class PieStream:
    """The matcher of one partition."""

    def __init__(self, pattern: Pattern, published: int = PUBLISHED) -> None:
        self.pattern, self.plan = pattern, _plan(pattern)
        n, n_automata = pattern.n, len(self.plan.automaton)
        self.state = np.zeros(n_automata, np.int64)
        # The letter before the first event is O: nothing holds yet.
        for a in range(n_automata):
            self.state[a] = self.plan.transition[a, 0, O]
        self.since, self.last = np.full(n, LONG_AGO), np.full((n, 2), LONG_AGO)
        self.mask = np.uint64(0)
        self.ended = [np.empty((n, 0), np.int64) for _ in range(2)]
        self.n_ended = np.zeros(n, np.int64)
        self.pool, self.size = _new_pool(1 << 20, n), 0
        self.swept = LONG_AGO
        self.out = np.empty((published, n + 1), np.int64)

    def step(self, events: Events) -> int:
        """Take in a batch; the number of matches published."""
        count = 0
        begin = 0
        room = int(self.n_ended.max(initial=0)) + len(events.time) // 2 + 2
        ended_ts, ended_te = (np.empty((self.pattern.n, room), np.int64) for _ in range(2))
        ended_ts[:, : self.ended[0].shape[1]], ended_te[:, : self.ended[1].shape[1]] = self.ended
        first = np.zeros(self.pattern.n, np.int64)
        while begin < len(events.time):
            # the kernel stops when the pool is full; it then goes on in a cleaned or a larger one
            begin, mask, self.size, found = _advance(
                events.time,
                events.mask,
                begin,
                self.mask,
                self.plan,
                self.pattern.within,
                self.state,
                self.since,
                ended_ts,
                ended_te,
                first,
                self.n_ended,
                self.pool,
                self.size,
                self.out,
                count,
            )
            count, self.mask = found, np.uint64(mask)
            if begin < len(events.time):
                self._clear_expired(int(events.time[begin]))
        most = int((self.n_ended - first).max(initial=0))
        self.ended = [np.empty((self.pattern.n, most), np.int64) for _ in range(2)]
        for s in range(self.pattern.n):
            size = self.n_ended[s] - first[s]
            for kept, given in zip(self.ended, (ended_ts, ended_te), strict=True):
                kept[s, :size] = given[s, first[s] : self.n_ended[s]]
            self.n_ended[s] = size
        return int(count)

    def _clear_expired(self, t: int) -> None:
        """Alg. 3 line 3, when room is needed: drop what has left the window and rebuild the index."""
        rows, kind = self.pool.starts[: self.size], self.pool.kind[: self.size]
        bound = np.where(rows == LONG_AGO, np.iinfo(np.int64).max, rows).min(axis=1)
        keep = bound >= t - self.pattern.within
        size = int(keep.sum())
        capacity = len(self.pool.kind) * (2 if 2 * size > len(self.pool.kind) else 1)
        pool = _new_pool(capacity, self.pattern.n)
        pool.starts[:size], pool.kind[:size] = rows[keep], kind[keep]
        _index(pool, size, self.plan)
        self.pool, self.size = pool, size


def _new_pool(capacity: int, n: int) -> Pool:
    return Pool(
        np.empty((capacity, n), np.int64),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int64),
        np.full(2 * capacity, -1),
    )


def _plan(pattern: Pattern) -> Plan:
    pairs = _joined(
        [(a, b) for a in range(pattern.n) for b in range(a + 1, pattern.n) if pattern.relations[a, b] != FREE]
    )
    automaton, transition, final = [], [], []
    for j, (a, b) in enumerate(pairs):
        for atom, path in PATHS.items():
            if pattern.relations[a, b] >> atom & 1:
                automaton.append(j)
                transition.append(_dfa(path))
                final.append(len(path))
    bits = [int(pattern.relations[a, b]) for a, b in pairs]
    shared, bound = np.full((len(pairs), 2), -1), set(pairs[0])
    for j, pair in enumerate(pairs[1:], start=1):
        common = [s for s in pair if s in bound]
        shared[j, : len(common)] = common
        bound |= set(pair)
    return Plan(
        np.array([a for a, _ in pairs]),
        np.array([b for _, b in pairs]),
        np.array(automaton, np.int64),
        np.array(transition, np.int64).reshape(-1, 4, 4),
        np.array(final, np.int64),
        np.array([b & 1 for b in bits], np.bool_),
        np.array([b >> 12 & 1 for b in bits], np.bool_),
        shared,
    )


def _joined(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs in an order in which each shares a symbol with those before it."""
    ordered, rest = [pairs[0]], pairs[1:]
    while rest:
        bound = {s for pair in ordered for s in pair}
        following = next(pair for pair in rest if bound & set(pair))
        ordered.append(following)
        rest.remove(following)
    return ordered


def _dfa(path: tuple[int, ...]) -> list[list[int]]:
    """State k: the first k letters of the path have been run through, the last of them is going on."""
    table = []
    for state in range(4):
        row = []
        for letter in range(4):
            if state and state <= len(path) and letter == path[state - 1]:
                row.append(state)
                continue
            # a finished path may be the beginning of the next one
            reached = 1 if state == len(path) and path[-1] == path[0] else state
            if reached < len(path) and letter == path[reached]:
                row.append(reached + 1)
            else:
                row.append(1 if letter == path[0] else 0)
        table.append(row)
    return table


@compiled
def _advance(
    time,
    mask,
    begin,
    before,
    plan,
    within,
    state,
    since,
    ended_ts,
    ended_te,
    first,
    n_ended,
    pool,
    size,
    out,
    count,
):
    """Alg. 3 from event `begin` on, until the pool may be full: the next event, mask, size, matches."""
    n, m = len(since), len(plan.left)
    one = np.uint64(1)
    row = np.empty(n, np.int64)
    for i in range(begin, len(time)):
        now = np.uint64(mask[i])
        if now == before:
            continue
        if 2 * size > len(pool.kind):
            return i, before, size, count
        t = time[i]
        changed = now ^ before
        for s in range(n):
            if (changed >> np.uint64(s)) & one:
                if (now >> np.uint64(s)) & one:
                    since[s] = t
                else:
                    ended_ts[s, n_ended[s]], ended_te[s, n_ended[s]] = since[s], t
                    n_ended[s] += 1
            while first[s] < n_ended[s] and ended_ts[s, first[s]] < t - within:
                first[s] += 1
        full = False
        for a in range(len(plan.automaton)):  # Alg. 2 line 1
            j = plan.automaton[a]
            left, right = np.uint64(plan.left[j]), np.uint64(plan.right[j])
            if not ((changed >> left) & one or (changed >> right) & one):
                continue
            letter = np.int64((now >> left) & one) * 2 + np.int64((now >> right) & one)
            last_state = state[a]
            state[a] = plan.transition[a, last_state, letter]
            if state[a] == plan.final[a] and last_state != state[a]:  # the trigger condition
                row[:] = LONG_AGO
                row[plan.left[j]], row[plan.right[j]] = since[plan.left[j]], since[plan.right[j]]
                size, count = _enqueue(j, row, t, within, plan, pool, size, out, count)
                full = full or size < 0
                if full:
                    break
        for j in range(m):  # Alg. 2 line 4: derive before and after from endpoints
            if full:
                break
            for turn in range(2):
                if not (plan.has_before[j] if turn == 0 else plan.has_after[j]):
                    continue
                early = plan.left[j] if turn == 0 else plan.right[j]
                late = plan.right[j] if turn == 0 else plan.left[j]
                if (changed & now) >> np.uint64(late) & one:
                    for e in range(first[early], n_ended[early]):
                        if ended_te[early, e] >= t or full:
                            break
                        row[:] = LONG_AGO
                        row[early], row[late] = ended_ts[early, e], t
                        size, count = _enqueue(j, row, t, within, plan, pool, size, out, count)
                        full = size < 0
        if full:
            raise MemoryError("one event completes more pairs than the pool has room for")
        before = now
    return len(time), before, size, count


@compiled
def _enqueue(j, row, t, within, plan, pool, size, out, count):
    """A new pair of constraint j: put it in its queue and join it on through the results after it."""
    m, n = len(plan.left), pool.starts.shape[1]
    for s in range(n):
        if row[s] != LONG_AGO and row[s] < t - within:
            return size, count
    if m == 1:
        _publish(row, t, out, count)
        return size, count + 1
    begin = size
    size = _insert(j, row, plan, pool, size)
    if size < 0:
        return size, count
    if j == 0:
        new_from = size
        size = _insert(m, row, plan, pool, size)
        if size < 0:
            return size, count
        level = 1
    else:
        # results of the constraints before j with this pair
        new_from = size
        size, count = _probe(m + j - 1, begin, j, t, within, plan, pool, size, out, count)
        level = j + 1
    while level < m and size > new_from:  # each new result with the queue of the next constraint
        new_to, next_from = size, size
        for k in range(new_from, new_to):
            size, count = _probe(level, k, level, t, within, plan, pool, size, out, count)
            if size < 0:
                return size, count
        new_from = next_from
        level += 1
    return size, count


@compiled
def _probe(kind, k, level, t, within, plan, pool, size, out, count):
    """Join tuple k with all of `kind` on the key of `level`; results have kind m + level."""
    m, n = len(plan.left), pool.starts.shape[1]
    a, b = plan.shared[level, 0], plan.shared[level, 1]
    merged = np.empty(n, np.int64)
    at = pool.heads[_hash(kind, pool.starts[k], a, b) % len(pool.heads)]
    while at >= 0:
        other = pool.starts[at]
        if (
            pool.kind[at] == kind
            and other[a] == pool.starts[k, a]
            and (b < 0 or other[b] == pool.starts[k, b])
        ):
            fits = True
            for s in range(n):
                merged[s] = max(other[s], pool.starts[k, s])
                if merged[s] != LONG_AGO and merged[s] < t - within:
                    fits = False
                    break
            if fits and level == m - 1:
                _publish(merged, t, out, count)
                count += 1
            elif fits:
                size = _insert(m + level, merged, plan, pool, size)
                if size < 0:
                    return size, count
        at = pool.next[at]
    return size, count


@compiled
def _insert(kind, row, plan, pool, size):
    if size == len(pool.kind):
        return -1
    pool.starts[size] = row
    pool.kind[size] = kind
    _link(pool, size, plan)
    return size + 1


@compiled
def _link(pool, k, plan):
    """Index a tuple by the key it will be asked for: queue j by its own join, result j by the next one."""
    m, kind = len(plan.left), pool.kind[k]
    level = kind if kind < m else kind - m + 1
    a, b = plan.shared[level, 0], plan.shared[level, 1]
    if a < 0:
        return  # queue 0 is never probed, its result is
    at = _hash(kind, pool.starts[k], a, b) % len(pool.heads)
    pool.next[k] = pool.heads[at]
    pool.heads[at] = k


@compiled
def _index(pool, size, plan):
    for k in range(size):
        _link(pool, k, plan)


@compiled
def _hash(kind, row, a, b):
    h = np.uint64(row[a]) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(kind) * np.uint64(0xD6E8FEB86659FD93)
    if b >= 0:
        h = (h ^ np.uint64(row[b])) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((h ^ (h >> np.uint64(29))) >> np.uint64(2))


@compiled
def _publish(row, t, out, count):
    at = count % len(out)
    for s in range(len(row)):
        out[at, s] = row[s]
    out[at, len(row)] = t
