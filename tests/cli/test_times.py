"""Times in text, in ISO 8601 or as --time-format says: Python's and Spark's answers, and what is said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from situ import cli
from situ.cli.local_files import Wanted
from situ.cli.text_on_spark import with_times
from situ.cli.time_format import ISO, TimePattern, time_pattern
from situ.cli.times import read_times
from situ.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = (
    "%Y-%m-%d %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%m/%d/%y %I:%M:%S %p",
    "%Y%m%d",
    "%Y%m%d%H%M%S",
    "%a %d %b %Y  %H:%M:%S.%f",
    "%A, %B %d, %Y at %R%%",
    "%FT%T%z",
    "%D %T.%f%z",
)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31))
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def read(texts: list[str | None], pattern: TimePattern) -> list[datetime | None]:
    times, _ = read_times(pa.chunked_array([texts], pa.string()), pattern, "UTC")
    return [None if time is None else time.astimezone(UTC) for time in times.to_pylist()]


def by_python(text: str, form: str) -> datetime | None:
    """What strptime answers, whose directives these are; it knows no shorthands."""
    for short, long in (("%F", "%Y-%m-%d"), ("%T", "%H:%M:%S"), ("%R", "%H:%M"), ("%D", "%m/%d/%y")):
        form = form.replace(short, long)
    try:
        time = datetime.strptime(text, form)
    except ValueError:
        return None
    offset = time.utcoffset() or timedelta(0)
    if abs(offset) >= timedelta(hours=18):  # of which there are none, nor does Spark take them
        return None
    return time.replace(tzinfo=UTC) - offset


@given(MOMENTS, ZONES, st.sampled_from(FORMATS))
def test_what_is_written_in_a_format_is_read_as_python_reads_it(
    moment: datetime, zone: timezone, form: str
) -> None:
    text = moment.replace(tzinfo=zone).strftime(form)
    shuffled = text.replace("0", "9")  # some are no times any more
    for one in (text, shuffled, f" {text}", text[:-1], text.upper(), text.replace(" 0", " ")):
        assert read([one, None], time_pattern(form)) == [by_python(one, form), None], (one, form)


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.none() | ZONES)
@example(datetime(2024, 2, 29), None)
def test_iso_times(moment: datetime, zone: timezone | None) -> None:
    time = moment.replace(tzinfo=zone or UTC)
    for text in (time.isoformat(), time.isoformat(" ")):
        assert read([text], ISO) == [time.astimezone(UTC)]
    if zone is None:
        assert read([moment.isoformat(), f"{moment:%Y-%m-%d}".zfill(10)], ISO)[0] == time


@pytest.mark.parametrize(
    "text", ["2024-02-30", "2024-13-01", "2024-00-10", "2024-1-1", "2024-01-01T24:00", "soon", "", "20240101"]
)
def test_what_is_no_iso_time(text: str) -> None:
    assert read([text], ISO) == [None]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("yyyy-MM-dd", "it names no year"),
        ("%Y-%m", "it names no day"),
        ("%Y-%m-%d %Q", "%Q is none of its directives"),
        ("%Y-%m-%d %", "is none of its directives"),
        ("%Y-%m-%d %I", "%I and %p go together"),
        ("%F %H %I %p", "%H and %I exclude each other"),
        ("%Y-%m-%d %y", "it names the year twice"),
        ("%F %d", "it names the day twice"),
    ],
)
def test_formats_that_cannot_be_used(form: str, said: str) -> None:
    with pytest.raises(OptionError, match=said) as caught:
        time_pattern(form)
    assert "as Python's strptime does" in str(caught.value)


QUERY = "FROM t ORDER BY at DEFINE A AS x > 9 RETURN A.ts AS since"


@pytest.mark.parametrize(
    ("name", "text", "options", "said"),
    [
        (
            "a.csv",
            "at,x\n31.01.2024 06:00,11\n",
            ["--time-format", "%d.%m.%Y %H:%M"],
            "as %d.%m.%Y %H:%M times, zone UTC",
        ),
        ("b.csv", "at,x\n31012024,11\n", ["--time-format", "%d%m%Y"], "as %d%m%Y times, zone UTC"),
        ("c.json", '{"at": 20240131, "x": 11}\n', ["--time-format", "%Y%m%d"], "as %Y%m%d times, zone UTC"),
        ("d.csv", "at,x\n2024-01-31 06:00,11\n", [], "column at: text read as ISO 8601 times, zone UTC."),
        (
            "e.csv",
            "At,x\n2024-01-31T06:00:00Z,11\n",
            [],
            "column At: text read as ISO 8601 times, zones as w",
        ),
        (
            "f.json",
            '{"at": "2024-01-31T06:00:00.5+01:00", "x": 11}\n',
            [],
            "ISO 8601 times, zones as written.",
        ),
    ],
)
def test_it_says_how_text_was_read(
    name: str, text: str, options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    argv = ["run", QUERY, str(tmp_path / name), *options]
    assert cli.main(argv) == 0
    captured = capsys.readouterr()
    assert "2024-01-31" in captured.out
    assert said in captured.err
    assert cli.main([*argv, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_times_are_of_the_zone_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("at,x\n1.7.2024 12:00,11\n")
    argv = ["run", QUERY, str(tmp_path / "e.csv"), "--time-format", "%d.%m.%Y %H:%M"]
    assert cli.main([*argv, "--time-zone", "Europe/Paris", "--output-format", "json"]) == 0
    captured = capsys.readouterr()
    assert '"since":"2024-07-01T10:00:00.000000Z"' in captured.out
    assert "zone Europe/Paris" in captured.err


def test_text_in_columns_of_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(pa.table({"at": ["2024-01-31 06:00:00", "soon"], "x": [11, 12]}), tmp_path / "e.parquet")
    argv = ["run", QUERY, str(tmp_path / "e.parquet")]
    assert cli.main(argv) == 1
    assert "text that is not a time, for example soon" in capsys.readouterr().err
    assert cli.main([*argv, "--on-bad-rows", "drop"]) == 0
    assert "1 row that could not be read left out." in capsys.readouterr().err


@pytest.mark.parametrize("where", ["--in-process", pytest.param("--spark", marks=pytest.mark.spark)])
def test_what_cannot_be_read_so(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    if where == "--spark":
        request.getfixturevalue("spark")
    (tmp_path / "e.csv").write_text("at,x\n31.1.2024,11\n2024-02-01,12\n")
    pq.write_table(pa.table({"at": [1, 2], "x": [11, 12]}), tmp_path / "e.parquet")
    for name, said, code in (
        (
            "e.csv",
            "text that is not a time written as %d.%m.%Y, for example 2024-02-01\nHint: write times",
            1,
        ),
        ("e.parquet", "--time-format says how times are written in text, and the time column at has", 2),
    ):
        argv = ["run", QUERY, str(tmp_path / name), "--time-format", "%d.%m.%Y", where]
        assert cli.main(argv) == code
        assert said in capsys.readouterr().err


def test_spark_reads_the_same(spark: SparkSession) -> None:
    """One job for each format: what was written in it, what is no time, and what is nearly one."""
    moments = [
        datetime(1999, 12, 31, 23, 59, 59, 999_999),
        datetime(2024, 2, 29, 12, 5),
        datetime(2068, 1, 1),
    ]
    for form in FORMATS:
        pattern = time_pattern(form)
        right = [moment.replace(tzinfo=timezone(timedelta(hours=-3, minutes=-30))) for moment in moments]
        texts = [f"{moment:{form}}" for moment in right]
        texts += [text.replace("9", "8").replace("2", "3") for text in texts]
        texts += [texts[0].upper(), texts[1][:-1], "", " "]
        rows = spark.createDataFrame([(text,) for text in texts], "at string").coalesce(1)
        times, _ = with_times(rows, Wanted(["at"], time_format=pattern, drop=True))
        answer = [row[0] for row in times.selectExpr("unix_micros(at)").collect()]
        expected, _ = read_times(pa.chunked_array([texts]), pattern, "UTC")
        assert answer == expected.cast(pa.int64()).to_pylist(), form
        assert sum(one is not None for one in answer) >= 3
