"""The push operator by hand: what it says after each push, what is late, what waits (SEM 6.4, 8)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import situ
from conformance.runners import result_rows

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("a", pa.bool_()), ("b", pa.bool_())])
MEETS = "FROM events PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A meets B WITHIN 100"


def batch(*rows: tuple[Any, ...], schema: pa.Schema = SCHEMA) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


class Stream:
    """An operator that gives rows back as tuples."""

    def __init__(self, text: str, schema: pa.Schema = SCHEMA, **options: Any) -> None:
        self.text, self.schema = text, schema
        self.operator = situ.query(text).operator(schema, **options)

    def push(self, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return result_rows(self.operator.push(batch(*rows, schema=self.schema)), self.text)

    def flush(self) -> list[tuple[Any, ...]]:
        return result_rows(self.operator.flush(), self.text)

    def advance(self, t: int) -> list[tuple[Any, ...]]:
        return result_rows(self.operator.advance(t), self.text)


def test_a_match_comes_with_the_event_that_makes_it_certain() -> None:
    # A [1-----3)
    # B        [3--
    stream = Stream(MEETS)
    assert stream.push(("x", 1, True, False)) == []
    assert stream.push(("x", 2, True, False)) == []
    assert stream.push(("x", 3, False, True)) == [("x", 1, 3, 3, None, 3)]
    assert stream.push(("x", 4, False, False)) == []
    assert stream.flush() == []


def test_without_a_watermark_each_partition_has_its_own_horizon() -> None:
    stream = Stream(MEETS, late_rows=True)
    stream.push(("x", 5, True, False), ("y", 2, True, False))
    assert stream.push(("x", 5, False, True), ("x", 4, False, True), ("y", 3, False, True)) == [
        ("y", 2, 3, 3, None, 3)
    ]
    assert stream.operator.late == 2
    assert sorted(stream.operator.late_rows["t"].to_pylist()) == [4, 5]


def test_a_batch_is_sorted_before_it_is_processed() -> None:
    stream = Stream(MEETS)
    assert stream.push(("x", 3, False, True), ("x", 1, True, False)) == [("x", 1, 3, 3, None, 3)]
    assert stream.operator.late == 0


def test_with_a_watermark_rows_wait_until_it_passes_them() -> None:
    stream = Stream(MEETS, watermark=2)
    # W is unknown, then 10 - 2 = 8, then 13 - 2 = 11.
    assert stream.push(("x", 10, False, True)) == []
    assert stream.push(("x", 9, True, False), ("x", 13, False, False)) == []
    assert stream.push(("x", 12, False, False)) == [("x", 9, 10, 10, None, 10)]
    assert stream.operator.late == 0


def test_with_a_watermark_what_is_before_it_is_late_whatever_the_partition_has_seen() -> None:
    stream = Stream(MEETS, watermark=0, late_rows=True)
    stream.push(("x", 10, True, False))
    assert stream.push(("y", 9, True, False), ("y", 10, True, False), ("x", 11, False, True)) == []
    assert stream.operator.late == 1
    assert stream.operator.late_rows.to_pylist() == batch(("y", 9, True, False)).to_pylist()
    assert stream.flush() == [("x", 10, 11, 11, None, 11)]


def test_a_cut_within_an_instant_makes_the_second_row_late() -> None:
    """SEM 8.3."""
    stream = Stream(MEETS)
    stream.push(("x", 1, True, False))
    stream.push(("x", 1, False, False))
    assert stream.operator.late == 1
    with_watermark = Stream(MEETS, watermark=0)
    with_watermark.push(("x", 1, True, False))
    with_watermark.push(("x", 1, False, False))
    with_watermark.push(("x", 2, False, True))
    assert with_watermark.flush() == []  # the last row of instant 1 counts, so there was no A
    assert with_watermark.operator.late == 0


def test_a_row_at_the_horizon_is_refused_where_ties_are() -> None:
    """SEM 1.3."""
    stream = Stream(MEETS, ties="error")
    stream.push(("x", 1, True, False))
    with pytest.raises(situ.errors.DataError):
        stream.push(("x", 1, False, False))


def test_advance_releases_what_is_before_it() -> None:
    stream = Stream(MEETS, watermark=100)
    stream.push(("x", 1, True, False), ("x", 2, False, True), ("y", 1, True, False), ("y", 7, False, True))
    assert stream.advance(3) == [("x", 1, 2, 2, None, 2)]
    stream.push(("y", 2, False, False))
    assert stream.operator.late == 1
    assert stream.advance(8) == [("y", 1, 7, 7, None, 7)]


def test_rows_that_where_leaves_out_are_not_late() -> None:
    text = MEETS.replace("PARTITION", "WHERE b IS NOT NULL PARTITION")
    stream = Stream(text)
    stream.push(("x", 5, True, False))
    stream.push(("x", 1, True, None))
    assert stream.operator.late == 0
    assert stream.push(("x", 9, False, None), ("x", 6, False, True)) == [("x", 5, 6, 6, None, 6)]


def test_a_long_open_situation_is_not_started_anew() -> None:
    """SEM 8.4: it is gone from matching once the window has passed it, but goes on."""
    text = "FROM events ORDER BY t DEFINE A AS a, B AS b PATTERN A starts;equals;started-by B WITHIN 3"
    stream = Stream(text)
    stream.push(("x", 0, True, False))
    assert stream.push(("x", 10, True, True)) == []
    assert stream.push(("x", 11, False, False), ("x", 12, True, True)) == [(12, None, 12, None, 12)]


def test_the_end_of_an_old_run_still_stands_between() -> None:
    """SEM 3.4, 8.4: a run too short to be a situation, long before the window."""
    text = "FROM events ORDER BY t DEFINE A AS a, B AS b AT LEAST 2 PATTERN A followed-by B WITHIN 50"
    rows = [
        (0, True, False),
        (5, False, False),
        (6, False, True),
        (7, False, False),
        (20, False, True),
        (22, False, True),
    ]
    stream = Stream(text)
    found = [stream.push(("x", *row)) for row in rows]
    assert found == [[]] * len(rows)


INTERVALS = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("ts", pa.int64()), ("te", pa.int64())])
OVERLAPS = (
    "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id "
    "PATTERN A overlaps;contains;finished-by B WITHIN 100"
)


def test_intervals_of_the_largest_instant_wait() -> None:
    """SEM 6.4."""
    stream = Stream(OVERLAPS, INTERVALS)
    assert stream.push((1, "A", 1, 5)) == []
    assert stream.push((2, "B", 3, 5)) == []  # the same instant: 5 may not be complete
    assert stream.push((3, "X", 6, 7)) == [(1, 5, 3, 5, 5)]
    assert stream.push((4, "B", 2, 7)) == []  # 7 has not been processed
    assert stream.push((5, "B", 2, 5)) == []
    assert stream.operator.late == 1
    assert stream.flush() == [(1, 5, 2, 7, 7)]


def test_an_announced_interval_matches_before_it_ends() -> None:
    """SEM 6.3."""
    stream = Stream(OVERLAPS, INTERVALS)
    stream.push((1, "A", 1, None))
    assert stream.push((2, "B", 3, None), (3, "X", 1, 4)) == [(1, None, 3, None, 3)]
    assert stream.push((1, "A", 1, 6), (2, "B", 3, 8)) == []
    assert stream.flush() == []


def test_a_forgotten_interval_may_still_be_closed() -> None:
    """SEM 6.3: the closing row is ignored and counted."""
    stream = Stream(OVERLAPS.replace("WITHIN 100", "WITHIN 10"), INTERVALS)
    stream.push((1, "A", 1, None))
    stream.push((2, "X", 50, 60))
    stream.push((4, "X", 50, 62))  # now 60 is processed, and 1 < 60 - 10
    assert stream.push((1, "A", 1, 70), (3, "B", 65, 80)) == []
    assert stream.flush() == []
    assert (stream.operator.forgotten, stream.operator.late) == (1, 0)
