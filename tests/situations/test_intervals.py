"""Given intervals: ids and punctuations, what waits, what is forgotten, restarts (SEM 6)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, OptionError
from situations.drawing import records

SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("id", pa.int64()),
        ("kind", pa.string()),
        ("ts", pa.int64()),
        ("te", pa.int64()),
        ("x", pa.float64()),
    ]
)
TEXT = (
    "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id PARTITION BY k "
    "PATTERN A overlaps;contains;finished-by B WITHIN 100 RETURN A.ts AS a, A.te AS ae, B.ts AS b, A.x AS x"
)
QUERY = situ.query(TEXT)


def batch(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA)


def message(*rows: tuple[Any, ...], query: situ.Query = QUERY, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        situ.match(batch(*rows), query, **options)
    return str(caught.value)


def test_an_interval_counts_as_one_event_with_its_latest_attributes() -> None:
    # A [1-----6)   x = 1.0 from 1, 2.0 from 6
    # B    [3----
    rows = batch(("p", 1, "A", 1, None, 1.0), ("p", 2, "B", 3, None, 0.0), ("p", 1, "A", 1, 6, 2.0))
    assert records(situ.match(rows, QUERY)) == [("p", 1, None, 3, 1.0, 3)]
    final = situ.query(TEXT.replace("WITHIN 100", "WITHIN 100 EMIT FINAL"))
    closed = pa.concat_tables([rows, batch(("p", 2, "B", 3, 8, 0.0))])
    assert records(situ.match(closed, final)) == [("p", 1, 6, 3, 2.0, 8)]
    found = situ.situations(closed, QUERY).to_pylist()
    assert [(row["symbol"], row["ts"], row["te"], row["n_events"]) for row in found] == [
        ("A", 1, 6, 1),
        ("B", 3, 8, 1),
    ]


def test_contradictions_say_which_interval_and_why() -> None:
    begin, end = ("p", 7, "A", 1, None, 0.0), ("p", 7, "A", 1, 6, 0.0)
    assert "interval 7 (start 1, no end) contradicts an earlier row: it has begun before" in message(
        begin, begin
    )
    assert "it was closed before" in message(end, end)
    assert "its begin row has another start or symbol" in message(begin, ("p", 7, "A", 2, 6, 0.0))
    assert "its begin row has another start or symbol" in message(begin, ("p", 7, "B", 1, 6, 0.0))
    assert "a third row has the same id" in message(begin, end, ("p", 7, "A", 1, 9, 0.0))
    assert "an id stands for one interval" in message(begin, begin)


def test_ids_belong_to_their_partition_and_null_ids_to_nobody() -> None:
    rows = batch(
        ("p", 1, "A", 1, 6, 0.0),
        ("q", 1, "A", 1, 6, 0.0),
        ("p", None, "B", 3, 6, 0.0),
        ("p", None, "B", 3, 6, 0.0),
    )
    assert situ.match(rows, QUERY).num_rows == 2
    assert "a row without an end has no id either" in message(("p", None, "A", 1, None, 0.0))


def test_ends_before_starts_and_points() -> None:
    assert "1 intervals do not end after they start, for example [5, 4)" in message(("p", 1, "A", 5, 4, 0.0))
    point = ("p", 1, "A", 5, 5, 0.0)
    assert 'points="widen" reads ts = te as [ts, ts + 1)' in message(point)
    found = situ.situations(batch(point), QUERY, points="widen").to_pylist()
    assert (found[0]["ts"], found[0]["te"]) == (5, 6)
    assert "do not end after they start" in message(("p", 1, "A", 5, 4, 0.0), points="widen")


def test_open_rows_need_ids() -> None:
    without = situ.query(TEXT.replace("ID BY id ", ""))
    text = message(("p", 1, "A", 5, None, 0.0), query=without)
    assert "1 rows have no end (the first starts at 5)" in text
    assert "ID BY" in text


def test_null_starts_and_reserved_instants_are_refused() -> None:
    assert "time column ts is null in 1 row" in message(("p", 1, "A", None, 5, 0.0))
    assert "reserves" in message(("p", 1, "A", 0, 2**63 - 1, 0.0))
    assert "reserves" in message(("p", 1, "A", -(2**63), 0, 0.0))


def test_options_of_the_other_kind_of_input_are_refused() -> None:
    query = situ.query("FROM e ORDER BY ts DEFINE A AS x > 0")
    with pytest.raises(OptionError, match="option points does not apply to events"):
        situ.match(batch(), query, points="widen")
    with pytest.raises(OptionError, match="option points does not apply to events"):
        query.operator(SCHEMA, points="widen")
    for options in ({"ties": "error"}, {"forget_after": 1000}):
        with pytest.raises(OptionError, match="does not apply to given intervals"):
            situ.match(batch(), QUERY, **options)
        with pytest.raises(OptionError, match="does not apply to given intervals"):
            QUERY.operator(SCHEMA, **options)


def test_the_largest_instant_waits() -> None:
    operator = QUERY.operator(SCHEMA)
    assert operator.push(batch(("p", 1, "A", 1, 5, 0.0), ("p", 2, "B", 3, 5, 0.0))).num_rows == 0
    assert operator.n_waiting == 2
    assert operator.push(batch(("q", 1, "A", 1, 9, 0.0))).num_rows == 0  # another partition says nothing of p
    assert (
        operator.push(batch(("p", 3, "X", 1, 6, 0.0))).num_rows == 1
    )  # rows of other symbols tell the time, too
    assert operator.n_waiting == 2
    assert operator.flush().num_rows == 0
    assert operator.n_waiting == 0


def test_advance_completes_an_instant() -> None:
    operator = QUERY.operator(SCHEMA)
    operator.push(batch(("p", 1, "A", 1, 5, 0.0), ("p", 2, "B", 3, 5, 0.0)))
    assert operator.advance(5).num_rows == 0
    assert operator.advance(6).num_rows == 1
    operator.push(batch(("p", 4, "B", 2, 5, 0.0)))
    assert operator.late == 1


def test_a_row_that_closes_a_forgotten_interval_is_ignored_and_counted() -> None:
    query = situ.query(TEXT.replace("WITHIN 100", "WITHIN 10"))
    operator = query.operator(SCHEMA)
    operator.push(batch(("p", 1, "A", 1, None, 0.0), ("p", 9, "X", 50, 60, 0.0), ("p", 9, "X", 61, 62, 0.0)))
    assert operator.n_situations == 0
    operator.push(batch(("p", 1, "A", 1, 70, 0.0)))
    operator.flush()
    assert operator.forgotten == 1
    assert operator.late == 0


def test_restarted_after_every_row() -> None:
    rows = [
        ("p", 1, "A", 1, None, 1.0),
        ("p", 2, "B", 3, None, 2.0),
        ("q", 1, "B", 2, 4, 3.0),
        ("p", 1, "A", 1, 5, 4.0),
        ("q", 2, "A", 1, 6, 5.0),
        ("p", 2, "B", 3, 8, 6.0),
        ("p", 3, "A", 2, 9, 7.0),
    ]
    whole = QUERY.operator(SCHEMA)
    wanted = records(pa.concat_tables([*(whole.push(batch(row)) for row in rows), whole.flush()]))
    operator = QUERY.operator(SCHEMA)
    found = []
    for row in rows:
        found.append(operator.push(batch(row)))
        state = operator.state()
        operator = QUERY.operator(SCHEMA, state=state)
        assert operator.state() == state
    found.append(operator.flush())
    assert records(pa.concat_tables(found)) == wanted == records(situ.match(batch(*rows), QUERY))
    assert wanted


def test_intervals_that_come_and_go_for_ever_are_not_kept() -> None:
    query = situ.query(TEXT.replace("WITHIN 100", "WITHIN 20"))
    operator = query.operator(SCHEMA)
    kept, sizes = [], []
    for i in range(400):
        operator.push(
            batch(("p", 2 * i, "A", 3 * i, 3 * i + 5, 0.0), ("p", 2 * i + 1, "B", 3 * i + 1, 3 * i + 5, 0.0))
        )
        kept.append(operator.n_situations)
        sizes.append(operator.nbytes)
    assert max(kept) <= 2 * 21
    assert max(sizes[200:]) <= 1.2 * max(sizes[20:200])


def test_silent_partitions_are_forgotten() -> None:
    query = situ.query(TEXT.replace("WITHIN 100", "WITHIN 20"))
    operator = query.operator(SCHEMA, watermark=0)
    for i in range(300):
        operator.push(batch((f"key {i}", 1, "A", 10 * i, 10 * i + 5, 0.0)))
    assert operator.n_partitions < 30
    assert operator.nbytes < 10_000


def test_partitions_that_stay_are_not_mixed_up_when_others_are_forgotten() -> None:
    query = situ.query(TEXT.replace("WITHIN 100", "WITHIN 20"))
    operator = query.operator(SCHEMA, watermark=10)
    operator.push(
        batch(("old", 1, "A", 0, 5, 0.0), ("new", 1, "A", 90, None, 1.0), ("waits", 1, "A", 95, 99, 2.0))
    )
    assert operator.advance(96).num_rows == 0
    assert operator.n_partitions == 2
    found = [
        operator.push(
            batch(
                ("new", 2, "B", 97, None, 0.0), ("waits", 2, "B", 98, 99, 0.0), ("old", 9, "B", 96, 97, 0.0)
            )
        )
    ]
    operator = query.operator(SCHEMA, watermark=10, state=operator.state())
    found.append(operator.advance(1000))
    assert records(pa.concat_tables(found)) == [
        ("new", 90, None, 97, 1.0, 97),
        ("waits", 95, 99, 98, 2.0, 99),
    ]
    assert operator.n_partitions == 0
    # an interval forgotten with its partition: the row that closes it is counted
    operator.push(batch(("new", 1, "A", 90, 2000, 1.0)))
    operator.flush()
    assert operator.forgotten == 1
