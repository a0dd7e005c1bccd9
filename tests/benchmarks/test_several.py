"""The benchmark of several queries asks what it says, and its section says what was measured."""

from __future__ import annotations

import sys
from pathlib import Path

import situ

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.spark_batch.queries import several_texts
from benchmarks.spark_batch.several import n_conditions, section


def test_eight_queries_have_sixteen_conditions_and_two_windows() -> None:
    texts = several_texts({"speed": 40.0, "push": 1.5, "brake": -1.5})
    queries = {name: situ.query(text) for name, text in texts.items()}
    assert len(queries) == 8
    assert n_conditions(queries) == 16
    assert len({query.within for query in queries.values()}) == 2


def test_the_section_holds_one_pass_against_one_query_and_against_calls() -> None:
    measured = {
        way: {"seconds": seconds, "answer": 1000}
        for way, seconds in (("one", 2.0), ("pass", 5.0), ("calls", 20.0))
    }
    results = {
        "events": 2_000_000,
        "queries": 8,
        "conditions": 16,
        "machine": {"commit": "abc"},
        "carriers": {"direct": measured, "shuffle": measured},
    }
    text = "\n".join(section(results))
    assert "| `direct` | 2.0 s | 5.0 s | 2.50 | 20.0 s | 1,000 |" in text
    assert "`direct`: one pass takes 2.50 of one query, beyond the target of 2, and 0.25 of a call" in text
    assert "`shuffle`: one pass takes 2.50 of one query, within the target of 3" in text
