"""Given intervals reported when they close (SEM 5.5, 6.3): each once; contradictions while state has them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.checking import agree
from conformance.random_intervals import interval_examples, shuffled
from conformance.strategies import Example, bounded_by_window, cuts, table_of
from oracles import intervals
from oracles.answer import partitions
from oracles.question import Question, Row
from situ.errors import DataError
from streaming.in_memory import MemoryStream

SCHEMA = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("ts", pa.int64()), ("te", pa.int64())])
TEXT = "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id PATTERN A before B"


def closed(rows: list[Row], question: Question) -> list[tuple[Any, ...]]:
    """Partition values, symbol, ts and te of every interval that is over, by the oracle."""
    return [
        (*key, symbol, one.ts, one.te)
        for key, part in partitions(rows, question)
        for symbol, several in intervals.given(part, question).items()
        for one in several
        if one.te is not None
    ]


@given(interval_examples(), st.integers(0, 9), st.integers(0, 20), st.booleans(), st.data())
def test_each_once(example: Example, seed: int, within: int, has_window: bool, data: st.DataObject) -> None:
    """Under a watermark, in any cut; with a window those that are over are still kept for a while."""
    if has_window:
        example = bounded_by_window(example, within)
    question = example.question
    stream = MemoryStream(
        example.text,
        example.schema,
        {"points": "widen"} if question.widen_points else {},
        has_watermark=True,
        kind="situations",
    )
    batches = data.draw(cuts(shuffled(example.rows, seed), between_ties=True))
    instants = [[intervals.instant_of(row, question) for row in batch] for batch in batches]
    complete, found = -(2**63), []
    for i, batch in enumerate(batches):
        found.append(stream.push(table_of(batch, example.schema), complete))
        complete = min((instant for later in instants[i + 1 :] for instant in later), default=2**63 - 1)
    found.append(stream.advance(2**63 - 1))
    assert stream.n_late == 0
    width = len(question.partition) + 3
    rows = [tuple(row.values())[:width] for table in found for row in table.to_pylist()]
    agree(rows, closed(example.rows, question), example)


def interval(number: int, kind: str, ts: int, te: int | None) -> pa.Table:
    return pa.table({"id": [number], "kind": [kind], "ts": [ts], "te": [te]}, SCHEMA)


@pytest.mark.parametrize("has_watermark", [False, True])
@pytest.mark.parametrize("is_announced", [False, True])
def test_a_second_closing_row_is_refused_within_the_window(has_watermark: bool, is_announced: bool) -> None:
    # 1 A [10----20)        reported; the window of 100 has it until the horizon is at 110
    # 1 A [10-----------40) its second end
    stream = MemoryStream(
        f"{TEXT} WITHIN 100", SCHEMA, has_watermark=has_watermark, kind="situations", n_buckets=1
    )
    begin = [interval(1, "A", 10, None)] if is_announced else []
    rows = [*begin, interval(1, "A", 10, 20), interval(2, "B", 25, 30), interval(3, "B", 31, 35)]
    found = push_all(stream, rows, has_watermark)
    assert ("A", 10, 20) in found
    with pytest.raises(DataError, match=r"interval 1 .*it was closed before"):
        push_all(stream, [interval(1, "A", 10, 40), interval(4, "B", 41, 50)], has_watermark)


@pytest.mark.parametrize(("window", "is_kept"), [("WITHIN 100", False), ("", False), ("WITHIN 1000", True)])
def test_what_the_window_has_passed_is_not_compared(window: str, is_kept: bool) -> None:
    """SEM 6.3: no state could remember every id, so beyond the window a row is an interval of its own."""
    stream = MemoryStream(f"{TEXT} {window}", SCHEMA, has_watermark=True, kind="situations", n_buckets=1)
    first = [interval(1, "A", 10, 20), interval(2, "B", 200, 210)]
    assert push_all(stream, first, True) == [("A", 10, 20), ("B", 200, 210)]
    again = [interval(1, "A", 10, 220)]
    if is_kept:
        with pytest.raises(DataError, match="it was closed before"):
            push_all(stream, again, True)
    else:
        assert push_all(stream, again, True) == [("A", 10, 220)]
        stream.advance(10_000)
        assert stream.n_keys == 0  # and nothing stays for ever


def push_all(stream: MemoryStream, rows: list[pa.Table], has_watermark: bool) -> list[tuple[Any, ...]]:
    """One micro-batch a row, each complete with the next micro-batch; what was reported."""
    found = []
    for row in rows:
        ts, te = row["ts"][0].as_py(), row["te"][0].as_py()
        found.append(stream.push(row, (ts if te is None else te) if has_watermark else None))
        if has_watermark:
            found.append(stream.advance((ts if te is None else te) + 1))
    return [(row["symbol"], row["ts"], row["te"]) for table in found for row in table.to_pylist()]
