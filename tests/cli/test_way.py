"""Where commands run: in process what fits in memory, on Spark what was asked for or needs it."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from situ import cli
from situ.cli import way

ROWS = pa.table({"k": [1, 1, 1, 2], "t": [1, 2, 3, 1], "x": [0, 5, 0, 5]})
QUERY = "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 3"
ONLY_SPARK = QUERY.replace("x > 3", "soundex(k) = 'a'")


@pytest.fixture
def events(tmp_path: Path) -> str:
    pyarrow.csv.write_csv(ROWS, tmp_path / "e.csv")
    return str(tmp_path / "e.csv")


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which PySpark was never installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)


@pytest.mark.parametrize("command", ["run", "situations", "why", "explain"])
@pytest.mark.usefixtures("without_spark")
def test_small_files_need_no_spark(command: str, events: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, QUERY, events]) == 0
    captured = capsys.readouterr()
    assert captured.err == "in process: 36 bytes fit in memory.\n"
    assert captured.out
    assert cli.main([command, QUERY, events, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("without_spark")
def test_pictures_need_no_spark(events: str, tmp_path: Path) -> None:
    argv = ["plot", QUERY, events, "--out", str(tmp_path / "out"), "--output-format", "html"]
    assert cli.main(argv) == 0
    assert (tmp_path / "out" / "index.html").exists()


@pytest.mark.usefixtures("without_spark")
@pytest.mark.parametrize(
    ("argv", "said", "code"),
    [
        ([QUERY, "{events}", "--spark"], "--spark is for Spark, and PySpark is not installed.", 1),
        ([QUERY, "{events}", "--master", "yarn"], "--master is for Spark, and PySpark", 1),
        ([QUERY, "{events}", "--strategy", "shuffle"], "--strategy is for Spark, and PySpark", 1),
        ([QUERY, "some_table"], "some_table is no file, so it is taken for a Spark table, and PySpark", 1),
        ([QUERY, "s3a://lake/e.csv"], "s3a://lake/e.csv is not on this machine, and PySpark", 1),
        ([QUERY, "{events}", "--out", "s3a://lake/x"], "s3a://lake/x is not on this machine, and", 1),
        (
            [QUERY, "{events}", "--out", "x", "--output-format", "table"],
            "a table is written on Spark only",
            1,
        ),
        ([ONLY_SPARK, "{events}"], "SOUNDEX cannot be evaluated in process", 2),
    ],
)
def test_what_needs_spark_names_the_extra(
    argv: list[str], said: str, code: int, events: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", *(word.format(events=events) for word in argv)]) == code
    message = capsys.readouterr().err
    assert said in message
    assert 'pip install "situ[spark]"' in message


@pytest.mark.usefixtures("without_spark")
@pytest.mark.parametrize(
    "argv",
    [
        ["demo", "--out", "{folder}/demo"],
        ["generate", "traffic", "{folder}/cars"],
        ["stream", QUERY, "--source", "rate", "--sink", "console", "--checkpoint", "{folder}/c"],
        ["state", "{folder}"],
    ],
)
def test_commands_that_need_spark(
    argv: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([word.format(folder=tmp_path) for word in argv]) == 1
    message = capsys.readouterr().err
    assert f"error: situ {argv[0]}" in message
    assert 'needs PySpark, which is not installed\nHint: pip install "situ[spark]"' in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["{events}", "--in-process", "--spark"], "--in-process and --spark exclude each other."),
        (["{events}", "--in-process", "--master", "yarn"], "--in-process and --master exclude each other."),
        (["s3a://lake/e.csv", "--in-process"], "s3a://lake/e.csv is not on this machine."),
        (["one_table", "other_table"], "of Spark tables one can be read"),
    ],
)
def test_what_excludes_each_other(
    argv: list[str], said: str, events: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", QUERY, *(word.format(events=events) for word in argv)]) == 2
    assert said in capsys.readouterr().err


def test_what_does_not_fit(
    events: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needed = way.memory_for([events], "csv")
    for free, fits in ((2 * needed, True), (2 * needed - 2, False), (None, True)):
        monkeypatch.setattr(way, "free_bytes", lambda free=free: free)
        assert way._by_size([events], "csv").on_spark != fits
    monkeypatch.setattr(way, "free_bytes", lambda: needed)
    assert way._by_size([events], "csv").why == (
        f"{events} would take about {needed} bytes of memory, more than half of what is free"
    )
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert cli.main(["run", QUERY, events]) == 1
    message = capsys.readouterr().err
    assert "more than half of what is free, and PySpark is not installed." in message
    assert "--in-process to try without" in message
    assert cli.main(["run", QUERY, events, "--in-process"]) == 0


def test_how_much_memory_files_take(tmp_path: Path) -> None:
    many = pa.table({"t": range(100_000), "same": ["a long text that is always the same"] * 100_000})
    pq.write_table(many, tmp_path / "e.parquet")
    on_disk = (tmp_path / "e.parquet").stat().st_size
    assert way.memory_for([str(tmp_path)], "parquet") >= many.nbytes > on_disk
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(b"t,x\n" + b"1,2\n" * 1000))
    assert way.memory_for([str(tmp_path / "e.csv.gz")], "csv") > 5 * (tmp_path / "e.csv.gz").stat().st_size


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_spark_is_said_and_evaluates_the_rest(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = QUERY.replace("x > 3", "soundex(CAST(k AS string)) <> '' AND x > 3") + " RETURN A.ts AS since"
    assert cli.main(["run", query, events, "--output-format", "csv"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines()[0] == "in process: 36 bytes fit in memory."
    assert captured.err.splitlines()[1].startswith("on Spark: ")
    assert "SOUNDEX" in captured.err
    assert sorted(captured.out.splitlines()) == ['"k","since","match_time"', "1,2,2", "2,1,1"]
    assert cli.main(["run", QUERY, "no_such_table", "--quiet"]) == 2
    assert "there is no file and no Spark table no_such_table." in capsys.readouterr().err


def test_no_command_imports_spark_to_begin_with() -> None:
    """Nor anything else that takes long: `situ --help` is to be there at once."""
    code = "import sys, situ.cli; situ.cli.build_parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pyspark", "pandas", "rich", "numba", "pyarrow.csv"} & set(done.stdout.split())
