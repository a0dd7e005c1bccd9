"""Commands on several sources: NAME=INPUT (SEM 13.6)."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import situ
from situ import cli
from situ.cli import stream
from situ.cli.stream_io import inputs_of
from situ.errors import SituError

WEATHER = pa.table({"at": ["MUC"] * 4, "t": [0, 2, 4, 7], "gust": [3, 9, 9, 2]})
FLIGHTS = pa.table({"at": ["MUC"] * 5, "dep": [1, 3, 5, 6, 9], "delay": [0, 20, 30, 20, 0]})
QUERY = """
FROM weather AS w, flights AS f PARTITION BY at ORDER BY w.t = f.dep
DEFINE G AS gust > 5, L AS delay > 15 PATTERN G overlaps L RETURN G.ts AS g, max(L.delay) AS delay
"""
EXPECTED = '"at","g","delay","match_time"\n"MUC",2,30,7\n'


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """One file of the weather, two of flights."""
    pq.write_table(WEATHER, tmp_path / "w.parquet")
    for i, part in enumerate((FLIGHTS.slice(0, 2), FLIGHTS.slice(2))):
        pyarrow.csv.write_csv(part, tmp_path / f"f{i}.csv")
    return [
        f"weather={tmp_path / 'w.parquet'}",
        *(f"flights={tmp_path / f'f{i}.csv'}" for i in range(2)),
    ]


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert cli.main(list(argv)) == 0
    return capsys.readouterr().out


def test_run(inputs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "run", QUERY, *inputs, "--quiet", "--output-format", "csv") == EXPECTED
    assert said(capsys, "run", QUERY, "--input", *inputs, "--quiet", "--output-format", "csv") == EXPECTED


def test_one_of_them_from_standard_input(
    inputs: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = io.BytesIO()
    pyarrow.csv.write_csv(FLIGHTS, sent)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(sent.getvalue())))
    argv = ["run", QUERY, inputs[0], "flights=-", "--quiet", "--output-format", "csv"]
    assert said(capsys, *argv) == EXPECTED


def test_the_other_commands(inputs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "2 situations." in said(capsys, "situations", QUERY, *inputs)
    assert "1 match." in said(capsys, "why", QUERY, *inputs)
    assert "weather (w) and flights (f)" in said(capsys, "explain", QUERY, *inputs)
    stages = said(capsys, "explain", "--stages", QUERY, *inputs)
    assert "f.delay" in stages
    assert "BETWEEN" not in stages
    drawn = said(capsys, "plot", QUERY, *inputs, "--out", str(tmp_path / "out"), "--output-format", "html")
    assert "1 of 1 matches drawn." in drawn


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["w.parquet"], "does not say which source"),
        (["weather=w.parquet", "trains=f.csv"], "'trains=f.csv' does not say which source"),
        (["weather=w.parquet"], "no INPUT for flights"),
        (["weather=-", "flights=-"], "standard input twice"),
    ],
)
def test_what_is_refused(given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", QUERY, *given]) == 2
    assert message in capsys.readouterr().err


def test_arguments_of_streams() -> None:
    parser = argparse.ArgumentParser()
    stream.add_arguments(parser)
    fixed = [QUERY, "--source", "files", "--sink", "console", "--checkpoint", "c"]
    args = parser.parse_args(
        [*fixed, "--input", "weather=w", "--input", "flights=f", "--schema", "weather=a int"]
    )
    found = inputs_of(args, situ.query(QUERY))
    assert [(name, one.input, one.schema) for name, one in found.items()] == [
        ("weather", "w", "a int"),
        ("flights", "f", None),
    ]
    single = situ.query("FROM weather DEFINE A AS x")
    assert inputs_of(parser.parse_args([*fixed, "--input", "day=1"]), single)[""].input == "day=1"
    for given in (["w"], ["trains=w"], ["weather=w", "weather=v"]):
        args = parser.parse_args([*fixed, *(part for one in given for part in ("--input", one))])
        with pytest.raises(SituError):
            inputs_of(args, situ.query(QUERY))
    twice = parser.parse_args([*fixed, "--input", "w", "--input", "v"])
    with pytest.raises(SituError, match="twice"):
        inputs_of(twice, single)
