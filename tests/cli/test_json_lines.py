"""JSON made of Arrow columns, against Python's own JSON of the rows."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.cli.json_lines import _ROWS_AT_A_TIME, json_lines
from situ.cli.text import write_json

_OF_SPARK = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.null(): st.none(),
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats(),
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.string_view(): TEXTS,
    pa.dictionary(pa.int32(), pa.string()): TEXTS,
    pa.binary(): st.binary(max_size=5),
    pa.decimal128(12, 3): st.decimals(-1000, 1000, places=3),
    pa.date32(): st.dates(),
    pa.time64("us"): st.times(),
    pa.list_(pa.int64()): st.lists(st.none() | st.integers(0, 9), max_size=3),
    pa.large_list(pa.string()): st.lists(st.none() | TEXTS, max_size=3),
    pa.list_(pa.float64(), 2): st.lists(st.floats(), min_size=2, max_size=2),
    pa.struct([("x", pa.int64()), ('y"', pa.list_(pa.string()))]): st.fixed_dictionaries(
        {"x": st.none() | st.integers(0, 9), 'y"': st.none() | st.lists(TEXTS, max_size=2)}
    ),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    n_rows = draw(st.integers(1, 5))
    columns = {
        f"{draw(TEXTS)}{i}": pa.array(
            draw(st.lists(st.none() | VALUES[kind], min_size=n_rows, max_size=n_rows)), kind
        )
        for i, kind in enumerate(kinds)
    }
    table = pa.table(columns)
    return table.slice(draw(st.integers(0, n_rows - 1)))  # arrays may begin anywhere in their buffers


def as_json(value: Any) -> Any:
    """What a value should read back as."""
    match value:
        case float():
            return value if math.isfinite(value) else _OF_SPARK[str(value)]
        case bytes():
            return base64.b64encode(value).decode()
        case Decimal():
            return float(value)
        case date() | time():
            return value.isoformat() if isinstance(value, date) else value.isoformat("microseconds")
        case list():
            return [as_json(one) for one in value]
        case dict():
            return {name: as_json(one) for name, one in value.items()}
    return value


@given(tables())
def test_every_row_reads_back(table: pa.Table) -> None:
    lines = b"".join(json_lines(table)).decode().split("\n")
    assert lines.pop() == ""
    assert [json.loads(line) for line in lines] == [as_json(row) for row in table.to_pylist()]


def test_whole_floats_stay_floats_and_maps_are_lists_of_entries() -> None:
    table = pa.table(
        {
            "f": pa.array([5.0, -0.0, 1e300], pa.float64()),
            "m": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        }
    )
    assert b"".join(json_lines(table)).decode().splitlines() == [
        '{"f":5.0,"m":[{"key":"a","value":1}]}',
        '{"f":-0.0,"m":null}',
        '{"f":1e+300,"m":[]}',
    ]


def test_long_tables_are_written_block_by_block(tmp_path: Path) -> None:
    table = pa.table({"i": range(2 * _ROWS_AT_A_TIME + 3)})
    write_json(table, tmp_path / "rows.json")
    read = [json.loads(line)["i"] for line in (tmp_path / "rows.json").read_text().splitlines()]
    assert read == list(range(table.num_rows))


@pytest.mark.parametrize("n_rows", [0, 2])
def test_an_open_file_is_written_and_stays_open(tmp_path: Path, n_rows: int) -> None:
    with open(tmp_path / "rows.json", "wb") as file:
        write_json(pa.table({"i": pa.array(range(n_rows), pa.int64())}), file)
        assert not file.closed
    assert (tmp_path / "rows.json").read_text() == "".join(f'{{"i":{i}}}\n' for i in range(n_rows))
