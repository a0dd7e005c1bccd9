"""Rows that Spark's tasks leave out as ties (SEM 1.3) are told of on the driver, in every strategy."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import situ
from situ import cli
from situ.errors import OptionError
from situ.spark.batch.tied import n_tied_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HOUR = 3_600_000_000
ALL = "FROM w ORDER BY hour DEFINE Windy AS speed > 4 WITHIN 1 day"
BY_YEAR = ALL.replace("ORDER", "PARTITION BY year ORDER")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three stations, of which the last is calm; two files that follow each other in time."""
    folder = tmp_path_factory.mktemp("weather")
    for day in range(2):
        hours = [(day * 24 + hour) * HOUR for hour in range(24) for _ in range(3)]
        table = pa.table(
            {
                "hour": pa.array(hours, pa.int64()).cast(pa.timestamp("us", "UTC")),
                "origin": ["EWR", "JFK", "LGA"] * 24,
                "speed": [9.0, 8.0, 1.0] * 24,
                "year": pa.array([1970] * 72, pa.int32()),
            }
        )
        pq.write_table(table, folder / f"{day}.parquet")
    return folder


def results(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    """Not yet asked for: every way in which tasks can find ties."""
    df, path = spark.read.parquet(str(folder)), str(folder)
    every, by_year = situ.query(ALL), situ.query(BY_YEAR)
    return {
        "shuffle, partitioned": situ.match(df, by_year, strategy="shuffle"),
        "shuffle, unpartitioned": situ.match(df, every, strategy="shuffle"),
        "map-side": situ.match(df, every),
        "situations": situ.situations(df, by_year, strategy="shuffle"),
        "direct": situ.match_parquet(spark, path, by_year),
        "direct, whole": situ.match_parquet(spark, path, every, strategy="shuffle"),
        "situations of files": situ.situations_parquet(spark, path, every),
    }


def test_rows_left_out_are_told_of_when_an_action_runs(spark: SparkSession, folder: Path) -> None:
    for name, result in results(spark, folder).items():
        assert n_tied_rows(result) == 0, name
        with pytest.warns(situ.TiesWarning) as told:
            result.collect()
        assert len(told) == 1, name
        text = str(told[0].message)
        assert text.startswith("at least "), name
        assert "for example at 1970-01-" in text, name
        assert "situ.why(df, query)" in text, name
        assert told[0].filename == __file__, name  # the line that called situ
        assert n_tied_rows(result) == 96, name


def test_nothing_is_told_that_was_asked_for(spark: SparkSession, folder: Path) -> None:
    by_origin = situ.query(ALL.replace("ORDER", "PARTITION BY origin ORDER"))
    df = spark.read.parquet(str(folder))
    quiet = situ.match(df, situ.query(ALL), ties="last")
    without = situ.match(df, by_origin)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", situ.TiesWarning)
        quiet.collect()
        without.collect()
    assert not [one for one in told if one.category is situ.TiesWarning]
    assert (n_tied_rows(quiet), n_tied_rows(without)) == (96, 0)
    with pytest.raises(OptionError, match="does not count rows that share their time"):
        n_tied_rows(df)


def test_warnings_that_are_errors_do_not_stop_spark(spark: SparkSession, folder: Path) -> None:
    result = situ.match(spark.read.parquet(str(folder)), situ.query(ALL))
    result.collect()  # under the filters of the tests every warning is an error
    assert n_tied_rows(result) == 96


def test_rows_sorted_by_way_of_files_are_counted(spark: SparkSession, folder: Path) -> None:
    spark.conf.set("spark.situ.worker.memory", "1k")
    try:
        for strategy, text in (("shuffle", BY_YEAR), ("map-side", ALL)):
            df = spark.read.parquet(str(folder))
            result = situ.match(df, situ.query(text), strategy=strategy, ties="last")
            result.collect()
            assert n_tied_rows(result) == 96, (strategy, text)
    finally:
        spark.conf.unset("spark.situ.worker.memory")


def test_why_counts_them_and_names_the_column(spark: SparkSession, folder: Path) -> None:
    df = spark.read.parquet(str(folder))
    for text, advice in ((ALL, "PARTITION BY origin?"), (BY_YEAR, "PARTITION BY year, origin?")):
        answer = situ.why(df, situ.query(text))
        assert (answer.n_events, answer.n_tied_rows) == (48, 96)
        assert "the 96 rows that do are left out" in answer.verdict
        assert f"did you forget {advice}" in " ".join(str(answer).split())


@pytest.mark.parametrize("kind", ["timestamp_ntz", "date", "bigint"])
def test_rows_of_an_instant_are_found_again_in_every_type_of_time(spark: SparkSession, kind: str) -> None:
    days = spark.sql(
        "SELECT id, date_add(date '1969-12-20', CAST(id div 3 AS int)) AS day, id % 3 AS origin "
        "FROM range(60)"
    )
    times: dict[str, Any] = {
        "timestamp_ntz": "day + INTERVAL '1' HOUR",
        "date": "day",
        "bigint": "(id div 3) - 10",
    }
    events = days.selectExpr(f"CAST({times[kind]} AS {kind}) AS t", "CAST(origin AS string) AS origin")
    answer = situ.why(events, situ.query("FROM e ORDER BY t DEFINE A AS origin = '0'"))
    assert answer.n_tied_rows == 40
    assert answer.ties is not None
    assert answer.ties.columns == ("origin",)


def test_the_command_tells_all_of_it(
    spark: SparkSession, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["run", ALL, "--input", str(folder), "--spark", "--output"]
    assert cli.main([*asked, str(tmp_path / "found")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "warning: 96 rows are left out" in said
    assert "did you forget PARTITION BY origin?" in said
    assert cli.main([*asked, str(tmp_path / "again"), "--ties", "last"]) == 0
    assert "warning" not in capsys.readouterr().err
