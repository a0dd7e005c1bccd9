"""Numbers of rows and certainty that the pattern alone decides, against lists of all words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.row_patterns import read_pattern
from oracles.row_answer import matches
from oracles.row_items import Expression, Navigation, RowQuestion
from rowpattern.derivations import words
from rowpattern.drawing import VARIABLES, pattern_of, patterns
from situ.operators.rowpattern.automaton import Automaton
from situ.operators.rowpattern.bounds import bounds_of
from situ.operators.rowpattern.certainty import is_certain_at_last_row
from situ.operators.rowpattern.positions import automaton_of

LONGEST = 6


def automaton_for(drawn: Any) -> Automaton:
    return automaton_of(pattern_of(drawn), VARIABLES)


def all_words(drawn: Any) -> set[tuple[str, ...]]:
    """Whatever the place in the partition, of at most LONGEST rows."""
    found = {
        word
        for is_first in (True, False)
        for left in range(1, LONGEST + 1)
        for word in words(drawn, is_first, left)
    }
    return {tuple(name for name, _ in word) for word in found}


@given(patterns())
@settings(max_examples=200)
def test_bounds_are_those_of_all_words(drawn: Any) -> None:
    automaton = automaton_for(drawn)
    bounds = bounds_of(automaton)
    lengths = {len(word) for word in all_words(drawn)}
    if bounds is None:
        assert not lengths
        return
    assert min(lengths, default=LONGEST + 1) == min(bounds.least, LONGEST + 1)
    if bounds.most is not None and bounds.most <= LONGEST:
        assert max(lengths) == bounds.most
    if automaton.n_positions <= LONGEST // 2:  # a position comes twice in a word, if it ever does
        assert (bounds.most is None) == (max(lengths) > automaton.n_positions)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("A", 1, 1),
        ("A{1000}", 1000, 1000),
        ("A (B | C D)? E{2,4}", 3, 7),
        ("(A | B)+ C", 2, None),
        ("A*", 0, None),
        ("()", 0, 0),
        ("A^ | B", 1, 1),
        ("PERMUTE(A, B?, C)", 2, 3),
    ],
)
def test_bounds_of_known_patterns(text: str, least: int, most: int | None) -> None:
    assert bounds_of(automaton_of(pattern_of(read_pattern(text)), "ABCDE")) == (least, most)


def holds(name: str) -> Expression:
    """A row holds a string of the variables whose condition is true."""
    return Expression(lambda letters: name in letters, (Navigation(lambda row, _: row["x"]),))


@given(
    patterns(anchors=False),
    st.lists(st.sampled_from(["", "A", "B", "C", "AB", "BC", "AC", "ABC"]), min_size=1, max_size=6),
    st.sampled_from(["past", "next"]),
)
@settings(max_examples=200)
def test_what_is_said_to_be_certain_at_the_last_row_is(drawn: Any, rows: list[str], skip: str) -> None:
    automaton = automaton_for(drawn)
    assume(is_certain_at_last_row(automaton, waits_for_starts=skip == "past", reads_path=False))
    question = RowQuestion(drawn, {name: holds(name) for name in VARIABLES}, VARIABLES, skip=(skip,))
    for found in matches([{"t": time, "x": letters} for time, letters in enumerate(rows)], question):
        last = found.match.path[-1].row if found.match.path else found.match.start
        assert found.match_time == last


@pytest.mark.parametrize(
    ("text", "alone", "in_turn"),
    [
        ("A B", True, True),
        ("A B+", False, False),
        ("A B+?", True, True),
        ("A B* C", False, False),
        ("A B*? C", True, True),
        ("A{3}", True, True),
        ("A B | A C", True, True),
        ("A B C | A", False, False),
        ("A | B C D", True, False),  # start 1 as B may wait for its D while start 2 is an A
        ("A | A B", True, True),
        ("PERMUTE(A, B)", True, True),
        ("A $", False, False),
        ("A?", True, True),
        ("(A B)?", False, False),
    ],
)
def test_certainty_of_known_patterns(text: str, alone: bool, in_turn: bool) -> None:
    automaton = automaton_of(pattern_of(read_pattern(text)), "ABCD")
    assert is_certain_at_last_row(automaton, waits_for_starts=False, reads_path=False) == alone
    assert is_certain_at_last_row(automaton, waits_for_starts=True, reads_path=False) == in_turn
