"""ISEQ as published (Alg. 1 to 3): plain, with active instance stacks, and with begin punctuations.

Intervals arrive by their end. Each is buffered unless it can be dropped on the fly, triggers result
construction when nothing has to end after it, and leaves by window, cascading and stack purges. The index is
the longest path of endpoints that the pattern orders strictly: of ends only, or with punctuations of starts
and ends. Pointers to the most recent instance in the previous stack (RIP) are positions that do not move.
Results are those of EMIT FINAL.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from benchmarks.baselines.allen import LONG_AGO, OPEN, compiled, relation
from benchmarks.baselines.pattern import FREE, PUBLISHED, Pattern
from benchmarks.data import Events

Variant = Literal["plain", "index", "punctuations"]
TS, TE, SCAN = 0, 1, 2
_TE_BEFORE_TE = sum(1 << atom for atom in (0, 1, 2, 5, 8))
_TS_BEFORE_TS = sum(1 << atom for atom in (0, 1, 2, 3, 4))
_TS_BEFORE_TE = FREE & ~(1 << 11 | 1 << 12)
_TE_BEFORE_TS = 1 << 0


class Intervals(NamedTuple):
    """M rows by their instant: closing rows at te, and with punctuations a begin row at ts for each."""

    symbol: np.ndarray
    ts: np.ndarray
    te: np.ndarray
    ident: np.ndarray
    is_begin: np.ndarray


class Index(NamedTuple):
    """The ordered endpoints: `symbol[p]`, `kind[p]` (TS or TE) of path node p, and its place per symbol."""

    symbol: np.ndarray
    kind: np.ndarray
    place: np.ndarray  # int64[2, n]: position on the path of a symbol's ts and te, -1 for none
    te_less: np.ndarray  # bool[n, n]: a.te < b.te is required
    te_after_ts: np.ndarray  # bool[n, n]: a.te > b.ts is required
    ts_after_te: np.ndarray  # bool[n, n]: a.ts > b.te is required


class Stacks(NamedTuple):
    """Instances of each symbol; rows are never moved, [first, last) are the live ones."""

    ts: np.ndarray
    te: np.ndarray  # OPEN: only its punctuation has come
    rip: np.ndarray  # int64[2, n, cap]: RIP of its ts and of its te
    by_te: np.ndarray  # int64[n, cap]: instances in the order of their ends
    first: np.ndarray  # int64[2, n]: of the rows (TS) and of by_te (TE)
    last: np.ndarray


class Iseq:
    """The operator; it takes whole streams, as arrays."""

    def __init__(self, pattern: Pattern, variant: Variant, published: int = PUBLISHED) -> None:
        self.pattern, self.variant = pattern, variant
        self.index = _index(pattern, variant)
        self.out = np.empty((published, pattern.n + 1), np.int64)

    def run(self, intervals: Intervals) -> int:
        """All results; their number."""
        n = self.pattern.n
        closing = ~intervals.is_begin
        capacity = int(np.bincount(intervals.symbol[closing], minlength=n).max(initial=0)) + 1
        if intervals.is_begin.any():
            begun = int(np.bincount(intervals.symbol[intervals.is_begin], minlength=n).max(initial=0))
            capacity = max(capacity, begun + 1)
        stacks = Stacks(
            *(np.empty((n, capacity), np.int64) for _ in range(2)),
            np.zeros((2, n, capacity), np.int64),
            np.empty((n, capacity), np.int64),
            np.zeros((2, n), np.int64),
            np.zeros((2, n), np.int64),
        )
        row_of = np.full(int(intervals.ident.max(initial=-1)) + 1, -1)
        with_begins = self.variant == "punctuations"
        return int(_run(intervals, self.pattern, self.index, stacks, row_of, with_begins, self.out))


def stream(symbol: np.ndarray, ts: np.ndarray, te: np.ndarray, *, punctuations: bool) -> Intervals:
    """Intervals in the order ISEQ takes them; open ones (te = OPEN) appear as punctuations only."""
    ident = np.arange(len(ts))
    closed = te < OPEN
    rows = [(symbol[closed], ts[closed], te[closed], ident[closed], np.zeros(int(closed.sum()), np.bool_))]
    if punctuations:
        rows.append((symbol, ts, te, ident, np.ones(len(ts), np.bool_)))
    symbol, ts, te, ident, is_begin = (np.concatenate(column) for column in zip(*rows, strict=True))
    order = np.lexsort((ts, is_begin, np.where(is_begin, ts, te)))
    return Intervals(*(column[order] for column in (symbol, ts, te, ident, is_begin)))


@compiled
def _derive(time, mask, before, since, n):
    """Alg. 5.1: the situations that end in a batch, by their ends."""
    size = 0
    last = before
    for i in range(len(time)):
        now = np.uint64(mask[i])
        gone = last & ~now
        while gone:
            gone &= gone - np.uint64(1)
            size += 1
        last = now
    symbol, ts, te = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    k = 0
    for i in range(len(time)):
        now = np.uint64(mask[i])
        if now == before:
            continue
        for s in range(n):
            bit = np.uint64(1) << np.uint64(s)
            if before & bit and not now & bit:
                symbol[k], ts[k], te[k] = s, since[s], time[i]
                k += 1
            elif now & bit and not before & bit:
                since[s] = time[i]
        before = now
    return symbol, ts, te, before


class Deriver:
    """Situations of events, batch by batch: what ISEQ is fed with."""

    def __init__(self, n: int) -> None:
        self.n, self.mask, self.since = n, np.uint64(0), np.full(n, LONG_AGO)
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def step(self, events: Events) -> None:
        """Take in a batch."""
        *found, mask = _derive(events.time, events.mask, self.mask, self.since, self.n)
        self.mask = np.uint64(mask)
        self.parts.append(tuple(found))  # type: ignore[arg-type]

    def intervals(self, *, punctuations: bool) -> Intervals:
        """Everything so far."""
        symbol, ts, te = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        ongoing = [s for s in range(self.n) if int(self.mask) >> s & 1] if punctuations else []
        symbol = np.concatenate([symbol, np.array(ongoing, np.int64)])
        ts = np.concatenate([ts, self.since[ongoing] if ongoing else np.empty(0, np.int64)])
        te = np.concatenate([te, np.full(len(ongoing), OPEN)])
        return stream(symbol, ts, te, punctuations=punctuations)


def _index(pattern: Pattern, variant: Variant) -> Index:
    """Required orders of endpoints, inferred by path consistency, and the longest path through them."""
    n, sets = pattern.n, pattern.reduced
    differ = ~np.eye(n, dtype=bool)

    def requires(allowed: int) -> np.ndarray:
        result: np.ndarray = (sets & ~np.int64(allowed) == 0) & differ
        return result

    less = {
        (TS, TS): requires(_TS_BEFORE_TS),
        (TS, TE): requires(_TS_BEFORE_TE) | np.eye(n, dtype=bool),
        (TE, TS): requires(_TE_BEFORE_TS),
        (TE, TE): requires(_TE_BEFORE_TE),
    }
    kinds = {"plain": (), "index": (TE,), "punctuations": (TS, TE)}[variant]
    path = _longest([(s, kind) for s in range(n) for kind in kinds], less)
    place = np.full((2, n), -1)
    for position, (s, kind) in enumerate(path):
        place[kind, s] = position
    return Index(
        np.array([s for s, _ in path], np.int64),
        np.array([kind for _, kind in path], np.int64),
        place,
        less[TE, TE],
        requires(_TS_BEFORE_TE).T & differ,
        less[TE, TS].T,
    )


def _longest(nodes: list[tuple[int, int]], less: dict[tuple[int, int], np.ndarray]) -> list[tuple[int, int]]:
    """The path that avoids most joins: an edge within one symbol does not count."""
    best: dict[tuple[int, int], tuple[int, list[tuple[int, int]]]] = {}

    def until(node: tuple[int, int]) -> tuple[int, list[tuple[int, int]]]:
        if node not in best:
            length, path = 0, [node]
            for before in nodes:
                if before != node and less[before[1], node[1]][before[0], node[0]]:
                    reached, way = until(before)
                    if reached + (before[0] != node[0]) > length:
                        length, path = reached + (before[0] != node[0]), [*way, node]
            best[node] = (length, path)
        return best[node]

    length, path = max((until(node) for node in nodes), default=(0, []), key=lambda found: found[0])
    return path if length else []


@compiled
def _run(rows, pattern, index, stacks, row_of, with_begins, out):
    """Alg. 2: one row after the other."""
    n, within = len(pattern.relations), pattern.within
    last = stacks.last
    constructs = np.ones(n, np.bool_)
    ends_last = np.ones(n, np.bool_)
    for a in range(n):
        for b in range(n):
            if a != b:
                constructs[a] &= not index.te_less[a, b]
                ends_last[a] &= index.te_less[b, a]
    count = 0
    clock = LONG_AGO
    for i in range(len(rows.ts)):
        s, ts = rows.symbol[i], rows.ts[i]
        now = ts if rows.is_begin[i] else rows.te[i]
        if now > clock:
            clock = now
            _purge(stacks, index, clock - within)
        if rows.is_begin[i]:  # Alg. 3, on the arrival of a punctuation
            rip = np.int64(0)
            if index.place[TS, s] >= 0:
                rip = _most_recent(stacks, index, index.place[TS, s], ts)
                if rip < 0 or _misses(stacks, index.ts_after_te, s, TE):
                    continue
            row = last[TS, s]
            stacks.ts[s, row], stacks.te[s, row], stacks.rip[TS, s, row] = ts, OPEN, rip
            row_of[rows.ident[i]] = row
            last[TS, s] += 1
            continue
        te = rows.te[i]
        if te - ts > within or _misses(stacks, index.te_less.T, s, TE):
            continue
        if with_begins:
            row = row_of[rows.ident[i]]
            if row < 0 or _misses_begin(stacks, index, s):
                continue
        else:
            row = last[TS, s]
            stacks.ts[s, row] = ts
            last[TS, s] += 1
        rip = np.int64(0)
        if index.place[TE, s] >= 0:
            rip = _most_recent(stacks, index, index.place[TE, s], te)
            if rip < 0:
                continue
        stacks.te[s, row], stacks.rip[TE, s, row] = te, rip
        stacks.by_te[s, last[TE, s]] = row
        last[TE, s] += 1
        if constructs[s]:
            count = _construct(s, row, te, pattern.relations, index, stacks, within, out, count)
        if ends_last[s]:
            last[TE, s] -= 1
    return count


@compiled
def _purge(stacks, index, horizon):
    """By window, cascading, and of instances whose RIP is gone."""
    n = len(stacks.ts)
    first, last = stacks.first, stacks.last
    for s in range(n):
        while first[TE, s] < last[TE, s] and stacks.ts[s, stacks.by_te[s, first[TE, s]]] < horizon:
            first[TE, s] += 1
        while first[TS, s] < last[TS, s] and stacks.ts[s, first[TS, s]] < horizon:
            first[TS, s] += 1
    for a in range(n):
        if first[TE, a] == last[TE, a]:
            for b in range(n):
                if index.te_less[a, b]:
                    first[TE, b] = last[TE, b]
    for p in range(1, len(index.symbol)):
        s, kind = index.symbol[p], index.kind[p]
        bottom = first[index.kind[p - 1], index.symbol[p - 1]]
        while first[kind, s] < last[kind, s]:
            row = stacks.by_te[s, first[kind, s]] if kind == TE else first[kind, s]
            if stacks.rip[kind, s, row] > bottom:
                break
            first[kind, s] += 1


@compiled
def _misses(stacks, required, s, kind):
    """On-the-fly dropping: is a symbol that must have come before s without a buffered instance?"""
    missing = False
    for o in range(len(required)):
        missing |= required[s, o] and stacks.first[kind, o] == stacks.last[kind, o]
    return missing


@compiled
def _misses_begin(stacks, index, s):
    for o in range(len(index.te_after_ts)):
        if index.te_after_ts[s, o] and index.place[TS, o] >= 0 and stacks.first[TS, o] == stacks.last[TS, o]:
            return True
    return False


@compiled
def _most_recent(stacks, index, p, instant):
    """RIP: how far the previous stack reaches with endpoints before `instant`; -1 when there is none."""
    if p == 0:
        return np.int64(0)
    s, kind = index.symbol[p - 1], index.kind[p - 1]
    top = stacks.last[kind, s]
    while top > stacks.first[kind, s]:
        endpoint = stacks.ts[s, top - 1] if kind == TS else stacks.te[s, stacks.by_te[s, top - 1]]
        if endpoint < instant:
            return top
        top -= 1
    return np.int64(-1)


@compiled
def _construct(e, e_row, now, relations, index, stacks, within, out, count):
    """All results with instance e_row of symbol e: along the path by RIP, then the multi-join of the rest."""
    n = len(relations)
    free = (1 << 13) - 1
    symbol, kind = np.empty(n, np.int64), np.empty(n, np.int64)
    after = np.full(n, -1, np.int64)  # the path node whose instance limits this step
    in_steps = np.zeros(n, np.bool_)
    in_steps[e] = True
    n_steps = 0
    for p in range(len(index.symbol) - 1, -1, -1):
        if not in_steps[index.symbol[p]]:
            symbol[n_steps], kind[n_steps] = index.symbol[p], index.kind[p]
            after[n_steps] = p + 1 if p + 1 < len(index.symbol) else -1
            in_steps[index.symbol[p]] = True
            n_steps += 1
    for s in range(n):
        if not in_steps[s]:
            symbol[n_steps], kind[n_steps] = s, SCAN
            n_steps += 1
    pick = np.full(n, -1, np.int64)
    pick[e] = e_row
    at, stop = np.empty(n_steps + 1, np.int64), np.empty(n_steps + 1, np.int64)
    depth = 0
    opened = True
    while depth >= 0:
        if depth == n_steps:
            row = count % len(out)
            for s in range(n):
                out[row, s] = stacks.ts[s, pick[s]]
            out[row, n] = now
            count += 1
            depth -= 1
            opened = False
            continue
        s = symbol[depth]
        by = TS if kind[depth] == TS else TE
        if opened:
            at[depth], stop[depth] = stacks.first[by, s], stacks.last[by, s]
            if after[depth] >= 0:
                o, o_kind = index.symbol[after[depth]], index.kind[after[depth]]
                stop[depth] = min(stop[depth], stacks.rip[o_kind, o, pick[o]])
            opened = False
        pick[s] = -1
        found = False
        while at[depth] < stop[depth] and not found:
            row = at[depth] if by == TS else stacks.by_te[s, at[depth]]
            at[depth] += 1
            ts, te = stacks.ts[s, row], stacks.te[s, row]
            if te > now or ts < now - within:
                continue
            found = True
            for b in range(n):
                if pick[b] >= 0 and relations[b, s] != free:
                    held = relation(stacks.ts[b, pick[b]], stacks.te[b, pick[b]], ts, te)
                    if not (relations[b, s] >> held) & 1:
                        found = False
                        break
            if found:
                pick[s] = row
        if found:
            depth += 1
            opened = True
        else:
            depth -= 1
    return count
