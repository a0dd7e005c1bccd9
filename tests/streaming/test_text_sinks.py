"""Every text sink on Spark, batch and stream, reads back to the microsecond with Spark's own readers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from situ.cli import stream_io
from situ.cli.outputs import deliver
from situ.spark.batch.write import save_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FLAT = """timestamp'2024-01-01 00:00:00.123456' AS ts, timestamp'2024-01-01 00:00:00.123457' AS te,
timestamp_ntz'1999-12-31 23:59:59.999999' AS local, timestamp'1883-01-01 00:00:00.000001' AS early,
interval '1 02:03:04.000005' day to second AS lasted"""
NESTED = """, named_struct('at', timestamp'2024-01-01 00:00:00.000001',
'all', array(timestamp_ntz'2024-01-01 00:00:00.000002')) AS s,
map('k', timestamp'2024-01-01 00:00:00.9') AS m"""


def rows(spark: SparkSession, kind: str) -> DataFrame:
    return spark.sql(f"SELECT {FLAT}{NESTED if kind == 'json' else ''}")  # CSV has no nested columns


def same(found: DataFrame, wanted: DataFrame) -> None:
    assert found.schema.simpleString() == wanted.schema.simpleString()
    assert found.toArrow().to_pylist() == wanted.toArrow().to_pylist()


@pytest.fixture
def zone(spark: SparkSession) -> Any:
    """A session whose zone had an offset with seconds once."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_folders_of_a_batch(spark: SparkSession, zone: None, tmp_path: Path, kind: str) -> None:
    """`situ run` and `situ situations --out`."""
    wanted = rows(spark, kind)
    save_folder(wanted, str(tmp_path / "run"), kind)
    out = tmp_path / f"out.{kind}"
    args = argparse.Namespace(out=str(out), output_format=None, overwrite=False, limit=None, on_bad_rows=None)
    deliver(args, wanted, "match")
    for folder in (tmp_path / "run", out):
        reader = spark.read.schema(wanted.schema).option("header", "true")
        same(reader.format(kind).load(str(folder)), wanted)


def test_arrays_in_csv_are_json(spark: SparkSession, tmp_path: Path) -> None:
    wanted = spark.sql("SELECT array(1.5D, 2D) AS `x.y`, array('a', 'b') AS s, 7 AS n")
    save_folder(wanted, str(tmp_path / "run"), "csv")
    found = spark.read.option("header", "true").csv(str(tmp_path / "run")).collect()
    assert [tuple(row) for row in found] == [("[1.5,2.0]", '["a","b"]', "7")]


@pytest.mark.parametrize("sink", ["json", "csv", "console"])
def test_sinks_of_a_stream(
    spark: SparkSession, zone: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], sink: str
) -> None:
    """`situ stream`; the Kafka sink writes what the console shows, and has a test with a broker."""
    wanted = rows(spark, sink if sink == "csv" else "json")
    wanted.write.parquet(str(tmp_path / "in"))
    args = argparse.Namespace(
        sink="console" if sink == "console" else "files", output=str(tmp_path / "out"), output_format=sink,
        checkpoint=str(tmp_path / "state"), until_done=True, trigger=None,
    )  # fmt: skip
    stream = spark.readStream.schema(wanted.schema).parquet(str(tmp_path / "in"))
    stream_io.sink(stream, args).start().awaitTermination()
    if sink == "console":
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "shown.json").write_text(capsys.readouterr().out)
    reader = spark.read.schema(wanted.schema).format("csv" if sink == "csv" else "json")
    same(reader.load(str(tmp_path / "out")), wanted)
