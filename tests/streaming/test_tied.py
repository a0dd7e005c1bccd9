"""Rows that a stream leaves out as ties (SEM 1.3) are counted in its metrics and told of once."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import Row

import situ
from situ.carry.stream.outcome import Outcome
from situ.spark.stream.metrics import figures_of
from situ.spark.stream.processor import frame_of
from streaming.in_memory import MemoryStream

TEXT = "FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 1 WITHIN 10"
ROWS = pa.table({"k": ["p", "p", "q"] * 4, "ts": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4], "x": [5, 0, 5] * 4})


@pytest.mark.parametrize("has_watermark", [True, False])
@pytest.mark.parametrize("kind", ["match", "situations"])
def test_rows_left_out_are_counted_and_told_of_once(has_watermark: bool, kind: Any) -> None:
    stream = MemoryStream(TEXT, ROWS.schema, has_watermark=has_watermark, kind=kind)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for begin in (0, 6):
            stream.push(ROWS.slice(begin, 6), begin // 2 if has_watermark else None)
        if has_watermark:
            stream.advance(2**63 - 1)
    assert stream.n_tied == 4
    (one,) = told
    assert one.category is situ.TiesWarning
    assert "for example at 1 in partition ('p',)" in str(one.message)


def test_what_was_asked_for_is_counted_only() -> None:
    stream = MemoryStream(TEXT, ROWS.schema, {"ties": "last"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream.push(ROWS)
    assert stream.n_tied == 4


def test_the_count_reaches_the_metrics() -> None:
    frame = frame_of([], Outcome(n_tied=3)).drop(columns="data")
    counts = {name: int(values[0]) for name, values in frame.items()}
    assert counts["tied_rows"] == 3
    report = {"observedMetrics": {"situ_0_counts": Row(**counts)}, "sources": []}
    assert figures_of(report, figures_of(report)).tied_rows == 6
