"""`situ.why` of distances, NO groups, silences and gaps: what was rejected, by what, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import situ
from situ.errors import QueryError

#   t  0 1 2 3 4 5 6 7 8 9
#   a    [---)   [-)
#   b        [-----)
#   c      [-)
ROWS = pa.table(
    {
        "t": range(10),
        "a": [t in (1, 2, 5) for t in range(10)],
        "b": [t in (3, 4, 5) for t in range(10)],
        "c": [t == 2 for t in range(10)],
    }
)


def why(text: str, **options: Any) -> Any:
    return situ.why(ROWS, f"FROM e ORDER BY t {text}", **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "DEFINE A AS a AND t < 3, C AS c PATTERN NO C while A",
            "No match. 1 situation of A is as asked, but it is forbidden by NO C while A (1).",
        ),
        (
            "DEFINE A AS a, B AS b, C AS c, D AS b AND t = 5 PATTERN A while;meets B AND NO C while A "
            "AND NO D while A",
            "No match. 2 combinations of A, B are as asked, but all of them are forbidden by NO C while A "
            "(1), NO D while A (1).",
        ),
        (
            "DEFINE A AS a AND t = 5, C AS c PATTERN NO C after A BY AT MOST 5",
            "No match. 1 situation of A is as asked, but it is not certain yet when the data ends "
            "(NO (C after A AND C.ts <= A.te + 5)): until=... says how far time has come.",
        ),
        (
            "DEFINE C AS c, B AS a AND t = 5 PATTERN C before B BY AT MOST 1",
            "No match. 1 pair stands as asked, but it has not B.ts <= C.te + 1: the nearest misses it by "
            "1 tick.",
        ),
        (
            "DEFINE C AS c, B AS a AND t = 5 PATTERN C.te + 4 <= B.ts",
            "No match. No pair has C.te + 4 <= B.ts: the nearest misses it by 2 ticks.",
        ),
        (
            "DEFINE q AS SILENCE AT LEAST 3",
            "No match. q held 10 times, but never as asked: 9 too short, 1 still going on when the data "
            "ends.",
        ),
        ("DEFINE A AS a IGNORING GAPS UP TO 2", "1 match."),
        (
            "DEFINE A AS a AND t < 5 IGNORING GAPS UP TO 20 EMIT FINAL",
            "No match. A held once, but never as asked: 1 still going on when the data ends.",
        ),
    ],
)
def test_verdicts(text: str, expected: str) -> None:
    assert why(text).verdict == expected


def test_until_lets_time_come_further() -> None:
    text = "DEFINE A AS a AND t = 5, C AS c PATTERN NO C after A BY AT MOST 5"
    assert why(text, until=11).verdict == "1 match."


def test_the_sections() -> None:
    answer = why("DEFINE A AS a, B AS b, C AS c PATTERN A meets B AND B.te <= A.te + 3 AND NO C inside A")
    said = str(answer)
    assert "NO C inside A  1        0" in said
    assert "1 combination of A, B is as asked by all the rest: 1 forbidden" in said
    assert answer.groups[0].forbidden == 1
    assert answer.distances[0].text == "B.te <= A.te + 3"
    assert (answer.distances[0].related, answer.distances[0].satisfied) == (1, 1)
    assert answer.situations == {"A": 2, "B": 1, "C": 1}


def test_given_intervals() -> None:
    rows = pa.table({"kind": ["A", "C", "A", "B"], "s": [1, 2, 10, 14], "e": [5, 3, 12, 16]})
    text = "FROM INTERVALS i STARTING s ENDING e SYMBOL BY kind PATTERN A before B AND NO C inside A"
    answer = situ.why(rows, text)
    assert answer.matches == situ.match(rows, text).num_rows == 1
    assert answer.tally.outcome.tolist() == [1, 1, 0, 0]
    assert answer.groups[0].forbidden == 1


@pytest.mark.parametrize(
    ("group", "outcome"),  # reported, forbidden, not certain yet, too late
    [
        ("NO C inside A", [2, 0, 0, 0]),
        ("NO C before A", [1, 1, 0, 0]),
        ("NO (C.ts >= A.ts AND C.te <= A.te + 1)", [1, 1, 0, 0]),
        ("NO (C.ts >= A.te AND C.te <= A.ts + 5)", [1, 0, 1, 0]),
    ],
)
def test_outcomes_of_given_intervals(group: str, outcome: list[int]) -> None:
    given = pa.table({"kind": ["A", "C", "A", "X"], "ts": [2, 4, 8, 11], "te": [5, 6, 10, 12]})
    text = f"FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te PATTERN {group}"
    assert situ.why(given, text).tally.outcome.tolist() == outcome
    assert situ.match(given, text).num_rows == outcome[0]


PATTERNS = (
    "A before B BY AT MOST {d}", "A before B BY AT LEAST {d}", "A while B BY AT LEAST {d}",
    "B.te - A.te BETWEEN {d} AND 9", "A while;before B",
)  # fmt: skip
GROUPS = (
    "", " AND NO C while B", " AND NO C after B BY AT MOST {d}", " AND NO (C after A AND C before B)",
    " AND NO C inside A AND NO C overlaps B", " AND NO C.ts - A.ts BETWEEN 0 AND {d}",
)  # fmt: skip
DEFINITIONS = (
    "A AS a, B AS b", "A AS a IGNORING GAPS UP TO {d}, B AS b",
    "A AS a AT LEAST 2, B AS SILENCE AT LEAST {d}",
)  # fmt: skip
events = st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans(), st.booleans()), max_size=25)


@pytest.mark.nojit
@given(
    data=events,
    parts=st.tuples(st.sampled_from(DEFINITIONS), st.sampled_from(PATTERNS), st.sampled_from(GROUPS)),
    d=st.integers(1, 4),
    tail=st.sampled_from(["", " WITHIN 12", " EMIT FINAL"]),
)
def test_every_combination_is_accounted_for(
    data: list[tuple[int, bool, bool, bool]], parts: tuple[str, str, str], d: int, tail: str
) -> None:
    defined, pattern, groups = parts
    times = [sum(step for step, *_ in data[: i + 1]) for i in range(len(data))]
    # at the end nothing goes on, for long enough that everything is certain
    rows = [{"t": t, "a": a, "b": b, "c": c} for t, (_, a, b, c) in zip(times, data, strict=True)]
    end = (times or [0])[-1]
    rows += [{"t": end + more, "a": False, "b": False, "c": False} for more in (30, 60, 90)]
    table = pa.Table.from_pylist(rows)
    absent = ", C AS c" if groups else ""
    text = f"FROM e ORDER BY t DEFINE {defined}{absent} PATTERN {pattern}{groups}{tail}".format(d=d)
    try:
        query = situ.query(text)
    except QueryError:  # the lengths drawn exclude each other
        assume(False)
        raise
    answer = situ.why(table, query)
    n_matches = situ.match(table, query).num_rows
    assert answer.matches == n_matches
    reported, forbidden, waiting, too_late = answer.tally.outcome.tolist()
    positive = tuple(symbol for symbol in query.symbols if symbol.name not in query.absent_names)
    without = situ.match(table, replace(query, absences=(), symbols=positive)).num_rows
    assert reported == n_matches
    if tail != " WITHIN 12" and "SILENCE" not in defined:  # the last silence goes on
        assert (waiting, too_late) == (0, 0)
        assert forbidden == without - n_matches
        for one in answer.groups:
            assert one.forbidden <= forbidden
            assert one.uncertain == 0
    assert sum(one.forbidden for one in answer.groups) >= forbidden
