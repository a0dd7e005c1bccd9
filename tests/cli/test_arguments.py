"""Wrong calls: the word that is wrong, the one that was meant, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from situ import cli


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["rnu"], "has no command rnu.\nHint: did you mean run?"),
        (["explane", "q"], "did you mean explain?"),
        (["zzz"], "The commands are demo, run,"),
        (["generate", "trafic", "x"], "has no kind trafic.\nHint: did you mean traffic?"),
        (["run", "q", "--outptu", "x"], "`situ run` has no option --outptu.\nHint: did you mean --output?"),
        (["run", "q", "--outptu=x"], "has no option --outptu."),
        (["generate", "synthetic", "x", "--evnts", "3"], "did you mean --events?"),
        (["--versoin"], "`situ` has no option --versoin.\nHint: did you mean --version?"),
        (["why", "q", "x", "-z"], "`situ why` has no option -z."),
        (["situations", "q", "x", "--strategy", "shuffel"], "is not one of auto, direct, map-side, shuffle."),
        (["situations", "q", "x", "--strategy", "shuffel"], "did you mean shuffle?"),
        (["generate", "synthetic", "x", "--events", "many"], "'many' is not a number"),
        (["FROM t DEFINE A AS x"], 'a command comes first, as in `situ run "FROM t DEFINE A AS x"`'),
        (["explain"], "`situ explain`: the following arguments are required: QUERY."),
        (["generate", "traffic"], "the following arguments are required: FOLDER."),
        (["--traceback"], "the following arguments are required: COMMAND."),
        (["run", "q", "x", "--output-format", "jsn"], "did you mean json?"),
        (["completion", "bsh"], "did you mean bash?"),
    ],
)
def test_what_a_wrong_call_is_told(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(argv)
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert said in captured.err
    assert "--help` shows how to call it." in captured.err
    assert captured.out == ""


def test_a_file_is_no_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "q.situ"
    path.touch()
    with pytest.raises(SystemExit, match="2"):
        cli.main([str(path)])
    assert f"`situ run {path}`" in capsys.readouterr().err


def test_options_may_stand_anywhere() -> None:
    parse = cli.build_parser().parse_args
    for argv in (
        ["run", "q", "a.csv", "b.csv", "--limit", "3", "--spark"],
        ["run", "q", "--limit", "3", "a.csv", "b.csv", "--spark"],
        ["run", "q", "--limit", "3", "a.csv", "--spark", "b.csv"],
        ["run", "--limit", "3", "--spark", "q", "a.csv", "b.csv"],
        ["run", "--spark", "q", "--limit", "3", "--", "a.csv", "b.csv"],
    ):
        args = parse(argv)
        assert (args.query, args.inputs, args.limit, args.spark) == ("q", ["a.csv", "b.csv"], 3, True), argv


def test_negative_numbers_and_text_with_dashes_are_no_flags(capsys: pytest.CaptureFixture[str]) -> None:
    args = cli.build_parser().parse_args(["generate", "synthetic", "x", "--seed", "-5"])
    assert args.seed == -5
    assert cli.main(["explain", "--traceback is no flag here"]) == 2
    assert "a query begins with FROM" in capsys.readouterr().err
    assert cli.build_parser().parse_args(["run", "q", "--out", "x"]).out == "x"  # short, but clear
