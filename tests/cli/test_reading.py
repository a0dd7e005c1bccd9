"""INPUT of the commands: files of every format, folders, tables, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from situ import cli

ROWS = pa.table({"k": [1, 1, 1, 2], "t": [1, 2, 3, 1], "x": [0, 5, 0, 5]})
QUERY = "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 3"


def write(folder: Path, name: str) -> Path:
    path = folder / name
    if name.endswith("parquet"):
        pq.write_table(ROWS, path)
    elif name.endswith("csv"):
        pyarrow.csv.write_csv(ROWS, path)
    else:
        ROWS.to_pandas().to_json(path, orient="records", lines=True)
    return path


def situations(capsys: pytest.CaptureFixture[str], *argv: str) -> list[list[str]]:
    assert cli.main(["situations", QUERY, *argv]) == 0
    *table, count = capsys.readouterr().out.strip().splitlines()
    assert count == f"{len(table) - 1} situations."
    return sorted(line.split() for line in table[1:])


EXPECTED = [["1", "A", "2", "3", "1"], ["2", "A", "1", "-", "1"]]


@pytest.mark.parametrize("name", ["e.parquet", "e.csv", "e.json"])
def test_files_and_folders(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, name)
    assert situations(capsys, str(path), "--in-process") == EXPECTED
    assert situations(capsys, "--input", str(tmp_path), "--in-process") == EXPECTED


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["e.parquet", "e.csv"])
def test_the_same_on_spark(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert situations(capsys, str(write(tmp_path, name))) == EXPECTED


def test_output_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [QUERY, str(write(tmp_path, "e.csv")), "--in-process", "--out", str(tmp_path / "found.parquet")]
    assert cli.main(["situations", *argv]) == 0
    assert "2 situations written" in capsys.readouterr().out
    assert pq.read_table(tmp_path / "found.parquet").num_rows == 2
    assert cli.main(["situations", *argv]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "nothing to read"),
        (["no/such/file.parquet"], "no file or folder no/such/file.parquet"),
        (["nowhere", "--in-process"], "is no file"),
        (["{folder}/e.txt"], "does not say what it holds"),
        (["{folder}/e.csv", "{folder}/e.parquet"], "several formats: csv, parquet"),
        (["{folder}/e.csv", "--in-process", "--strategy", "shuffle"], "strategy does not apply"),
    ],
)
def test_what_cannot_be_read(
    argv: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "e.csv")
    write(tmp_path, "e.parquet")
    (tmp_path / "e.txt").write_text("?")
    assert cli.main(["situations", QUERY, *(a.format(folder=tmp_path) for a in argv)]) == 2
    assert said in capsys.readouterr().err


def test_no_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "e.csv")
    assert cli.main(["situations", QUERY.replace("> 3", "> 99"), str(path), "--in-process"]) == 0
    assert "`situ why`" in capsys.readouterr().out
