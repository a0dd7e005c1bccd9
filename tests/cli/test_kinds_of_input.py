"""Arrow files, packed files, standard input, and files that need a second look: the same rows from all."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from situ import cli
from situ.cli.files import format_of

ROWS = pa.table({"k": [1, 1, 1, 2], "t": [1, 2, 3, 1], "x": [0, 5, 0, 5]})
QUERY = "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 3 RETURN A.ts AS since"
EXPECTED = '"k","since","match_time"\n2,1,1\n1,2,2\n'


def contents() -> dict[str, bytes]:
    """The rows as files of every kind that is read."""
    files = {name: io.BytesIO() for name in ("csv", "json", "parquet", "feather", "arrow", "stream")}
    pyarrow.csv.write_csv(ROWS, files["csv"])
    ROWS.to_pandas().to_json(files["json"], orient="records", lines=True)
    pq.write_table(ROWS, files["parquet"])
    pyarrow.feather.write_feather(ROWS, files["feather"], compression="lz4")
    for name, new in (("arrow", pa.ipc.new_file), ("stream", pa.ipc.new_stream)):
        with new(files[name], ROWS.schema) as writer:
            writer.write_table(ROWS)
    made = {name: file.getvalue() for name, file in files.items()}
    return made | {f"{name}.gz": gzip.compress(made[name]) for name in ("csv", "json")}


CONTENTS = contents()


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    code = cli.main(["run", QUERY, *argv, "--quiet", "--output-format", "csv"])
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


@pytest.mark.parametrize("kind", CONTENTS)
def test_files(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"e.{'arrow' if kind == 'stream' else kind}"
    path.write_bytes(CONTENTS[kind])
    assert printed(capsys, str(path)) == EXPECTED
    assert printed(capsys, "--input", str(tmp_path)) == EXPECTED


def send(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


@pytest.mark.parametrize("kind", CONTENTS)
def test_standard_input(
    kind: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    send(monkeypatch, CONTENTS[kind])
    assert printed(capsys, "-") == EXPECTED
    assert list(tmp_path.iterdir()) == []  # nothing is left of it
    if kind == "csv":
        send(monkeypatch, CONTENTS[kind])
        assert cli.main(["run", QUERY, "-", "--format", "json"]) == 1
        assert "standard input cannot be read as json, line 1" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []


def test_standard_input_of_a_process(tmp_path: Path) -> None:
    for data, said in ((b"", "standard input is empty."), (b"k,t,x\n", "no rows in standard input.")):
        argv = [sys.executable, "-m", "situ.cli", "run", QUERY, "-"]
        done = subprocess.run(argv, input=data, capture_output=True, cwd=tmp_path)
        assert done.returncode == 1
        assert said in done.stderr.decode()
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-", "-"], "QUERY and INPUT are both -"),
        ([QUERY, "-", "-"], "INPUT names standard input twice"),
        ([QUERY, "-", "--format", "table"], "standard input is no Spark table"),
    ],
)
def test_standard_input_is_one_thing(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", *argv]) == 2
    assert said in capsys.readouterr().err


def test_a_terminal_is_no_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=SimpleNamespace(isatty=lambda: True)))
    assert cli.main(["run", QUERY, "-"]) == 2
    assert "standard input is a terminal" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", None)
    assert cli.main(["run", QUERY, "-"]) == 1
    assert "standard input is closed" in capsys.readouterr().err


def test_types_that_the_beginning_of_a_file_does_not_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arrow looks at a megabyte; a column may be empty there, or whole numbers, and have more later."""
    n_rows = 300_000
    lines = [f"{i},,0" for i in range(n_rows)] + [f"{n_rows},5,0.5", f"{n_rows + 1},0,7"]
    (tmp_path / "e.csv").write_text("t,x,y\n" + "\n".join(lines) + "\n")
    query = "FROM e ORDER BY t DEFINE A AS x > 3 RETURN first(A.y) AS y"
    assert cli.main(["run", query, str(tmp_path / "e.csv"), "--output-format", "csv", "--quiet"]) == 0
    assert capsys.readouterr().out == f'"y","match_time"\n0.5,{n_rows}\n'


def test_what_an_address_holds() -> None:
    assert format_of(["s3a://lake/cars", "s3a://lake/more.parquet"]) == "parquet"
    assert format_of(["s3a://lake/cars.csv"]) == "csv"


def test_text_that_is_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("k,t,x,city\n1,1,5,Zürich\n", encoding="latin1")
    assert cli.main(["run", QUERY, str(tmp_path / "e.csv")]) == 1
    assert "is not text in UTF-8: column city has other bytes.\nHint: convert" in capsys.readouterr().err


BAD_JSON = '{"k": 1, "t": 1, "x": 0}\n{"k": 1, "t": \n\n[1]\n{"k": 1, "t": 2, "x": 5}\nnull\n"x"\n'


@pytest.mark.parametrize("is_packed", [False, True])
def test_json_that_cannot_be_read_is_dropped_and_counted(
    is_packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ("e.json.gz" if is_packed else "e.json")
    path.write_bytes(gzip.compress(BAD_JSON.encode()) if is_packed else BAD_JSON.encode())
    argv = ["run", QUERY, str(path), "--output-format", "csv", "--quiet"]
    assert cli.main(argv) == 1
    message = capsys.readouterr().err
    assert 'line 2: \'{"k": 1, "t":\' is no JSON object.' in message
    assert "--on-bad-rows drop" in message
    assert cli.main([*argv, "--on-bad-rows", "drop"]) == 0
    captured = capsys.readouterr()
    assert captured.out == '"k","since","match_time"\n1,2,2\n'
    assert captured.err == "4 rows that could not be read left out.\n"


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_spark_drops_the_same_json_and_takes_arrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.json").write_text(BAD_JSON)
    argv = ["run", QUERY, "--output-format", "csv", "--quiet", "--spark"]
    assert cli.main([*argv, str(tmp_path / "e.json"), "--on-bad-rows", "drop"]) == 0
    captured = capsys.readouterr()
    assert captured.out == '"k","since","match_time"\n1,2,2\n'
    assert captured.err.startswith("4 rows ")
    (tmp_path / "e.arrow").write_bytes(CONTENTS["arrow"])
    assert cli.main([*argv, str(tmp_path / "e.arrow")]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(EXPECTED.splitlines())
    send(monkeypatch, CONTENTS["csv.gz"])
    assert cli.main([*argv, "-"]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(EXPECTED.splitlines())
