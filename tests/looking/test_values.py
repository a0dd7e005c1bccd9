"""What `prev` gives (SEM 15): values of every type, at every distance, in every way of cutting the input."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import situ

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [1, None, 3, 3, -4, 5]),
    "int64": (pa.int64(), [2**62, None, 3, 3, -(2**63), 5]),
    "float": (pa.float32(), [1.5, float("nan"), None, 1.5, 0.0, -0.0]),
    "double": (pa.float64(), [1.5, float("nan"), float("nan"), None, 1e300, -1.0]),
    "decimal": (pa.decimal128(30, 3), [Decimal("1.500"), None, Decimal(10) ** 26, Decimal(0), None, None]),
    "string": (pa.string(), ["a", None, "", "a", "ä" * 50, "b"]),
    "large string": (pa.large_string(), ["a", None, "", "a", "b", "b"]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["a", None, "b", "a", "b", "c"]),
    "boolean": (pa.bool_(), [True, None, False, True, True, None]),
    "date": (pa.date32(), [date(2026, 1, 1), None, date(1950, 1, 1), date(2026, 1, 1), None, None]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [datetime(2026, 1, day, tzinfo=UTC) if day % 3 else None for day in (1, 2, 3, 4, 4, 6)],
    ),
    "timestamp_ntz": (pa.timestamp("us"), [datetime(2026, 1, day) for day in (1, 2, 3, 4, 4, 6)]),
}


def table_of(kind: pa.DataType, values: list[Any]) -> pa.Table:
    column = pa.array(values, kind.value_type).cast(kind) if pa.types.is_dictionary(kind) else values
    return pa.table({"t": pa.array(range(len(values))), "x": pa.array(column, kind)})


def same_as_before(values: list[Any], n: int) -> list[int]:
    """Where x IS NOT DISTINCT FROM prev(x, n), by hand; NaN equals itself, as Spark has it."""
    return [i for i, value in enumerate(values) if _key(value) == _key(values[i - n] if i >= n else None)]


def _key(value: Any) -> Any:
    return "nan" if isinstance(value, float) and value != value else value


def instants_of(query: str, table: pa.Table, cuts: tuple[int, ...] = ()) -> list[int]:
    """The instants of situations of a single symbol, row by row, by pushes cut here and restored at each."""
    asked = situ.query(query)
    state, found = None, []
    for begin, end in itertools.pairwise([0, *cuts, table.num_rows]):
        operator = asked.operator(table.schema, state=state)
        found += operator.push(table.slice(begin, end - begin)).to_pylist()
        state = operator.state()
    last = asked.operator(table.schema, state=state)
    found += last.push(table.slice(0, 1).set_column(0, "t", pa.array([table.num_rows]))).to_pylist()
    return sorted(i for row in found for i in range(row["s"], row["e"]))


@pytest.mark.parametrize("n", [1, 2, 5, 6])
@pytest.mark.parametrize("name", VALUES)
def test_values_of_every_type(name: str, n: int) -> None:
    kind, values = VALUES[name]
    table = table_of(kind, values)
    # the row pushed behind them closes all: it differs from the one before in both symbols
    query = f"""
        FROM e ORDER BY t DEFINE R AS t < {len(values)} AND (x <=> prev(x, {n}))
        EMIT FINAL RETURN R.ts AS s, R.te AS e"""
    wanted = same_as_before(values, n)
    for cuts in ((), (1,), (2, 3), (1, 2, 3, 4, 5)):
        assert instants_of(query, table, cuts) == wanted, cuts


@pytest.mark.parametrize("unit", ["us", "ns", "s"])
def test_the_time_itself(unit: str) -> None:
    """A gap between events, found by the time of the one before."""
    times = [datetime(2026, 1, 1, 12, minute) for minute in (0, 1, 9, 10)]
    table = pa.table({"t": pa.array(times, pa.timestamp(unit))})
    query = "FROM e ORDER BY t DEFINE G AS t - prev(t) > INTERVAL '5' MINUTE RETURN G.ts AS s"
    assert situ.match(table, situ.query(query))["s"].to_pylist() == [times[2]]


def test_the_time_as_a_number_of_a_unit() -> None:
    table = pa.table({"t": [0.0, 1.0, 5.0, 6.0]})
    query = "FROM e ORDER BY t DEFINE G AS t - prev(t) > 2 RETURN G.ts AS s"
    assert situ.match(table, situ.query(query), time_unit="seconds")["s"].to_pylist() == [5.0]


def test_a_thousand_instants_back() -> None:
    n = 3000
    table = pa.table({"t": range(n), "x": [i % 1000 + (i == 2500) for i in range(n)]})
    query = situ.query(
        "FROM e ORDER BY t DEFINE D AS x <> prev(x, 1000) EMIT FINAL RETURN D.ts AS s, D.te AS e"
    )
    assert situ.match(table, query).select(["s", "e"]).to_pylist() == [{"s": 2500, "e": 2501}]
    operator = query.operator(table.schema)
    found = [row for i in range(0, n, 7) for row in operator.push(table.slice(i, 7)).to_pylist()]
    assert [(row["s"], row["e"]) for row in found] == [(2500, 2501)]


def test_late_rows_are_no_earlier_instants() -> None:
    query = situ.query("FROM e ORDER BY t DEFINE R AS x > prev(x) RETURN R.ts AS s")
    operator = query.operator(pa.schema([("t", pa.int64()), ("x", pa.int64())]))
    operator.push(pa.table({"t": [1, 5], "x": [9, 1]}))
    assert operator.push(pa.table({"t": [3, 6], "x": [0, 2]}))["s"].to_pylist() == [6]
    assert operator.late == 1


def test_rows_that_wait_are_looked_back_at_when_they_are_complete() -> None:
    query = situ.query("FROM e ORDER BY t DEFINE R AS x > prev(x + 1) RETURN R.ts AS s")
    operator = query.operator(pa.schema([("t", pa.int64()), ("x", pa.int64())]), watermark=3)
    assert operator.push(pa.table({"t": [4, 1], "x": [4, 9]})).num_rows == 0
    operator = query.operator(operator.input_schema, watermark=3, state=operator.state())
    found = [operator.push(pa.table({"t": [2, 9], "x": [1, 0]})), operator.flush()]
    assert [row["s"] for table in found for row in table.to_pylist()] == [4]


def test_an_error_in_what_is_looked_back_at_is_an_error() -> None:
    """Inside of prev an expression is evaluated for every event, whether somebody looks back at it or not."""
    table = pa.table({"t": [1, 2], "x": [1, 0]})
    query = situ.query("FROM e ORDER BY t DEFINE R AS prev(1 / x) > 0")
    with pytest.raises(situ.SituError, match=r"(?i)zero"):
        situ.match(table, query)
    assert situ.match(table.slice(0, 1), query).num_rows == 0


def test_what_stands_around_it_is_evaluated_where_it_has_to_be() -> None:
    table = pa.table({"t": [1, 2, 3], "x": [0, 5, 0]})
    query = situ.query("FROM e ORDER BY t DEFINE R AS prev(x) <> 0 AND 10 / prev(x) = 2 RETURN R.ts AS s")
    assert situ.match(table, query)["s"].to_pylist() == [3]


def test_lazy_frames_read_what_is_looked_back_at() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"t": [1, 2, 3], "x": [1, 5, 2], "y": [0, 0, 9], "unused": ["a"] * 3})
    query = situ.query("FROM e ORDER BY t DEFINE R AS x > prev(y + 2) RETURN R.ts AS s")
    assert situ.match(frame, query).collect()["s"].to_list() == [2]
