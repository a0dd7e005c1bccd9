"""HAVING on batch DataFrames: every strategy reports what a table in process does (SEM 13.1)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import situ
from situ.errors import BindError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEXT = """FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 5, B AS x < 4 PATTERN A meets;before B
WITHIN 20 seconds RETURN A.ts AS a, B.ts AS b, sum(A.f) AS s, first(A.x) AS v
HAVING first(A.x) = first(B.x) + 5 AND s > 0 OR max(B.x) < 2"""
OTHER = TEXT.partition("HAVING")[0] + "HAVING count(A) > 2"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    random, n = np.random.default_rng(5), 1200
    times = (np.arange(n) // 3 * 1_000_000).astype("datetime64[us]")
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "k": np.arange(n) % 3,
            "x": random.integers(0, 10, n),
            "f": random.normal(size=n) * 10.0 ** random.integers(-8, 8, n),
        }
    )


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("having")
    for i in range(3):
        pq.write_table(table.slice(400 * i, 400), folder / f"part-{i}.parquet")
    return folder


def rows(found: pa.Table | DataFrame) -> list[str]:
    table = found if isinstance(found, pa.Table) else found.toArrow()
    names = [name for name in table.column_names if name != "match_time"]
    return sorted(map(repr, table.select(names).to_pylist()))


@pytest.mark.parametrize("strategy", ["direct", "map-side", "shuffle"])
def test_every_strategy_reports_the_same(
    spark: SparkSession, table: pa.Table, folder: Path, strategy: str
) -> None:
    df = spark.read.parquet(str(folder))
    wanted = situ.match(table, TEXT, match_id=True)
    assert 0 < wanted.num_rows < situ.match(table, TEXT.partition("HAVING")[0]).num_rows
    found = situ.match(df, TEXT, strategy=strategy, match_id=True)  # type: ignore[arg-type]
    assert found.columns == wanted.column_names
    assert rows(found) == rows(wanted)


def test_each_of_several_has_its_own(spark: SparkSession, table: pa.Table, folder: Path) -> None:
    several = {"p": TEXT, "q": OTHER, "r": TEXT.partition("HAVING")[0]}
    wanted = situ.match(table, several)
    found = situ.match(spark.read.parquet(str(folder)), several)
    for name in several:
        own = found.filter(found["query"] == name).select("k", f"{name}.*")
        assert rows(own) == rows(wanted[name])
    assert found.count() == sum(one.num_rows for one in wanted.values())


def test_what_only_spark_can_evaluate(spark: SparkSession, table: pa.Table, folder: Path) -> None:
    base = TEXT.partition("HAVING")[0]
    df = spark.read.parquet(str(folder))
    found = situ.match(df, f"{base} HAVING size(collect_list(A.x)) > 2")
    assert found.count() == situ.match(table, f"{base} HAVING count(A.x) > 2").num_rows
    with pytest.raises(BindError, match="Spark cannot evaluate RETURN or HAVING"):
        situ.match(df, f"{base} HAVING no_such_function(A.ts)")


def test_why_counts_what_it_rejects(spark: SparkSession, table: pa.Table, folder: Path) -> None:
    assert situ.why(spark.read.parquet(str(folder)), TEXT).verdict == situ.why(table, TEXT).verdict
