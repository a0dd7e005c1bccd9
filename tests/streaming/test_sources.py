"""Streams of several sources (SEM 13.5): two folders of files, cut and restarted, against the oracle."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import situ
from conformance.runners import run_oracle
from situ.errors import OptionError, SourceError
from situ.spark.stream.inspect import read_state
from streaming.running import FileStream, canonical_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = """
FROM weather AS w, flights AS f
WHERE w.gust >= 0
PARTITION BY w.origin = f.airport ORDER BY w.obs = f.dep
DEFINE Storm AS gust > 50, Late AS delay > 15, quiet ON f AS SILENCE AT LEAST 20 minutes
PATTERN Storm while Late AND NO quiet while Late
WITHIN 2 hours
RETURN Storm.ts AS since, max(Storm.gust) AS gust, count(Late) AS n, first(Late.flight) AS flight
"""


def at(*minutes: int) -> pa.Array:
    return pa.array([START + timedelta(minutes=m) for m in minutes], pa.timestamp("us", "UTC"))


WEATHER = pa.table(
    {
        "origin": ["MUC"] * 5 + ["HAM"] * 3,
        "obs": at(0, 10, 20, 30, 60, 5, 15, 90),
        "gust": [9, 60, 70, 5, -1, 55, 4, 1],
    }
)
FLIGHTS = pa.table(
    {
        "airport": ["MUC"] * 6 + ["HAM"] * 3,
        "dep": at(5, 12, 22, 32, 45, 95, 10, 14, 20),
        "delay": [0, 20, 30, 40, 0, 0, 16, 17, 0],
        "flight": list("abcdefghi"),
    }
)


def cut(table: pa.Table, time: str) -> list[pa.Table]:
    """Three pieces by time; the second source gets more of it in the first piece than the other."""
    table = table.sort_by(time)
    third = table.num_rows // 3
    return [table.slice(0, third), table.slice(third, third), table.slice(2 * third)]


class TwoStreams(FileStream):
    """A stream of two folders of files; the sink and the checkpoint are the first one's."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        super().__init__(spark, folder / "w", WEATHER.schema)
        self.flights = FileStream(spark, folder / "f", FLIGHTS.schema)

    def run_both(self, text: str = TEXT, **options: object) -> None:
        frames = {"weather": self.rows(), "flights": self.flights.rows()}
        self.write(situ.match(frames, situ.query(text), **options))


def test_restarted_with_every_piece(spark: SparkSession, tmp_path: Path) -> None:
    stream = TwoStreams(spark, tmp_path)
    for weather, flights in zip(cut(WEATHER, "obs"), cut(FLIGHTS, "dep"), strict=True):
        stream.add([weather])
        stream.flights.add([flights])
        stream.run_both(watermark="90 minutes")
    later = pa.table({"origin": ["ZRH"], "obs": at(1000), "gust": [0]})
    stream.add([later])
    stream.flights.add([pa.table({"airport": ["ZRH"], "dep": at(1000), "delay": [0], "flight": ["z"]})])
    stream.run_both(watermark="90 minutes")
    assert stream.counts("late_rows") == 0
    tables = {"weather": WEATHER, "flights": FLIGHTS}
    until = START + timedelta(hours=9)
    expected = situ.match(tables, situ.query(TEXT), until=until)
    assert canonical_rows(stream.results()) == canonical_rows(expected)
    assert expected.num_rows > 0
    assert len(run_oracle(tables, TEXT, {"until": until})) == expected.num_rows
    (state,) = read_state(spark, str(stream.folder / "state"))
    assert state.made_for.watermark == 90 * 60 * 10**6


def test_a_silent_source_holds_all_back(spark: SparkSession, tmp_path: Path) -> None:
    stream = TwoStreams(spark, tmp_path)
    stream.add([WEATHER])
    stream.flights.add([FLIGHTS.slice(0, 1)])
    stream.run_both(watermark="0 seconds")
    stream.add([pa.table({"origin": ["ZRH"], "obs": at(5000), "gust": [0]})])
    stream.run_both(watermark="0 seconds")
    stream.flights.add([FLIGHTS.slice(1)])
    stream.run_both(watermark="0 seconds")
    assert stream.counts("late_rows") == 0


def test_what_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    stream = TwoStreams(spark, tmp_path)
    query = situ.query(TEXT)
    weather, flights = stream.rows(), stream.flights.rows()
    with pytest.raises(OptionError, match="a watermark on each, and weather has none"):
        situ.match({"weather": weather, "flights": flights}, query)
    with pytest.raises(OptionError, match="a watermark on each, and flights has none"):
        situ.match({"weather": weather.withWatermark("obs", "1 hour"), "flights": flights}, query)
    both = {
        "weather": weather.withWatermark("obs", "1 hour"),
        "flights": flights.withWatermark("dep", "2 hours"),
    }
    assert situ.match(both, query).isStreaming
    with pytest.raises(OptionError, match="late_rows of several streams"):
        situ.match(both, query, late_rows=True)
    with pytest.raises(OptionError, match="flights is a batch DataFrame"):
        situ.match({**both, "flights": spark.createDataFrame(FLIGHTS)}, query)
    with pytest.raises(SourceError, match="in memory"):
        situ.match({**both, "flights": FLIGHTS}, query)
    policy = "spark.sql.streaming.multipleWatermarkPolicy"
    spark.conf.set(policy, "max")
    try:
        with pytest.raises(OptionError, match="Policy is max"):
            situ.match(both, query)
    finally:
        spark.conf.unset(policy)


def test_command(tmp_path: Path) -> None:
    """`situ stream` of two folders of files, one with a line that is no row."""
    rows = {
        "weather": [
            ("MUC", at, gust) for at, gust in (("00:00", 20), ("01:00", 60), ("02:00", 20), ("23:00", 0))
        ],
        "flights": [
            ("MUC", at, delay) for at, delay in (("00:30", 0), ("01:30", 30), ("03:30", 0), ("23:30", 0))
        ],
    }
    for name, listed in rows.items():
        (tmp_path / name).mkdir()
        lines = [f"{place},2026-01-01T{at}:00Z,{value}" for place, at, value in listed]
        (tmp_path / name / "1.csv").write_text("\n".join([*lines, "no row" * (name == "weather")]))
    query = (
        "FROM weather AS w, flights AS f PARTITION BY w.origin = f.airport ORDER BY w.obs = f.dep "
        "DEFINE Storm AS gust > 50, Late AS delay > 15 PATTERN Storm while Late WITHIN 5 hours"
    )
    command = [
        sys.executable,
        "-m",
        "situ.cli",
        "stream",
        query,
        "--source",
        "files",
        "--input-format",
        "csv",
    ]
    command += ["--input", f"weather={tmp_path / 'weather'}", "--input", f"flights={tmp_path / 'flights'}"]
    command += ["--schema", "weather=origin string, obs timestamp, gust int"]
    command += ["--schema", "flights=airport string, dep timestamp, delay int"]
    command += ["--watermark", "1 minute", "--on-bad-rows", "drop", "--sink", "console", "--until-done"]
    ran = subprocess.run(
        [*command, "--checkpoint", str(tmp_path / "state"), "--quiet"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"match_time":"2026-01-01T01:30:00.000000Z"' in ran.stdout
    assert "1 match, 0 late rows, 1 row that could not be read" in ran.stdout
