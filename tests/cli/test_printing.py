"""What `situ run` and `situ situations` print: rows on standard output, all else on standard error."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import situ
from situ import cli
from situ.cli.outputs import deliver

ROWS = pa.table({"k": ["p", "q"] * 500, "t": range(1000), "x": [i // 2 % 10 for i in range(1000)]})
QUERY = "FROM t PARTITION BY k ORDER BY t DEFINE A AS x > 3 AT LEAST 2 RETURN A.ts AS since, avg(A.x) AS mean"
FOUND = situ.match(ROWS, situ.query(QUERY))


@pytest.fixture
def events(tmp_path: Path) -> str:
    pyarrow.csv.write_csv(ROWS, tmp_path / "events.csv")
    return str(tmp_path / "events.csv")


def test_a_table_of_the_first(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert FOUND.num_rows > 20
    for options, n_rows in (([], 20), (["--limit", "3"], 3), (["--output-format", "table"], 20)):
        assert cli.main(["run", QUERY, events, *options]) == 0
        head, *lines, count = capsys.readouterr().out.splitlines()
        assert head.split() == ["k", "since", "mean", "match_time"]
        assert len(lines) == n_rows
        assert (
            count == f"The first {n_rows} of {FOUND.num_rows} matches; --limit shows more, --out writes all."
        )
    assert cli.main(["run", QUERY, events, "--limit", "9_999"]) == 0
    *lines, count = capsys.readouterr().out.splitlines()
    assert len(lines) == FOUND.num_rows + 1
    assert count == f"{FOUND.num_rows} matches."


@pytest.mark.parametrize("limit", [None, 3, 10_000])
def test_other_formats_are_all_rows_and_nothing_else(
    limit: int | None, events: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    expected = FOUND.slice(0, limit).to_pylist()
    options = [] if limit is None else ["--limit", str(limit)]
    for kind in ("csv", "json", "parquet"):
        assert cli.main(["run", QUERY, events, "--output-format", kind, *options]) == 0
        captured = capsysbinary.readouterr()
        if kind == "csv":
            rows = pyarrow.csv.read_csv(io.BytesIO(captured.out)).to_pylist()
        elif kind == "json":
            rows = [json.loads(line) for line in captured.out.splitlines()]
        else:
            rows = pq.read_table(io.BytesIO(captured.out)).to_pylist()
        assert rows == expected
        assert (b"The first 3 of" in captured.err) == (limit == 3)


def test_long_answers_come_in_blocks(
    events: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for rows_at_a_time in (50_000, 7):
        monkeypatch.setattr("situ.cli.outputs._ROWS_AT_A_TIME", rows_at_a_time)
        for kind in ("csv", "json"):
            assert cli.main(["run", QUERY, events, "--output-format", kind]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_no_matches(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = QUERY.replace("x > 3", "x > 99")
    assert cli.main(["run", nothing, events]) == 0
    assert capsys.readouterr().out.startswith("No matches. `situ why` with the same query and input")
    for kind, out in (("csv", '"k","since","mean","match_time"\n'), ("json", "")):
        assert cli.main(["run", nothing, events, "--output-format", kind]) == 0
        captured = capsys.readouterr()
        assert captured.out == out
        assert "No matches." in captured.err


def test_parquet_is_not_for_a_terminal(
    events: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert cli.main(["run", QUERY, events, "--output-format", "parquet"]) == 2
    assert "standard output is a terminal.\nHint: write it to a file with --out" in capsys.readouterr().err


def test_the_format_of_a_file(events: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its ending, or as told; a name without an ending is a folder."""
    for name, options in (("a.txt", ["--output-format", "csv"]), ("b", ["--output-format", "csv"])):
        out = tmp_path / name
        assert cli.main(["run", QUERY, events, "--out", str(out), "--limit", "5", *options]) == 0
        assert f"5 matches written to {out} in " in capsys.readouterr().out
        file = out if out.suffix else out / "part-0.csv"
        assert pyarrow.csv.read_csv(file).to_pylist() == FOUND.slice(0, 5).to_pylist()
    assert cli.main(["run", QUERY, events, "--out", str(tmp_path / "c.txt")]) == 2
    assert "c.txt names no format situ writes." in capsys.readouterr().err


def test_lists_in_csv_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    args = cli.build_parser().parse_args(["run", "q", "--output-format", "csv"])
    deliver(args, pa.table({"all": [[1, 2]]}), "match")
    assert capsys.readouterr().out == '"all"\n"[1,2]"\n'


def test_situations_are_printed_alike(events: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["situations", QUERY, events, "--output-format", "json", "--limit", "2"]) == 0
    assert [json.loads(line)["symbol"] for line in capsys.readouterr().out.splitlines()] == ["A", "A"]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_same_from_spark(events: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["run", QUERY, events, "--spark", "--quiet"]
    assert cli.main([*argv, "--output-format", "csv", "--on-bad-rows", "drop"]) == 0
    captured = capsys.readouterr()
    rows = pyarrow.csv.read_csv(io.BytesIO(captured.out.encode()))
    order = [("since", "ascending"), ("k", "ascending")]
    assert rows.sort_by(order).to_pylist() == FOUND.sort_by(order).to_pylist()
    assert captured.err == "0 rows without a time, or that could not be read, left out.\n"
    assert cli.main([*argv, "--limit", "4"]) == 0
    *lines, count = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert count == "The first 4 matches; --limit shows more, --out writes all."
    assert cli.main([*argv, "--limit", "4", "--out", str(tmp_path / "few")]) == 0
    assert pq.read_table(tmp_path / "few").num_rows == 4
