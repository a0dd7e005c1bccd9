"""The automaton lists a pattern's words in order of preferment, and is small whatever the pattern."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conformance.row_patterns import read_pattern
from rowpattern.derivations import Word, words
from rowpattern.drawing import VARIABLES, pattern_of, patterns
from situ.errors import QueryError
from situ.language.rows.ast import (
    Alternation,
    Anchor,
    Concatenation,
    Empty,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)
from situ.operators.rowpattern.automaton import END, Automaton, Way
from situ.operators.rowpattern.ir import lowered
from situ.operators.rowpattern.positions import automaton_of, automaton_of_tree

A, B, C = map(Variable, VARIABLES)


def walked(automaton: Automaton, is_first: bool, left: int) -> list[Word]:
    """The words of an automaton in order, as `words` has those of a pattern."""

    @cache
    def after(position: int, taken: int) -> list[Word]:
        ways = automaton.start if position == END else automaton.follow[position]
        found: dict[Word, None] = {}
        for way in ways:
            if (way.at_first and not is_first) or (way.at_last and taken < left):
                continue
            if way.to == END:
                found[()] = None
            elif taken < left:
                row = (automaton.variables[automaton.variable[way.to]], automaton.excluded[way.to])
                found |= dict.fromkeys((row, *rest) for rest in after(way.to, taken + 1))
        return list(found)

    return after(END, 0)


@given(patterns(), st.booleans(), st.integers(1, 4))
@example(read_pattern("(A??)* B"), True, 3)
@example(read_pattern("(^ | A | B)+"), True, 3)
@example(read_pattern("^* A{0,2}"), False, 2)
@example(read_pattern("(A? B??){2,}"), True, 4)
@example(read_pattern("(A B | A | A A){0,3}?"), False, 4)
@settings(max_examples=400)
def test_words_and_their_order_are_those_of_the_derivations(drawn: Any, is_first: bool, left: int) -> None:
    pattern = pattern_of(drawn)
    expected = words(drawn, is_first, left)
    assert walked(automaton_of(pattern, VARIABLES), is_first, left) == expected
    assert walked(automaton_of_tree(lowered(pattern, VARIABLES), VARIABLES), is_first, left) == expected


@given(patterns())
@settings(max_examples=200)
def test_every_position_can_be_reached_and_reaches_the_end(drawn: Any) -> None:
    automaton = automaton_of(pattern_of(drawn), VARIABLES)
    reached = spread({way.to for way in automaton.start}, automaton.follow)
    assert reached - {END} == set(range(automaton.n_positions))
    for position in range(automaton.n_positions):
        assert END in spread({position}, automaton.follow)
    for ways in (automaton.start, *automaton.follow):
        assert len(set(ways)) == len(ways)
    assert not any(way.at_last for way in automaton.start)
    assert not any(
        way.at_first or (way.at_last and way.to != END) for ways in automaton.follow for way in ways
    )


def spread(reached: set[int], follow: tuple[tuple[Way, ...], ...]) -> set[int]:
    waiting = list(reached)
    while waiting:
        position = waiting.pop()
        for way in follow[position] if position != END else ():
            if way.to not in reached:
                reached.add(way.to)
                waiting.append(way.to)
    return reached


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (Concatenation((A, Alternation((Anchor(False), Empty())))), (Way(END, at_last=True), Way(END))),
        (Concatenation((A, Alternation((Empty(), Anchor(False))))), (Way(END),)),
    ],
)
def test_a_way_under_a_condition_is_kept_only_before_one_without(
    pattern: Pattern, expected: tuple[Way, ...]
) -> None:
    assert automaton_of(pattern, "A").follow == (expected,)


def test_the_empty_match_is_a_way_from_the_start() -> None:
    assert automaton_of(Empty(), ()).start == (Way(END),)
    assert automaton_of(Anchor(True), ()).start == (Way(END, at_first=True),)


@pytest.mark.parametrize("parts", [(A, Anchor(True)), (Anchor(False), A)])
def test_nothing_is_left_of_a_pattern_that_no_rows_match(parts: tuple[Pattern, ...]) -> None:
    automaton = automaton_of(Concatenation(parts), "A")
    assert automaton == Automaton(("A",), (), (), (), ())


def test_choices_that_begin_alike_share_their_beginning() -> None:
    assert automaton_of(Permutation(tuple(map(Variable, "ABC"))), "ABC").n_positions == 15
    assert automaton_of(Permutation(tuple(map(Variable, "ABCDEF"))), "ABCDEF").n_positions == 1956


def test_counters_are_written_out() -> None:
    assert automaton_of(Repetition(A, 1_000, 1_000), "A").n_positions == 1_000
    optional = automaton_of(
        Concatenation((Repetition(Repetition(A, 0, 1), 30, 30), Repetition(A, 30, 30))), "A"
    )
    assert optional.n_positions == 60
    assert sum(map(len, optional.follow)) == 89  # not quadratic


def test_nested_loops_are_no_more_than_what_they_hold() -> None:
    nested: Pattern = A
    for _ in range(40):
        nested = Repetition(Repetition(nested, 1, None), 0, 1)
    assert automaton_of(nested, "A") == automaton_of(Repetition(A, 0, None), "A")


@pytest.mark.parametrize("kind", [Concatenation, Alternation])
def test_closures_of_groups_that_can_be_empty_visit_each_state_once(kind: Any) -> None:
    nested: Pattern = Alternation((Repetition(A, 0, 1), Repetition(B, 0, 1)))
    for _ in range(30):
        nested = Repetition(kind((nested, Alternation((Repetition(A, 0, 1), Repetition(B, 0, 1))))), 0, None)
    automaton = automaton_of(nested, VARIABLES)
    assert sum(map(len, automaton.follow)) <= (automaton.n_positions + 1) ** 2


def test_forty_variables() -> None:
    names = [f"V{place}" for place in range(40)]
    automaton = automaton_of(Concatenation(tuple(map(Variable, names))), names)
    assert automaton.variable == tuple(range(40))


@pytest.mark.parametrize(
    "pattern",
    [
        Repetition(A, 0, 20_001),
        Repetition(Repetition(Repetition(A, 100, 100), 1, 100), 3, None),
        Repetition(Anchor(True), 10**12, None),
        Permutation((Permutation(tuple(map(Variable, "ABCDEF"))), A, B, C, A, B)),
    ],
)
def test_a_pattern_that_is_too_large_is_refused(pattern: Pattern) -> None:
    with pytest.raises(QueryError, match="more than 20,000 positions"):
        automaton_of(pattern, "ABCDEF")


def test_a_pattern_with_too_many_ways_is_refused() -> None:
    with pytest.raises(QueryError, match="ways from one row to the next"):
        automaton_of(Repetition(Repetition(A, 0, 1, True), 10_000, 10_000), "A")
