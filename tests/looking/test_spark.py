"""Looking back on a real session: Spark computes what is inside of prev, in every way of running."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import situ
from situ.errors import BindError
from situ.spark.stream.inspect import read_state
from streaming.running import FileStream, canonical_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BY = "PARTITION BY k ORDER BY ts"
TEXT = f"""FROM e WHERE x <> 3 {BY}
DEFINE A AS x > prev(x) OR name = prev(name, 3), B AS prev(y + 1, 2) > y AT LEAST 2 seconds
PATTERN A while B WITHIN 30 seconds RETURN A.ts AS a, B.ts AS b, sum(A.x) AS y, last(B.name) AS n"""
ALONE = "FROM e ORDER BY ts DEFINE A AS ts - prev(ts) > INTERVAL '2' SECOND WITHIN 30 seconds EMIT FINAL"


def readings(n: int = 600) -> pa.Table:
    """Three keys in time order, with gaps."""
    random = np.random.default_rng(5)
    seconds = np.cumsum(random.integers(0, 2, n) + (random.random(n) < 0.05) * 3)
    times = np.datetime64("2024-01-01", "us") + (seconds * 1_000_000).astype("timedelta64[us]")
    return pa.table(
        {
            "k": pa.array([["p", "q", None][i] for i in random.integers(0, 3, n)]),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "x": random.integers(0, 10, n),
            "y": random.normal(10, 3, n),
            "name": pa.array([["a", "b", None][i] for i in random.integers(0, 3, n)]),
        }
    )


def single(table: pa.Table) -> pa.Table:
    """One row of each instant and key."""
    first = table.to_pandas().drop_duplicates(["k", "ts"])
    return table.take(pa.array(first.index.to_numpy()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files that follow each other in time."""
    folder = tmp_path_factory.mktemp("looking")
    table = single(readings())
    size = -(-table.num_rows // 3)
    for i in range(3):
        begin = size * i
        while 0 < begin < table.num_rows and table["ts"][begin] == table["ts"][begin - 1]:
            begin += 1  # an instant is in one file
        end = size * (i + 1)
        while end < table.num_rows and table["ts"][end] == table["ts"][end - 1]:
            end += 1
        pq.write_table(table.slice(begin, end - begin), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def df(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.parquet(str(folder))


@pytest.mark.parametrize("strategy", ["shuffle", "map-side"])
def test_a_batch(df: DataFrame, strategy: str) -> None:
    table = single(readings())
    wanted = canonical_rows(situ.match(table, situ.query(TEXT)))
    assert len(wanted) > 10
    assert canonical_rows(situ.match(df, situ.query(TEXT), strategy=strategy).toArrow()) == wanted
    wanted = canonical_rows(situ.situations(table, situ.query(TEXT)))
    assert canonical_rows(situ.situations(df, situ.query(TEXT), strategy=strategy).toArrow()) == wanted


def test_files_that_tasks_read(spark: SparkSession, folder: Path) -> None:
    wanted = canonical_rows(situ.match(single(readings()), situ.query(TEXT)))
    assert canonical_rows(situ.match_parquet(spark, str(folder), situ.query(TEXT)).toArrow()) == wanted
    wanted = canonical_rows(situ.match(single(readings()), situ.query(ALONE), ties="last"))
    assert wanted
    found = situ.match_parquet(spark, str(folder), situ.query(ALONE), ties="last")
    assert canonical_rows(found.toArrow()) == wanted


def test_spark_computes_what_is_inside(df: DataFrame, spark: SparkSession) -> None:
    """Any function, also one of the session's own; how it is run says explain."""
    spark.udf.register("twice", lambda value: value * 2, "bigint")
    text = f"FROM e WHERE x <> 3 {BY} DEFINE A AS x > prev({{}}) WITHIN 9 seconds"
    wanted = canonical_rows(situ.match(single(readings()), situ.query(text.format("2 * x"))))
    assert canonical_rows(situ.match(df, situ.query(text.format("twice(x)"))).toArrow()) == wanted
    sizes = text.format("element_at(array(2 * x), 1)")
    assert canonical_rows(situ.match(df, situ.query(sizes)).toArrow()) == wanted
    with pytest.raises(BindError, match="what prev looks back at"):
        situ.match(df, situ.query(text.format("no_such_function(x)")))


def test_what_stands_around_is_refused_by_name_where_it_is_asked(df: DataFrame) -> None:
    with pytest.raises(BindError, match=r"(?i)soundex.*around prev in the condition of A"):
        situ.match(df, situ.query(f"FROM e {BY} DEFINE A AS soundex(prev(name)) = 'A000'"))


def test_why_counts_the_same(df: DataFrame) -> None:
    here, there = situ.why(single(readings()), situ.query(TEXT)), situ.why(df, situ.query(TEXT))
    assert there.situations == here.situations
    assert there.matches == here.matches > 0


def test_a_stream_stopped_and_started_again(spark: SparkSession, tmp_path: Path) -> None:
    """The values are in its checkpoint, which can be looked into."""
    table = single(readings())
    stream = FileStream(spark, tmp_path, table.schema)

    times = table["ts"].to_pylist()
    cuts = [i for i in range(1, len(times)) if times[i] != times[i - 1]]  # rows of an instant come together
    for begin, end in pairwise([0, cuts[50], cuts[51], cuts[120], len(times)]):
        stream.add([table.slice(begin, end - begin)])
        stream.run(TEXT)
    found = spark.read.parquet(str(tmp_path / "out"))
    assert stream.counts("late_rows") == 0
    assert canonical_rows(found.toArrow()) == canonical_rows(situ.match(table, situ.query(TEXT)))
    (state,) = read_state(spark, str(tmp_path / "state"))
    assert sum(bucket.content.n_partitions for bucket in state.buckets) == 3
