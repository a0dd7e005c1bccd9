"""Several queries in one pass, some of which wait: rows that say nothing to others may tell them a lot."""

from __future__ import annotations

import pyarrow as pa
import pytest

import situ

EVENTS = pa.table(
    {
        "t": range(18),
        "a": [t in (1, 2, 3, 10, 11, 12) for t in range(18)],
        "b": [t in (5, 6, 7, 13, 14, 15) for t in range(18)],
        "c": [t in (3, 15, 16) for t in range(18)],
    }
)
PLAIN = "FROM e ORDER BY t DEFINE A AS a"
WAITING = [
    "FROM e ORDER BY t DEFINE q AS SILENCE AT LEAST 5",
    "FROM e ORDER BY t DEFINE A AS a IGNORING GAPS UP TO 2 EVENTS, B AS b PATTERN A before B",
    "FROM e ORDER BY t DEFINE A AS a, C AS c PATTERN NO C after A BY AT MOST 2",
    "FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A.te + 2 <= B.te",
    "FROM e ORDER BY t DEFINE A AS a, q AS SILENCE AT LEAST 2 PATTERN NO q while A",
]


@pytest.mark.parametrize("text", WAITING)
@pytest.mark.parametrize("beside", [[], [PLAIN], WAITING])
def test_the_answer_is_that_of_the_query_alone(text: str, beside: list[str]) -> None:
    queries = {"own": text, **{f"other{i}": other for i, other in enumerate(beside)}}
    assert situ.match(EVENTS, queries)["own"].to_pylist() == situ.match(EVENTS, text).to_pylist()
