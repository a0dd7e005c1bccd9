"""Every code block of README and docs runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.blocks import blocks_of, run_page

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def needs_spark(page: Path) -> bool:
    return any("spark" in block.code for block in blocks_of(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=str(page.relative_to(ROOT)), marks=[pytest.mark.spark] if needs_spark(page) else []
        )
        for page in PAGES
    ],
)
def test_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if needs_spark(page):
        request.getfixturevalue("spark")  # so that SparkSession.builder.getOrCreate() in a page finds it
    monkeypatch.chdir(tmp_path)
    run_page(page)


def run_text(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    run_page(page)


def test_blocks_of_a_page_share_names_and_show_their_output(tmp_path: Path) -> None:
    run_text(
        tmp_path,
        "```python\nx = 2\n```\n\ntext\n\n```python\nprint(x + 1)\n```\n\n<!-- output -->\n```text\n3\n```\n",
    )


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:7: the page shows\n4\nbut"):
        run_text(tmp_path, "```python\nprint(3)\n```\n\n<!-- output -->\n```text\n4\n```\n")


def test_an_error_names_the_line_of_the_page(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_text(tmp_path, "# title\n\n```python\nx = 1\nx / 0\n```\n")
    assert caught.traceback[-1].lineno == 4  # counted from 0


def test_a_failing_command_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="exit code 2"):
        run_text(tmp_path, "```bash\nsitu no-such-command\n```\n")
