"""SEM 8.6 on a real session: rows from the future make nothing late, and a rerun decides as the run did."""

from __future__ import annotations

import json
import logging
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from streaming.running import FileStream, canonical_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("x", pa.float64())])
QUERY = """FROM s WHERE x < 100 PARTITION BY k ORDER BY t
DEFINE A AS x > 0, B AS x > 0.8 AT LEAST 1 second PATTERN A contains;started-by;overlaps B
WITHIN 60 seconds RETURN A.ts AS a, B.ts AS b"""
DELAYED = {"watermark": "20 seconds", "max_ahead": "1 hour"}


def events(first: datetime, n: int, seed: int = 1) -> pa.Table:
    random = np.random.default_rng(seed)
    times = [first + timedelta(seconds=i) for i in range(n)]
    return pa.table({"k": random.integers(0, 3, n), "t": times, "x": random.normal(size=n)}, SCHEMA)


def one(t: datetime, x: float = 0.0) -> pa.Table:
    return pa.table({"k": [0], "t": [t], "x": [x]}, SCHEMA)


def test_a_wild_clock_moves_no_watermark(spark: SparkSession, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    table = events(now - timedelta(minutes=30), 120)
    wild, not_an_event = one(now + timedelta(days=400)), one(now + timedelta(days=500), x=1000.0)
    stream = FileStream(spark, tmp_path, SCHEMA)
    stream.add([table.slice(0, 60), wild, not_an_event, table.slice(60), one(now), one(now)])
    stream.run(QUERY, late_rows=True, **DELAYED)
    results = stream.results()
    assert (stream.counts("late_rows"), stream.counts("ahead_rows")) == (0, 1)
    is_match = pa.array(np.asarray(results["ahead_row"].combine_chunks().is_null()))
    matches = results.filter(is_match)
    assert matches["late_row"].null_count == matches.num_rows
    found = matches.drop_columns(["late_row", "ahead_row"])
    assert canonical_rows(found) == canonical_rows(situ.match(table, situ.query(QUERY)))
    (aside,) = [row for row in results["ahead_row"].to_pylist() if row is not None]
    assert [aside] == wild.to_pylist()


def test_a_rerun_goes_by_the_clock_of_the_first_try(spark: SparkSession, tmp_path: Path) -> None:
    """Spark writes the time of a micro-batch down with its offsets: here it was planned a day ago."""
    now = datetime.now(UTC)
    stream = FileStream(spark, tmp_path, SCHEMA)
    stream.add([events(now - timedelta(minutes=30), 30)])
    stream.run(QUERY, max_ahead="1 hour")
    assert stream.counts("ahead_rows") == 0
    forget_commit(tmp_path, planned=now - timedelta(days=1))
    stream.add([events(now - timedelta(minutes=20), 30, seed=2)])
    stream.run(QUERY, max_ahead="1 hour")
    # what the first try took in is from its future now, and the rows after it are not
    assert [n_ahead(progress) for progress in stream.progress] == [0, 30, 0]


def forget_commit(folder: Path, planned: datetime) -> None:
    """As if the process had died before it committed its only micro-batch, and had planned it then."""
    shutil.rmtree(folder / "out")
    offsets, commits = folder / "state" / "offsets", folder / "state" / "commits"
    assert [path.name for path in offsets.glob("[0-9]*")] == ["0"]
    for path in (commits / "0", commits / ".0.crc", offsets / ".0.crc"):
        path.unlink()
    version, metadata, *rest = (offsets / "0").read_text().splitlines()
    changed = json.loads(metadata) | {"batchTimestampMs": int(planned.timestamp() * 1000)}
    (offsets / "0").write_text("\n".join([version, json.dumps(changed), *rest]))


def n_ahead(progress: dict[str, Any]) -> int:
    (observed,) = [row for name, row in progress["observedMetrics"].items() if name.endswith("_times")]
    return int(observed.ahead_rows)


@pytest.mark.parametrize("has_watermark", [False, True])
def test_many_late_rows_are_said_once(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, has_watermark: bool
) -> None:
    """Files that arrive out of order: the log names the watermark that would have taken them in."""
    start = datetime(2024, 1, 1, tzinfo=UTC)
    table = events(start, 120)
    stream = FileStream(spark, tmp_path, SCHEMA)
    stream.add([table.slice(80), table.slice(0, 40), table.slice(40, 40)])
    options = {"watermark": "3 seconds"} if has_watermark else {}
    with caplog.at_level(logging.WARNING, logger="situ"):
        stream.run(QUERY, **options)
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    (record,) = [record for record in caplog.records if "too late" in record.getMessage()]
    # the first file ends at second 119, the second one begins at 0
    said = record.getMessage()
    assert said.startswith("40 of 80 rows (50%) came too late and were left out.")
    assert "A watermark of 119 seconds would have taken them in." in said
