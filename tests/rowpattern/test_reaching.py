"""Facts about where FIRST and LAST lead, against all paths of a few rows."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowpattern.derivations import words
from rowpattern.drawing import VARIABLES, pattern_of, patterns
from rowpattern.test_positions import walked
from situ.language.rows.ast import Concatenation, Repetition, Variable
from situ.operators.rowpattern.automaton import END, Automaton
from situ.operators.rowpattern.positions import automaton_of
from situ.operators.rowpattern.reaching import Back, FromStart, Missing, Place, Reaching, Varies
from situ.operators.rowpattern.unroll import unrolled

A, B, C = map(Variable, VARIABLES)
MEMBERS = st.sets(st.integers(0, 2), min_size=1).map(frozenset)


def paths(automaton: Automaton, longest: int) -> list[tuple[int, ...]]:
    """All paths of at most so many rows, as positions."""
    found = [(way.to,) for way in automaton.start if way.to != END]
    for path in found:
        if len(path) < longest:
            found += [(*path, way.to) for way in automaton.follow[path[-1]] if way.to != END]
    return found


def led(
    path: tuple[int, ...], automaton: Automaton, members: frozenset[int], is_first: bool, offset: int
) -> Any:
    """Where the navigation leads on this path: rows back and rows from the start, None if nowhere."""
    rows = [depth for depth, position in enumerate(path) if automaton.variable[position] in members]
    if len(rows) <= offset:
        return None
    row = rows[offset] if is_first else rows[-1 - offset]
    return len(path) - 1 - row, row


def fact(places: set[Any]) -> Place:
    if places == {None}:
        return Missing()
    if None not in places:
        backs, starts = {back for back, _ in places}, {start for _, start in places}
        if len(backs) == 1:
            return Back(backs.pop())
        if len(starts) == 1:
            return FromStart(starts.pop())
    return Varies()


def agrees(said: Place, place: Any) -> bool:
    match said:
        case Varies():
            return True
        case Missing():
            return place is None
        case Back(rows):
            return place is not None and place[0] == rows
        case FromStart(rows):
            return place is not None and place[1] == rows


@given(patterns(), MEMBERS, st.booleans(), st.integers(0, 2))
@settings(max_examples=300)
def test_facts_are_those_of_all_paths(
    drawn: Any, members: frozenset[int], is_first: bool, offset: int
) -> None:
    automaton = automaton_of(pattern_of(drawn), VARIABLES)
    longest = 9 if automaton.n_positions <= 3 else 5
    if len(automaton.follow) > 8:
        return
    reaching = Reaching(automaton)
    places: dict[int, set[Any]] = defaultdict(set)
    for path in paths(automaton, longest):
        places[path[-1]].add(led(path, automaton, members, is_first, offset))
    for position, found in places.items():
        said = reaching.navigated(position, members, is_first, offset)
        assert all(agrees(said, place) for place in found)
        if longest == 9:  # long enough to see all that can differ
            assert said == fact(found)


@pytest.mark.parametrize(
    ("position", "variable", "is_first", "offset", "expected"),
    [
        (0, 0, False, 0, Back(0)),
        (0, 1, False, 0, Missing()),
        (1, 1, False, 1, Missing()),
        (1, 0, True, 0, Back(1)),
        (2, 1, False, 1, Back(1)),
        (2, 0, False, 0, FromStart(0)),
        (2, 1, True, 0, FromStart(1)),
        (3, 1, False, 0, Back(1)),
        (3, 1, False, 1, Varies()),
        (3, 1, True, 0, FromStart(1)),
    ],
)
def test_of_a_rise_with_its_first_iteration_apart(
    position: int, variable: int, is_first: bool, offset: int, expected: Place
) -> None:
    rise = Concatenation((A, Repetition(B, 1, None), C))
    reaching = Reaching(automaton_of(unrolled(rise, {"B"}), VARIABLES))
    assert reaching.navigated(position, frozenset({variable}), is_first, offset) == expected


def test_a_fact_that_takes_too_long_is_none() -> None:
    automaton = automaton_of(Repetition(A, 1_000, 1_000), "A")
    assert Reaching(automaton).navigated(500, frozenset({0}), False, 3) == Back(3)
    assert Reaching(automaton).navigated(500, frozenset({0}), False, 400) == Varies()


@given(patterns(), st.sets(st.sampled_from(VARIABLES)), st.integers(1, 3), st.booleans(), st.integers(1, 4))
@settings(max_examples=200)
def test_unrolled_patterns_have_the_same_words_in_the_same_order(
    drawn: Any, variables: set[str], times: int, is_first: bool, left: int
) -> None:
    automaton = automaton_of(unrolled(pattern_of(drawn), variables, times), VARIABLES)
    assert walked(automaton, is_first, left) == words(drawn, is_first, left)


def test_the_first_iterations_are_positions_of_their_own() -> None:
    automaton = automaton_of(unrolled(Repetition(A, 0, None), {"A"}, times=2), "A")
    assert [[way.to for way in ways] for ways in automaton.follow] == [[1, END], [2, END], [2, END]]
