"""Results written as text by a process without Spark read back to the microsecond."""

from __future__ import annotations

import csv
import json
import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.cli.outputs import write_table
from situ.cli.text import times_as_text

SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("zoned", pa.timestamp("us", "Asia/Kolkata")),
        ("local", pa.timestamp("us")),
        ("lasted", pa.duration("us")),
        ("n", pa.int64()),
    ]
)
MOMENTS = st.datetimes(datetime(1600, 1, 1), datetime(9999, 12, 31))
ROWS = st.fixed_dictionaries(
    {
        "ts": st.none() | MOMENTS.map(lambda t: t.replace(tzinfo=UTC)),
        "zoned": st.none() | MOMENTS.map(lambda t: t.replace(tzinfo=UTC)),
        "local": st.none() | MOMENTS,
        "lasted": st.none() | st.timedeltas(timedelta(days=-1000), timedelta(days=1000)),
        "n": st.none() | st.integers(-(2**63), 2**63 - 1),
    }
)


def written(folder: Path, name: str, rows: list[dict[str, object]]) -> Path:
    write_table(pa.Table.from_pylist(rows, SCHEMA), folder / name, name.rpartition(".")[2])
    return folder / name


def duration(text: str | None) -> timedelta | None:
    """SQL's notation of an interval, which is what Spark writes too."""
    if text is None:
        return None
    found = re.fullmatch(r"INTERVAL '(-?)(\d+) (\d\d):(\d\d):(\d\d)\.(\d{6})' DAY TO SECOND", text)
    assert found, text
    sign, days, hours, minutes, seconds, rest = found.groups()
    length = timedelta(int(days), int(seconds), int(rest), 0, int(minutes), int(hours))
    return -length if sign else length


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_json_reads_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]) -> None:
    path = written(tmp_path_factory.getbasetemp(), "found.json", rows)
    read = [json.loads(line) for line in path.read_text().splitlines()]
    for row in read:
        for name in ("ts", "zoned", "local"):
            row[name] = None if row[name] is None else datetime.fromisoformat(row[name])
        row["lasted"] = duration(row["lasted"])
    assert read == rows


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_csv_reads_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]) -> None:
    path = written(tmp_path_factory.getbasetemp(), "found.csv", rows)
    types = {name: pa.timestamp("us", "UTC") for name in ("ts", "zoned")}
    types |= {"local": pa.timestamp("us"), "lasted": pa.string(), "n": pa.int64()}
    options = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    read = pa.csv.read_csv(path, convert_options=options).to_pylist()
    assert [{**row, "lasted": duration(row["lasted"])} for row in read] == rows


def test_nested_times_keep_their_microseconds() -> None:
    moment = datetime(2024, 1, 1, 0, 0, 0, 123457, UTC)
    nested = {"s": {"at": moment, "all": [moment, None]}, "pairs": [{"for": timedelta(microseconds=7)}]}
    table = pa.Table.from_pylist([nested, {"s": None, "pairs": None}, nested]).slice(1)
    text = "2024-01-01T00:00:00.123457Z"
    assert times_as_text(table).to_pylist() == [
        {"s": None, "pairs": None},
        {
            "s": {"at": text, "all": [text, None]},
            "pairs": [{"for": "INTERVAL '0 00:00:00.000007' DAY TO SECOND"}],
        },
    ]


def test_lists_in_csv_are_json(tmp_path: Path) -> None:
    lists = {
        "x": [[1.5, math.nan, -math.inf], [], None],
        "n": pa.array([[2**62], None, [-1, 0]]),
        "s": [['say "hi"\n', "\\", "é", "a,b"], ["a", "a"], []],
        "b": [[True, False], None, []],
        "t": [[datetime(2024, 1, 1, 0, 0, 0, 1, UTC)], [], None],
        "d": pa.array([[0], [], None], pa.list_(pa.int32())).cast(pa.list_(pa.date32())),
    }
    found_csv = tmp_path / "found.csv"
    write_table(pa.table(lists), found_csv, "csv")
    with found_csv.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {name: [json.loads(row[name]) if row[name] else None for row in rows] for name in lists}
    assert found == {
        "x": [[1.5, "NaN", "-Infinity"], [], None],
        "n": [[2**62], None, [-1, 0]],
        "s": lists["s"],
        "b": [[True, False], None, []],
        "t": [["2024-01-01T00:00:00.000001Z"], [], None],
        "d": [["1970-01-01"], [], None],
    }
