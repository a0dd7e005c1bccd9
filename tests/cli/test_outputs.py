"""What the commands write without Spark: the same rows, whole or not at all, and what is said if not."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import situ
from files.test_files import little_room
from situ import cli

ROWS = pa.table({"k": ["p", "q"] * 500, "t": range(1000), "x": [i // 2 % 10 for i in range(1000)]})
QUERY = "FROM t PARTITION BY k ORDER BY t DEFINE A AS x > 3 AT LEAST 2 RETURN A.ts AS since, avg(A.x) AS mean"
FOUND = situ.match(ROWS, situ.query(QUERY)).sort_by([("match_time", "ascending"), ("k", "ascending")])


@pytest.fixture
def events(tmp_path: Path) -> Path:
    pq.write_table(ROWS, tmp_path / "events.parquet")
    return tmp_path / "events.parquet"


def run(events: Path, out: Path, *more: str) -> int:
    return cli.main(["run", QUERY, "--input", str(events), "--output", str(out), "--in-process", *more])


def read(out: Path) -> pa.Table:
    if out.suffix == ".csv":
        return pyarrow.csv.read_csv(out)
    if out.suffix == ".json":
        return pa.Table.from_pylist([json.loads(line) for line in out.read_text().splitlines()])
    return pq.read_table(out)


@pytest.mark.parametrize("name", ["found", "found.parquet", "found.csv", "found.json"])
def test_run_in_process(name: str, events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / name
    assert run(events, out) == 0
    assert capsys.readouterr().out.startswith(f"{FOUND.num_rows:,} matches written to {out} in ")
    written = read(out).sort_by([("match_time", "ascending"), ("k", "ascending")])
    assert written.to_pylist() == FOUND.to_pylist()
    assert out.is_dir() == (out.suffix == "")
    assert run(events, out) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(events, out, "--overwrite", "--match-id") == 0
    assert "match_id" in read(out).column_names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["events.parquet", name])


def test_what_run_in_process_cannot_do(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(events, Path("some.table"), "--output-format", "table") == 2
    assert "a table is written on Spark only" in capsys.readouterr().err
    assert run(events, Path("x"), "--strategy", "shuffle") == 2
    assert "strategy does not apply" in capsys.readouterr().err
    assert run(events, Path("x"), "--until", "2000") == 2
    assert "until does nothing here" in capsys.readouterr().err


def test_one_match_is_not_matches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = tmp_path / "few.parquet"
    pq.write_table(ROWS.take([8, 10, 12]), few)
    assert run(few, tmp_path / "found") == 0
    assert capsys.readouterr().out.startswith("1 match written to ")
    assert cli.main(["situations", QUERY, str(few), "--in-process"]) == 0
    assert "1 situation." in capsys.readouterr().out
    assert cli.main(["situations", QUERY, str(few), "--in-process", "--out", str(tmp_path / "x.csv")]) == 0
    assert "1 situation written" in capsys.readouterr().out


COMMANDS = {
    "run": ["run", QUERY, "--input", "{events}", "--output", "{out}", "--in-process", "--overwrite"],
    "situations": ["situations", QUERY, "{events}", "--out", "{out}", "--in-process", "--overwrite"],
    "generate": ["generate", "synthetic", "{out}", "--events", "9000", "--overwrite"],
    "plot": ["plot", QUERY, "{events}", "--out", "{out}", "--in-process"],
    "demo": ["demo", "--out", "{out}"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["/proc/nowhere/x.csv", "{folder}/a-file/x.csv"])
def test_places_that_cannot_be_written(
    command: str, place: str, events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a-file").touch()
    out = place.format(folder=tmp_path)
    assert cli.main([word.format(events=events, out=out) for word in COMMANDS[command]]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"error: {out}")
    assert "cannot be written" in message
    assert "\nHint: " in message


@pytest.mark.parametrize("command", ["run", "situations", "generate"])
def test_a_full_disk_destroys_nothing(
    command: str, events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    out.write_text("precious")
    argv = [word.format(events=events, out=out) for word in COMMANDS[command]]
    with little_room():
        assert cli.main(argv) == 1
    assert f"{out} cannot be written" in capsys.readouterr().err
    assert out.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events.parquet", "out.csv"]
    assert cli.main(argv) == 0
    assert out.read_bytes()[:8] != b"precious"


def test_pictures_on_a_full_disk(events: Path, tmp_path: Path) -> None:
    pictures = situ.plot(pq.read_table(events), situ.query(QUERY))
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "index.html").write_text("old")
    with little_room(), pytest.raises(situ.SituError, match=r"index\.html cannot be written"):
        pictures.save(tmp_path / "p")
    with little_room(), pytest.raises(situ.SituError, match=r"x\.svg cannot be written"):
        pictures[0].save(tmp_path / "p" / "x.svg")
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["index.html"]
    assert (tmp_path / "p" / "index.html").read_text() == "old"
