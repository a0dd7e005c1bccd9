"""Bars of work without Spark: shown to people, silent in pipes."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

from situ import cli
from situ.cli.progress import counting, watching


def test_shown_to_people_only() -> None:
    for is_terminal in (True, False):
        seen = io.StringIO()
        console = Console(file=seen, force_terminal=is_terminal, width=100)
        with counting("events", 200, console) as count:
            count(150)
        with watching(pa.table({}), "matching", console):
            pass
        assert ("150/200" in seen.getvalue()) == is_terminal
        assert ("matching" in seen.getvalue()) == is_terminal


def test_generating_counts_its_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = io.StringIO()
    terminal = Console(file=seen, force_terminal=True, width=100)
    monkeypatch.setattr("situ.cli.progress.Console", lambda stderr: terminal)
    assert cli.main(["generate", "synthetic", str(tmp_path / "x.parquet"), "--events", "3000"]) == 0
    assert "3000/3000" in seen.getvalue()
