"""The examples run, and find what they say they find."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_rain_and_delays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(ROOT / "examples" / "rain_and_delays.py"))
    example["main"](tmp_path)
    said = capsys.readouterr().out
    assert "It rained for two hours or more 134 times. 19 times, departures began to leave" in said
    assert "it took 9 more hours (median)" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "index.html",
        "match-1.png",
        "match-2.png",
        "match-3.png",
        "overview.png",
    ]


def test_every_example_is_listed_and_tested() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    tested = Path(__file__).read_text(encoding="utf-8")
    for path in (ROOT / "examples").glob("*.py"):
        assert f"({path.name})" in listed
        assert f'"{path.name}"' in tested
