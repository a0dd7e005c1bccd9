"""What several queries leave out is told of once, and what none of them needs is not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.carry.push import PushOperator
from situ.operators.questions import deriving, matching
from situ.rows.kernels.numbers import NEVER
from streaming.in_memory import MemoryStream

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64())])
SHORT = "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 4, B AS x > 6 PATTERN A before B WITHIN 5"
LONG = SHORT.replace("WITHIN 5", "WITHIN 50").replace("before", "meets;before")
SMALL = LONG.replace("PARTITION", "WHERE x < 8 PARTITION")
GIVEN = (
    "FROM INTERVALS e STARTING t ENDING u ID BY i PARTITION BY k DEFINE A AS x > 4, B AS x > 6 "
    "PATTERN A before B WITHIN 5"
)


def question(*texts: str, of: Any = matching) -> Any:
    return of({f"q{i}": situ.query(text) for i, text in enumerate(texts)})


def batch(*rows: tuple[Any, ...], schema: pa.Schema = SCHEMA) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def test_a_late_row_is_late_once() -> None:
    """The row x = 9 is no row of the second query, and x = 1 is one of both."""
    operator = PushOperator(question(SHORT, SMALL), SCHEMA, late_rows=True)
    stream = MemoryStream(question(SHORT, SMALL), SCHEMA, {"late_rows": True})
    late = batch(("p", 3, 1), ("p", 2, 9))
    for rows in (batch(("p", 5, 5), ("q", 1, 5)), late, batch(("p", 6, 9), ("q", 2, 1))):
        operator.push(rows)
        stream.push(rows)
    assert operator.late == stream.n_late == 2
    assert operator.late_rows.to_pylist() == stream.late == late.to_pylist()


def test_a_row_of_a_query_that_has_seen_nothing_later_is_not_late() -> None:
    """x = 9 at 5 is for the first query only, so that the second takes what comes at 3."""
    operator = PushOperator(question(SHORT, SMALL), SCHEMA)
    operator.push(batch(("p", 5, 9)))
    found = operator.push(batch(("p", 3, 7), ("p", 4, 0), ("p", 5, 7)))
    assert set(found["query"].to_pylist()) == {"q1"}
    assert operator.late == 3  # for the first query all three


def test_rows_left_out_as_ties_are_counted_once() -> None:
    rows = batch(("p", 1, 5), ("p", 1, 7), ("p", 2, 5), ("q", 2, 5), ("q", 2, 6), ("q", 2, 7))
    operator = PushOperator(question(SHORT, LONG), SCHEMA)
    stream = MemoryStream(question(SHORT, LONG), SCHEMA)
    message = "3 rows are left out"
    with pytest.warns(situ.TiesWarning, match=message):
        operator.push(rows)
    stream.push(rows)
    assert operator.n_tied_rows == 3
    assert stream.n_tied == 3
    with pytest.warns(situ.TiesWarning, match="3 of 6 rows are left out"):
        situ.match(rows, {"a": situ.query(SHORT), "b": situ.query(LONG)})


def test_rows_of_forgotten_intervals_are_counted_once() -> None:
    """SEM 6.3."""
    schema = pa.schema([*SCHEMA, ("u", pa.int64()), ("i", pa.int64())])
    operator = PushOperator(question(GIVEN, GIVEN.replace("before", "meets")), schema)
    operator.push(batch(("p", 0, 5, None, 1), ("p", 20, 5, 21, 2), ("p", 30, 5, 31, 3), schema=schema))
    operator.push(batch(("p", 0, 5, 40, 1), ("p", 41, 5, 42, 4), schema=schema))
    operator.flush()
    alone = situ.query(GIVEN).operator(schema)
    alone.push(batch(("p", 0, 5, None, 1), ("p", 20, 5, 21, 2), ("p", 30, 5, 31, 3), schema=schema))
    alone.push(batch(("p", 0, 5, 40, 1), ("p", 41, 5, 42, 4), schema=schema))
    alone.flush()
    assert operator.forgotten == alone.forgotten > 0


def test_a_partition_is_forgotten_when_every_query_can() -> None:
    """MemoryStream checks that no bucket is woken for nothing while the windows pass one by one."""
    stream = MemoryStream(question(SHORT, LONG, SMALL), SCHEMA, has_watermark=True)
    stream.push(batch(*((key, t, x) for key in "pqrs" for t, x in enumerate((5, 7, 0, 9, 0)))), 0)
    instants = []
    while stream.next_instant != NEVER:
        instants.append(stream.next_instant)
        stream.advance(stream.next_instant)
        assert len(instants) < 20
    assert stream.n_keys == 0
    assert instants[-1] >= 50
    assert instants == sorted(set(instants))


def test_what_the_short_window_has_passed_is_gone_while_the_long_one_waits() -> None:
    operator = PushOperator(question(SHORT, LONG), SCHEMA)
    operator.push(batch(("p", 0, 5), ("p", 1, 0), ("q", 0, 5), ("q", 1, 0)))
    counts = [(operator.n_situations, operator.n_partitions)]
    for t in (30, 100):
        operator.advance(t)
        counts.append((operator.n_situations, operator.n_partitions))
    assert counts == [(4, 2), (2, 2), (0, 0)]


def test_a_query_that_takes_no_row_of_a_partition_does_not_keep_it() -> None:
    operator = PushOperator(question(SHORT, SMALL), SCHEMA)
    operator.push(batch(("p", 0, 9), ("p", 1, 8)))
    operator.advance(200)
    assert operator.n_partitions == 1  # A still holds in the first query
    operator = PushOperator(question(SHORT.replace("x >", "x = 8 AND x >"), SMALL), SCHEMA)
    operator.push(batch(("p", 0, 8), ("p", 1, 9)))
    operator.advance(200)
    assert operator.n_partitions == 0


@pytest.mark.parametrize("of", [matching, deriving])
def test_forget_after_is_for_every_query(of: Any) -> None:
    """SEM 8.5: an open situation keeps a partition until then."""
    stream = MemoryStream(question(SHORT, LONG, of=of), SCHEMA, {"forget_after": 60}, has_watermark=True)
    stream.push(batch(("p", 0, 5), ("q", 0, 1)), 0)
    stream.advance(40)
    assert stream.n_keys >= 1
    while stream.next_instant != NEVER:
        stream.advance(stream.next_instant)
    assert stream.n_keys == 0


def test_saved_state_is_of_these_queries_under_these_names() -> None:
    operator = PushOperator(question(SHORT, LONG), SCHEMA)
    operator.push(batch(("p", 0, 5)))
    state = operator.state()
    assert PushOperator(question(SHORT, LONG), SCHEMA, state=state).n_situations == 2
    for other in (
        question(LONG, SHORT),
        question(SHORT),
        question(SHORT, LONG, SMALL),
        matching({"q0": situ.query(SHORT), "b": situ.query(LONG)}),
    ):
        with pytest.raises(situ.errors.StateError):
            PushOperator(other, SCHEMA, state=state)


def test_damaged_state_is_refused() -> None:
    operator = PushOperator(question(SHORT, LONG), SCHEMA)
    operator.push(batch(("p", 0, 5), ("q", 3, 7)))
    state = operator.state()
    for at in np.linspace(20, len(state) - 1, 40).astype(int).tolist():
        with pytest.raises(situ.errors.StateError):
            PushOperator(question(SHORT, LONG), SCHEMA, state=state[:at])


def test_what_is_kept_is_shown_under_the_names_of_the_queries() -> None:
    operator = PushOperator(question(SHORT, LONG), SCHEMA)
    operator.push(batch(("p", 0, 5), ("p", 1, 7)))
    shown = operator.describe()
    assert "q0.A" in shown
    assert "q1.B" in shown
