"""`--set NAME=VALUE` (SEM 16)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from situ import cli
from situ.cli.parameters import assignment, typed

QUERY = "FROM t ORDER BY ts DEFINE A AS x > :limit AND s = :s WITHIN :window RETURN A.ts AS since"
SET = ["--set", "limit=3", "--set", "s=it's", "--set", "window=10"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("70", 70),
        ("-70", -70),
        (" 70 ", 70),
        ("7.5", Decimal("7.5")),
        ("-.5", Decimal("-.5")),
        ("1e3", 1000.0),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("5 minutes", timedelta(minutes=5)),
        ("1.5h", timedelta(minutes=90)),
        ("1 hour 30 min", timedelta(minutes=90)),
        ("'70'", "70"),
        ("'it''s'", "it's"),
        ("it's", "it's"),
        ("Oslo", "Oslo"),
        (" Oslo ", " Oslo "),
        ("5 apples", "5 apples"),
        ("2024-01-01", "2024-01-01"),
        ("nan", "nan"),
        ("", ""),
    ],
)
def test_values_are_typed_by_their_form(text: str, value: Any) -> None:
    assert typed(text) == value
    assert type(typed(text)) is type(value)


def test_a_value_may_have_a_sign_of_equality() -> None:
    assert assignment("s=a=b") == ("s", "a=b")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"ts": [1, 2, 3], "x": [1, 5, 9], "s": ["it's"] * 3}), path)
    return str(path)


def test_run_situations_and_why(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = {
        "run": '"since","match_time"\n2,2\n',
        "situations": '"symbol","ts","te","n_events"\n"A",2,,2\n',
    }
    for command, wanted in shown.items():
        assert cli.main([command, QUERY, file, *SET, "--output-format", "csv", "--quiet"]) == 0
        assert capsys.readouterr().out == wanted
    assert cli.main(["why", QUERY, file, *SET, "--quiet"]) == 0
    assert "1 match." in capsys.readouterr().out


def test_plot(file: str, tmp_path: Path) -> None:
    out = str(tmp_path / "pictures")
    assert cli.main(["plot", QUERY, file, *SET, "--quiet", "--out", out, "--output-format", "html"]) == 0


def test_explain_and_its_stages_show_the_literals(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", QUERY, *SET]) == 0
    assert "x > 3 AND s = 'it\\'s'" in capsys.readouterr().out
    assert cli.main(["explain", "--stages", QUERY, *SET]) == 0
    assert "WITHIN 10" in capsys.readouterr().out


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", QUERY, *SET[:4]]) == 2
    assert "the parameter :window has no value" in capsys.readouterr().err
    assert cli.main(["explain", QUERY, *SET, "--set", "limi=3"]) == 2
    assert 'the query has no parameter :limi\nHint: did you mean "limit"?' in capsys.readouterr().err
    assert cli.main(["explain", QUERY, *SET, "--set", "limit=4"]) == 2
    assert "--set gives limit two values." in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        cli.main(["explain", QUERY, "--set", "limit"])
    assert "'limit' is not NAME=VALUE, as in --set limit=70" in capsys.readouterr().err


def test_streams_take_them_too() -> None:
    args = cli.build_parser().parse_args(
        ["stream", QUERY, *SET, "--source", "rate", "--sink", "console", "--checkpoint", "state"]
    )
    assert args.parameters == [("limit", 3), ("s", "it's"), ("window", 10)]
