"""Every page of the docs is reachable from the site's navigation, and every entry there is a page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_navigation_and_pages_agree() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    entries = re.findall(r": (\S+\.md)$", nav, re.M)
    pages = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(entries) == sorted(pages)
