"""The bench on which users test their queries."""

from __future__ import annotations

import pytest

from situ.errors import DataError, OptionError
from situ.testing import Bench

HOT = """FROM t PARTITION BY room ORDER BY ts
DEFINE A AS temp > 30 AT LEAST 5 seconds WITHIN 1 minute RETURN A.ts AS since, avg(A.temp) AS mean"""
SCHEMA = "room string, ts timestamp, temp double"


def row(second: int, temp: float | None, room: str = "attic") -> dict[str, object]:
    return {"room": room, "ts": f"2024-01-01T00:00:{second:02}Z", "temp": temp}


def test_a_match_comes_when_it_is_certain() -> None:
    bench = Bench(HOT, SCHEMA)
    assert bench.feed(row(0, 31.0)) == []
    bench.expect()
    bench.feed(row(5, 33.0))
    bench.expect({"room": "attic", "since": "2024-01-01T00:00:00Z", "mean": 32.0})
    bench.feed(row(9, 35.0))
    bench.expect()
    assert len(bench.matches) == 1


def test_what_is_wrong_is_said() -> None:
    bench = Bench(HOT, SCHEMA)
    bench.feed(row(0, 31.0), row(5, 33.0))
    with pytest.raises(AssertionError, match=r"not found: .*99.*\nnot expected: .*32"):
        bench.expect({"mean": 99.0})


def test_the_clock_releases_and_makes_late() -> None:
    bench = Bench(HOT, SCHEMA, watermark="10 seconds")
    bench.feed(row(5, 33.0))
    bench.feed(row(0, 31.0))
    bench.expect()
    assert bench.n_waiting == 2
    bench.advance("2024-01-01T00:00:06Z")
    bench.expect({"since": "2024-01-01T00:00:00Z"})
    bench.feed(row(1, 20.0))
    assert bench.late_rows[0]["temp"] == 20.0
    assert bench.n_situations == 1


def test_a_restart_changes_nothing() -> None:
    bench = Bench(HOT, SCHEMA, watermark="0 seconds")
    bench.feed(row(0, 31.0))
    bench.feed(row(9, 31.0), row(1, 40.0))
    bench.restart()
    bench.feed(row(2, 40.0))
    bench.restart()
    bench.finish()
    bench.expect({"since": "2024-01-01T00:00:00Z", "match_time": "2024-01-01T00:00:09Z"})
    assert [late["temp"] for late in bench.late_rows] == [40.0]


def test_mistakes_are_told_apart() -> None:
    bench = Bench(HOT, SCHEMA)
    with pytest.raises(DataError, match="has a column speed"):
        bench.feed({"speed": 1})
    with pytest.raises(DataError, match="'noon' is not a time"):
        bench.feed({"ts": "noon"})
    with pytest.raises(OptionError, match="matches have no column men"):
        bench.expect({"men": 1.0})
    with pytest.raises(OptionError, match="'ts' is not a column and its type"):
        Bench(HOT, "ts")
