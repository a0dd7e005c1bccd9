"""`situ run`: formats, overwriting, atomic output, errors, and the progress bar."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import situ
from situ.cli import main
from situ.cli.progress import progress_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = "FROM t PARTITION BY k ORDER BY t DEFINE A AS x > 3 AT LEAST 2 RETURN A.ts AS since, avg(A.x) AS mean"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table({"k": ["p", "q"] * 50, "t": range(100), "x": [i // 2 % 10 for i in range(100)]})


@pytest.fixture
def events(table: pa.Table, tmp_path: Path) -> Path:
    pq.write_table(table, tmp_path / "events.parquet")
    return tmp_path / "events.parquet"


def left_over(folder: Path) -> list[str]:
    return [
        path.name for path in folder.iterdir() if path.name.startswith(".") and not path.name.endswith(".crc")
    ]


def test_parquet_in_and_out(
    spark: SparkSession, events: Path, table: pa.Table, tmp_path: Path, capsys
) -> None:
    query = tmp_path / "query.situ"
    query.write_text(TEXT)
    out = tmp_path / "found"
    assert main(["run", str(query), "--input", str(events), "--output", str(out), "--spark"]) == 0
    expected = situ.match(table, situ.query(TEXT))
    assert pq.read_table(out).num_rows == expected.num_rows
    assert f"{expected.num_rows} matches written to {out}" in capsys.readouterr().out
    assert left_over(tmp_path) == []


def test_csv_and_functions_of_spark(spark: SparkSession, table: pa.Table, tmp_path: Path) -> None:
    pa.csv.write_csv(table, tmp_path / "events.csv")
    out = tmp_path / "found.csv"
    text = TEXT.replace("x > 3", "soundex(k) <> '' AND x > 3")
    assert main(["run", text, "--input", str(tmp_path / "events.csv"), "--output", str(out)]) == 0
    lines = [line for part in out.glob("*.csv") for line in part.read_text().splitlines()]
    assert "k,since,mean,match_time" in lines


def test_what_is_there_stays_unless_told(spark: SparkSession, events: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "found"
    out.mkdir()
    (out / "precious").write_text("x")
    assert main(["run", TEXT, "--input", str(events), "--output", str(out), "--spark"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (out / "precious").exists()
    assert main(["run", TEXT, "--input", str(events), "--output", str(out), "--overwrite", "--spark"]) == 0
    assert not (out / "precious").exists()
    assert pq.read_table(out).num_rows > 0


def test_a_failed_run_leaves_nothing_behind(spark: SparkSession, tmp_path: Path, capsys) -> None:
    """An error in an executor: our message, no output, and what was there before is still there."""
    pq.write_table(
        pa.table({"k": ["p"] * 4, "t": [1, 2, 2, 3], "x": [1, 5, 5, 5]}), tmp_path / "ties.parquet"
    )
    out = tmp_path / "found"
    out.mkdir()
    (out / "old").write_text("x")
    arguments = [
        "--input",
        str(tmp_path / "ties.parquet"),
        "--output",
        str(out),
        "--overwrite",
        "--ties",
        "error",
        "--spark",
    ]
    assert main(["run", TEXT, *arguments]) == 1
    message = capsys.readouterr().err
    assert "two rows share the time 2" in message
    assert "('p',)" in message
    assert "Traceback" not in message
    assert (out / "old").exists()
    assert left_over(tmp_path) == []


def test_tables(spark: SparkSession, table: pa.Table, capsys) -> None:
    spark.createDataFrame(table).write.mode("overwrite").saveAsTable("run_events")
    try:
        arguments = [
            "run",
            TEXT,
            "--input",
            "run_events",
            "--output",
            "run_found",
            "--output-format",
            "table",
        ]
        assert main(arguments) == 0
        assert spark.table("run_found").count() == situ.match(table, situ.query(TEXT)).num_rows
        assert main(arguments) == 2
        assert "table run_found exists already" in capsys.readouterr().err
    finally:
        spark.sql("DROP TABLE IF EXISTS run_events")
        spark.sql("DROP TABLE IF EXISTS run_found")


def test_progress_is_shown_to_people_only(spark: SparkSession) -> None:
    shown, hidden = io.StringIO(), io.StringIO()
    slow = "SELECT java_method('java.lang.Thread', 'sleep', 20L) FROM range(60)"
    with progress_of(spark, Console(file=shown, force_terminal=True, width=100)):
        spark.sql(slow).collect()
    assert "stage 1" in shown.getvalue()
    with progress_of(spark, Console(file=hidden, force_terminal=False)):
        spark.range(10).count()
    assert hidden.getvalue() == ""
