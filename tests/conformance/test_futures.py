"""SEM 9 and 11 against what certainty means: every future is tried, in steps finer than a tick.

An endpoint that has not occurred is later than t by an amount of which nothing is known. Of n such endpoints,
bounded by whole numbers, n + 1 steps to a tick show every order and distance that real numbers could have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.absence import absent_from
from oracles.derive import Situation
from oracles.differences import certain_from, is_met
from oracles.match import detection_instant
from oracles.question import Absence, Difference, Question
from oracles.relations import ALLEN, allen

INSTANTS = range(14)
SPANS = [(ts, te) for ts, te in product(range(7), repeat=2) if ts < te]
spans = st.sampled_from(SPANS)
ends = st.sampled_from(["ts", "te"])
relation_sets = st.sets(st.sampled_from(ALLEN), min_size=1).map(frozenset)


def situation(span: tuple[int, int | None]) -> Situation:
    return Situation(*span, admissible=span[0], events=())


def endpoint(chosen: Mapping[str, Situation], symbol: str, end: str, t: int) -> int | None:
    """None if it has not occurred."""
    value = getattr(chosen[symbol], end)
    return value if value is not None and value <= t else None


# Soon, somewhat later, much later: bounds are whole and small.
AMOUNTS = [Fraction(1, 4), Fraction(1, 2), 1, 2, 3, 100, 200]


def always_holds(difference: Difference, chosen: Mapping[str, Situation], t: int) -> bool:
    left, right = (endpoint(chosen, *end, t) for end in (difference.left, difference.right))
    xs = [left] if left is not None else [t + amount for amount in AMOUNTS]
    ys = [right] if right is not None else [t + amount for amount in AMOUNTS]
    return all(is_met(difference, x, y) for x, y in product(xs, ys))


pair_differences = st.builds(
    Difference,
    st.tuples(st.just("A"), ends),
    st.tuples(st.just("B"), ends),
    st.integers(-6, 6),
    st.booleans(),
)


@given(spans, spans, pair_differences, st.sets(st.sampled_from(INSTANTS)))
def test_a_difference_is_certain_when_every_future_meets_it(x, y, difference, others) -> None:
    """SEM 9.3, at event instants that need not be all ticks."""
    chosen = {"A": situation(x), "B": situation(y)}
    instants = sorted({*x, *y, *others})
    certain = [t for t in instants if t >= max(x[0], y[0]) and always_holds(difference, chosen, t)]
    assert certain_from(difference, chosen, instants) == next(iter(certain), None)


@given(spans, spans, pair_differences)
def test_a_difference_without_offset_is_a_set_of_relations(x, y, difference) -> None:
    """SEM 9.1: both readings give the same matches and instants."""
    difference = difference._replace(bound=0)
    places = {("A", "ts"): 0, ("A", "te"): 1, ("B", "ts"): 2, ("B", "te"): 3}
    left, right = places[difference.left], places[difference.right]
    names = {
        allen(*p, *q) for p, q in product(SPANS, SPANS) if is_met(difference, (*p, *q)[left], (*p, *q)[right])
    }
    chosen = {"A": situation(x), "B": situation(y)}
    holds = dict.fromkeys("AB", lambda _: False)
    by_relations = Question(("A", "B"), holds, {("A", "B"): frozenset(names)})
    by_difference = Question(("A", "B"), holds, differences=(difference,))
    assert detection_instant(by_relations, chosen, INSTANTS, []) == detection_instant(
        by_difference, chosen, INSTANTS, []
    )


# The table of SEM 3 once more, for arrays: left, sign, right.
TABLE = {
    "before": [("A.te", "<", "B.ts")],
    "meets": [("A.te", "=", "B.ts")],
    "overlaps": [("A.ts", "<", "B.ts"), ("B.ts", "<", "A.te"), ("A.te", "<", "B.te")],
    "finished-by": [("A.ts", "<", "B.ts"), ("A.te", "=", "B.te")],
    "contains": [("A.ts", "<", "B.ts"), ("B.te", "<", "A.te")],
    "starts": [("A.ts", "=", "B.ts"), ("A.te", "<", "B.te")],
    "equals": [("A.ts", "=", "B.ts"), ("A.te", "=", "B.te")],
}


def stands(name: str, c: str, p: str, at: Mapping[str, np.ndarray]) -> np.ndarray:
    if name not in TABLE:
        name, c, p = ALLEN[-1 - ALLEN.index(name)], p, c
    named = {"A.ts": f"{c}.ts", "A.te": f"{c}.te", "B.ts": f"{p}.ts", "B.te": f"{p}.te"}
    verdicts = [
        at[named[x]] < at[named[y]] if sign == "<" else at[named[x]] == at[named[y]]
        for x, sign, y in TABLE[name]
    ]
    return np.logical_and.reduce(np.broadcast_arrays(*verdicts))


MOST = 2  # the largest bound of a difference or a length


def is_possible(
    c: Situation | None, chosen: Mapping[str, Situation], group: Absence, question: Question, t: int
) -> bool:
    """SEM 11.3: do some later values of what has not occurred make it fit?"""
    everything = {**chosen, "C": c}
    names = [f"{symbol}.{end}" for symbol in everything for end in ("ts", "te")]
    occurred = {
        f"{symbol}.{end}": endpoint(everything, symbol, end, t)
        for symbol in everything
        for end in ("ts", "te")
        if everything[symbol] is not None
    }
    unknown = [name for name in names if occurred.get(name) is None]
    steps = len(unknown) + 1  # to a tick
    later = steps * t + np.arange(1, steps * (len(unknown) * MOST + 1) + 1)
    begins_any_time = c is None and question.is_over_intervals  # SEM 11.8
    axes = [
        np.arange(-steps * 3 * MOST, later[-1] + 1) if name == "C.ts" and begins_any_time else later
        for name in unknown
    ]
    grid = dict(zip(unknown, np.meshgrid(*axes, indexing="ij", sparse=True), strict=True))
    at = {name: grid[name] if name in grid else np.array(steps * occurred[name]) for name in names}
    fits = np.array(True)
    for symbol in everything:
        fits = fits & (at[f"{symbol}.ts"] < at[f"{symbol}.te"])
    for positive, relations in group.constraints.items():
        fits = fits & np.logical_or.reduce(
            np.broadcast_arrays(*(stands(name, "C", positive, at) for name in relations))
        )
    for difference in group.differences:
        distance = at[".".join(difference.left)] - at[".".join(difference.right)]
        bound = steps * difference.bound
        fits = fits & (distance < bound if difference.is_strict else distance <= bound)
    length = at["C.te"] - at["C.ts"]
    fits = fits & (length >= steps * question.at_least.get("C", 0))
    if "C" in question.at_most:
        fits = fits & (length <= steps * question.at_most["C"])
    return bool(fits.any())


def first_without(
    chosen: Mapping[str, Situation], cs: Sequence[Situation], group: Absence, question: Question, last: int
) -> int | None:
    """The earliest tick at which nothing is possible, as far as `last`."""
    for t in range(max(one.ts for one in chosen.values()), last + 1):
        heard_of = [c for c in cs if (c.events[0][0] if c.is_given else c.ts) <= t]
        if not any(is_possible(c, chosen, group, question, t) for c in [None, *heard_of]):
            return t
    return None


@st.composite
def groups(draw: st.DrawFn, positives: Sequence[str]) -> Absence:
    constraints = {positive: draw(relation_sets) for positive in positives if draw(st.booleans())}
    differences = []
    for _ in range(draw(st.integers(0 if constraints else 1, 2))):
        there = ("C", draw(ends)), (draw(st.sampled_from(list(positives))), draw(ends))
        left, right = there if draw(st.booleans()) else there[::-1]
        differences.append(Difference(left, right, draw(st.integers(-MOST, MOST)), draw(st.booleans())))
    return Absence("C", constraints, tuple(differences))


def maybe_open(span: tuple[int, int], last: int) -> Situation:
    return situation((span[0], span[1] if span[1] <= last else None))


lengths = st.sampled_from([{}, {}, {"C": 1}, {"C": MOST}])


@settings(max_examples=max(20, settings.default.max_examples // 2), deadline=None)
@given(st.data(), st.sampled_from([1, 1, 2]), lengths, lengths, st.booleans())
def test_a_group_is_absent_when_no_future_has_it(data, n_positives, at_least, at_most, is_given) -> None:
    """SEM 11.3 against 11.4."""
    positives = "AB"[:n_positives]
    group = data.draw(groups(positives))
    last, over = 4, 10
    short = spans.filter(lambda span: span[0] < 4)
    chosen = {symbol: maybe_open(data.draw(short), last) for symbol in positives}
    if at_least and at_most:
        at_most = {"C": MOST}
    question = Question(
        tuple(positives),
        {},
        at_least=at_least,
        at_most=at_most,
        ending="te" if is_given else None,
    )
    cs: list[Situation] = []
    for ts, te in sorted(data.draw(st.lists(short, max_size=3))):
        if is_given:
            rows = ((te, {}),) if data.draw(st.booleans()) else ((ts, {}), (te, {}))
            cs.append(Situation(ts, te, te, rows, is_given=True))
        elif not cs or (cs[-1].te is not None and ts >= cs[-1].te):
            cs.append(maybe_open((ts, te), last))
    tick = absent_from(group, chosen, cs, question)
    wanted = first_without(chosen, cs, group, question, over)
    if tick is None or tick <= over:
        assert tick == wanted, (tick, wanted, group, chosen, cs, question.at_least, question.at_most)
    else:
        assert wanted is None
