"""The types of a result (SEM 5.4), in batch and push alike."""

from __future__ import annotations

import pyarrow as pa
import pytest

import situ
from situ.errors import UnsupportedExpressionError

AGGREGATED = {
    "count(A)": pa.int64(),
    "count(A.s)": pa.int64(),
    "sum(A.n)": pa.int64(),
    "sum(A.small)": pa.int64(),
    "sum(A.x)": pa.float64(),
    "avg(A.n)": pa.float64(),
    "avg(A.x)": pa.float64(),
    "stddev(A.n)": pa.float64(),
    "median(A.small)": pa.float64(),
    "percentile(A.n, 0.9)": pa.float64(),
    "collect_list(A.small)": pa.list_(pa.int32()),
    "collect_list(A.s)": pa.list_(pa.string()),
    "collect_list(A.at)": pa.list_(pa.timestamp("us", "UTC")),
    "min(A.s)": pa.string(),
    "max(A.small)": pa.int32(),
    "first(A.day)": pa.date32(),
    "last(A.a)": pa.bool_(),
    "max(A.at)": pa.timestamp("us", "UTC"),
    "A.duration": pa.int64(),
}
TIMES = [
    (pa.int16(), pa.int64()),
    (pa.int32(), pa.int64()),
    (pa.int64(), pa.int64()),
    (pa.timestamp("us"), pa.duration("us")),
    (pa.timestamp("us", "UTC"), pa.duration("us")),
    (pa.timestamp("us", "Europe/Berlin"), pa.duration("us")),
    (pa.date32(), pa.duration("us")),
]


def on_every_path(table: pa.Table, text: str) -> list[pa.Table]:
    query = situ.query(text)
    operator = query.operator(table.schema)
    return [situ.match(table, query), pa.concat_tables([operator.push(table), operator.flush()])]


@pytest.mark.parametrize(("time", "length"), TIMES, ids=str)
def test_endpoints_have_the_type_of_the_time_column(time: pa.DataType, length: pa.DataType) -> None:
    table = pa.table({"t": pa.array([1, 2, 3], time), "a": [True, False, True]})
    text = "FROM e ORDER BY t DEFINE A AS a RETURN A.ts AS s, A.te AS e, A.duration AS d"
    for emit in ("EARLY", "FINAL"):
        for result in on_every_path(table, f"{text} EMIT {emit}"):
            assert result.schema.types == [time, time, length, time]


@pytest.mark.parametrize(("item", "expected"), AGGREGATED.items(), ids=AGGREGATED)
def test_aggregates_have_the_types_of_spark(item: str, expected: pa.DataType) -> None:
    columns = {
        "t": pa.array([1, 2], pa.int64()),
        "a": pa.array([True, False]),
        "n": pa.array([7, None], pa.int64()),
        "small": pa.array([7, None], pa.int32()),
        "x": pa.array([0.5, None], pa.float64()),
        "s": pa.array(["v", None], pa.string()),
        "day": pa.array([1, None], pa.date32()),
        "at": pa.array([1, None], pa.timestamp("us", "UTC")),
    }
    text = f"FROM e ORDER BY t DEFINE A AS a RETURN {item} AS r"
    for rows in (pa.table(columns), pa.table(columns).slice(0, 0)):
        for result in on_every_path(rows, text):
            assert result.schema.field("r").type == expected


def test_lists_stand_alone_in_process() -> None:
    table = pa.table({"t": [1, 2, 3], "a": [True, True, False], "x": [0.5, None, 1.5]})
    text = "FROM e ORDER BY t DEFINE A AS a RETURN {} AS l"
    for result in on_every_path(table, text.format("((collect_list(A.x)))")):
        assert result["l"].to_pylist() == [[0.5]]
    for expression in ("size(collect_list(A.x))", "collect_list(A.x)[0]", "median(A.x) + collect_list(A.x)"):
        with pytest.raises(UnsupportedExpressionError, match=r"an expression over collect_list\(A\.x\)"):
            situ.match(table, situ.query(text.format(expression)))
