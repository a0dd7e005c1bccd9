"""`situ demo`: batch and stream find the same drivers, and everything lies where it says."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import situ
from situ import cli
from situ.cli.demo import in_words, tell_where
from situ.sources import traffic_block
from situ.sources.queries import AGGRESSIVE_DRIVERS

ROOT = Path(__file__).parents[2]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_batch_and_stream_find_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {}
    for name, extra in (("batch", []), ("stream", ["--stream"])):
        out = tmp_path / name
        argv = ["demo", "--cars", "150", "--hours", "0.6", "--top", "2", "--out", str(out), *extra]
        assert cli.main(argv) == 0
        said = capsys.readouterr().out
        assert "drivers accelerated hard, went above 31.3 m/s" in said
        assert str(out / "index.html") in said
        assert {"index.html", "overview.png", "match-1.png", "match-2.png"} <= {p.name for p in out.iterdir()}
        found = pq.read_table(out / "matches.parquet")
        rows[name] = found.sort_by([("match_time", "ascending"), ("car_id", "ascending")]).to_pylist()
    assert rows["batch"] == rows["stream"]
    cars = traffic_block(seed=7, cars=150, seconds=2160)
    assert len(rows["batch"]) == situ.match(cars, situ.query(AGGRESSIVE_DRIVERS)).num_rows > 2


def found(n_drivers: int, n_matches: int, n_early: int) -> pa.Table:
    """Matches as the demo finds them; the first `n_early` were certain before C was over."""
    from datetime import datetime

    moment = datetime(2024, 1, 1, 6)
    return pa.table(
        {
            "car_id": [i % n_drivers for i in range(n_matches)],
            "speed": [40.0 + i for i in range(n_matches)],
            "braked_at": [moment] * n_matches,
            "_situ_2_te": pa.array(
                [None if i < n_early else moment for i in range(n_matches)], pa.timestamp("us")
            ),
        }
    )


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ((1, 1, 1), ["1 driver accelerated", ": 1 time in all", "The match was certain, and"]),
        ((1, 1, 0), ["The match was not certain, and"]),
        ((2, 3, 1), ["2 drivers accelerated", ": 3 times in all", "Of the 3 matches 1 was certain"]),
        ((2, 3, 2), ["Of the 3 matches 2 were certain"]),
    ],
)
def test_one_is_not_several(figures: tuple[int, int, int], said: list[str]) -> None:
    words = in_words(found(*figures), 1, 1, 1.0)
    assert "1 report of 1 car in 1 hour," in words
    for part in said:
        assert part in words


def test_what_to_install_and_to_open_is_said_in_full(tmp_path: Path) -> None:
    """Square brackets are part of a package's name and of a folder's, nothing that styles text."""
    said, out = io.StringIO(), tmp_path / "demo [bold]"
    tell_where(Console(file=said, width=1000), [out / "index.html"], out)
    assert 'pip install "situ[plot]"' in said.getvalue()
    assert f"Open {out}/index.html in a browser" in said.getvalue()
    assert f"are in {out}\n" in said.getvalue()


def test_the_demo_replaces_only_its_own_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert cli.main(["demo", "--out", str(tmp_path)]) == 2
    assert "holds something else" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").exists()


def test_the_readme_shows_the_query_of_the_demo() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```situ\n")[2].partition("```")[0]
    assert shown == AGGRESSIVE_DRIVERS
