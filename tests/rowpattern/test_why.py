"""What `situ.why` counts and says of row patterns, against all candidates by brute force."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import situ
from oracles.row_items import RowQuestion, known_at
from oracles.row_matches import till_next, ways_on
from rowpattern.drawing import VARIABLES, pattern_of, patterns
from rowpattern.test_bounds import holds
from rowpattern.why_brute import NO_ROWS, WINDOW, table_of, tried
from situ.language.rows.printer import pattern_text
from situ.operators.rowpattern.why_report import RowWhy

ROWS = st.lists(st.sampled_from(["", "A", "B", "C", "AB", "BC", "AC", "ABC"]), min_size=1, max_size=7)


def why(pattern: str, rows: list[tuple[int, str]], *, before: str = "", within: int | None = None) -> RowWhy:
    used = [name for name in VARIABLES if name in pattern]
    define = "DEFINE " + ", ".join(f"{name} AS {name.lower()}" for name in used) if used else ""
    window = "" if within is None else f"WITHIN {within}"
    query = situ.query(
        f"FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY t {before} PATTERN ({pattern}) {window} {define})"
    )
    told = situ.why(table_of(rows, VARIABLES), query)
    assert isinstance(told, RowWhy)
    assert str(told)
    return told


@given(patterns(), ROWS, st.none() | st.integers(0, 4), st.data())
@settings(max_examples=150)
def test_counts_are_those_of_all_candidates(
    drawn: Any, letters: list[str], within: int | None, data: st.DataObject
) -> None:
    steps = data.draw(st.lists(st.integers(1, 2), min_size=len(letters), max_size=len(letters)))
    rows = list(zip(np.cumsum(steps).tolist(), letters, strict=True))
    told = why(pattern_text(pattern_of(drawn)), rows, before="AFTER MATCH SKIP TO NEXT ROW", within=within)
    automaton, tally = told.plan.automaton, told.tally
    starts = [tried(automaton, rows, start, within) for start in range(len(rows))]
    failing = [one for one in starts if not one.is_complete]
    n_matches = len(starts) - len(failing)
    assert tally.rows[:5].tolist() == [len(rows), 1, len(rows), len(failing), n_matches]
    used = {automaton.variables[variable] for variable in automaton.variable}
    assert told.satisfying == {
        name: sum(name in row for row in letters) if name in used else 0 for name in automaton.variables
    }
    for counts, name in ((tally.asked, "asked"), (tally.held, "held")):
        total = sum((getattr(one, name) for one in failing), Counter[int]())
        assert counts.tolist() == [total[position] for position in range(automaton.n_positions)]
    stopped, failed = np.zeros_like(tally.stopped), np.zeros_like(tally.failed)
    for _, furthest, _, _ in failing:
        last = 0 if furthest.last is None else automaton.variable[furthest.last] + 1
        stopped[last, furthest.reason] += 1
        for variable in furthest.failed:
            failed[last, automaton.variables.index(variable)] += 1
    assert tally.stopped.tolist() == stopped.tolist()
    assert tally.failed.tolist() == failed.tolist()
    longest = max((one.furthest.n_rows for one in failing), default=0)
    assert tally.longest.tolist() == [longest]
    assert (told.furthest is None) == (not failing)
    if told.furthest is not None:
        first = next(one.furthest for one in failing if one.furthest.n_rows == longest)
        assert told.furthest.n_rows == longest
        assert (told.furthest.reason, set(told.furthest.wanted)) == (first.reason, first.failed)


@given(patterns(), ROWS)
@settings(max_examples=50)
def test_rows_inside_of_a_match_begin_no_candidate(drawn: Any, letters: list[str]) -> None:
    rows = list(enumerate(letters))
    told = why(pattern_text(pattern_of(drawn)), rows)
    automaton = told.plan.automaton
    start, n_failing, n_matches = 0, 0, 0
    while start < len(rows):
        found = words_taken(automaton, rows, start)
        n_matches, n_failing = n_matches + (found is not None), n_failing + (found is None)
        start += max(1, found or 0)
    assert tuple(told.tally.rows[3:5].tolist()) == (n_failing, n_matches)


def words_taken(automaton: Any, rows: list[tuple[int, str]], start: int) -> int | None:
    """How many rows the match of a start has."""

    def taken(ways: Any, n_rows: int) -> int | None:
        for way in ways:
            row = start + n_rows
            if way.at_first and start:
                continue
            if way.to < 0:
                if not (way.at_last and row < len(rows)):
                    return n_rows
                continue
            if row < len(rows) and automaton.variables[automaton.variable[way.to]] in rows[row][1]:
                found = taken(automaton.follow[way.to], n_rows + 1)
                if found is not None:
                    return found
        return None

    return taken(automaton.start, 0)


@given(patterns(anchors=False), ROWS, st.integers(0, 4), st.data())
@settings(max_examples=100)
def test_counts_of_partial_matches_that_skip_rows(
    drawn: Any, letters: list[str], within: int, data: st.DataObject
) -> None:
    steps = data.draw(st.lists(st.integers(0, 2), min_size=len(letters), max_size=len(letters)))
    rows = list(zip(np.cumsum(steps).tolist(), letters, strict=True))
    text = pattern_text(pattern_of(drawn))
    told = why(text, rows, before="STRATEGY SKIP TILL NEXT", within=within)
    question = RowQuestion(drawn, {name: holds(name) for name in VARIABLES}, strategy="next", within=within)
    known = known_at(question, [{"t": time, "x": letter} for time, letter in rows], None)
    names = told.plan.automaton.variables
    stopped, failed = np.zeros_like(told.tally.stopped), np.zeros_like(told.tally.failed)
    longest = 0
    for start in range(len(rows)):
        if till_next(known, start, 1) is not None:
            continue
        partial = till_next(known, start, 1, is_partial=True)
        word = () if partial is None else tuple(one.variable for one in partial.path)
        is_beyond = rows[-1][0] > rows[start][0] + within
        last = names.index(word[-1]) + 1 if word else 0
        stopped[last, 0 if not word else WINDOW if is_beyond else NO_ROWS] += 1
        for name in ways_on(drawn, word):
            failed[last, names.index(name)] += 1
        longest = max(longest, len(word))
    assert told.tally.stopped.tolist() == stopped.tolist()
    assert told.tally.failed.tolist() == failed.tolist()
    assert told.tally.longest.tolist() == [longest]


RISE = [(0, "A"), (1, "B"), (2, "B"), (3, "C"), (9, "B")]


@pytest.mark.parametrize(
    ("pattern", "rows", "clauses", "verdict"),
    [
        ("A B", [], {}, "No match. There is no row."),
        ("A ^", RISE, {}, "No match. No rows can match this pattern."),
        ("A B C", RISE[:3], {}, "No match. C never held: no row satisfies c."),
        ("A B+ C", RISE, {}, "1 match."),
        ("C*", RISE, {}, "5 matches, 4 of them empty."),
        (
            "A B+ A",
            RISE,
            {},
            "No match. The candidate that came furthest took 3 rows, the last as B. It begins at t 0 "
            "(partition k one), and the row at t 3 is no A or B: it must satisfy a or b.",
        ),
        (
            "A B B C B",
            RISE,
            {"within": 5},
            "No match. The candidate that came furthest took 4 rows, the last as C. It begins at t 0 "
            "(partition k one), and the row at t 9 comes more than 5 ticks after its first row.",
        ),
        (
            "C B B",
            RISE,
            {},
            "No match. The candidate that came furthest took 2 rows, the last as B. It begins at t 3 "
            "(partition k one), and there are no more rows.",
        ),
        ("^ C", RISE, {}, "No match. No row begins a match: the row at t 0 is no C: it must satisfy c."),
        (
            "A C A",
            RISE,
            {"before": "STRATEGY SKIP TILL NEXT", "within": 9},
            "No match. The candidate that came furthest took 2 rows, the last as C. It begins at t 0 "
            "(partition k one), and no later row within 9 ticks of its first row is A: it must satisfy a.",
        ),
        (
            "C A",
            RISE,
            {"before": "STRATEGY SKIP TILL ANY", "within": 9},
            "No match. Each variable has rows, but none follow each other in time as the pattern asks.",
        ),
    ],
)
def test_the_verdict(pattern: str, rows: Any, clauses: Any, verdict: str) -> None:
    assert why(pattern, rows, **clauses).verdict == verdict


def test_a_variable_that_a_match_can_do_without_is_not_blamed() -> None:
    told = why("A (C | B) A", [(0, "A"), (1, "B"), (2, "B")])
    assert told.satisfying == {"A": 1, "C": 0, "B": 2}
    assert "never held" not in told.verdict


def test_counts_of_partitions_add_up() -> None:
    told = why("A B+ A", RISE)
    numbers, kinds = told.tally.to_numbers(), told.tally.kinds()
    assert len(numbers) == len(kinds)
    again = told.tally.with_numbers(numbers)
    assert again.furthest is None
    assert again.to_numbers().tolist() == numbers.tolist()
    without_partition = RowWhy(told.query, told.plan, again, told.time)
    assert without_partition.verdict == (
        "No match. The candidates that came furthest took 3 rows and ended, the latest at 3."
    )
