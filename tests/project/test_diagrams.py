"""The diagrams in docs are what their programs draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("program", ["diagrams.py", "timelines.py"])
def test_diagrams_are_up_to_date(program: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / program, tmp_path], check=True)
    drawn = sorted(tmp_path.glob("*.svg"))
    assert drawn
    for path in drawn:
        ElementTree.parse(path)
        shown = (ROOT / "docs" / "images" / path.name).read_text(encoding="utf-8")
        assert shown == path.read_text(encoding="utf-8"), f"stale: run tools/{program} ({path.name})"
