"""Pictures of row patterns: the rows of a match on the curves of what conditions read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.errors import OptionError
from situ.plotting.scene import Bar, Point

#   t      0 2 4 6 8 10 12 14 16
#   price  5 9 7 6 8  9  4  3  5     of one: S at 2, D at 4 and 6, U at 8 and 10; then S at 12, ...
EVENTS = pa.table(
    {
        "k": ["one"] * 9 + ["two"] * 3,
        "t": [*range(0, 18, 2), 0, 1, 2],
        "price": [5.0, 9.0, 7.0, 6.0, 8.0, 9.0, 4.0, 3.0, 5.0, 3.0, 2.0, None],
        "name": list("abcdefghijkl"),
    }
)
TEXT = (
    "FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY t "
    "MEASURES LAST(D.price) AS bottom, count(*) AS n{rows} PATTERN (S {pattern}) "
    "DEFINE D AS price < PREV(price) AND price < 8, U AS price > PREV(price))"
)
QUERY = situ.query(TEXT.format(rows="", pattern="D+ U+"))


def test_what_a_picture_shows() -> None:
    first, second = (picture.content for picture in situ.plot(EVENTS, QUERY))
    assert (first.title, first.facts) == ("k one", (("bottom", "6"), ("n", "5")))
    assert first.instant == 12  # the row that is no U
    assert first.begin < 2 < 12 < first.end
    s, d, u = first.lanes
    assert [(lane.symbol, lane.label) for lane in first.lanes] == [
        ("S", "any row"),
        ("D", "price < PREV(price) AND price < 8"),
        ("U", "price > PREV(price)"),
    ]
    assert (s.rows, d.rows, u.rows) == ((2,), (4, 6), (8, 10))
    assert (s.bars, d.bars, u.bars) == tuple((Bar(*ends, "match"),) for ends in ((2, 3), (3, 7), (7, 10)))
    (curve,) = first.curves
    assert curve.name == "price"
    assert [line.label for line in curve.thresholds] == ["D: < 8"]
    assert curve.points == tuple(
        Point(t, price, name)
        for t, price, name in zip((2, 4, 6, 8, 10), (9, 7, 6, 8, 9), "SDDUU", strict=True)
    )
    shown = [t for t in range(0, 18, 2) if first.begin <= t <= first.end]
    assert curve.times == tuple(shown)
    assert curve.values == tuple(EVENTS["price"].to_pylist()[t // 2] for t in shown)
    assert second.instant is None  # only the end of the table says that there is no other U


def test_rows_that_the_result_leaves_out_are_rows_of_the_match() -> None:
    query = situ.query(TEXT.format(rows=" ALL ROWS PER MATCH", pattern="{- D+ -} U+"))
    first = situ.plot(EVENTS, query)[0].content
    assert [lane.rows for lane in first.lanes] == [(2,), (4, 6), (8, 10)]
    assert first.facts == (("bottom", "6"), ("n", "5"))


def test_rows_of_equal_time_each_have_their_point() -> None:
    events = pa.table({"t": [1, 1, 2], "x": [1, 2, 3]})
    query = situ.query("FROM e MATCH_RECOGNIZE (ORDER BY t, x PATTERN (A B C) DEFINE B AS x > 1)")
    (curve,) = situ.plot(events, query)[0].content.curves
    assert curve.points == (Point(1, 1.0, "A"), Point(1, 2.0, "B"), Point(2, 3.0, "C"))


def test_a_threshold_far_away_is_left_out() -> None:
    events = pa.table({"t": [1, 2, 3], "x": [1, 2, 3]})
    query = situ.query("FROM e MATCH_RECOGNIZE (ORDER BY t PATTERN (A B) DEFINE A AS x < 1000, B AS x > 2)")
    (curve,) = situ.plot(events, query)[0].content.curves
    assert [line.label for line in curve.thresholds] == ["B: > 2"]


def test_where_leaves_rows_out_of_the_curve() -> None:
    query = situ.query(
        "FROM (SELECT * FROM e WHERE price > 4) MATCH_RECOGNIZE (PARTITION BY k ORDER BY t "
        "PATTERN (A B) DEFINE B AS price < PREV(price))"
    )
    first = situ.plot(EVENTS, query, top=1)[0].content
    assert min(first.curves[0].values) > 4


def test_the_largest_of_a_measure_come_first() -> None:
    pictures = situ.plot(EVENTS, QUERY, top=1, by="N")
    assert dict(pictures[0].content.facts)["n"] == "5"
    assert (len(pictures), pictures.n_matches) == (1, 2)
    overview = pictures.overview.content
    assert (sum(overview.counts), [mark.picture for mark in overview.marks]) == (2, [0, None])
    with pytest.raises(OptionError, match="by='until' is no measure"):
        situ.plot(EVENTS, QUERY, by="until")


def test_empty_matches_have_nothing_to_show() -> None:
    query = situ.query(
        "FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY t PATTERN (A*) DEFINE A AS price > 8)"
    )
    pictures = situ.plot(EVENTS, query)
    assert pictures.n_matches == 2
    assert all(picture.content.lanes[0].rows for picture in pictures)
    assert not situ.plot(EVENTS.slice(0, 1), query).n_matches


def test_rows_without_a_time_have_no_picture() -> None:
    query = situ.query("FROM e MATCH_RECOGNIZE (ORDER BY name PATTERN (A))")
    with pytest.raises(OptionError, match="a picture has a time axis"):
        situ.plot(EVENTS, query)


def test_files(tmp_path: Path) -> None:
    pictures = situ.plot(EVENTS, QUERY)
    written = pictures.save(tmp_path, ["html", "png", "svg"])
    assert [path.name for path in written][:2] == ["index.html", "overview.png"]
    assert (tmp_path / "match-1.png").read_bytes().startswith(b"\x89PNG")
    svg = ET.fromstring((tmp_path / "match-1.svg").read_text())
    assert "price > PREV(price)" in "".join(svg.itertext())


@pytest.mark.skipif(shutil.which("node") is None, reason="runs the page's script")
def test_the_page_draws_its_points(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(situ.plot(EVENTS, QUERY).html())
    runner = Path(__file__).with_name("run_page.js")
    drawn: Any = json.loads(subprocess.run(["node", runner, page], capture_output=True, check=True).stdout)
    assert drawn["numbers"] == []
    assert "D\n00:00:04\nprice 7" not in drawn["bars"]  # plain ticks are no times of day
    assert [tip for tip in drawn["bars"] if re.fullmatch(r"D\n\d+\nprice .*", tip)][:2] == [
        "D\n4\nprice 7",
        "D\n6\nprice 6",
    ]
    assert "Coloured points are the rows of the match" in drawn["text"]
