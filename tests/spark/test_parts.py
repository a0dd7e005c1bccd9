"""The small parts: buckets, pruning by statistics, footers, sorted files, errors found again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ import query
from situ.carry.batch.direct import Dropped, FilePart, Reading, events_of
from situ.carry.batch.ranges import Range, may_be_true
from situ.carry.batch.spill import SortedFiles
from situ.carry.buckets import buckets_of, labels, spark_hash
from situ.errors import DataError, OptionError
from situ.language.text.types import Column
from situ.rows.narrow import narrowed, widened
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared
from situ.spark.batch.job import buckets_for
from situ.spark.batch.strategy import Decision
from situ.spark.errors import WorkerError, situ_error
from situ.spark.files.footers import Footer, Ordering, Span, judge, read_footer
from situ.spark.files.reach import ArrowFiles
from situ.spark.session.plans import Scan
from situ.spark.session.settings import Settings, bytes_of
from spark.tasks import task_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def condition(text: str):
    return query(f"FROM t ORDER BY ts DEFINE A AS {text}").symbols[0].condition


# -- buckets


def test_hash_is_sparks(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT cast(id - 50 AS int) AS i, hash(cast(id - 50 AS int)) AS h FROM range(100)"
    ).collect()
    numbers = np.array([row.i for row in rows], np.int32)
    assert spark_hash(numbers).tolist() == [row.h for row in rows]


@pytest.mark.parametrize("n", [1, 2, 7, 200])
def test_each_bucket_has_a_shuffle_partition_of_its_own(n: int) -> None:
    assert (spark_hash(labels(n)).astype(np.int64) % n).tolist() == list(range(n))


def test_a_key_has_one_bucket_whatever_its_carrier() -> None:
    """Widths, units, zones, signs of zero and kinds of NaN do not show."""
    same = [
        (pa.array([1, None], pa.int32()), pa.array([1, None], pa.int64())),
        (pa.array(["é", None]), pa.array(["é", None], pa.large_string())),
        (pa.array([0.0, np.nan]), pa.array([-0.0, -np.nan])),
        (pa.array([5], pa.timestamp("ms", "UTC")), pa.array([5000], pa.timestamp("us", "Asia/Tokyo"))),
    ]
    for one, other in same:
        assert buckets_of([one], 64).tolist() == buckets_of([other], 64).tolist()
    spread = np.bincount(buckets_of([pa.array(range(6400))], 64), minlength=64)
    assert spread.min() > 50


@given(st.lists(st.integers(-(2**63) + 10**6, 2**63 - 2), max_size=30), st.sampled_from([1, 7, 1000, 10**6]))
def test_times_come_back(times: list[int], step: int) -> None:
    array = np.array([t // step * step for t in times], np.int64)
    assert widened(*narrowed(array)).tolist() == array.tolist()


def test_whole_seconds_take_few_bytes() -> None:
    _, step, multiples = narrowed(np.arange(1000, dtype=np.int64) * 1_000_000 + 17)
    assert (step, multiples.dtype) == (1_000_000, np.uint16)


# -- what statistics prove


@pytest.mark.parametrize(
    ("text", "ranges", "expected"),
    [
        ("x > 5", {"x": Range(1, 5)}, False),
        ("x >= 5", {"x": Range(1, 5)}, True),
        ("5 < x", {"x": Range(1, 5)}, False),
        ("x = 7 OR x = 3", {"x": Range(1, 5)}, True),
        ("x = 7 AND y > 1", {"x": Range(1, 5)}, False),
        ("x IN (7, 8)", {"x": Range(1, 5)}, False),
        ("x BETWEEN 6 AND 9", {"x": Range(1, 5)}, False),
        ("x < -1.5", {"x": Range(-1, 5)}, False),
        ("x IS NULL", {"x": Range(1, 5, may_be_null=False)}, False),
        ("x IS NOT NULL", {"x": Range(all_null=True)}, False),
        ("x > 1", {"x": Range(all_null=True)}, False),
        ("NOT x > 5", {"x": Range(9, 9)}, True),  # not understood: may be true
        ("abs(x) > 5", {"x": Range(1, 2)}, True),
        ("x > 5", {"x": Range(1.0, 2.0)}, True),  # there may be NaN, greater than every number
        ("x < 0", {"x": Range(1.0, 2.0)}, False),
        ("x > '5'", {"x": Range(1, 2)}, True),  # Spark would cast
        ("s = 'b'", {"s": Range("c", "d")}, False),
        ("z > 5", {}, True),
    ],
)
def test_may_be_true(text: str, ranges: dict[str, Range], expected: bool) -> None:
    assert may_be_true(condition(text), ranges) is expected


def test_silent_row_groups_are_not_read(tmp_path: Path) -> None:
    """Of a row group in which no condition can hold only partition and time come from the file."""
    table = pa.table({"k": ["p"] * 40, "ts": range(40), "x": [1] * 20 + [9] * 20, "y": range(40)})
    path = tmp_path / "two.parquet"
    pq.write_table(table, path, row_group_size=20)
    text = "FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 5 RETURN sum(A.y) AS total"
    task = task_for(table.schema, text, {})
    reading = Reading(task, table.schema, False, True, "UTC")
    silent, loud = events_of(reading, FilePart(str(path), 0, os.path.getsize(path), {}), str(path), Dropped())
    assert (silent["y"].null_count, loud["y"].null_count) == (20, 0)
    assert silent["_mask"].to_pylist() + loud["_mask"].to_pylist() == [0] * 20 + [1] * 20


# -- footers


def footer(name: str, *spans: tuple[int, int] | None, n_bytes: int = 10) -> Footer:
    return Footer(name, n_bytes, 5, tuple(None if span is None else Span(*span) for span in spans))


SCAN = Scan("ts", ("day", "k"), 100)


@pytest.mark.parametrize(
    ("footers", "expected"),
    [
        ([footer("a", (0, 5)), footer("b", (6, 9))], True),
        ([footer("b", (6, 9)), footer("a", (0, 5))], True),
        ([footer("a", (0, 5)), footer("b", (5, 9))], False),  # a shared instant
        ([footer("a", (0, 9)), footer("b", (3, 4))], False),
        ([footer("a", (0, 5), None), footer("b", (6, 9))], False),
        ([footer("k=1/a", (0, 5)), footer("k=2/b", (0, 5))], True),  # folders never meet
        (
            [footer("day=1/a", (0, 5)), footer("day=2/b", (0, 5))],
            False,
        ),
        ([footer("a", (0, 3), (3, 5), n_bytes=10)], True),  # not cut
        ([footer("a", (0, 3), (3, 5), n_bytes=500)], False),
        ([footer("a", (4, 5), (0, 3), n_bytes=500)], True),
    ],
)
def test_judge(footers: list[Footer], expected: bool) -> None:
    assert judge(footers, SCAN, ["k"]).is_ordered is expected


def test_read_footer(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": [3, 1, 2, 9]}), tmp_path / "f.parquet", row_group_size=2)
    found = read_footer(ArrowFiles(), (tmp_path / "f.parquet").as_uri(), "ts")
    assert (found.n_rows, found.row_groups, found.span) == (4, (Span(1, 3), Span(2, 9)), Span(1, 9))


# -- sorted files


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1), max_size=5),
    st.integers(1, 8),
)
def test_blocks_are_complete_and_in_order(chunks: list[list[tuple[int, int]]], n_blocks: int) -> None:
    """By code and time, no instant of a partition in two blocks; the last row of an instant stays."""
    expected: dict[tuple[int, int], int] = {}
    with SortedFiles(Needs(Column("t", "bigint"))) as files:
        for number, chunk in enumerate(chunks):
            codes, times = (np.array(column, np.int64) for column in zip(*chunk, strict=True))
            values = np.arange(len(chunk)) + 100 * number
            rows = Prepared(codes, [], times, np.zeros(len(chunk), np.uint8), {"v": pa.array(values)}, [])
            files.add(rows, 4, n_blocks)
            expected |= dict(zip(chunk, values.tolist(), strict=True))
        blocks = list(files.blocks()) if chunks else []
    found: dict[tuple[int, int], int] = {}
    for number, block in enumerate(blocks):
        own = list(zip(block.rows.codes.tolist(), block.rows.time.tolist(), strict=True))
        assert not found or min(own) > max(found)
        found |= dict(zip(own, block.rows.attributes["v"].to_pylist(), strict=True))
        following = blocks[number + 1].rows.codes.min() if number + 1 < len(blocks) else None
        assert block.goes_on == (following == max(own)[0])
    assert found == expected


# -- errors


def test_errors_are_found_in_what_spark_says() -> None:
    text = (
        "\n  An exception was thrown from the Python worker.\nTraceback (most recent call last):\n  File x\n"
        "situ.errors.DataError: in partition ('p',): two rows share the time 3\nHint: name a column\n\n"
        "JVM stacktrace:\norg.apache.spark.SparkException"
    )
    error = situ_error(RuntimeError(text))
    assert isinstance(error, DataError)
    assert (error.message, error.hint) == ("in partition ('p',): two rows share the time 3", "name a column")
    missing = situ_error(
        RuntimeError("x\nImportError: situ cannot be imported on a Spark executor (y). Hint: do z")
    )
    assert isinstance(missing, WorkerError)
    assert missing.hint == "do z"
    assert situ_error(RuntimeError("ValueError: something else")) is None


def test_sizes() -> None:
    assert [bytes_of(text, "x") for text in ("1g", "512k", "100", "64MB")] == [
        1 << 30,
        512 << 10,
        100,
        64 << 20,
    ]
    with pytest.raises(OptionError, match="is not a size"):
        bytes_of("much", "x")


def test_few_condensed_rows_go_to_few_buckets() -> None:
    """A bucket for each shuffle partition, unless footers show that so many pieces would be tiny."""
    settings = Settings(
        True, "UTC", n_partitions=200, n_tasks=6, n_slices=6, least_rows=1, worker_bytes=1 << 20
    )

    def n_buckets(strategy: Any, n_rows: int | None) -> int:
        ordering = None if n_rows is None else Ordering(True, "", n_rows=n_rows)
        return buckets_for(Decision(strategy, "", False, ordering), settings)

    assert [n_buckets("direct", n) for n in (10, 20_000_000, 100_000_000, 10**10)] == [6, 6, 25, 200]
    assert n_buckets("map-side", None) == n_buckets("shuffle", 10) == 200
