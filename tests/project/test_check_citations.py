"""The citation check reads every way of citing, and notices what leads nowhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_citations", ROOT / "tools" / "check_citations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("a run (SEM 2.1) is", ["SEM 2.1"]),
        ("the table of SEM 3's and SEM 4.", ["SEM 3", "SEM 4"]),
        ("SEM 8.4, 8.5: gone", ["SEM 8.4", "SEM 8.5"]),
        ("SEM 1.3, ROW 1.4, WIN 1.3", ["SEM 1.3", "ROW 1.4", "WIN 1.3"]),
        ("SEM 3 and 4.2; ARC 4 or 5.1", ["SEM 3", "SEM 4.2", "ARC 4", "ARC 5.1"]),
        ("SEM 9\N{EN DASH}13", ["SEM 9..13"]),
        ("WIN 1 to 5, 7", ["WIN 1..5", "WIN 7"]),
        ("SEM 4.3 - 4.5", ["SEM 4.3..4.5"]),
        ("(SEM 4.3-4.5, 8)", ["SEM 4.3..4.5", "SEM 8"]),
        ("as SEM\n    8.1 says", ["SEM 8.1"]),
        ("    # as SEM\n    # 8.1,\n    # 8.2", ["SEM 8.1", "SEM 8.2"]),
        ("SEM 8.4a and SEM 1.2.3", ["SEM 8.4a", "SEM 1.2.3"]),
        ("SEM 2.1, 10x as fast; COR 3, which", ["SEM 2.1", "COR 3"]),
        ("`SEM` is a page, const ROW = 18, ONE ROW PER MATCH, SEMI 4, BROW 2", []),
    ],
)
def test_citations_in(checker: ModuleType, text: str, cited: list[str]) -> None:
    found = [f"{c.page} {c.first}" + (f"..{c.last}" if c.last else "") for c in checker.citations_in(text)]
    assert found == cited


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SEM 1", None),
        ("SEM 1.1, 2", None),
        ("SEM 1 to 2", None),
        ("SEM 1.2", "SEM 1.2 is no section of docs/semantics/situations.md"),
        ("SEM 1, 7", "SEM 7 is no section"),
        ("SEM 1 to 7", "SEM 7 is no section"),
        ("SEM 2 to 1", "SEM 2 to 1 is no range"),
        ("SEM 1.1a", "SEM 1.1a is no section"),
        ("ROW 1", "ROW 1 is no section of docs/semantics/rows.md"),
    ],
)
def test_problem_with(checker: ModuleType, text: str, problem: str | None) -> None:
    sections = {"SEM": frozenset({"1", "1.1", "2"}), "ROW": frozenset()}
    found = [checker.problem_with(cited, sections) for cited in checker.citations_in(text)]
    assert all(one is None for one in found) if problem is None else problem in (found[-1] or "")


def test_a_citation_that_leads_nowhere_is_named_with_its_line(
    checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = tmp_path / "docs" / "semantics"
    pages.mkdir(parents=True)
    for name in checker.PAGES.values():
        (pages / name).write_text("# Page\n\n## 1. Time\n1.1 Time is.\n```\n1.2 not a paragraph\n```\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "thing.py").write_text('"""Time (SEM 1.1)."""\n\n# and SEM 1.2\n')
    (tmp_path / "README.md").write_text("WIN 1 says so.\n")
    monkeypatch.setattr(checker, "ROOT", tmp_path)

    assert checker.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["src/thing.py:3: SEM 1.2 is no section of docs/semantics/situations.md"]

    (tmp_path / "src" / "thing.py").write_text("# SEM 1.1\n")
    assert checker.main() == 0


def test_every_page_of_the_specification_is_known(checker: ModuleType) -> None:
    index = (ROOT / "docs" / "semantics" / "index.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(\w+)` \| \[.*?\]\((\S+\.md)\)", index, re.M)) == checker.PAGES
