"""The `situ` command as a shell sees it: what it prints where, and its exit codes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from situ import cli
from situ._version import __version__
from situ.cli.common import instant, positive
from situ.errors import DataError, OptionError, QueryError
from situ.plan.stages import STAGES
from situ.sources import synthetic_table

QUERY = "FROM s ORDER BY t DEFINE A AS a, B AS b PATTERN A overlaps B WITHIN 10"


def test_without_a_command_it_is_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("usage: situ ")
    assert "    run " in captured.out
    assert captured.err == ""


def test_bench_is_listed_where_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "    bench " in cli.build_parser().format_help()
    monkeypatch.setattr(cli.bench, "CHECKOUT", tmp_path)
    assert "bench" not in cli.build_parser().format_help()
    with pytest.raises(SystemExit, match="2"):
        cli.main(["benhc"])
    assert "bench" not in capsys.readouterr().err
    assert cli.main(["bench", "--list"]) == 2
    assert "runs from a checkout of situ" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"situ {__version__}\n"


@pytest.mark.parametrize("command", [module.__name__.rpartition(".")[2] for module in cli.COMMANDS])
def test_help_of_every_command_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main([command, "--help"])
    out = capsys.readouterr().out
    assert f"\nexamples:\n  situ {command}" in out


@pytest.mark.parametrize(
    "argv", [["explane"], ["generate", "traffic"], ["generate", "traffic", "x", "--cars", "0"]]
)
def test_wrong_calls_exit_with_2(argv: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(argv)


@pytest.mark.parametrize(
    ("error", "code"),
    [(OptionError("no such option"), 2), (QueryError("bad [A] query"), 2), (DataError("null time"), 1)],
)
def test_errors_are_messages_and_exit_codes(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(args: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr(cli.explain, "run", fail)
    assert cli.main(["explain", QUERY]) == code
    captured = capsys.readouterr()
    assert captured.err == f"error: {error}\n"
    assert captured.out == ""
    with pytest.raises(type(error)):
        cli.main(["--traceback", "explain", QUERY])


def test_a_bug_of_ours_is_not_dressed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.explain, "run", lambda args: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["explain", QUERY])


def test_explain_takes_text_a_file_and_stdin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "overlap.situ"
    file.write_text(QUERY)
    answers = []
    for argument in (QUERY, str(file), "-"):
        with file.open() as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert cli.main(["explain", argument]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] == answers[2]
    assert "overlaps" in answers[0]


def test_explain_of_a_wrong_query_points_at_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", QUERY.replace("overlaps", "overlapz")]) == 2
    assert "^" in capsys.readouterr().err


def test_stages_take_text_a_file_and_stdin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "overlap.situ"
    file.write_text(QUERY)
    answers = []
    for argument in (QUERY, str(file), "-"):
        with file.open() as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            assert cli.main(["explain", "--stages", argument]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1] == answers[2]
    without_table = [stage.name for stage in STAGES if not stage.needs_table]
    assert headings(answers[0]) == without_table
    assert "    A overlaps B  B overlapped-by A\n" in answers[0]


def headings(out: str) -> list[str]:
    return [line.partition(". ")[2] for line in out.splitlines() if line[:1].isdigit()]


def test_stages_of_a_wrong_query_end_where_it_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = QUERY.replace("overlaps", "overlapz")
    assert cli.main(["explain", wrong]) == 2
    usual = capsys.readouterr().err
    assert cli.main(["explain", "--stages", wrong]) == 2
    captured = capsys.readouterr()
    assert captured.err == usual
    assert headings(captured.out) == ["text", "tokens", "clauses", "parts"]
    assert captured.out.endswith("by read_clauses in situ.language.situations.parser\n\n")
    assert cli.main(["explain", "--stages", "nowhere.situ"]) == 2
    assert capsys.readouterr().out == ""


def test_stages_with_input_are_bound_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "events.parquet")
    pq.write_table(synthetic_table(["a", "b"], 10, seed=1), file)
    query = QUERY.replace("ORDER BY t ", "ORDER BY ts ").replace("10", "10 seconds")
    assert cli.main(["explain", "--stages", query, file, "--in-process"]) == 0
    out = capsys.readouterr().out
    assert headings(out) == [stage.name for stage in STAGES]
    assert "    WITHIN 10 seconds  10,000,000\n" in out

    for wrong in (query.replace("ORDER BY ts", "ORDER BY tz"), query.replace("seconds", "")):
        assert cli.main(["explain", wrong, file, "--in-process"]) == 2
        usual = capsys.readouterr().err
        assert cli.main(["explain", "--stages", wrong, file, "--in-process"]) == 2
        captured = capsys.readouterr()
        assert captured.err == usual
        assert headings(captured.out)[-1] == "bound query"
    assert cli.main(["explain", "--stages", query, "nowhere.csv", "--in-process"]) == 2
    assert "there is no file or folder nowhere.csv" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_stages_with_input_on_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "events.parquet")
    pq.write_table(synthetic_table(["a", "b"], 10, seed=1), file)
    query = QUERY.replace("ORDER BY t ", "ORDER BY ts ").replace("10", "10 seconds")
    answers = []
    for options in (["--spark"], ["--in-process"]):
        assert cli.main(["explain", "--stages", query, file, *options]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


def test_explain_of_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "nowhere.situ"]) == 2
    assert "neither a query nor a file" in capsys.readouterr().err


def test_generate_synthetic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "events.parquet"
    argv = ["generate", "synthetic", str(out), "--symbols", "door,alarm", "--events", "2e3", "--seed", "5"]
    assert cli.main(argv) == 0
    assert capsys.readouterr().out == f"2,000 events written to {out}\n"
    assert pq.read_table(out).equals(synthetic_table(["door", "alarm"], 2000, seed=5))

    assert cli.main(argv) == 2
    assert "exists already" in capsys.readouterr().err
    assert cli.main([*argv, "--overwrite", "--gap", "9", "3"]) == 2
    assert pq.read_table(out).num_rows == 2000  # a wrong option replaces nothing
    assert cli.main([*argv, "--overwrite", "--events", "10"]) == 0
    assert pq.read_table(out).num_rows == 10


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_generate_traffic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "cars"
    assert cli.main(["generate", "traffic", str(out), "--cars", "7", "--hours", "0.5", "--files", "1"]) == 0
    rows = sum(pq.read_metadata(path).num_rows for path in out.glob("*.parquet"))
    assert capsys.readouterr().out == f"{rows:,} events written to {out}\n"
    assert rows > 7 * 1200


@pytest.mark.parametrize("text", ["x", "0", "-1", "inf", "nan", "1.5"])
def test_numbers_that_are_not_whole_and_above_zero(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=text):
        positive(int)(text)


def test_numbers_and_times() -> None:
    assert positive(int)("5_000_000") == positive(int)("5e6") == 5_000_000
    assert positive(float)("0.5") == 0.5
    assert instant("2024-01-01").isoformat() == "2024-01-01T00:00:00+00:00"
    assert instant("2024-01-01T06:00:00+02:00").isoformat() == "2024-01-01T06:00:00+02:00"
    with pytest.raises(argparse.ArgumentTypeError, match="soon"):
        instant("soon")
