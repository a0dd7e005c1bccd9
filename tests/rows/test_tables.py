"""Tables of other libraries: in through Arrow, and back as what they were."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, SituError
from situ.rows.tables import from_arrow, to_arrow

QUERY = situ.query(
    "FROM t ORDER BY ts DEFINE A AS x > 1 RETURN A.ts AS since, avg(A.x) AS mean, first(A.s) AS s"
)
COLUMNS = {
    "ts": [datetime(2020, 1, 1), datetime(2020, 1, 2), datetime(2020, 1, 3)],
    "x": [0, 5, 7],
    "s": ["p", None, "q"],
}
ROW = {"since": datetime(2020, 1, 2), "mean": 5.0, "s": None, "match_time": datetime(2020, 1, 2)}


def test_arrow_in_arrow_out() -> None:
    table = pa.table(COLUMNS)
    assert situ.match(table, QUERY).to_pylist() == [ROW]
    assert isinstance(situ.match(table.to_batches()[0], QUERY), pa.Table)
    assert situ.situations(table, QUERY).column_names == [
        "symbol",
        "ts",
        "te",
        "n_events",
        "avg_x",
        "first_s",
    ]


def test_pandas_in_pandas_out() -> None:
    frame = pd.DataFrame(COLUMNS, index=[7, 8, 9])
    found = situ.match(frame, QUERY)
    assert isinstance(found, pd.DataFrame)
    assert found.to_dict("records") == [
        {**ROW, "since": pd.Timestamp(2020, 1, 2), "match_time": pd.Timestamp(2020, 1, 2)}
    ]
    assert isinstance(situ.situations(frame, QUERY), pd.DataFrame)


def test_polars_in_polars_out() -> None:
    frame = pl.DataFrame(COLUMNS)
    for given in (frame, frame.lazy()):
        found = situ.match(given, QUERY)
        assert type(found) is type(given)
        assert found.lazy().collect().to_dicts() == [ROW]


def test_a_result_keeps_its_types_when_it_is_empty() -> None:
    nothing = situ.query("FROM t ORDER BY ts DEFINE A AS x > 99 RETURN A.ts AS since, avg(A.x) AS mean")
    schema = situ.match(pa.table(COLUMNS), nothing).schema
    assert schema == pa.schema(
        [("since", pa.timestamp("us")), ("mean", pa.float64()), ("match_time", pa.timestamp("us"))]
    )
    assert situ.match(pl.DataFrame(COLUMNS), nothing).schema["mean"] == pl.Float64


@pytest.mark.parametrize("thing", [[1, 2], {"ts": [1]}, None, 5, "table"])
def test_anything_else_is_refused_by_name(thing: object) -> None:
    with pytest.raises(DataError, match="cannot match a builtins") as caught:
        situ.match(thing, QUERY)
    assert "a pandas DataFrame or a Polars DataFrame" in str(caught.value)


def test_a_pandas_series_is_no_table() -> None:
    with pytest.raises(DataError, match="Series"):
        to_arrow(pd.Series([1, 2]))
    with pytest.raises(DataError, match="Series"):
        to_arrow(pl.Series([1, 2]))


def test_a_frame_with_mixed_types_is_refused_as_data() -> None:
    with pytest.raises(DataError, match="does not convert to Arrow"):
        to_arrow(pd.DataFrame({"x": [1, "a"]}))


def test_column_names_that_differ_only_in_case_or_repeat_are_refused() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([1]), pa.array([2])], names=["ts", "x", "x"])
    with pytest.raises(SituError):
        situ.match(twice, QUERY)


def test_from_arrow_leaves_arrow_alone() -> None:
    table = pa.table(COLUMNS)
    assert from_arrow(table, table) is table


def test_dictionary_columns_of_pandas_and_polars_are_read() -> None:
    text = "FROM t PARTITION BY s ORDER BY ts DEFINE A AS x > 1 AND s = 'q' RETURN last(A.s) AS last"
    for frame in (
        pd.DataFrame(COLUMNS).astype({"s": "category"}),
        pl.DataFrame(COLUMNS).with_columns(pl.col("s").cast(pl.Categorical)),
    ):
        found = pa.table({"last": list(situ.match(frame, situ.query(text))["last"])})
        assert found["last"].to_pylist() == ["q"]
