"""Many late rows are said once, with the watermark that would have taken them in (SEM 8.2)."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.language.text.durations import parse_duration
from situ.rows.late_log import LateLog, enough

QUERY = situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 0 WITHIN 1 hour RETURN A.ts AS since")
SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us", "UTC")), ("x", pa.int64())])
START = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.WARNING, logger="situ")
    return lambda: [record.getMessage() for record in caplog.records]


def rows(*seconds: float, k: int = 0) -> pa.Table:
    n = len(seconds)
    times = [START + timedelta(seconds=second) for second in seconds]
    return pa.table({"k": [k] * n, "ts": times, "x": [1] * n}, SCHEMA)


@pytest.mark.parametrize("options", [{}, {"watermark": "5 seconds"}])
def test_files_out_of_order(options: dict[str, Any], said: Any) -> None:
    """The delay it names does it: with that one no row is late."""
    files = [rows(*range(200, 300)), rows(*range(100)), rows(*range(100, 200))]
    operator = QUERY.operator(SCHEMA, **options)
    for file in files:
        operator.push(file)
    assert operator.late == 200
    (message,) = said()
    assert message.startswith("100 of 200 rows (50%) came too late and were left out.")
    (delay,) = re.findall("A watermark of (.*) would have taken them in", message)
    assert delay == "299 seconds"
    again = QUERY.operator(SCHEMA, watermark=delay)
    for file in files:
        again.push(file)
    assert again.late == 0


def test_the_largest_time_is_that_of_all_partitions(said: Any) -> None:
    """A watermark is one for all: advice from a partition's own rows would make the others late."""
    operator = QUERY.operator(SCHEMA)
    operator.push(pa.concat_tables([rows(*range(100, 120)), rows(3600, k=1)]))
    operator.push(rows(*range(105, 118)))
    assert "A watermark of 59 minutes would" in said()[0]  # 3600 - 105 seconds


def test_ties_across_pushes_need_a_watermark_of_nothing(said: Any) -> None:
    operator = QUERY.operator(SCHEMA)
    operator.push(rows(*range(20)))
    operator.push(rows(*[19] * 12))
    assert "A watermark of 0 seconds would" in said()[0]


def test_it_is_seen_where_nobody_has_set_up_logging() -> None:
    script = """
import pyarrow as pa, situ
operator = situ.query("FROM t ORDER BY ts DEFINE A AS x > 0").operator(
    pa.schema([("ts", pa.int64()), ("x", pa.int64())]))
for first in (50, 0):
    operator.push(pa.table({"ts": range(first, first + 20), "x": [1] * 20}))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "20 of 40 rows (50%) came too late" in ended.stderr


def test_few_late_rows_are_no_news(said: Any) -> None:
    operator = QUERY.operator(SCHEMA)
    operator.push(rows(*range(100)))
    operator.push(rows(*range(9)))
    assert (operator.late, said()) == (9, [])
    operator = QUERY.operator(SCHEMA)
    operator.push(rows(*range(5000)))
    operator.push(rows(*range(40)))
    assert (operator.late, said()) == (40, [])


def test_what_advance_made_late_is_not_blamed_on_the_watermark(said: Any) -> None:
    operator = QUERY.operator(SCHEMA, watermark="1 hour")
    operator.push(rows(*range(20)))
    operator.advance(START + timedelta(days=1))
    operator.push(rows(*range(20, 40)))
    (message,) = said()
    assert "20 of 40 rows" in message
    assert "watermark" not in message


def test_a_clock_gone_wild_is_named(said: Any) -> None:
    operator = QUERY.operator(SCHEMA, watermark="1 minute")
    operator.push(rows(*range(20), 3e9))
    operator.push(rows(*range(20, 40)))
    assert "The latest time seen, 2119-01-25 05:20:00.000000, is still to come" in said()[0]
    assert "max_ahead" in said()[0]


def test_a_long_good_time_hides_nothing(said: Any) -> None:
    log = LateLog()
    log.note(10_000_000, 5, 0, 1)
    assert said() == []
    log.note(10_000_100, 10, 0, 1)
    assert said() != []


def test_ticks_have_no_unit(said: Any) -> None:
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("x", pa.int64())])
    operator = situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 0").operator(schema)
    for first in (2000, 0):
        operator.push(pa.table({"k": [0] * 20, "ts": range(first, first + 20), "x": [1] * 20}, schema))
    assert "A watermark of 2,019 would" in said()[0]


@given(st.integers(0, 2**53))
def test_enough_is_enough_and_not_far_too_much(microseconds: int) -> None:
    value = parse_duration(enough(microseconds)).value
    assert microseconds <= value <= max(1.1 * microseconds + 1, 10_000)
