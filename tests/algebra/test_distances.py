"""Lengths, windows and relations that exclude each other, against every arrangement on a few ticks."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.brute import Interval, holding, intervals
from algebra.strategies import bits_of
from situ.algebra import distances
from situ.algebra.network import Between
from situ.algebra.relations import ALL, NAMES, relation

TICKS = 9
HOUR = 3_600_000_000


@st.composite
def questions(draw: st.DrawFn) -> tuple[int, list[tuple[str, object]]]:
    """Constraints over two or three symbols, as names and numbers the brute force understands."""
    n = draw(st.integers(2, 3))
    said: list[tuple[str, object]] = []
    names = st.sets(st.sampled_from(tuple(NAMES)[:13]), min_size=1, max_size=4)
    for i, j in [(0, 1), (1, 2), (0, 2)]:
        if j < n and draw(st.integers(0, 3)):
            said.append(("relation", (i, j, frozenset(draw(names)))))
    for i in range(n):
        if draw(st.booleans()):
            said.append(("at least", (i, draw(st.integers(0, 5)))))
        if draw(st.booleans()):
            said.append(("at most", (i, draw(st.integers(0, 5)))))
    for _ in range(draw(st.integers(0, 2))):
        x, y = draw(st.permutations([(i, end) for i in range(n) for end in (0, 1)]))[:2]
        if x[0] != y[0]:
            said.append(("difference", (x, y, draw(st.integers(-4, 4)))))
    if draw(st.booleans()):
        said.append(("to end", draw(st.integers(0, n - 1))))
    if draw(st.booleans()):
        said.append(("within", draw(st.integers(0, 6))))
    return n, draw(st.permutations(said))


def holds(kind: str, given: object, spans: tuple[Interval, ...], needed: tuple[int, ...]) -> bool:
    if kind == "relation":
        i, j, names = given
        return holding(spans[i], spans[j])[0] in names
    if kind == "difference":
        (i, x), (j, y), most = given
        return spans[i][x] - spans[j][y] <= most
    if kind == "to end":
        return needed[given] >= spans[given][1]
    return max(needed) - min(ts for ts, _ in spans) <= given


def is_possible(n: int, said: list[tuple[str, object]]) -> bool:
    """Whether some intervals on a few ticks satisfy everything."""
    ends = {given for kind, given in said if kind == "to end"}
    lengths = [(kind, given) for kind, given in said if kind in ("at least", "at most")]
    others = [one for one in said if one not in lengths]
    choices = [
        [span for span in intervals(TICKS) if all(is_of_length(*one, i, span) for one in lengths)]
        for i in range(n)
    ]
    for spans in product(*choices):
        # Nothing else asks for the match to last: the earliest instants are the best.
        needed = tuple(te if i in ends else ts for i, (ts, te) in enumerate(spans))
        if all(holds(*one, spans, needed) for one in others):
            return True
    return False


def is_of_length(kind: str, given: tuple[int, int], symbol: int, span: Interval) -> bool:
    length = span[1] - span[0]
    return symbol != given[0] or (length >= given[1] if kind == "at least" else length <= given[1])


def constraint_of(n: int, kind: str, given: object) -> distances.Constraint:
    if kind == "relation":
        i, j, names = given
        return Between(i, j, bits_of(set(names)))
    if kind == "at least":
        return distances.at_least(*given)
    if kind == "at most":
        return distances.at_most(*given)
    if kind == "difference":
        x, y = (
            distances.end_of(symbol) if is_end else distances.start_of(symbol) for symbol, is_end in given[:2]
        )
        return (distances.Difference(x, y, given[2]),)
    if kind == "to end":
        return distances.lasts_to(given, distances.end_of(given))
    return distances.window(n, given)


@settings(max_examples=200, deadline=None)
@given(questions())
def test_what_is_refused_cannot_be_and_every_culprit_is_needed(
    question: tuple[int, list[tuple[str, object]]],
) -> None:
    n, said = question
    constraints = [constraint_of(n, *one) for one in said]
    culprits = distances.excluding(n, constraints)
    if culprits is None:
        return
    assert not is_possible(n, [said[number] for number in culprits])
    for left_out in culprits:
        rest = [constraints[number] for number in culprits if number != left_out]
        assert distances.excluding(n, rest) is None


@settings(max_examples=100, deadline=None)
@given(questions(), st.integers(0, 4))
def test_single_relations_are_judged_exactly(
    question: tuple[int, list[tuple[str, object]]], seed: int
) -> None:
    """With one relation out of each set there is no choice left: a simple temporal network is complete.

    Nine ticks are enough for three intervals of which none is asked to last for more than two, or to be
    further apart.
    """
    n, said = question
    rng = random.Random(seed)
    said = [
        (kind, (*given[:2], frozenset([rng.choice(sorted(given[2]))])))
        if kind == "relation"
        else (kind, given)
        for kind, given in said
        if not (kind == "at least" and given[1] > 2) and not (kind == "difference" and given[2] < -1)
    ]
    refused = distances.excluding(n, [constraint_of(n, *one) for one in said]) is not None
    assert refused == (not is_possible(n, said))


def test_long_and_short_exclude_each_other() -> None:
    # A [------ 1 hour ------)
    # B   [- 5 minutes -)          A cannot be during B
    lengths = [distances.at_least(0, HOUR), distances.at_most(1, HOUR // 12)]
    for name in ("during", "starts", "finishes", "equals"):
        assert distances.excluding(2, [*lengths, Between(0, 1, NAMES[name])]) == (0, 1, 2)
    for name in ("contains", "overlaps", "before", "met-by"):
        assert distances.excluding(2, [*lengths, Between(0, 1, NAMES[name])]) is None
    assert distances.excluding(2, [*lengths, Between(0, 1, NAMES["during"] | NAMES["after"])]) is None


def test_the_bounds_themselves_are_possible() -> None:
    # B is a tick longer on either side, and not less.
    during = Between(0, 1, NAMES["during"])
    assert distances.excluding(2, [distances.at_least(0, 10), distances.at_most(1, 12), during]) is None
    assert distances.excluding(2, [distances.at_least(0, 10), distances.at_most(1, 11), during]) == (0, 1, 2)


def test_alternatives_are_refused_when_each_is_impossible() -> None:
    # Two of ten ticks, one after the other in whatever order, are not during one of fifteen.
    either = Between(0, 1, NAMES["before"] | NAMES["after"])
    inside = [Between(0, 2, NAMES["during"]), Between(1, 2, NAMES["during"])]
    lengths = [distances.at_least(0, 10), distances.at_least(1, 10)]
    assert distances.excluding(3, [either, *inside, *lengths, distances.at_most(2, 15)]) == tuple(range(6))
    assert distances.excluding(3, [either, *inside, *lengths, distances.at_most(2, 23)]) is None


def test_a_window_counts_as_far_as_the_match_must_last() -> None:
    before, end = Between(0, 1, NAMES["before"]), distances.lasts_to(1, distances.end_of(1))
    # A [0-1)
    # B      [2-3)      B's start is two ticks after A's, its end three.
    assert distances.excluding(2, [before, distances.window(2, 1)]) == (0, 1)
    assert distances.excluding(2, [before, distances.window(2, 2)]) is None
    assert distances.excluding(2, [before, distances.window(2, 2), end]) == (0, 1, 2)
    assert distances.excluding(2, [before, distances.window(2, 3), end]) is None


@pytest.mark.parametrize("ticks", [2**40, 2**60, 2**63 - 1])
def test_large_bounds_are_exact(ticks: int) -> None:
    equal = Between(0, 1, NAMES["equals"])
    assert distances.excluding(2, [distances.at_least(0, ticks), distances.at_most(1, ticks), equal]) is None
    tighter = [distances.at_least(0, ticks), distances.at_most(1, ticks - 1), equal]
    assert distances.excluding(2, tighter) == (0, 1, 2)


def test_sets_that_tighten_tick_by_tick_come_to_an_end() -> None:
    # Every round takes one tick off C: without a bound there would be a million of them.
    nested = NAMES["contains"] | NAMES["during"]
    at_an_edge = NAMES["starts"] | NAMES["finishes"]
    said = [
        *(Between(0, 1, nested), Between(0, 2, nested), Between(1, 2, at_an_edge)),
        *(distances.at_least(0, 10**9), distances.at_most(0, 10**9 + 1)),
        *(distances.at_least(1, 5), distances.at_most(1, 6), distances.at_most(2, 10**9 + 10**6)),
    ]
    assert distances.excluding(3, said) is None


@settings(max_examples=5, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_is_known_to_be_possible_is_never_refused(rng: random.Random) -> None:
    spans = [sorted(rng.sample(range(300), 2)) for _ in range(20)]
    said: list[distances.Constraint] = [
        Between(i, j, 1 << relation(*spans[i], *spans[j]) | rng.randrange(ALL))
        for i, j in product(range(20), repeat=2)
        if i < j and rng.random() < 0.3
    ]
    for i, (ts, te) in enumerate(spans):
        said += [distances.at_least(i, te - ts), distances.at_most(i, te - ts)]
        said.append(distances.lasts_to(i, distances.end_of(i)))
    first, last = min(ts for ts, _ in spans), max(te for _, te in spans)
    said.append(distances.window(20, last - first))
    assert distances.excluding(20, said) is None
