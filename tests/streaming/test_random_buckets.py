"""Random streams over buckets: rows applied, late and waiting as the oracles say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.checking import agree
from conformance.random_intervals import interval_examples, shuffled
from conformance.rows import ResultRow
from conformance.runners import result_rows
from conformance.strategies import Example, crowds, cuts, examples, table_of
from conformance.test_random_intervals import instant_of
from oracles.answer import answer
from oracles.question import Question, Row
from oracles.stream import Outcome, largest, outcome
from situ.carry.stream import cells as stream_cells
from situ.carry.stream import program as stream_program
from situ.carry.stream import waiting as stream_waiting
from streaming.in_memory import MemoryStream


@pytest.fixture(autouse=True, scope="module")
def _small_cells() -> Iterator[None]:
    """Cells of two keys and pieces of four rows, so that small examples split, join and merge them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_cells, "KEYS_PER_CELL", 2)
        patch.setattr(stream_cells, "_EMPTIEST", 1)
        patch.setattr(stream_waiting, "ROWS_PER_PIECE", 4)
        patch.setattr(stream_waiting, "_SMALL", 2)
        patch.setattr(stream_waiting, "_MOST_SMALL", 2)
        patch.setattr(stream_program, "_MILLISECOND", 1)
        yield


class Followed:
    """A stream and what should become of its rows."""

    def __init__(self, stream: MemoryStream, text: str) -> None:
        self.stream = stream
        self.text = text
        self.found: list[pa.Table] = []
        self.seen: int | None = None
        self.complete: int | None = None

    def push(self, batch: pa.Table, instants: list[int], delay: int | None) -> None:
        if delay is None:
            self.found.append(self.stream.push(batch))
            return
        if self.seen is not None:
            self.complete = largest(self.complete, self.seen - delay)
        self.found.append(self.stream.push(batch, -(2**63) if self.complete is None else self.complete))
        if instants:
            self.seen = largest(self.seen, max(instants))

    def rows(self) -> list[ResultRow]:
        found = [table for table in self.found if table.num_columns]
        return result_rows(pa.concat_tables(found), self.text) if found else []


def follow(
    example: Example,
    batches: list[list[Row]],
    question: Question,
    options: dict[str, Any],
    became: Outcome,
    instant: Any,
    delay: int | None,
) -> None:
    stream = MemoryStream(
        example.text,
        example.schema,
        {**options, "late_rows": True},
        has_watermark=delay is not None,
        n_buckets=2,
    )
    followed = Followed(stream, example.text)
    for batch in batches:
        followed.push(table_of(batch, example.schema), [instant(row) for row in batch], delay)
    shown = f"{example}\nbatches {[len(batch) for batch in batches]} {options=} {delay=}"
    agree(followed.rows(), answer(became.applied, question, became.clock), shown)
    assert stream.n_late == len(became.late), shown
    assert sorted(map(repr, stream.late)) == sorted(
        map(repr, table_of(became.late, example.schema).to_pylist())
    )
    if delay is not None:
        assert stream.n_waiting == len(became.waiting), shown
        end = 2**63 - 1
        followed.found.append(stream.advance(end))
        everything = answer(became.applied + became.waiting, question, lambda _: end - 1)  # SEM 11.9
        agree(followed.rows(), everything, shown)
        assert stream.n_waiting == 0


def is_event_of(question: Question) -> Callable[[Row], bool]:
    """What WHERE leaves; the other rows move the watermark, too."""
    return lambda row: question.where is None or question.where(row) is True


def follow_events(example: Example, data: st.DataObject) -> None:
    question = example.question
    batches = data.draw(cuts(example.rows, between_ties=True))
    delay = data.draw(st.sampled_from([None, None, 0, 1, 3, 10, 100]))
    options: dict[str, Any] = {}
    if question.within is not None and data.draw(st.booleans()):
        options["forget_after"] = question.within + data.draw(st.integers(0, 8))
        question = replace(question, forget_after=options["forget_after"])

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(row[column] for column in question.partition)

    became = outcome(batches, lambda row: row["t"], key, delay, is_event=is_event_of(question))
    follow(example, batches, question, options, became, lambda row: row["t"], delay)


@given(examples(shuffled=True), st.data())
def test_events(example: Example, data: st.DataObject) -> None:
    """SEM 8.1 to 8.5."""
    follow_events(example, data)


@settings(max_examples=max(5, settings.default.max_examples // 20))
@given(crowds(), st.data())
def test_crowds_of_partitions(example: Example, data: st.DataObject) -> None:
    """SEM 8.4, 8.5: cells split and join, and nothing that is purged or forgotten was needed."""
    follow_events(example, data)


@given(interval_examples(), st.integers(0, 9), st.sampled_from([None, 0, 2, 6, 40]), st.data())
def test_intervals(example: Example, seed: int, delay: int | None, data: st.DataObject) -> None:
    """SEM 6.3, 6.4, 8.1."""
    question = example.question
    batches = data.draw(cuts(shuffled(example.rows, seed), between_ties=True))

    def instant(row: Row) -> int:
        return instant_of(row, question)

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(row[column] for column in question.partition)

    became = outcome(batches, instant, key, delay, largest_waits=True, is_event=is_event_of(question))
    options = {"points": "widen"} if question.widen_points else {}
    follow(example, batches, question, options, became, instant, delay)
