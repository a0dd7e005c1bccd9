"""HAVING on streams: what is reported, and rows beside it that are no matches (SEM 13.1, 8.2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import situ
from streaming.running import FileStream, canonical_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("x", pa.float64())])
START = datetime(2024, 1, 1, tzinfo=UTC)
TEXT = """FROM s PARTITION BY k ORDER BY t DEFINE A AS x > 0, B AS x > 0.8
PATTERN A contains;started-by;overlaps B WITHIN 60 seconds
RETURN A.ts AS a, B.ts AS b, sum(A.x) AS s HAVING s > 1.5 AND count(B) < 3"""


def test_a_stream_reports_the_same_and_gives_late_rows_back(spark: SparkSession, tmp_path: Path) -> None:
    random, n = np.random.default_rng(1), 240
    times = [START + timedelta(seconds=i) for i in range(n)]
    table = pa.table({"k": random.integers(0, 5, n), "t": times, "x": random.normal(size=n)}, SCHEMA)
    stream = FileStream(spark, tmp_path, SCHEMA)
    late = table.slice(10, 4)
    for added in ([table.slice(0, 80)], [table.slice(80, 80), late], [table.slice(160)]):
        stream.add(added)
        stream.run(TEXT, late_rows=True)
    results = stream.results()
    is_late = np.asarray(results["late_row"].combine_chunks().is_valid())
    wanted = situ.match(table, TEXT)
    assert 0 < wanted.num_rows < situ.match(table, TEXT.partition("HAVING")[0]).num_rows
    found = results.filter(pa.array(~is_late)).drop_columns(["late_row"])
    assert canonical_rows(found) == canonical_rows(wanted)
    given_back = results.filter(pa.array(is_late))["late_row"].to_pylist()
    assert sorted(map(repr, given_back)) == sorted(map(repr, late.to_pylist()))
