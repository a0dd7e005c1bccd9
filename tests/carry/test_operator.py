"""The push operator as its user sees it: what it takes, what it refuses, what it says of itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, QueryError, SituError
from situations.drawing import SCHEMA, events, records

QUERY = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A meets B WITHIN 10")
#        012345
TABLE = events("a .##...", "b ...##.")
EVENT = TABLE.to_pylist()[0]


def test_tables_batches_and_single_events_are_taken() -> None:
    whole = QUERY.operator(SCHEMA).push(TABLE)
    assert records(whole) == [(1, 3, 3, None, 3)]
    assert QUERY.operator(SCHEMA).push(TABLE.to_batches()[0]) == whole
    operator = QUERY.operator(SCHEMA)
    found = [operator.push(row) for row in TABLE.to_pylist()]
    assert [one.num_rows for one in found] == [0, 0, 0, 1, 0, 0]
    assert found[3] == whole


def test_columns_in_another_order_and_of_narrower_types_are_taken() -> None:
    turned = TABLE.select(TABLE.column_names[::-1]).append_column("more", pa.array(range(6)))
    assert QUERY.operator(SCHEMA).push(turned).num_rows == 1
    narrow = TABLE.set_column(1, "t", TABLE["t"].cast(pa.int16()))
    assert QUERY.operator(SCHEMA).push(narrow).num_rows == 1


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([1, 2], "cannot push a list\nHint: push a pyarrow Table or RecordBatch, or one event as a dict"),
        (None, "cannot push a NoneType"),
        (TABLE.drop_columns("b"), "the batch lacks column b; the operator was made for k, t, a"),
        (TABLE.set_column(1, "t", pa.array(["x"] * 6)), "the batch does not fit the operator's schema"),
        (EVENT | {"t": "x"}, "the event does not fit the operator's schema: Could not convert 'x'"),
        (EVENT | {"t": 2**70}, "the event does not fit the operator's schema"),
        ({"t": 1, "a": True}, "the event lacks column k; the operator was made for k, t, a"),
    ],
)
def test_what_does_not_fit_is_refused(batch: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        QUERY.operator(SCHEMA).push(batch)
    assert message in str(caught.value)


def test_a_refused_batch_leaves_the_operator_as_it_was() -> None:
    operator = QUERY.operator(SCHEMA)
    operator.push(TABLE.slice(0, 3))
    before = operator.state()
    with pytest.raises(SituError):
        operator.push(EVENT | {"t": None})
    with pytest.raises(SituError):
        operator.push(TABLE.drop_columns("b"))
    assert operator.state() == before
    assert operator.push(TABLE.slice(3)).num_rows == 1


def test_an_empty_batch_is_nothing() -> None:
    operator = QUERY.operator(SCHEMA, watermark=1)
    found = operator.push(SCHEMA.empty_table())
    assert found.num_rows == 0
    assert found.schema == situ.match(TABLE, QUERY).schema
    assert (operator.n_waiting, operator.n_situations, operator.late) == (0, 0, 0)


@pytest.mark.parametrize(
    ("kind", "to"),
    [
        (pa.int64(), 5),
        (pa.timestamp("us", "UTC"), datetime(1970, 1, 1, 0, 0, 0, 5, UTC)),
        (pa.timestamp("us"), datetime(1970, 1, 1, 0, 0, 0, 5)),
    ],
)
def test_advance_takes_what_the_time_column_holds(kind: pa.DataType, to: Any) -> None:
    schema = SCHEMA.set(1, pa.field("t", kind))
    query = QUERY if kind == pa.int64() else situ.query(str(QUERY).replace("WITHIN 10", "WITHIN 10 us"))
    delay = 100 if kind == pa.int64() else "100 us"
    operator = query.operator(schema, watermark=delay)
    operator.push(TABLE.cast(schema))
    found = operator.advance(to)  # instants before 5 are complete
    assert found.num_rows == 1
    assert operator.n_waiting == 1


@pytest.mark.parametrize("to", ["soon", None, datetime(2020, 1, 1), 1.5, 2**70])
def test_advance_to_something_else_is_refused(to: Any) -> None:
    with pytest.raises(DataError, match="cannot advance to"):
        QUERY.operator(SCHEMA).advance(to)


def test_advance_makes_earlier_rows_late_also_without_a_watermark() -> None:
    operator = QUERY.operator(SCHEMA, late_rows=True)
    operator.advance(3)
    assert operator.push(TABLE).num_rows == 0
    assert operator.late == 3
    assert operator.late_rows["t"].to_pylist() == [0, 1, 2]


def test_a_row_without_a_time_is_counted_once_beside_late_ones() -> None:
    operator = QUERY.operator(SCHEMA, late_rows=True, on_bad_rows="drop")
    operator.push(TABLE)
    operator.push(pa.Table.from_pylist([EVENT, EVENT | {"t": None}], SCHEMA))
    assert (operator.late, operator.n_bad_rows) == (1, 1)
    assert operator.late_rows["t"].to_pylist() == [0]


def test_advance_never_goes_back() -> None:
    operator = QUERY.operator(SCHEMA)
    operator.advance(3)
    operator.advance(1)
    operator.push(TABLE.slice(0, 3))
    assert operator.late == 3


def test_ties_with_the_horizon_are_refused_when_asked() -> None:
    operator = QUERY.operator(SCHEMA, ties="error")
    operator.push(TABLE.slice(0, 3))
    with pytest.raises(
        DataError, match='a row shares the time 2 with one already processed, and ties="error"'
    ):
        operator.push(TABLE.slice(2, 1))


def test_a_batch_of_late_rows_alone_still_moves_the_watermark() -> None:
    """SEM 8.1: W is what earlier batches have seen, so the push after the one that moves it releases."""
    operator = QUERY.operator(SCHEMA, watermark=0)
    assert operator.push(TABLE).num_rows == 0
    assert operator.push(TABLE.slice(0, 1)).num_rows == 1
    assert operator.late == 1


def test_several_symbols_need_a_pattern() -> None:
    query = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b")
    with pytest.raises(QueryError, match="needs a PATTERN"):
        query.operator(SCHEMA)
    with pytest.raises(QueryError, match="needs a PATTERN"):
        situ.match(TABLE, query)


def test_a_schema_must_be_arrows() -> None:
    with pytest.raises(DataError, match="pyarrow Schema, not for a str"):
        QUERY.operator({"t": "int64"})  # type: ignore[arg-type]


def test_one_symbol_is_a_pattern_too() -> None:
    """SEM 3.2: told when A has lasted 2."""
    query = situ.query(
        "FROM e ORDER BY t DEFINE A AS a AT LEAST 2 WITHIN 10 RETURN A.ts AS since, count(A) AS n"
    )
    operator = query.operator(SCHEMA)
    found = [operator.push(row).to_pylist() for row in events("a .####.#.").to_pylist()]
    assert found == [[], [], [], [{"since": 1, "n": 3, "match_time": 3}], [], [], [], []]


def test_explain_says_what_was_done_so_far() -> None:
    operator = QUERY.operator(SCHEMA)
    assert "Candidates looked at: 0." in str(operator.explain())
    operator.push(TABLE)
    said = operator.explain()
    assert said.actuals is not None
    assert said.actuals.visited == 2  # one a, and the one b that can meet it
    assert f"Plan changes: {operator.engine.planner.n_changes}." in str(said)
    assert "Plan at the end" in str(said)


def test_explain_of_a_table_leaves_out_what_was_not_counted() -> None:
    assert "Plan changes" not in str(situ.explain(TABLE, QUERY))
