"""The test kit on row patterns (ROW 8)."""

from __future__ import annotations

import pytest

from situ.errors import DataError, OptionError
from situ.testing import Bench

SCHEMA = "user string, ts timestamp, ok boolean"
QUERY = """
FROM logins MATCH_RECOGNIZE (
    PARTITION BY user ORDER BY ts
    MEASURES FIRST(FAILED.ts) AS since, count(FAILED.*) AS failures
    PATTERN (FAILED{2,} GOOD) WITHIN 1 minute
    DEFINE FAILED AS NOT ok, GOOD AS ok
)"""


def at(seconds: int) -> str:
    return f"2024-07-01T12:00:{seconds:02}Z"


def test_a_match_is_reported_when_it_is_certain() -> None:
    bench = Bench(QUERY, SCHEMA, match_time=True)
    bench.feed(*({"user": "ann", "ts": at(s), "ok": False} for s in (1, 2, 3)))
    bench.expect()
    bench.restart()
    bench.feed({"user": "ann", "ts": at(4), "ok": True})
    bench.expect({"user": "ann", "since": at(1), "failures": 3, "match_time": at(4)})
    with pytest.raises(AssertionError, match="not found"):
        bench.expect({"failures": 3})


def test_columns_are_those_of_the_result() -> None:
    bench = Bench(QUERY, SCHEMA)
    with pytest.raises(OptionError, match="matches have no column until") as told:
        bench.expect({"until": at(1)})
    assert "they have user, since, failures" in str(told.value)


def test_late_rows_and_the_clock() -> None:
    bench = Bench(QUERY, SCHEMA, watermark="10 seconds")
    bench.feed({"user": "ann", "ts": at(2), "ok": False}, {"user": "ann", "ts": at(1), "ok": False})
    bench.feed({"user": "ann", "ts": at(30), "ok": True})
    bench.expect()
    bench.feed({"user": "ann", "ts": at(3), "ok": False})
    assert [row["ok"] for row in bench.late_rows] == [False]
    bench.advance(at(31))
    bench.expect({"user": "ann", "failures": 2})


def test_the_end_of_the_input_decides_what_is_left() -> None:
    query = QUERY.replace("FAILED{2,} GOOD", "FAILED{2,}").replace(", GOOD AS ok", "")
    bench = Bench(query, SCHEMA)
    bench.feed({"user": "ann", "ts": at(1), "ok": False}, {"user": "ann", "ts": at(2), "ok": False})
    bench.expect()
    assert bench.n_situations == 2
    bench.finish()
    bench.expect({"failures": 2})
    with pytest.raises(DataError, match="the input has ended"):
        bench.feed({"user": "ann", "ts": at(9), "ok": True})


def test_timeouts() -> None:
    bench = Bench(QUERY, SCHEMA, timeouts=True)
    bench.feed({"user": "ann", "ts": at(1), "ok": False})
    bench.advance("2024-07-01T12:02:00Z")
    (one,) = bench.timeouts()
    assert (one["user"], one["furthest"]) == ("ann", "FAILED")
    assert bench.timeouts() == []
