"""Rows left out as ties (SEM 1.3) are counted and told of, with the columns that tell them apart."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.errors import DataError

HOURS = [datetime(2013, 1, 1, 6, tzinfo=UTC) + timedelta(hours=hour) for hour in range(40)]
ORIGINS = ("EWR", "JFK", "LGA")


def weather(**more: Any) -> pa.Table:
    """Three stations, of which the last is calm: with PARTITION BY forgotten, only it counts."""
    rows = [(hour, origin, 1.0 if origin == "LGA" else 9.0) for hour in HOURS for origin in ORIGINS]
    table = pa.table(dict(zip(("hour", "origin", "speed"), zip(*rows, strict=True), strict=True)) | more)
    return table.set_column(0, "hour", table["hour"].cast(pa.timestamp("us", "UTC")))


QUERY = situ.query("FROM weather ORDER BY hour DEFINE Windy AS speed > 4")


@pytest.mark.parametrize("call", [situ.match, situ.situations])
@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_rows_left_out_are_told_of_once(call: Any, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    table = weather()
    events = {"arrow": lambda: table, "pandas": table.to_pandas, "polars": lambda: polars_of(table)}[kind]()
    with caplog.at_level(logging.WARNING, "situ"), pytest.warns(situ.TiesWarning) as told:
        call(events, QUERY)
    assert len(told) == 1
    assert told[0].filename == __file__  # the line that called situ
    text = str(told[0].message)
    assert text.startswith("80 of 120 rows are left out")
    assert "for example at 2013-01-01 06:00:00 UTC" in text
    assert "did you forget PARTITION BY origin?" in text
    assert [record.getMessage() for record in caplog.records] == [text]


def polars_of(table: pa.Table) -> Any:
    import polars

    return polars.from_arrow(table)


def test_what_was_asked_for_is_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        situ.match(weather(), QUERY, ties="last")
        situ.match(weather(), situ.query("FROM w PARTITION BY origin ORDER BY hour DEFINE A AS speed > 4"))


def test_refused_ties_are_shown_as_times_with_the_same_hint() -> None:
    with pytest.raises(DataError) as caught:
        situ.match(weather(), QUERY, ties="error")
    assert "two rows share the time 2013-01-01 06:00:00 UTC" in str(caught.value)
    assert "did you forget PARTITION BY origin?" in str(caught.value)


@pytest.mark.parametrize(
    ("more", "partition", "advice"),
    [
        ({"station": ["s1", "s2", "s3"] * 40}, "", "PARTITION BY origin?"),  # both would do: the first
        ({"id": list(range(120))}, "", "PARTITION BY origin?"),  # of few values, not one for each row
        ({"year": [2013] * 120}, "PARTITION BY year", "PARTITION BY year, origin?"),
    ],
)
def test_the_column_of_fewest_values_is_named(more: dict[str, Any], partition: str, advice: str) -> None:
    query = situ.query(f"FROM weather {partition} ORDER BY hour DEFINE Windy AS speed > 4")
    with pytest.warns(situ.TiesWarning) as told:
        situ.match(weather(**more), query)
    assert f"did you forget {advice}" in str(told[0].message)


def test_two_columns_are_named_where_none_is_enough() -> None:
    table = pa.table(
        {
            "t": [t for t in range(30) for _ in range(4)],
            "line": ["a", "a", "b", "b"] * 30,
            "sensor": [1, 2, 1, 2] * 30,
            "x": [float(i) for i in range(120)],
        }
    )
    with pytest.warns(situ.TiesWarning, match="did you forget PARTITION BY line, sensor?"):
        situ.match(table, situ.query("FROM t ORDER BY t DEFINE A AS x > 4"))


def test_rows_that_nothing_tells_apart() -> None:
    table = pa.table({"t": [1, 1, 2, 2], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.warns(situ.TiesWarning, match="no column tells such rows apart; one named in ORDER BY"):
        situ.match(table, situ.query("FROM t ORDER BY t DEFINE A AS x > 4"))


@given(
    st.lists(st.tuples(st.sampled_from(["p", "q", None]), st.integers(0, 9), st.booleans()), max_size=30),
    st.booleans(),
)
def test_every_row_left_out_is_counted(rows: list[tuple[Any, int, bool]], is_partitioned: bool) -> None:
    table = pa.table(
        {
            "k": pa.array([row[0] for row in rows], pa.string()),
            "t": pa.array([row[1] for row in rows], pa.int64()),
            "x": pa.array([row[2] for row in rows], pa.bool_()),
        }
    )
    by = "PARTITION BY k" if is_partitioned else ""
    query = situ.query(f"FROM t {by} ORDER BY t DEFINE A AS x")
    instants = Counter((row[0] if is_partitioned else None, row[1]) for row in rows)
    n_left_out = sum(n - 1 for n in instants.values())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        situ.match(table, query)
        operator = query.operator(table.schema)
        operator.push(table)
    assert [str(one.message).partition(" rows are")[0].partition(" row is")[0] for one in told] == (
        [f"{n_left_out} of {len(rows)}", f"at least {n_left_out}"] if n_left_out else []
    )
    assert operator.n_tied_rows == n_left_out
    answer = situ.why(table, query)
    assert (answer.n_events, answer.n_tied_rows) == (len(instants), n_left_out)
    last = {(row[0] if is_partitioned else None, row[1]): row[2] for row in rows}
    assert answer.tally.events.tolist() == [sum(last.values())]
    assert answer.tally.left_out.tolist() == [sum(row[2] for row in rows) - sum(last.values())]


def push_in_parts(operator: Any, table: pa.Table) -> None:
    for begin in range(0, table.num_rows, 30):
        operator.push(table.slice(begin, 30))
    operator.flush()


def test_an_operator_tells_once_and_counts_on() -> None:
    table = weather()
    operator = situ.query(
        "FROM w PARTITION BY year ORDER BY hour DEFINE A AS speed > 4 WITHIN 1 day"
    ).operator(table.append_column("year", pa.array([2013] * 120)).schema, watermark="1 hour")
    with pytest.warns(situ.TiesWarning, match=r"at 2013-01-01 06:00:00 UTC in partition \(2013,\)") as told:
        push_in_parts(operator, table.append_column("year", pa.array([2013] * 120)))
    assert len(told) == 1
    assert operator.n_tied_rows == 80


def test_why_says_that_rows_which_satisfy_a_condition_were_left_out() -> None:
    answer = situ.why(weather(), QUERY)
    assert answer.verdict == (
        "No match. Windy never held: no event satisfies speed > 4; the 80 rows that do are left out, because "
        "a later row of the partition has the same time."
    )
    said = " ".join(str(answer).split())
    assert "120 rows, of which 40 count and 80 are left out" in said
    assert "did you forget PARTITION BY origin?" in said
    explained = " ".join(str(situ.explain(weather(), QUERY)).split())
    assert "Events: 40." in explained
    assert "120 rows, of which 40 count and 80 are left out" in explained
