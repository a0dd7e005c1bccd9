"""Sentences from results: ratios against one contender, and contenders that found different matches."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.verdict import disagreements, speedups


def point(contender: str, cpu: float, matches: int = 5, events: int = 10, **parameters: int) -> dict:
    return {
        "contender": contender,
        "parameters": parameters,
        "status": "done",
        "cpu_seconds": cpu,
        "seconds": cpu * 2,
        "events": events,
        "matches": matches,
    }


def test_ratios_are_taken_where_both_finished() -> None:
    stopped = {**point("other", 0.0, n=3), "status": "time limit", "reason": "ended after 120 s"}
    points = [
        point("situ", 1.0, n=1),
        point("other", 3.0, n=1),
        point("situ", 1.0, n=2),
        point("other", 40.0, n=2),
    ]
    assert list(speedups({"points": [*points, point("situ", 1.0, n=3), stopped]})) == [
        "other: 3 to 40 times (median 22) the processor time of situ.",
        "other: 1 of its settings without a result: time limit (ended after 120 s).",
    ]


def test_different_matches_in_the_same_events_are_said() -> None:
    same = [point("situ", 1.0, n=1), point("other", 3.0, n=1)]
    assert list(disagreements({"points": same})) == []
    differing = [point("situ", 1.0, n=1), point("other", 3.0, matches=4, n=1)]
    assert list(disagreements({"points": differing})) == [
        "Different numbers of matches at n=1: other 4, situ 5."
    ]
    fewer_events = [point("situ", 1.0, n=1), point("other", 3.0, matches=4, events=9, n=1)]
    assert list(disagreements({"points": fewer_events})) == []
