"""The copies of the candidate test (docs/decisions/004) all say what one scalar function says.

That function is `certain_since`, and `reported_at` asks it of every pair: SEM 2.4, 3, 4.2 to 4.5, 8.4 and, as
far as no later event must tell, 9.3 by definition. The kernels get runs as they are drawn, so that nothing
but a copy can be what differs.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.relations import ALLEN, allen, atoms
from situ.algebra.relations import ALL, NAMES, converse
from situ.operators.situations.joins import pair_join
from situ.operators.situations.kernels.layout import Runs, Spec
from situ.operators.situations.kernels.match import Step, join, new_work
from situ.operators.situations.kernels.pairs import matching_pairs
from situ.operators.situations.kernels.relate import LINKED, bounds_of
from situ.operators.situations.kernels.why import count_pairs, count_prefixes, keep_existing
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED
from situations.kernels.test_match import found

pytestmark = pytest.mark.nojit

N_SLOTS, LATEST = 2, 12
PATTERNS = [((0, 1),), ((1, 0), (1, 2)), ((0, 1), (2, 0), (1, 2))]  # one pair, a chain, a triangle
GIVEN = st.tuples(st.integers(0, LATEST - 1), st.none() | st.integers(1, 6))

Span = tuple[int, int | None]  # ts and te, None where it is open


class Run(NamedTuple):
    symbol: int
    slot: int
    ts: int
    te: int | None  # None: open
    admissible: int | None  # None: not, or not yet
    follows: dict[int, int]  # by symbol: te of its run that this one directly follows (SEM 8.4)


class Difference(NamedTuple):
    """x of `left` - y of `right` <= bound, x and y being ts or te; `at_y`: certain from y on (SEM 9.3)."""

    left: int
    x: str
    right: int
    y: str
    bound: int
    at_y: bool


class Task(NamedTuple):
    runs: list[list[Run]]  # by symbol, in the order of their columns
    asked: dict[tuple[int, int], frozenset[str]]
    apart: list[Difference]
    within: int | None
    final: bool


def possible(a: Run, b: Run, t: int) -> set[str]:
    """The atoms of a to b that what is known at t allows: an end to come is later than t (SEM 3, 4.2)."""
    ends = [[run.te] if run.te is not None and run.te <= t else [t + 1, t + 2] for run in (a, b)]
    found = {allen(a.ts, a_te, b.ts, b_te) for a_te, b_te in product(*ends)}
    if found == {"before"}:
        return {"followed-by" if b.follows.get(a.symbol) == a.te else "before-only"}
    if found == {"after"}:
        return {"follows" if a.follows.get(b.symbol) == b.te else "after-only"}
    return found


def certain_since(task: Task, pair: tuple[int, int], a: Run, b: Run) -> int | None:
    """The candidate test: when is it certain that a stands to b as asked; None: never (SEM 4.2, 9.4)."""
    instants = sorted({t for t in (a.ts, a.te, b.ts, b.te) if t is not None and t >= max(a.ts, b.ts)})
    needed = [next((t for t in instants if possible(a, b, t) <= atoms(task.asked[pair])), None)]
    needed += [apart_since(one, {a.symbol: a, b.symbol: b}) for one in differences_of(task, pair)]
    return None if None in needed else max(needed)


def differences_of(task: Task, pair: tuple[int, int]) -> list[Difference]:
    return [one for one in task.apart if {one.left, one.right} == set(pair)]


def apart_since(one: Difference, of: dict[int, Run]) -> int | None:
    """Since when two are as far apart as asked, as far as no event after x must tell; None: not (SEM 9.3)."""
    x, y = getattr(of[one.left], one.x), getattr(of[one.right], one.y)
    if x is None or (y is None and one.at_y) or (y is not None and x - y > one.bound):
        return None
    return y if one.at_y else x


def reported_at(task: Task, chosen: tuple[Run, ...]) -> int | None:
    """When some runs are all admissible and certain to stand as asked, FINAL: and over (SEM 4.3, 4.5)."""
    of = {run.symbol: run for run in chosen}
    instants = [run.admissible for run in chosen] + [run.te for run in chosen if task.final]
    pairs = [(a, b) for a, b in task.asked if a in of and b in of]
    instants += [certain_since(task, (a, b), of[a], of[b]) for a, b in pairs]
    return None if None in instants or len({run.slot for run in chosen}) > 1 else max(instants)


def is_in_time(task: Task, chosen: tuple[Run, ...], at: int) -> bool:
    return task.within is None or at - min(run.ts for run in chosen) <= task.within


def is_near(task: Task, bound: tuple[Run, ...], now: int, run: Run) -> bool:
    """Can a run, by where it starts alone, be in a match with those bound, which are certain at `now`?"""
    begin = min((one.ts for one in bound), default=run.ts)
    is_within = task.within is None or now - task.within <= run.ts <= begin + task.within
    return not bound or (is_within and run.slot == bound[0].slot)


def existing(task: Task, symbol: int) -> list[Run]:
    return [run for run in task.runs[symbol] if reported_at(task, (run,)) is not None]


def followed_end(ts: int, own: list[Span], other: list[Span]) -> int | None:
    """Where the run of the other symbol ended that one from ts directly follows (SEM 3.4, 8.4)."""
    ends = [te for _, te in other if te is not None and te < ts]
    held = [te is None or te > max(ends, default=ts) for start, te in own + other if start < ts]
    return max(ends) if ends and not any(held) else None


@st.composite
def spans(draw: st.DrawFn, overlapping: bool) -> list[Span]:
    """Of one symbol and slot: given intervals, or runs of events: disjoint, and only the last one open."""
    if overlapping:
        drawn = draw(st.lists(GIVEN, min_size=1, max_size=5))
        return sorted(((ts, length and ts + length) for ts, length in drawn), key=lambda span: span[0])
    points = [*sorted(draw(st.sets(st.integers(0, LATEST), min_size=3, max_size=9))), None]
    return [(ts, te) for ts, te in list(pairwise(points))[::2] if ts is not None]


@st.composite
def differences(draw: st.DrawFn, pair: tuple[int, int], overlapping: bool) -> Difference:
    left, right = draw(st.permutations(pair))
    ends = st.sampled_from(["ts", "te"])
    bound = draw(st.integers(-4, 6))
    return Difference(left, draw(ends), right, draw(ends), bound, overlapping and bound < 0)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    pattern, overlapping = draw(st.sampled_from(PATTERNS)), draw(st.booleans())
    names = ALLEN if overlapping else [*ALLEN, "followed-by", "follows", "followed-by", "follows"]
    asked = {pair: draw(st.frozensets(st.sampled_from(names), min_size=1, max_size=12)) for pair in pattern}
    apart = []
    for pair in sorted(pattern, key=sorted):  # those of one pair stand together
        several = draw(st.lists(differences(pair, overlapping), max_size=2))
        apart += several
        if several and draw(st.booleans()):
            asked[pair] = frozenset(ALLEN)  # nothing but differences
    symbols = range(1 + max(map(max, pattern)))
    runs: list[list[Run]] = [[] for _ in symbols]
    for slot in range(N_SLOTS):
        raw = [draw(spans(overlapping)) for _ in symbols]
        for symbol, (ts, te) in [(i, span) for i in symbols for span in raw[i]]:
            ends = {other: followed_end(ts, raw[symbol], raw[other]) for other in symbols}
            follows = {other: end for other, end in ends.items() if end is not None}
            admissible = draw(st.sampled_from([*[ts] * 4, *range(ts, (te or LATEST) + 1), None]))
            runs[symbol].append(Run(symbol, slot, ts, te, admissible, follows))
    return Task(runs, asked, apart, draw(st.none() | st.integers(0, LATEST + 4)), draw(st.booleans()))


def kernel_input(task: Task) -> tuple[Runs, Spec]:
    """The task as the kernels take it; what only deriving and purging read is left empty."""
    n, width = len(task.runs), 1 + max(map(len, task.runs))
    relations, lower, upper, verdict_of = (np.full((n, n), value) for value in (ALL, 0, 0, -1))
    followed = []
    for (a, b), names in task.asked.items():
        bits = int(np.bitwise_or.reduce([NAMES[name] for name in names]))
        for x, y, allowed in ((a, b, bits), (b, a, converse(bits))):
            relations[x, y] = allowed if allowed != ALL else LINKED
            lower[x, y], upper[x, y] = bounds_of(allowed)
            if allowed & NAMES["before"] == NAMES["followed-by"]:
                verdict_of[x, y] = len(followed)
                followed.append((x, y))
    ts, te, admissible, latest_te, rows = (np.zeros((n, width), np.int64) for _ in range(5))
    verdict = np.full((len(followed), width), LONG_AGO)
    for symbol, several in enumerate(task.runs):
        for at, run in enumerate(several):
            ts[symbol, at], te[symbol, at] = run.ts, OPEN if run.te is None else run.te
            admissible[symbol, at] = NEVER if run.admissible is None else run.admissible
            latest_te[symbol, at] = max(te[symbol, i] for i in range(at + 1) if several[i].slot == run.slot)
            for pair, (first, second) in enumerate(followed):
                if second == symbol:
                    verdict[pair, at] = run.follows.get(first, LONG_AGO)
    offset = [[sum(run.slot < k for run in several) for k in range(N_SLOTS + 1)] for several in task.runs]
    none, touches = np.zeros(n, np.int64), np.ones(n, np.bool_)
    followed_pairs = np.array(followed, np.int64).reshape(-1, 2)
    within = np.int64(UNBOUNDED if task.within is None else task.within)
    query = (relations, lower, upper, none, none, followed_pairs, none, verdict_of, *[touches] * 3)
    runs = Runs(ts, te, admissible, latest_te, rows, rows, rows, verdict, np.array(offset))
    apart = [(one.left, one.x == "te", one.right, one.y == "te", one.bound, one.at_y) for one in task.apart]
    differ_from, differ_to = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for pair in task.asked:
        own = [q for q, one in enumerate(task.apart) if {one.left, one.right} == set(pair)]
        for a, b in (pair, pair[::-1]):
            differ_from[a, b], differ_to[a, b] = (own[0], own[-1] + 1) if own else (0, 0)
    no_codes = np.full((n, n), -1)
    table = np.array(apart, np.int64).reshape(-1, 6)
    return runs, Spec(*query, within, UNBOUNDED, task.final, table, differ_from, differ_to, no_codes)


@settings(max_examples=400)
@given(tasks(), st.just(int(LONG_AGO)) | st.integers(0, LATEST))
def test_both_joins_accept_what_the_scalar_function_accepts(task: Task, before: int) -> None:
    runs, spec = kernel_input(task)
    n, since = len(task.runs), np.full(N_SLOTS, before)
    expected = []
    for picked in product(*map(enumerate, task.runs)):
        columns, chosen = zip(*picked, strict=True)
        at = reported_at(task, chosen)
        if at is not None and is_in_time(task, chosen, at) and at > before:
            expected.append((chosen[0].slot, at, *columns))
    expected.sort()
    step = Step(since, 0, N_SLOTS, 1, 0)
    orders = list(permutations(range(n)))
    one_per_anchor = orders[:: len(orders) // n]
    for several in (one_per_anchor, *([order] for order in orders)):
        matches = join(tuple(runs), tuple(spec), np.array(several), tuple(step), tuple(new_work(n)))
        assert found(matches) == expected, several
        if len(several) == 1 and spec.relations[several[0][:2]] != ALL:  # a connected plan
            matches = pair_join(runs, spec, np.array(several[0]), since, new_work(n))
            assert found(matches) == expected, several


@settings(max_examples=400)
@given(tasks())
def test_the_pairs_of_a_constraint(task: Task) -> None:
    """What the pair join begins with has its own copy; a window leaves out starts too far apart here."""
    runs, spec = kernel_input(task)
    work = new_work(len(task.runs))
    for (a, b), (x, y) in ((pair, way) for pair in task.asked for way in (pair, pair[::-1])):
        expected = []
        for (i, one), (j, other) in product(enumerate(task.runs[x]), enumerate(task.runs[y])):
            certain = certain_since(task, (a, b), *((one, other) if x == a else (other, one)))
            do_exist = one in existing(task, x) and other in existing(task, y)
            if do_exist and certain is not None and is_near(task, (one,), one.admissible, other):
                expected.append((i, j, certain))
        offset, partner, since, _ = matching_pairs(runs, spec, x, y, work.tested, work.passed, 1 << 20)
        bound = np.repeat(np.arange(len(offset) - 1), np.diff(offset)).tolist()
        assert list(zip(bound, partner.tolist(), since.tolist(), strict=True)) == expected


@settings(max_examples=400)
@given(tasks())
def test_why_counts_what_the_scalar_function_accepts(task: Task) -> None:
    runs, spec = kernel_input(task)
    runs = runs._replace(latest_te=keep_existing(runs, spec.followed, spec.final))
    related = task._replace(apart=[])  # what is counted of a constraint is its own
    for a, b in task.asked:
        pairs = [(pair, reported_at(related, pair)) for pair in product(task.runs[a], task.runs[b])]
        spans = [at - min(one.ts, other.ts) for (one, other), at in pairs if at is not None]
        counted = count_pairs(runs, spec, a, b)
        assert counted.in_time.sum() == sum(task.within is None or span <= task.within for span in spans)
        assert counted.span.min() == min(spans, default=OPEN)
    for order in permutations(range(len(task.runs))):
        assert count_prefixes(runs, spec, np.array(order)).tolist() == prefixes(task, order), order


def prefixes(task: Task, order: tuple[int, ...]) -> list[list[int]]:
    """Per depth of a plan: candidates near what is bound, those that stand as asked, those in time."""
    counts, bound = [], [((), 0)]
    for symbol in order:
        candidates = product(bound, existing(task, symbol))
        near = [(*prefix, run) for (prefix, now), run in candidates if is_near(task, prefix, now, run)]
        standing = [(chosen, at) for chosen in near if (at := reported_at(task, chosen)) is not None]
        bound = [(chosen, at) for chosen, at in standing if is_in_time(task, chosen, at)]
        counts.append([len(near), len(standing), len(bound)])
    return counts
