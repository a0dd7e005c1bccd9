"""A skip of a test that needs a real server fails the run where nothing may be skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"

SUITE = """
import pytest

@pytest.mark.server
def test_broker():
    pytest.skip("no broker here")

def test_other():
    pytest.skip("only on Mondays")

@pytest.mark.soak
def test_for_hours():
    raise AssertionError("left out unless asked for")
"""


@pytest.mark.parametrize(
    ("options", "ci", "exit_code", "closing"),
    [
        ([], "", 0, "2 skipped, 1 deselected"),
        (["--no-skips"], "", 1, "1 failed, 1 skipped, 1 deselected"),
        ([], "true", 1, "1 failed, 1 skipped, 1 deselected"),
        (["-m", "soak"], "", 1, "1 failed, 2 deselected"),
    ],
)
def test_skips(tmp_path: Path, options: list[str], ci: str, exit_code: int, closing: str) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  spark\n  server\n  soak\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "CI": ci},
    )
    assert (done.returncode, closing in done.stdout) == (exit_code, True), done.stdout
