"""Check that every citation of the specification, such as `SEM 4.2`, names a section that exists.

Run as `python tools/check_citations.py`; it prints one line per citation that leads nowhere and exits with 1
if there is any. Whether the section says what the citing line claims is for readers to judge.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SEMANTICS = "docs/semantics"

# The short name a page is cited by -> the page.
PAGES = {
    "SEM": "situations.md",
    "ROW": "rows.md",
    "WIN": "windows.md",
    "ARC": "archive.md",
    "COR": "correlate.md",
}
CITING = ("src", "tests", "docs", "benchmarks", "tools", "examples")
CITING_FILES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "dev.py", "mkdocs.yml")
SUFFIXES = {".py", ".md", ".case", ".js", ".java"}
# this very check and its test, which have citations that lead nowhere for an example
EXCEPT = {"tools/check_citations.py", "tests/project/test_check_citations.py"}

_HEADING = re.compile(r"## (\d+)\. ")
_PARAGRAPH = re.compile(r"(\d+\.\d+) ")
_SPACE = r"[^\S\n]*(?:\n[^\S\n]*(?:#|//|\*)?)?[^\S\n]*"  # a line may end inside a citation, also in a comment
_MORE = rf"{_SPACE}(?:,|\band\b|\bor\b|\bto\b|-|\N{{EN DASH}}){_SPACE}"
_CITATION = re.compile(
    rf"\b(?P<page>{'|'.join(PAGES)})(?=\s){_SPACE}(?P<first>\d[\w.]*)(?P<rest>(?:{_MORE}\d+(?:\.\d+)*(?!\w))*)"
)
_NEXT = re.compile(rf"({_MORE})(\d+(?:\.\d+)*)")


class Citation(NamedTuple):
    page: str  # SEM, ROW, ...
    first: str  # a section or a numbered paragraph
    last: str | None  # of a range
    line: int


def main() -> int:
    """Print all citations that lead nowhere; return 1 if there is any."""
    sections = {page: sections_of(ROOT / SEMANTICS / name) for page, name in PAGES.items()}
    problems = [
        f"{path.relative_to(ROOT)}:{cited.line}: {problem}"
        for path in citing_files(ROOT)
        for cited in citations_in(path.read_text(encoding="utf-8"))
        if (problem := problem_with(cited, sections))
    ]
    print("\n".join(problems) if problems else "citations: every one names a section that exists")
    return 1 if problems else 0


def citing_files(root: Path) -> Iterator[Path]:
    """Every file that may cite the specification."""
    found = [path for folder in CITING for path in (root / folder).rglob("*") if path.suffix in SUFFIXES]
    found += [root / name for name in CITING_FILES if (root / name).exists()]
    return (path for path in sorted(found) if path.relative_to(root).as_posix() not in EXCEPT)


def sections_of(page: Path) -> frozenset[str]:
    """The sections and the numbered paragraphs of a page; what stands in code blocks is neither."""
    found, in_code = set(), False
    for line in page.read_text(encoding="utf-8").splitlines():
        in_code ^= line.startswith("```")
        if not in_code and (number := _HEADING.match(line) or _PARAGRAPH.match(line)):
            found.add(number[1])
    return frozenset(found)


def citations_in(text: str) -> Iterator[Citation]:
    """Yield the citations in a text: lists one by one, ranges as one."""
    for match in _CITATION.finditer(text):
        page, line = match["page"], text.count("\n", 0, match.start()) + 1
        first, last = match["first"].rstrip("."), None
        for between, number in _NEXT.findall(match["rest"]):
            if between.strip(" \t\n#/*") in ("-", "\N{EN DASH}", "to"):
                last = number
                continue
            yield Citation(page, first, last, line)
            first, last = number, None
        yield Citation(page, first, last, line)


def problem_with(cited: Citation, sections: Mapping[str, frozenset[str]]) -> str | None:
    """Say what is wrong with a citation, or None."""
    for number in filter(None, (cited.first, cited.last)):
        if number not in sections[cited.page]:
            return f"{cited.page} {number} is no section of {SEMANTICS}/{PAGES[cited.page]}"
    if cited.last is not None and _key(cited.last) <= _key(cited.first):
        return f"{cited.page} {cited.first} to {cited.last} is no range"
    return None


def _key(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split("."))


if __name__ == "__main__":
    sys.exit(main())
