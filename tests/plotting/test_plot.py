"""What pictures show, and that they can be drawn, saved and displayed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import situ
from situ import cli
from situ.errors import BindError, OptionError
from situ.plotting.scene import Bar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#   t    0 1 2 3 4 5 6 7 8 9
#   x    0 5 5 5 0 0 5 0 0 0     A: x > 3       [1,4)  [6,7)
#   y    0 0 0 9 9 9 9 9 9 9     B: y >= 8      [3, open)
EVENTS = pa.table(
    {
        "k": ["one"] * 10 + ["two"] * 3,
        "t": [*range(10), 0, 1, 2],
        "x": [0, 5, 5, 5, 0, 0, 5, 0, 0, 0, 5, 5, 0],
        "y": [0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.0, 9.0, None],
    }
)
QUERY = situ.query(
    "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 3 AT LEAST 2, B AS 8 <= y PATTERN A overlaps B "
    "WITHIN 50 RETURN max(A.x) AS peak, B.te AS over"
)


def test_what_a_picture_shows() -> None:
    (picture,) = situ.plot(EVENTS, QUERY)
    scene = picture.content
    assert (scene.title, scene.facts) == ("k one", (("peak", "5"), ("over", "none")))
    assert scene.instant == 4
    assert scene.begin < 1 < 4 < scene.end
    a, b = scene.lanes
    assert (a.symbol, a.label) == ("A", "x > 3, at least 2 ticks")
    assert a.bars == (Bar(1, 4, "match"), Bar(6, 7, "refused"))
    assert b.bars == (Bar(3, None, "match"),)  # open when the match was certain, and still at the end
    assert [(curve.name, [line.label for line in curve.thresholds]) for curve in scene.curves] == [
        ("x", ["A: > 3"]),
        ("y", ["B: >= 8"]),
    ]
    shown = [t for t in range(10) if scene.begin <= t <= scene.end]
    assert scene.curves[0].times == tuple(shown)
    assert scene.curves[0].values == tuple(EVENTS["x"].to_pylist()[t] for t in shown)


def test_what_is_absent_has_a_lane_and_is_no_part_of_the_match() -> None:
    query = situ.query(
        "FROM e WHERE k = 'one' ORDER BY t DEFINE A AS x > 3, C AS y = 0, quiet AS SILENCE AT LEAST 4 "
        "PATTERN A before quiet AND NO C.ts BETWEEN A.ts AND quiet.ts"
    )
    (picture,) = situ.plot(EVENTS, query, until=13, top=1)
    scene = picture.content
    assert scene.instant == 13
    a, c, quiet = scene.lanes
    assert sorted(bar.role for bar in a.bars) == ["match", "other"]
    assert (c.label, {bar.role for bar in c.bars}) == ("NO: y = 0", {"other"})
    assert quiet.bars == (Bar(9, None, "match"),)


def test_the_overview_counts_all_matches() -> None:
    query = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 3")
    pictures = situ.plot(EVENTS, query, top=1)
    overview = pictures.overview.content
    assert (len(pictures), pictures.n_matches, sum(overview.counts)) == (1, 3, 3)
    assert overview.rows == ("k one", "k two")
    assert [mark.row for mark in overview.marks if mark.picture == 0] == [1]  # k two is the first in time


def test_the_largest_of_a_column_come_first() -> None:
    query = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 3 RETURN A.ts AS since")
    assert [dict(p.content.facts)["since"] for p in situ.plot(EVENTS, query, top=2, by="SINCE")] == ["6", "1"]
    with pytest.raises(OptionError, match="no column of RETURN"):
        situ.plot(EVENTS, query, by="until")


def test_given_intervals_that_overlap_lie_on_levels() -> None:
    rows = pa.table({"kind": ["A", "A", "B"], "ts": [0, 1, 3], "te": [5, 4, 9]})
    query = situ.query(
        "FROM INTERVALS i STARTING ts ENDING te DEFINE A AS kind = 'A', B AS kind = 'B' PATTERN A overlaps B"
    )
    first = situ.plot(rows, query)[0].content
    assert [(bar.ts, bar.te, bar.level) for bar in first.lanes[0].bars] == [(0, 5, 0), (1, 4, 1)]
    assert first.curves == ()


def data_of(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    assert found is not None
    return json.loads(found[1])


def test_the_page_is_one_file_without_a_network(tmp_path: Path) -> None:
    events = EVENTS.set_column(0, "k", [["</script><b>"] * 13])
    query = situ.query(str(QUERY).replace("PARTITION BY k", "PARTITION BY k"))
    pictures = situ.plot(events.slice(0, 10), query)
    html = pictures.html()
    assert not re.search(r"https?://(?!www\.w3\.org)", html)
    assert not re.search(r"<(link|img|iframe)|\bsrc=", html)
    assert data_of(html)["scenes"][0]["title"] == "k </script><b>"
    assert html.count("</script>") == 2
    assert "srcdoc" in pictures._repr_html_()


def test_files(tmp_path: Path) -> None:
    pictures = situ.plot(EVENTS, QUERY)
    written = pictures.save(tmp_path / "new", ("html", "png", "svg"))
    assert sorted(path.name for path in written) == [
        "index.html",
        "match-1.png",
        "match-1.svg",
        "overview.png",
        "overview.svg",
    ]
    assert (tmp_path / "new" / "match-1.png").read_bytes().startswith(b"\x89PNG")
    svg = ET.parse(tmp_path / "new" / "match-1.svg").getroot()
    text = " ".join("".join(node.itertext()) for node in svg.iter("{http://www.w3.org/2000/svg}text"))
    for shown in ("k one", "certain at 4", "x > 3, at least 2 ticks", "A: > 3", "B: >= 8"):
        assert shown in text
    assert pictures[0].png() == pictures[0]._repr_png_()  # the same picture, the same bytes
    with pytest.raises(OptionError, match="no format"):
        pictures[0].save(tmp_path / "x.gif")


def test_times_of_day_in_their_zone() -> None:
    from datetime import UTC, datetime

    moments = pa.array(
        [datetime(2024, 7, 1, 12, 0, s, tzinfo=UTC) for s in range(10)], pa.timestamp("us", "Europe/Paris")
    )
    events = EVENTS.slice(0, 10).set_column(1, "t", moments)
    query = situ.query("FROM e ORDER BY t DEFINE A AS x > 3 AT LEAST 2 seconds")
    assert "certain at 14:00:03" in situ.plot(events, query)[0].svg()


HOSTILE = [
    r"$\frac{$",
    r"\alpha_{ $x$ $",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'&`${1}",
    "a\x00b\nc",
    "x" * 500,
    "北京",
    "_hidden",
]


@pytest.mark.parametrize("name", HOSTILE[:5])
def test_names_and_values_are_text_and_nothing_else(name: str) -> None:
    quoted = name.replace("`", "``")
    events = pa.table({f"k{name}": HOSTILE, "t": [0] * len(HOSTILE), f"x{name}": [5.0] * len(HOSTILE)})
    literal = name.replace("\\", "\\\\").replace("'", "\\'")
    query = situ.query(
        f"FROM `s{quoted}` PARTITION BY `k{quoted}` ORDER BY t "
        f"DEFINE `A{quoted}` AS `x{quoted}` > 3 AND `k{quoted}` <> 'z{literal}' "
        f"RETURN max(`A{quoted}`.`x{quoted}`) AS `r{quoted}`, first(`A{quoted}`.`k{quoted}`) AS v"
    )
    pictures = situ.plot(events, query, top=len(HOSTILE))
    assert len(pictures) == len(HOSTILE)
    assert len(pictures[0].png()) > 1000
    assert len(pictures.overview.png()) > 1000
    html = pictures.html()
    assert html.count("<script") == 2  # data and program
    assert not re.search(r"<(img|b)\b", html)
    assert [scene["facts"][1][1] for scene in data_of(html)["scenes"]] == HOSTILE
    svg = ET.fromstring(pictures[HOSTILE.index("a\x00b\nc")].svg())
    texts = ["".join(node.itertext()) for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    for shown in ("r", "A", "x"):
        assert any(f"{shown}{name}"[:17] in text for text in texts)


def test_numbers_that_are_none() -> None:
    values = [0.0, 5.0, float("nan"), float("inf"), float("-inf"), 5.0, 0.0, 0.0, 0.0, 0.0]
    events = EVENTS.slice(0, 10).set_column(2, "x", pa.array(values))
    pictures = situ.plot(events, situ.query("FROM e ORDER BY t DEFINE A AS x > 3"), top=5)
    assert None in data_of(pictures.html())["scenes"][0]["curves"][0]["values"]
    assert all(picture.png() for picture in pictures)


def test_every_picture_has_its_dot_and_what_is_left_out_is_said() -> None:
    """Of 30 partitions 20 get a row; the one with the picture is among them though it is the poorest."""
    keys = [f"k{i:02}" for i in range(30) for _ in range(1 if i == 29 else 2)]
    events = pa.table({"k": keys, "t": range(59), "x": range(1, 60)})
    query = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 0 RETURN max(A.x) AS top")
    pictures = situ.plot(events, query, top=2, by="top")
    overview = pictures.overview.content
    assert [scene.title for scene in pictures.scenes] == ["k k29", "k k28"]
    dots = {mark.picture: overview.rows[mark.row] for mark in overview.marks if mark.picture is not None}
    assert dots == {0: "k k29", 1: "k k28"}
    assert len(overview.rows) == 20
    assert overview.notes == (
        "The numbered dots are the 2 matches with a picture.",
        "The 18 strokes are matches without one.",
        "Without a row: 10 more partitions.",
    )
    svg = pictures.overview.svg()
    assert "Without a row: 10 more partitions." in svg


def test_the_page_has_the_query() -> None:
    html = situ.plot(EVENTS, QUERY).html()
    assert "<pre>FROM e" in html
    assert "AS x &gt; 3 AT LEAST 2" in html
    assert "PATTERN A overlaps B" in situ.plot(EVENTS, QUERY)[0].html()


def moments(start: str, zone: str | None, *, minutes: int = 1) -> pa.Array:
    from datetime import datetime, timedelta

    first = datetime.fromisoformat(start)
    return pa.array([first + timedelta(minutes=minutes * i) for i in range(10)], pa.timestamp("us", zone))


TIMED = situ.query("FROM e ORDER BY t DEFINE A AS x > 3 AT LEAST 2 minutes RETURN A.ts AS since")


def test_the_axis_has_date_and_zone() -> None:
    events = EVENTS.slice(0, 10).set_column(1, "t", moments("2024-07-01T20:00", "UTC", minutes=20))
    said = situ.plot(events, TIMED)[0].svg()
    assert "2024-07-01, UTC" in said
    assert "2024-07-01 20:20:00" in said  # the value of since
    assert "certain at 20:40:00" in said
    told = situ.plot(events, TIMED, time_zone="Asia/Kolkata")
    said = told[0].svg()
    assert "2024-07-02, Asia/Kolkata" in said
    assert "2024-07-02 01:50:00" in said
    assert "certain at 02:10:00" in said
    naive = EVENTS.slice(0, 10).set_column(1, "t", moments("2024-07-01T20:00", None, minutes=20))
    said = situ.plot(naive, TIMED, time_zone="Asia/Kolkata")[0].svg()
    assert "2024-07-01<" in said.replace("\n", "")
    assert "UTC" not in said
    offset = EVENTS.slice(0, 10).set_column(1, "t", moments("2024-07-01T20:00", "+02:00", minutes=20))
    assert "2024-07-01, +02:00" in situ.plot(offset, TIMED)[0].svg()


def test_a_stretch_over_midnight_names_each_day() -> None:
    from situ.plotting.clock import time_marks
    from situ.plotting.scene import Clock

    hour = 3_600_000_000
    marks = time_marks(20 * hour, 29 * hour, Clock(True, "Europe/Paris"))
    assert marks.beneath == "1970-01-01 to 1970-01-02, Europe/Paris"
    assert [label for label in marks.labels if "\n" in label] == ["22:00\nJan 01", "00:00\nJan 02"]


def test_spark_draws_in_the_zone_of_the_session(spark: SparkSession) -> None:
    events = spark.createDataFrame(
        EVENTS.slice(0, 10).set_column(1, "t", moments("2024-07-01T20:00", "UTC", minutes=20))
    )
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        (scene,) = (picture.content for picture in situ.plot(events, TIMED, top=1))
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(zone))
    assert scene.clock.zone == "Asia/Kolkata"
    assert scene.facts == (("since", "2024-07-02 01:50:00"),)


def test_nothing_to_show() -> None:
    pictures = situ.plot(EVENTS, situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 99"))
    assert (len(pictures), pictures.n_matches) == (0, 0)
    assert "situ.why" in repr(pictures)
    assert "No match" in pictures.html()
    with pytest.raises(OptionError, match="no match"):
        _ = pictures.overview


#   x is 7 until 99, and from 101 on 3; the row of 100 is none of the events
LONG = pa.table(
    {
        "t": range(200),
        "x": [7] * 100 + [9, 3] + [3] * 98,
        "use": [i != 100 for i in range(200)],
    }
)
FALLS = situ.query(
    "FROM e WHERE use ORDER BY t DEFINE F AS x < prev(x, 3) AND hypot(0, 3) = 3 WITHIN 9 EMIT FINAL"
)


def test_conditions_look_back_beyond_what_is_shown() -> None:
    """All of the rows at hand but the first three have others to look back at, of WHERE's alone."""
    falls = situ.query(str(FALLS).replace(" AND HYPOT(0, 3) = 3", ""))
    (picture,) = situ.plot(LONG, falls)
    assert picture.content.lanes[0].bars == (Bar(101, 104, "match"),)
    late = situ.query(str(falls).replace("x < PREV(x, 3)", "x = PREV(x, 3) AND t BETWEEN 150 AND 151"))
    (picture,) = situ.plot(LONG, late)
    assert picture.content.lanes[0].bars == (Bar(150, 152, "match"),)


def test_spark_looks_back_too(spark: SparkSession) -> None:
    events = spark.createDataFrame(LONG.to_pandas())
    with pytest.raises(BindError, match="around prev"):
        situ.plot(events, FALLS)
    inside = situ.query(
        "FROM e WHERE use ORDER BY t DEFINE F AS x < prev(hypot(x, 0), 3) WITHIN 9 EMIT FINAL"
    )
    assert situ.plot(events, inside)[0].content.lanes[0].bars == (Bar(101, 104, "match"),)


def test_spark_shows_the_same(spark: SparkSession) -> None:
    events = spark.createDataFrame(EVENTS.to_pandas())
    here, there = situ.plot(EVENTS, QUERY, by="peak"), situ.plot(events, QUERY, by="peak")
    assert there.scenes == here.scenes
    assert there.all_matches == here.all_matches
    only_spark = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS rlike(k, '^o') AND hypot(x, 0) > 3")
    assert situ.plot(events, only_spark)[0].content.lanes[0].bars == (Bar(1, 4, "match"), Bar(6, 7, "other"))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(EVENTS, tmp_path / "e.parquet")
    argv = ["plot", str(QUERY), str(tmp_path / "e.parquet"), "--in-process", "--out", str(tmp_path / "out")]
    assert cli.main(argv) == 0
    out = capsys.readouterr().out
    assert "1 of 1 matches drawn." in out
    assert (tmp_path / "out" / "index.html").exists()
    assert cli.main([*argv[:1], str(QUERY).replace("x > 3", "x > 99"), *argv[2:]]) == 1
    assert "situ why" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the page's script")
def test_the_page_draws_itself(tmp_path: Path) -> None:
    page = situ.plot(EVENTS, QUERY).save(tmp_path, ("html",))[0]
    command = ["node", str(Path(__file__).with_name("run_page.js")), str(page)]
    drawn = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert drawn["svgs"] == 2
    assert drawn["numbers"] == []
    for shown in ("1 match", "k one", "certain at 4", "x > 3, at least 2 ticks", "B: >= 8"):
        assert shown in drawn["text"]
    assert "A, in this match\n1 to 4 (3 ticks)" in drawn["bars"]
    assert "A, too short or too long\n6 to 7 (1 tick)" in drawn["bars"]
    assert "B, in this match\n3 to … (open)" in drawn["bars"]
    assert drawn["dots"] == ["match-1"]  # where a click leads


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node to run the page's script")
def test_the_page_tells_times_in_their_zone_and_leads_to_pictures(tmp_path: Path) -> None:
    events = EVENTS.slice(0, 10).set_column(1, "t", moments("2024-07-01T20:00", "UTC", minutes=40))
    pictures = situ.plot(events, situ.query("FROM e ORDER BY t DEFINE A AS x > 3"), time_zone="Europe/Paris")
    command = ["node", str(Path(__file__).with_name("run_page.js"))]
    drawn = []
    for content in (pictures, pictures.overview):
        (tmp_path / "page.html").write_text(content.html())
        done = subprocess.run(
            [*command, str(tmp_path / "page.html")], capture_output=True, text=True, check=True
        )
        drawn.append(json.loads(done.stdout))
    assert drawn[0]["numbers"] == []
    assert drawn[0]["dots"] == ["match-1", "match-2"]
    assert drawn[1]["dots"] == []  # pictures that are not on the page cannot be led to
    for shown in ("2024-07-01 to 2024-07-02, Europe/Paris", "2 Jul", "23:00", "1. e", "2. e"):
        assert shown in drawn[0]["text"]


def test_without_matplotlib_there_is_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("situ.plotting.figure.find_spec", lambda name: None)
    pictures = situ.plot(EVENTS, QUERY)
    assert [path.name for path in pictures.save(tmp_path)] == ["index.html"]
    assert pictures[0]._repr_png_() is None
    with pytest.raises(OptionError, match=r"need matplotlib\nHint: pip install \"situ\[plot\]\""):
        pictures[0].png()
