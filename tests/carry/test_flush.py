"""What flush, an empty push and rows that WHERE removes do to the watermark (SEM 8.1)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.errors import DataError
from situ.operators.situations.push import SituationsPush as Operator

SCHEMA = pa.schema([("t", pa.int64()), ("a", pa.bool_()), ("b", pa.bool_())])
MEETS = (
    "FROM events {}ORDER BY t DEFINE A AS a, B AS b PATTERN A meets B WITHIN 100 RETURN A.ts AS a, B.ts AS b"
)
INTERVALS = pa.schema([("kind", pa.string()), ("ts", pa.int64()), ("te", pa.int64())])
OVERLAPS = (
    "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te {}"
    "PATTERN A overlaps B WITHIN 100 RETURN A.ts AS a, B.ts AS b"
)


def operator(where: str = "", text: str = MEETS, schema: pa.Schema = SCHEMA, **options: Any) -> Operator:
    return situ.query(text.format(where)).operator(schema, **options)


def pushed(op: Operator, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    names = op.input_schema.names
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=op.input_schema)
    return found(op.push(table))


def found(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))


def test_a_row_at_or_before_what_was_flushed_is_late() -> None:
    """It was applied out of order, and the match at 3 reported a second time."""
    op = operator(watermark=10)
    assert pushed(op, (1, True, False), (3, False, True)) == []
    assert found(op.flush()) == [(1, 3)]
    assert pushed(op, (2, True, False), (3, False, True)) == []
    assert op.late == 2
    assert pushed(op, (4, True, False), (5, False, True)) == []
    assert op.late == 2
    assert found(op.flush()) == [(4, 5)]


def test_what_was_flushed_is_remembered_in_saved_state() -> None:
    op = operator(watermark=10)
    pushed(op, (1, True, False), (3, False, True))
    op.flush()
    again = situ.query(MEETS.format("")).operator(SCHEMA, watermark=10, state=op.state())
    assert pushed(again, (3, False, True)) == []
    assert again.late == 1


def test_a_flush_with_nothing_to_process_makes_nothing_late() -> None:
    op = operator(watermark=10)
    op.flush()
    pushed(op, (5, True, False))
    op.advance(4)
    op.flush()
    op.flush()
    assert pushed(op, (6, False, True)) == []
    assert op.late == 0
    assert found(op.flush()) == [(5, 6)]


@pytest.mark.parametrize("options", [{}, {"watermark": 50}], ids=["as they come", "watermark"])
def test_given_intervals_after_a_flush(options: dict[str, Any]) -> None:
    op = operator("", OVERLAPS, INTERVALS, **options)
    pushed(op, ("A", 1, 5), ("B", 3, 9))
    assert found(op.flush()) == [(1, 3)]
    assert pushed(op, ("B", 3, 9), ("B", 2, 8)) == []
    assert op.late == 2
    assert found(op.flush()) == []


@pytest.mark.parametrize("push_nothing", ["no rows", "no events"])
def test_a_push_without_events_releases_what_is_complete(push_nothing: str) -> None:
    op = operator("WHERE b IS NOT NULL ", watermark=2)
    assert pushed(op, (1, True, False), (2, False, True), (20, False, False)) == []
    nothing = () if push_nothing == "no rows" else ((3, True, None),)
    assert pushed(op, *nothing) == [(1, 2)]
    assert op.late == 0  # what WHERE removes is no event, and never late


def test_rows_that_where_removes_move_the_watermark() -> None:
    op = operator("WHERE b IS NOT NULL ", watermark=2)
    assert pushed(op, (1, True, False), (2, False, True)) == []
    assert pushed(op, (50, True, None)) == []
    assert pushed(op) == [(1, 2)]  # W = 48 now
    assert pushed(op, (47, True, False)) == []
    assert op.late == 1


def test_given_intervals_that_where_removes_move_the_watermark() -> None:
    op = operator("WHERE kind != 'X' ", OVERLAPS, INTERVALS, watermark=2)
    assert pushed(op, ("A", 1, 5), ("B", 3, 9)) == []
    assert pushed(op, ("X", 1, 50), ("X", 60, None), ("X", None, 99)) == []  # an open row counts at its start
    assert pushed(op) == [(1, 3)]
    assert pushed(op, ("A", 1, 57)) == []
    assert op.late == 1
    assert pushed(op, ("A", 1, 58)) == []
    assert op.late == 1


def test_times_that_are_no_instants_do_not_move_it_where_they_are_removed() -> None:
    """SEM 1.1, 1.4: WHERE comes first; 2^63 - 1 is no time, nor is null."""
    op = operator("WHERE b IS NOT NULL ", watermark=2)
    pushed(op, (2**63 - 1, True, None), (None, True, None))
    pushed(op)
    assert pushed(op, (1, True, False)) == []
    assert op.late == 0


def test_a_reserved_time_is_refused_before_it_waits() -> None:
    """As an instant to wait for it would make every row after it late."""
    op = operator(watermark=2)
    for reserved in (2**63 - 1, -(2**63)):
        with pytest.raises(DataError, match="reserves"):
            pushed(op, (reserved, True, False))
    assert pushed(op, (1, True, False), (2, False, True)) == []
    assert found(op.flush()) == [(1, 2)]


def test_fractions_of_microseconds_in_removed_rows_are_no_mistake() -> None:
    schema = pa.schema([("t", pa.timestamp("ns")), ("a", pa.bool_()), ("b", pa.bool_())])
    op = operator("WHERE b IS NOT NULL ", MEETS.replace("100", "1 second"), schema, watermark="2 us")
    rows = [{"t": t, "a": t == 1000, "b": b} for t, b in ((1000, False), (2000, True), (50_001, None))]
    assert found(op.push(pa.Table.from_pylist(rows, schema=schema))) == []
    assert len(found(op.push(schema.empty_table()))) == 1
