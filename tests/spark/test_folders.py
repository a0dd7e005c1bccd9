"""Hive folders whose names or values need escaping: every way of reading files sees what Spark sees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import situ
from situ.carry.batch.opening import folder_texts
from situ.errors import BindError
from situ.spark.batch.job import n_bad_rows
from situ.spark.files.footers import folder_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ["k", "a:b", "a=b", "a%b", "ä b", "a%20b"]
VALUES = [
    "1",
    "a:b",
    "a=b",
    "a%b",
    "a b",
    "a%20b",
    "a%2520b",
    "é日",
    "a'b",
    "a#b?",
    "100%",
    "x+y",
    "a;b",
    "²",
]
RAW = ["a%20b", "a%2520b", "a%C3%A9", "%zz", "5%", "é", "a%3ab", "a b", "__HIVE_DEFAULT_PARTITION__", "x%"]


def events(instant: int) -> pa.Table:
    """One situation, at an instant of its own."""
    times = pa.array([instant * 10, instant * 10 + 1], pa.int64())
    return pa.table({"ts": times, "x": [5, 0]})


def matches(result: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in result.collect()), key=str)


@pytest.fixture
def mounted(spark: SparkSession, tmp_path: Path) -> Any:
    """The folder under a name that only Spark's own libraries understand."""
    name = f"folders{abs(hash(tmp_path))}"
    link = f"fs.viewfs.mounttable.{name}.link./data"
    spark.conf.set(link, tmp_path.as_uri())
    yield f"viewfs://{name}/data"
    spark.conf.unset(link)


def check(spark: SparkSession, folder: Path, name: str, mounted: str = "") -> None:
    """What Spark reads is read by Arrow, and handed over by Spark where a name for that is given."""
    column = "`" + name.replace("`", "``") + "`"
    returned = f"RETURN A.ts AS since, last(A.{column}) AS v"
    text = f"FROM t PARTITION BY {column} ORDER BY ts DEFINE A AS x > 1 {returned}"
    query, df = situ.query(text), spark.read.parquet(str(folder))
    truth = sorted(
        ((row[0], row[1], row[0], row[1]) for row in df.where("x > 1").select(column, "ts").collect()),
        key=str,
    )
    assert truth
    assert matches(situ.match_parquet(spark, str(folder), query)) == truth
    if mounted:
        assert matches(situ.match(df, query)) == truth
        assert matches(situ.match_parquet(spark, mounted, query)) == truth
        assert matches(situ.match_parquet(spark, str(folder), query, strategy="shuffle")) == truth
    some = next(str(row[0]) for row in truth if row[0] is not None)
    literal = some.replace("\\", "\\\\").replace("'", "\\'")
    chosen = situ.query(text.replace("PARTITION", f"WHERE {column} = '{literal}' PARTITION"))
    found = matches(situ.match_parquet(spark, str(folder), chosen))
    assert found == [row for row in truth if str(row[0]) == some]


def test_values_that_spark_wrote(spark: SparkSession, tmp_path: Path, mounted: str) -> None:
    tables = [events(i).append_column("k", pa.array([value] * 2)) for i, value in enumerate([*VALUES, None])]
    whole = spark.createDataFrame(pa.concat_tables([t.cast(tables[0].schema) for t in tables]))
    whole.coalesce(1).write.mode("overwrite").partitionBy("k").parquet(str(tmp_path))
    check(spark, tmp_path, "k", mounted)
    found = {row[0] for row in spark.read.parquet(str(tmp_path)).select("k").distinct().collect()}
    assert found == {*VALUES, None}


def test_names_that_spark_wrote(spark: SparkSession, tmp_path: Path) -> None:
    first = events(0)
    for name in NAMES:
        first = first.append_column(name, pa.array(["v w"] * 2))
    df = spark.createDataFrame(first)
    df.coalesce(1).write.mode("overwrite").partitionBy(*NAMES).parquet(str(tmp_path))
    for name in ("a:b", "a%20b"):
        check(spark, tmp_path, name)
    assert set(NAMES) <= set(folder_texts(sorted(spark.read.parquet(str(tmp_path)).inputFiles())[0]))


def test_folders_that_others_made(spark: SparkSession, tmp_path: Path, mounted: str) -> None:
    for i, raw in enumerate(RAW):
        (tmp_path / f"k={raw}").mkdir()
        pq.write_table(events(i), tmp_path / f"k={raw}" / "part.parquet")
    check(spark, tmp_path, "k", mounted)


@pytest.mark.parametrize(
    "values",
    [["1", "02", "-3"], ["1.5", "2"], ["2024-01-05", "2023-12-31"]],
    ids=lambda values: values[0],
)
def test_values_of_other_types(spark: SparkSession, tmp_path: Path, values: list[str]) -> None:
    for i, value in enumerate(values):
        (tmp_path / f"k={value}").mkdir()
        pq.write_table(events(i), tmp_path / f"k={value}" / "part.parquet")
    check(spark, tmp_path, "k")


def test_a_folder_above_what_is_read_is_no_column(spark: SparkSession, tmp_path: Path) -> None:
    """As to Spark: the file's own column counts."""
    (tmp_path / "k=7").mkdir()
    table = events(0).append_column("k", pa.array(["own", "own"]))
    pq.write_table(table, tmp_path / "k=7" / "part.parquet")
    query = situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 1")
    found = situ.match_parquet(spark, str(tmp_path / "k=7"), query, on_bad_rows="drop")
    assert [row["k"] for row in found.collect()] == ["own"]
    assert n_bad_rows(found) == 0


def test_a_number_that_only_java_reads_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    for i, value in enumerate(("1d", "2.5")):
        (tmp_path / f"k={value}").mkdir()
        pq.write_table(events(i), tmp_path / f"k={value}" / "part.parquet")
    if dict(spark.read.parquet(str(tmp_path)).dtypes)["k"] != "double":
        pytest.fail("Spark reads 1d as something else than a double now")
    with pytest.raises(BindError, match=r"hold '1d', which Spark reads as a double.*\n?.*spark.read.parquet"):
        situ.match_parquet(spark, str(tmp_path), situ.query("FROM t ORDER BY ts DEFINE A AS x > 1"))


def test_numbers_written_in_several_ways_are_one_group() -> None:
    paths = [f"file:///t/k={value}/a.parquet" for value in ("1", "01", "1.0", "a%2520b", "a b")]
    groups = [folder_values(path, ["k"]) for path in paths]
    assert groups[0] == groups[1] == groups[2]
    assert groups[3] == ("a b",) == groups[4]
