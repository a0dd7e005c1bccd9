"""SEM 8.6: pushes in any cuts, each with its own now, restarted anywhere, give what the oracle gives."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.runners import result_rows
from conformance.strategies import Example, after_some, cuts, examples, table_of
from oracles.answer import answer
from oracles.stream import in_time, outcome
from situ.errors import DataError, OptionError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(examples(shuffled=True), st.sampled_from([None, "UTC", "Asia/Kolkata"]), st.data())
def test_rows_from_the_future_are_as_if_they_never_came(
    example: Example, zone: str | None, data: st.DataObject
) -> None:
    question = example.question
    batches = data.draw(cuts(example.rows, between_ties=True))
    times = [row["t"] for row in example.rows] or [0]
    nows = [data.draw(st.integers(min(times) - 30, max(times) + 5)) for _ in batches]
    max_ahead = data.draw(st.integers(0, 20))
    delay = data.draw(st.sampled_from([None, 0, 3, 100]))
    restarts = data.draw(after_some(batches, 3))
    options: dict[str, Any] = {"max_ahead": timedelta(microseconds=max_ahead)}
    if delay is not None:
        options["watermark"] = timedelta(microseconds=delay)

    def is_event(row: dict[str, Any]) -> bool:
        return question.where is None or question.where(row) is True

    kept = in_time(batches, lambda row: row["t"], [now + max_ahead for now in nows])
    ahead = [row["t"] for row in kept.ahead if is_event(row)]
    became = outcome(
        kept.batches,
        lambda row: row["t"],
        lambda row: tuple(row[c] for c in question.partition),
        delay,
        is_event=is_event,
        has_ticks=question.has_ticks,
    )

    query, kind = situ.query(in_microseconds(example.text)), pa.timestamp("us", zone)
    schema = timed(table_of([]), kind).schema
    operator = query.operator(schema, late_rows=not restarts, **options)
    found = []
    for i, (batch, now) in enumerate(zip(batches, nows, strict=True)):
        moment = EPOCH + timedelta(microseconds=now)
        found.append(operator.push(timed(table_of(batch), kind), now=moment))
        if i in restarts:
            operator = query.operator(schema, state=operator.state(), **options)
    found.append(operator.flush())
    shown = f"{example}\nbatches {[len(batch) for batch in batches]} {nows=} {options=} {restarts=}"
    assert (operator.ahead, operator.late) == (len(ahead), len(became.late)), shown
    if not restarts:
        assert sorted(ticked(operator.ahead_rows)["t"].to_pylist()) == sorted(ahead), shown
    wanted = answer(became.applied + became.waiting, question, became.clock_of_flush)
    agree(result_rows(ticked(pa.concat_tables(found)), example.text), wanted, shown)


def in_microseconds(text: str) -> str:
    """The query for timestamps that count microseconds as its integers did."""
    text = re.sub(r"BETWEEN (\d+) AND (\d+)", r"BETWEEN \1 us AND \2 us", text)
    return re.sub(r"(AT LEAST|AT MOST|WITHIN|UP TO|\.t[se] [+-]) (\d+)(?! EVENTS)\b", r"\1 \2 us", text)


def timed(table: pa.Table, kind: pa.DataType) -> pa.Table:
    at = table.schema.names.index("t")
    return table.set_column(at, "t", table["t"].cast(kind))


def ticked(table: pa.Table) -> pa.Table:
    """Times and durations as the numbers they are."""
    is_time = pa.types.is_temporal
    return pa.table(
        {f.name: table[f.name].cast(pa.int64()) if is_time(f.type) else table[f.name] for f in table.schema}
    )


QUERY = situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 0 WITHIN 1 hour RETURN A.ts AS since")
SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us", "UTC")), ("x", pa.int64())])


def row(ts: datetime, k: int = 0) -> dict[str, Any]:
    return {"k": k, "ts": ts, "x": 1}


def test_one_wild_clock_makes_no_other_row_late() -> None:
    now = datetime.now(UTC)
    operator = QUERY.operator(SCHEMA, watermark="1 minute", max_ahead="1 hour", late_rows=True)
    operator.push(row(now - timedelta(seconds=30)))
    operator.push(row(now + timedelta(days=365), k=1))  # against the clock's own time
    operator.push(row(now))
    assert operator.flush().num_rows == 1
    assert (operator.late, operator.ahead) == (0, 1)
    assert operator.ahead_rows.to_pylist() == [row(now + timedelta(days=365), k=1)]
    assert QUERY.operator(SCHEMA, state=operator.state()).ahead == 1


def test_times_without_a_zone_are_those_of_the_options_zone() -> None:
    schema = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us")), ("x", pa.int64())])
    operator = QUERY.operator(schema, max_ahead="1 hour", time_zone="+05:00")
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    operator.push(row(datetime(2024, 1, 1, 6, 0)), now=moment)
    operator.push(row(datetime(2024, 1, 1, 6, 1)), now=moment)
    assert operator.ahead == 1


def test_intervals_go_by_their_ends() -> None:
    """SEM 6.3: an open one by its start."""
    text = "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id PATTERN A before B WITHIN 1 day"
    time = pa.timestamp("us", "UTC")
    schema = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("ts", time), ("te", time)])
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    hours = [(0, None), (0, 1), (0, 2), (2, None), (None, None)]
    rows = [
        {"id": i, "kind": "A", "ts": None if ts is None else noon + timedelta(hours=ts),
         "te": None if te is None else noon + timedelta(hours=te)}
        for i, (ts, te) in enumerate(hours)
    ]  # fmt: skip
    operator = situ.query(text).operator(schema, max_ahead="1 hour", on_bad_rows="drop")
    operator.push(pa.Table.from_pylist(rows, schema), now=noon)
    assert (operator.ahead, operator.n_bad_rows, operator.n_waiting + operator.n_situations) == (2, 1, 2)


def test_what_max_ahead_cannot_do() -> None:
    ticks = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("x", pa.int64())])
    plain = situ.query("FROM t ORDER BY ts DEFINE A AS x > 0")
    with pytest.raises(
        OptionError, match="compares times with the clock, and time column ts is of type bigint"
    ):
        plain.operator(ticks, max_ahead=5)
    with pytest.raises(OptionError, match="max_ahead does not apply to a table in process"):
        situ.match(pa.Table.from_pylist([], SCHEMA), plain, max_ahead="1 hour")
    with pytest.raises(OptionError, match="make the operator with max_ahead"):
        plain.operator(SCHEMA).push(row(EPOCH), now=EPOCH)
    with pytest.raises(OptionError, match="late_rows=True"):
        _ = plain.operator(SCHEMA, max_ahead="1 hour").ahead_rows
    with pytest.raises(DataError, match="now=3 is no time"):
        plain.operator(SCHEMA, max_ahead="1 hour").push(row(EPOCH), now=3)
