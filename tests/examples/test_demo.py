"""`situ demo`: batch and stream find the same drivers, and everything lies where it says."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import situ
from situ import cli
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


def test_the_demo_replaces_only_its_own_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert cli.main(["demo", "--out", str(tmp_path)]) == 2
    assert "holds something else" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").exists()


def test_the_readme_shows_the_query_of_the_demo() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```situ\n")[2].partition("```")[0]
    assert shown == AGGRESSIVE_DRIVERS
