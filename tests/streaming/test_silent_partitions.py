"""What a partition does not do is told on a real stream though nothing arrives in it (SEM 11.9, 12.2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import situ
from situ.errors import SituError
from streaming.running import FileStream, canonical_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 1, 1, tzinfo=UTC)
SCHEMA = pa.schema([("k", pa.string()), ("t", pa.timestamp("us", "UTC")), ("x", pa.int64())])
DELAY = timedelta(minutes=1)
Row = tuple[str, float, int]  # a partition, minutes after START, a value

NO_ANSWER = """FROM s PARTITION BY k ORDER BY t
DEFINE A AS x = 1, C AS x = 2
PATTERN NO C after A BY AT MOST 10 minutes
WITHIN 1 hour
RETURN A.ts AS asked, A.te AS until, max(A.x) AS most"""
QUIET = """FROM s WHERE x > 0 PARTITION BY k ORDER BY t
DEFINE quiet AS SILENCE AT LEAST 10 minutes
WITHIN 1 hour
RETURN quiet.ts AS since, quiet.te AS until, last(quiet.x) AS heard"""

# `silent` asks and is heard of no more; `other` moves time on, `answered` is answered, and returns after all
BATCHES: list[list[Row]] = [
    [("silent", 0, 1), ("silent", 1, 3), ("answered", 0, 1), ("answered", 2, 3), ("other", 3, 3)],
    [("answered", 5, 2), ("other", 11.5, 3)],  # W is 10:30
    [("other", 12, 0)],  # W is 11:00, by a row that WHERE removes where there is one: a tick at 11 waits
    [("other", 12.5, 3), ("other", 16, 1)],
    [("silent", 30, 1), ("other", 29, 3), ("answered", 30, 3)],
    [("other", 90, 3)],
]


def minutes(after: float) -> datetime:
    return START + timedelta(minutes=after)


def table_of(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([{"k": k, "t": minutes(t), "x": x} for k, t, x in rows], SCHEMA)


@pytest.mark.spark
@pytest.mark.parametrize("text", [NO_ANSWER, QUIET], ids=["absence", "silence"])
def test_it_is_told_when_others_move_time_on(spark: SparkSession, tmp_path: Path, text: str) -> None:
    """Restarted after every micro-batch, results are those of a batch up to the watermark, each once."""
    stream = FileStream(spark, tmp_path, SCHEMA, ("t", "1 minute"))
    seen: list[Row] = []
    counts = []
    for batch in BATCHES:
        stream.add([table_of(batch)])
        stream.run(text, buckets=3)
        seen += batch
        wanted = up_to(text, seen, max(minutes(t) for _, t, _ in seen) - DELAY)
        assert canonical_rows(stream.results()) == canonical_rows(wanted)
        counts.append(sum(row["k"] == "silent" for row in wanted.to_pylist()))
    assert stream.counts("late_rows") == 0
    # at W = 11:00 the tick at 11:00 is not over; the next row of any other partition tells it
    assert counts == ([0, 0, 0, 1, 1, 1] if text == NO_ANSWER else [0, 0, 0, 1, 1, 2])


def up_to(text: str, rows: list[Row], watermark: datetime) -> pa.Table:
    """What a batch of all rows reports before the watermark."""
    whole = situ.match(table_of(rows), situ.query(text))
    kept = [row for row in whole.to_pylist() if row["match_time"] < watermark]
    return pa.Table.from_pylist(kept, whole.schema)


@pytest.mark.spark
def test_explain_says_what_a_stream_tells_of_silent_partitions(spark: SparkSession, tmp_path: Path) -> None:
    marked = FileStream(spark, tmp_path / "marked", SCHEMA, ("t", "1 minute")).rows()
    unmarked = FileStream(spark, tmp_path / "unmarked", SCHEMA).rows()
    for text in (NO_ANSWER, QUIET):
        told = one_line(situ.explain(marked, situ.query(text)))
        assert "the watermark, 1 minute behind the largest time" in told
        assert "also of a partition in which nothing arrives" in told
        told = one_line(situ.explain(unmarked, situ.query(text)))
        assert "A silent partition reports nothing: without a watermark" in told
        assert told.count("There is no PATTERN") == 0
        assert "also of a partition" in one_line(
            situ.explain(unmarked, situ.query(text), watermark="1 minute")
        )
    plain = one_line(situ.explain(marked, situ.query(QUIET.replace("SILENCE", "x > 1"))))
    assert "watermark" in plain
    assert "which nothing arrives" not in plain
    alone = one_line(situ.explain(marked, situ.query(QUIET.replace("PARTITION BY k", ""))))
    assert "one task keeps the state" in alone


def one_line(explained: object) -> str:
    return " ".join(str(explained).split())


@pytest.mark.spark
def test_what_no_stream_can_answer_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Of given intervals any that is over might have been the C (SEM 11.7)."""
    schema = pa.schema(
        [("k", pa.string()), ("kind", pa.string()), *((n, SCHEMA[1].type) for n in ("s", "e"))]
    )
    rows = FileStream(spark, tmp_path, schema).rows()
    text = """FROM INTERVALS i STARTING s ENDING e PARTITION BY k SYMBOL BY kind
    PATTERN NO C before A WITHIN 1 hour"""
    for call in (situ.match, situ.explain):
        with pytest.raises(SituError, match="so a stream would have to keep them all") as refused:
            call(rows, situ.query(text))
        assert refused.value.hint is not None
        assert "BY AT MOST" in refused.value.hint
    with pytest.raises(SituError, match="until does not apply to a streaming DataFrame"):
        situ.match(FileStream(spark, tmp_path / "events", SCHEMA).rows(), situ.query(QUIET), until=START)
