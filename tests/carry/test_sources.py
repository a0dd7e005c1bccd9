"""Several sources in process and pushed: what is taken in, what is late, what is told (SEM 13)."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, OptionError, SourceError, TiesWarning

WEATHER = pa.table({"t": [0, 2, 4, 7], "gust": [3, 9, 9, 2], "both": [1, 2, 3, 4]})
FLIGHTS = pa.table({"t": [1, 3, 5, 6, 9], "late": [False, True, True, True, False], "both": [5, 6, 7, 8, 9]})
TABLES = {"weather": WEATHER, "flights": FLIGHTS}
SCHEMAS = {"weather": WEATHER.schema, "flights": FLIGHTS.schema}
FROM = "FROM weather AS w, flights AS f ORDER BY t"
QUERY = situ.query(
    f"{FROM} DEFINE G AS gust > 5, L AS late PATTERN G overlaps L "
    "RETURN G.ts AS g, L.ts AS l, sum(G.both) AS of_g, sum(L.both) AS of_l"
)
MATCH = [{"g": 2, "l": 3, "of_g": 5, "of_l": 21, "match_time": 7}]


def test_kinds_of_tables() -> None:
    assert situ.match(TABLES, QUERY).to_pylist() == MATCH
    mixed = {"weather": WEATHER.to_pandas(), "flights": FLIGHTS}
    found = situ.match(mixed, QUERY)
    assert isinstance(found, pd.DataFrame)
    assert found.to_dict("records") == MATCH
    assert situ.match(dict(reversed(TABLES.items())), QUERY).to_pylist() == MATCH


def test_situations_and_words() -> None:
    found = situ.situations(TABLES, QUERY).to_pylist()
    assert [(row["symbol"], row["ts"], row["te"], row["sum_both"]) for row in found] == [
        ("G", 2, 7, 5),
        ("L", 3, 9, 21),
    ]
    assert situ.why(TABLES, QUERY).matches == 1
    told = str(situ.explain(TABLES, QUERY))
    assert "weather (w) and flights (f)" in told
    assert "late in f" in told


def test_times_of_different_units_are_one_type() -> None:
    times = [datetime(2026, 1, 1, 0, second, tzinfo=UTC) for second in range(4)]
    weather = pa.table({"t": pa.array(times, pa.timestamp("ms", "UTC")), "x": [0, 1, 1, 0]})
    flights = pa.table({"t": pa.array(times, pa.timestamp("ns", "Europe/Berlin")), "y": [0, 0, 1, 1]})
    found = situ.match(
        {"weather": weather, "flights": flights},
        "FROM weather, flights ORDER BY t DEFINE A AS x > 0, B AS y > 0 PATTERN A overlaps B",
    )
    assert found.schema.field("match_time").type == pa.timestamp("us", "UTC")
    assert found["match_time"].to_pylist() == [times[3]]


def test_one_table_under_two_names_is_that_table() -> None:
    define = "DEFINE A {0}AS gust > 5, B {1}AS both > 2 PATTERN A overlaps B"
    one = situ.match(WEATHER, "FROM weather ORDER BY t " + define.format("", ""))
    two = situ.match(
        {"weather": WEATHER},
        "FROM weather AS a, weather AS b ORDER BY t " + define.format("ON a ", "ON b "),
    )
    assert two.to_pylist() == one.to_pylist()
    assert one.num_rows == 1


def test_pushed_event_by_event_and_left_out() -> None:
    operator = QUERY.operator(SCHEMAS)
    rows = [("weather", row) for row in WEATHER.to_pylist()] + [
        ("flights", row) for row in FLIGHTS.to_pylist()
    ]
    found = [
        match
        for name, row in sorted(rows, key=lambda row: row[1]["t"])
        for match in operator.push({name: row}).to_pylist()
    ]
    assert found == MATCH


def test_the_least_watermark_counts() -> None:
    operator = QUERY.operator(SCHEMAS, watermark=0)
    operator.push({"weather": WEATHER})
    assert operator.push({"weather": {"t": 100, "gust": 0, "both": 0}}).num_rows == 0
    assert operator.push({"flights": FLIGHTS}).num_rows == 0  # they wait for the next push
    assert operator.late == 0
    assert operator.push({}).to_pylist() == MATCH
    assert operator.n_waiting == 2  # of weather at 100, of flights at 9


def test_a_silent_source_is_advanced() -> None:
    operator = QUERY.operator(SCHEMAS, watermark=0, late_rows=True)
    operator.push({"weather": WEATHER, "flights": FLIGHTS.slice(0, 4)})
    operator.push({"weather": {"t": 100, "gust": 0, "both": 0}})
    again = QUERY.operator(SCHEMAS, watermark=0, late_rows=True, state=operator.state())
    assert again.advance(50, "flights").to_pylist() == MATCH
    again.push({"flights": FLIGHTS.slice(4)})
    assert (again.late, {name: table.num_rows for name, table in again.late_rows.items()}) == (
        1,
        {"weather": 0, "flights": 1},
    )
    with pytest.raises(SourceError, match="no source 'trains'"):
        again.advance(60, "trains")


def test_rows_from_the_future_of_one_source() -> None:
    time = pa.timestamp("us", "UTC")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    schemas = {name: pa.schema([("t", time), ("x", pa.int64())]) for name in ("a", "b")}
    query = situ.query("FROM a, b DEFINE A AS a.x > 0, B AS b.x > 0 PATTERN A while B WITHIN 1 hour")
    operator = query.operator(schemas, max_ahead="1 minute", late_rows=True)
    rows = pa.Table.from_pylist([{"t": now, "x": 1}, {"t": now.replace(year=2030), "x": 1}], schemas["a"])
    assert operator.push({"a": rows, "b": rows.slice(0, 1)}, now=now).num_rows == 1
    assert operator.ahead == 1
    assert {name: table.num_rows for name, table in operator.ahead_rows.items()} == {"a": 1, "b": 0}


def test_ties_are_told_of_the_source_that_has_them() -> None:
    weather = pa.table({"t": [1, 1, 2], "gust": [9, 9, 1], "both": [0, 0, 0], "station": ["x", "y", "x"]})
    with pytest.warns(TiesWarning, match=r"1 of 3 rows are left out(.|\n)*PARTITION BY station"):
        situ.match({**TABLES, "weather": weather}, QUERY)
    with pytest.raises(DataError, match="two rows share the time 1"):
        situ.match({**TABLES, "weather": weather}, QUERY, ties="error")
    situ.match(TABLES | {"flights": FLIGHTS.slice(0, 1).set_column(0, "t", [[0]])}, QUERY, ties="error")


def test_what_is_refused() -> None:
    with pytest.raises(SourceError, match="one table was given"):
        situ.match(WEATHER, QUERY)
    with pytest.raises(SourceError, match="reads one table"):
        situ.match(TABLES, "FROM weather ORDER BY t DEFINE G AS gust > 5")
    with pytest.raises(SourceError, match="FROM names flights"):
        situ.match({"weather": WEATHER}, QUERY)
    with pytest.raises(SourceError, match="FROM does not name it"):
        situ.match({**TABLES, "trains": WEATHER}, QUERY)
    with pytest.raises(SourceError, match="several queries in one pass"):
        situ.match(TABLES, {"a": QUERY, "b": QUERY})
    with pytest.raises(SourceError, match="one was pushed"):
        QUERY.operator(SCHEMAS).push(WEATHER)
    with pytest.raises(SourceError, match="'trains' was pushed"):
        QUERY.operator(SCHEMAS).push({"trains": WEATHER})
    with pytest.raises(SourceError, match="one table was given"):
        QUERY.operator(WEATHER.schema)
    with pytest.raises(OptionError, match="watermark"):
        situ.match(TABLES, QUERY, watermark=3)


def test_bad_rows_are_told_in_the_words_of_their_source() -> None:
    weather = WEATHER.set_column(0, "t", pa.array([0, None, 4, 7], pa.int64()))
    with pytest.raises(DataError, match=r"time column t is null in 1 row(.|\n)*'gust': 9"):
        situ.match({**TABLES, "weather": weather}, QUERY)
    assert situ.match({**TABLES, "weather": weather}, QUERY, on_bad_rows="drop").num_rows == 0
    with pytest.raises(DataError, match="divides by zero"):
        situ.match(TABLES, f"{FROM} DEFINE G AS 1 / (gust - 9) > 0, L AS late PATTERN G while L")
