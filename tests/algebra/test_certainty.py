"""The earliest instant and the trigger endpoints, against every way open ends can still fall."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from algebra import brute
from algebra.brute import Interval, configurations, holding, intervals
from algebra.strategies import allen_sets, bits_of, matrix_of, patterns
from situ.algebra.certainty import (
    OPEN,
    PREFIX_GROUPS,
    Admissible,
    Trigger,
    admission,
    certain_at_start,
    describe_certainty,
    earliest,
    pair_triggers,
    trigger_endpoints,
)
from situ.algebra.network import propagate
from situ.algebra.relations import ALL, NAMES, converse

Pattern = dict[tuple[int, int], set[str]]
PAIRS = [(a, b) for a in intervals(6) for b in intervals(6)]


@cache
def brute_earliest(names: frozenset[str], a: Interval, b: Interval) -> int | None:
    return brute.earliest(set(names), a, b)


@given(allen_sets)
def test_a_set_is_certain_when_no_other_relation_is_possible_any_more(names: set[str]) -> None:
    bits = bits_of(names)
    for a, b in PAIRS:
        expected = brute_earliest(frozenset(names), a, b)
        assert earliest(bits, *a, *b) == (OPEN if expected is None else expected), (a, b)


@given(allen_sets, st.sampled_from(PAIRS), st.integers(0, 5))
def test_an_open_situation_is_as_good_as_a_closed_one_where_certainty_does_not_need_its_end(
    names: set[str], pair: tuple[Interval, Interval], now: int
) -> None:
    a, b = pair
    if a[0] > now or b[0] > now:
        return
    seen = [te if te <= now else OPEN for te in (a[1], b[1])]
    known = earliest(bits_of(names), a[0], seen[0], b[0], seen[1])
    final = brute_earliest(frozenset(names), a, b)
    assert known == (final if final is not None and final <= now else OPEN)


def test_a_pair_and_its_converse_are_certain_together() -> None:
    rng = random.Random(3)
    for _ in range(300):
        bits = rng.randrange(1, ALL)
        a, b = rng.choice(PAIRS)
        assert earliest(bits, *a, *b) == earliest(converse(bits), *b, *a)


@pytest.mark.parametrize("name", ["before", "followed-by"])
def test_followed_by_is_certain_when_the_later_one_starts(name: str) -> None:
    # A [0--2)
    # B       [4----9)
    assert earliest(NAMES[name], 0, 2, 4, 9) == earliest(NAMES[name], 0, 2, 4, OPEN) == 4


def test_prefix_groups_are_the_relations_that_agree_on_the_starts() -> None:
    for group, holds in zip(PREFIX_GROUPS, ("<", "=", ">"), strict=True):
        found = set()
        for a, b in PAIRS:
            order = "<" if a[0] < b[0] else "=" if a[0] == b[0] else ">"
            shared = max(a[0], b[0]) < min(a[1], b[1])
            if order == holds and shared:
                found.update(holding(a, b))
        assert bits_of(found) == group


@given(allen_sets)
def test_a_pair_s_triggers_are_the_endpoints_that_are_the_earliest_instant_somewhere(names: set[str]) -> None:
    left, right = pair_triggers(bits_of(names))
    marked = {"left.ts": left.ts, "left.te": left.te, "right.ts": right.ts, "right.te": right.te}
    triggers = {name for name, is_marked in marked.items() if is_marked}
    found = set()
    for a, b in PAIRS:
        instant = brute_earliest(frozenset(names), a, b)
        if instant is None:
            continue
        ends = {"left.ts": a[0], "left.te": a[1], "right.ts": b[0], "right.te": b[1]}
        equal = {name for name, value in ends.items() if value == instant}
        assert equal & triggers
        if len(equal) == 1:
            found |= equal
    assert found <= triggers


@pytest.mark.parametrize(
    ("at_least", "at_most", "given_as", "expected"),
    [
        (None, None, {}, Admissible.AT_START),
        (0, None, {}, Admissible.AT_START),
        (5, None, {}, Admissible.DELAYED),
        (5, 9, {}, Admissible.AT_END),
        (None, 9, {}, Admissible.AT_END),
        (None, None, {"is_given": True}, Admissible.AT_END),
        (None, None, {"is_given": True, "is_announced": True}, Admissible.DELAYED),
        (5, None, {"is_given": True, "is_announced": True}, Admissible.AT_END),
    ],
)
def test_when_a_situation_may_be_used(
    at_least: int | None, at_most: int | None, given_as: dict[str, bool], expected: Admissible
) -> None:
    assert admission(at_least, at_most, **given_as) is expected


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"before", "meets"}, "at the later start"),
        ({"overlaps", "finished-by", "contains"}, "at the later start"),
        ({"overlaps", "contains"}, "at the earlier end"),
        ({"equals"}, "at the earlier end"),
        ({"meets", "during"}, "at the later start (meets) or at the earlier end (during)"),
    ],
)
def test_certainty_in_words(names: set[str], words: str) -> None:
    assert describe_certainty(bits_of(names)) == words


def test_only_whole_groups_are_certain_at_the_start() -> None:
    assert certain_at_start(bits_of({"starts", "equals", "during"})) == 0
    assert certain_at_start(ALL) == ALL


@given(patterns(3))
def test_removing_impossible_relations_leaves_every_detection_instant_as_it_was(pattern: Pattern) -> None:
    reduced = propagate(matrix_of(3, pattern))
    for spans, td in _matches(3, pattern):
        pairs = [(0, 1), (0, 2), (1, 2)]
        via_reduced = max(earliest(int(reduced.matrix[i, j]), *spans[i], *spans[j]) for i, j in pairs)
        assert via_reduced == td


@given(patterns(3), st.lists(st.sampled_from(Admissible), min_size=3, max_size=3), st.integers())
def test_every_match_is_reported_at_a_trigger_endpoint(
    pattern: Pattern, kinds: list[Admissible], seed: int
) -> None:
    if len({symbol for pair in pattern for symbol in pair}) < 3:
        return
    triggers = trigger_endpoints(matrix_of(3, pattern), admissible=kinds)
    rng = random.Random(seed)
    for spans, certain in _matches(3, pattern):
        admitted = [_admitted(kind, span, rng) for kind, span in zip(kinds, spans, strict=True)]
        td = max(certain, *admitted)
        marked = set()
        for (ts, te), c, trigger in zip(spans, admitted, triggers, strict=True):
            marked |= {instant for instant, is_marked in zip((ts, c, te), trigger, strict=True) if is_marked}
        assert td in marked, (spans, admitted, triggers)


@given(patterns(3))
def test_every_final_match_is_reported_at_a_marked_end(pattern: Pattern) -> None:
    if len({symbol for pair in pattern for symbol in pair}) < 3:
        return
    triggers = trigger_endpoints(matrix_of(3, pattern), final=True)
    assert not any(trigger.ts or trigger.admissible for trigger in triggers)
    for spans, _ in _matches(3, pattern):
        last = max(te for _, te in spans)
        assert any(te == last and trigger.te for (_, te), trigger in zip(spans, triggers, strict=True))


def test_the_example_of_the_dissertation() -> None:
    # A before B AND A before C AND A before D AND C contains; finished-by; meets D (section 5.5.3):
    # B.ts, D.ts and D.te trigger, and C.te where C is finished by D.
    before = {"before"}
    pattern: Pattern = {(0, 1): before, (0, 2): before, (0, 3): before}
    pattern[2, 3] = {"contains", "finished-by", "meets"}
    a, b, c, d = trigger_endpoints(matrix_of(4, pattern))
    assert (a, b) == (Trigger(False, False, False), Trigger(True, False, False))
    assert (c, d) == (Trigger(False, False, True), Trigger(True, False, True))


def test_a_chain_of_befores_waits_for_its_last_start_only() -> None:
    triggers = trigger_endpoints(matrix_of(3, {(0, 1): {"before"}, (1, 2): {"before"}}))
    assert triggers == (
        Trigger(False, False, False),
        Trigger(False, False, False),
        Trigger(True, False, False),
    )
    final = trigger_endpoints(matrix_of(3, {(0, 1): {"before"}, (1, 2): {"before"}}), final=True)
    assert [trigger.te for trigger in final] == [False, False, True]


@pytest.mark.parametrize("kind", list(Admissible))
def test_a_single_symbol_is_reported_when_it_may_be_used(kind: Admissible) -> None:
    expected = Trigger(*(kind is k for k in (Admissible.AT_START, Admissible.DELAYED, Admissible.AT_END)))
    assert trigger_endpoints([[NAMES["equals"]]], admissible=[kind]) == (expected,)


def test_a_minimum_duration_makes_the_admissible_instant_a_trigger() -> None:
    # A    [3--5)
    # B [0-----------9)  long enough only from 7 on: A during B is found at 7, not at 5.
    kinds = [Admissible.AT_START, Admissible.DELAYED]
    a, b = trigger_endpoints(matrix_of(2, {(0, 1): {"during"}}), admissible=kinds)
    assert a == Trigger(False, False, True)
    assert b == Trigger(False, True, False)
    # Before C starts, B has long ended: its admissible instant decides nothing.
    b, _ = trigger_endpoints(matrix_of(2, {(0, 1): {"before"}}), admissible=[*reversed(kinds)])
    assert b == Trigger(False, False, False)


def _matches(n: int, pattern: Pattern) -> list[tuple[tuple[Interval, ...], int]]:
    """All arrangements on six ticks that match, with the largest earliest instant of their constraints."""
    found = []
    wanted = {pair: frozenset(names) for pair, names in pattern.items()}
    for spans in configurations(n, 6):
        if all(holding(spans[i], spans[j])[0] in names for (i, j), names in wanted.items()):
            instants = [brute_earliest(names, spans[i], spans[j]) for (i, j), names in wanted.items()]
            assert None not in instants
            # Unconstrained pairs ask only that both have started.
            starts = [ts for ts, _ in spans]
            found.append((spans, max(*starts, *(instant for instant in instants if instant is not None))))
    return found


def _admitted(kind: Admissible, span: Interval, rng: random.Random) -> int:
    ts, te = span
    return {Admissible.AT_START: ts, Admissible.DELAYED: rng.randint(ts, te), Admissible.AT_END: te}[kind]
