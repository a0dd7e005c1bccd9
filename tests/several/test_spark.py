"""Several queries on a real session: one pass, and each query has what a call of its own gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

import situ
from situ.errors import BindError, DuplicateNameError
from streaming.running import FileStream, canonical_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HIGH = """FROM e PARTITION BY k ORDER BY ts DEFINE A AS x > 5 AT LEAST 2 seconds WITHIN 60 seconds
RETURN A.ts AS since, avg(A.y) * 2 AS mean, A.duration AS query"""
PAIR = """FROM e PARTITION BY k ORDER BY ts DEFINE A AS x > 5, B AS x > 7 AND y > 10
PATTERN A contains;started-by B WITHIN 20 seconds
RETURN count(B) AS n, median(A.y) AS m, collect_list(B.x) AS l, A.ts AS started, B.te AS ended"""
FEW = """FROM e WHERE x <> 0 PARTITION BY k ORDER BY ts DEFINE A AS 10 / x > 3, B AS x > 5
PATTERN A before B WITHIN 30 seconds EMIT FINAL"""
TEXTS = {"high": HIGH, "The pair": PAIR, "a.b": FEW}


def readings(n: int = 600) -> pa.Table:
    """Three keys, one row a second each, in time order."""
    random = np.random.default_rng(5)
    times = np.datetime64("2024-01-01", "us") + (np.arange(n) // 3 * 1_000_000).astype("timedelta64[us]")
    return pa.table(
        {
            "k": pa.array(["p", "q", None] * (n // 3)),
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "x": random.integers(0, 10, n),
            "y": random.normal(10, 3, n),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files that follow each other in time."""
    folder = tmp_path_factory.mktemp("several")
    for i in range(3):
        pq.write_table(readings().slice(201 * i, 201), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def df(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.parquet(str(folder))


def queries() -> dict[str, situ.Query]:
    return {name: situ.query(text) for name, text in TEXTS.items()}


def of_query(found: DataFrame, name: str) -> pa.Table:
    """What the documentation says one does."""
    return found.where(found["query"] == name).select("k", f"`{name}`.*").toArrow()


Run = Callable[..., Any]


def check(found: DataFrame, alone: Callable[[situ.Query], DataFrame]) -> None:
    """Each query's rows and types, and nothing in the other columns."""
    assert found.columns == ["k", "query", *TEXTS]
    found = found.cache()
    for name, query in queries().items():
        own, single = of_query(found, name), alone(query).toArrow()
        assert single.num_rows > 0
        assert own.schema.names == single.schema.names
        assert own.schema.types == single.schema.types
        assert canonical_rows(own) == canonical_rows(single)
        assert found.where(f"(query = '{name}') <> (`{name}` IS NOT NULL)").isEmpty()
    found.unpersist()


@pytest.mark.parametrize("strategy", ["shuffle", "map-side"])
@pytest.mark.parametrize("call", [situ.match, situ.situations])
def test_a_batch(df: DataFrame, strategy: str, call: Run) -> None:
    check(
        call(df, queries(), strategy=strategy),
        lambda query: call(df, query, strategy=strategy),
    )


@pytest.mark.parametrize("call", [situ.match_parquet, situ.situations_parquet])
def test_files_that_tasks_read(spark: SparkSession, folder: Path, call: Run) -> None:
    check(call(spark, str(folder), queries()), lambda query: call(spark, str(folder), query))


@pytest.mark.parametrize("strategy", ["shuffle", "map-side"])
def test_one_scan_and_one_exchange(df: DataFrame, strategy: str) -> None:
    plan = situ.match(df, queries(), strategy=strategy)._jdf.queryExecution().executedPlan().toString()
    assert len(re.findall(r"FileScan", plan)) == 1
    assert len(re.findall(r"Exchange ", plan)) == 1


def test_without_a_partition_in_slices(df: DataFrame) -> None:
    """One event at an instant, so that all are one sequence."""
    events = df.selectExpr("unix_seconds(ts) * 3 + coalesce(ascii(k) - 111, 0) AS ts", "x", "y")
    texts = {
        name: re.sub(r"(\d+) seconds", r"\1", text.replace("PARTITION BY k", ""))
        for name, text in TEXTS.items()
    }
    found = situ.match(events, {name: situ.query(text) for name, text in texts.items()}, strategy="map-side")
    for name, text in texts.items():
        own = found.where(found["query"] == name).select(f"`{name}`.*").toArrow()
        alone = situ.match(events, situ.query(text), strategy="map-side").toArrow()
        assert canonical_rows(own) == canonical_rows(alone)


def test_a_return_that_spark_cannot_evaluate_is_refused(df: DataFrame) -> None:
    with pytest.raises(BindError, match="Spark cannot evaluate RETURN"):
        situ.match(df, {"a": situ.query(HIGH), "b": situ.query(HIGH.replace("avg(A.y) * 2", "nofun(A.ts)"))})


def test_a_query_named_like_the_partition_is_refused(df: DataFrame) -> None:
    with pytest.raises(DuplicateNameError, match="has a column k"):
        situ.match(df, {"K": situ.query(HIGH)})


def test_return_is_evaluated_for_its_own_rows_only(df: DataFrame) -> None:
    """What another query gives is null there: a check on it would fail."""
    checked = HIGH.replace("avg(A.y) * 2 AS mean", "assert_true(A.ts IS NOT NULL) AS mean")
    found = situ.match(df, {"a": situ.query(checked), "b": situ.query(PAIR)})
    assert {row.query for row in found.select("query", "a.mean", "b.n").collect()} == {"a", "b"}


def test_a_stream_stopped_and_started_again(spark: SparkSession, tmp_path: Path) -> None:
    """From its checkpoint; late rows come once, beside no query's columns."""
    table = readings()
    late = table.slice(30, 5)
    stream = FileStream(spark, tmp_path, table.schema)

    def call(rows: DataFrame, query: situ.Query, **options: Any) -> Any:
        return situ.match(rows, queries(), **options)

    for pieces in ([table.slice(0, 200)], [table.slice(200, 199), late], [table.slice(399)]):
        stream.add(pieces)
        stream.run(HIGH, call, late_rows=True)
    found = spark.read.parquet(str(tmp_path / "out"))
    assert found.columns == ["k", "query", *TEXTS, "late_row"]
    for name, query in queries().items():
        assert canonical_rows(of_query(found, name)) == canonical_rows(situ.match(table, query))
    others = found.where("late_row IS NOT NULL")
    assert sorted(map(repr, others.select("late_row.*").toArrow().to_pylist())) == sorted(
        map(repr, late.to_pylist())
    )
    assert others.where("query IS NOT NULL OR high IS NOT NULL OR `a.b` IS NOT NULL").isEmpty()
    assert stream.counts("late_rows") == 5
    assert stream.counts("matches") == found.where("query IS NOT NULL").count()
    stream.add([table.slice(0, 1)])
    with pytest.raises(StreamingQueryException, match="made for another query"):
        stream.run(HIGH, lambda rows, query, **options: situ.match(rows, {"high": query}, **options))
