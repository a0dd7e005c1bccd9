"""Random queries over given intervals (SEM 6): every way of running them gives what the oracles give."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.random_intervals import interval_crowds, interval_examples, shuffled
from conformance.runners import push, result_rows
from conformance.strategies import Example, after_some, cuts, table_of
from oracles.answer import answer
from oracles.intervals import instant_of
from oracles.question import Row
from oracles.stream import outcome


def options_of(example: Example) -> dict[str, Any]:
    return {"points": "widen"} if example.question.widen_points else {}


@pytest.mark.nojit
@settings(max_examples=2 * settings.default.max_examples)
@given(
    interval_examples(),
    st.integers(0, 9),
    st.sampled_from(["auto", "range", "pair"]),
    st.sampled_from([1, 2]),
)
def test_in_process(example: Example, seed: int, join: str, threads: int) -> None:
    table = table_of(shuffled(example.rows, seed), example.schema)
    result = situ.match(table, situ.query(example.text), join=join, threads=threads, **options_of(example))
    agree(result_rows(result, example.text), answer(example.rows, example.question), example)


@settings(max_examples=2 * settings.default.max_examples)
@given(interval_examples(), st.sampled_from(["range", "pair"]), st.booleans(), st.data())
def test_push_in_any_cuts(example: Example, join: str, restart: bool, data: st.DataObject) -> None:
    """SEM 6.4: even between rows of one instant."""
    batches = [table_of(batch, example.schema) for batch in data.draw(cuts(example.rows, between_ties=True))]
    options = {**options_of(example), "join": join}
    found = push(batches, example.text, options, lambda _: restart)
    agree(found, answer(example.rows, example.question), example)


@settings(max_examples=2 * settings.default.max_examples)
@given(interval_examples(), st.integers(0, 9), st.data())
def test_late_rows_are_left_out_and_counted(example: Example, seed: int, data: st.DataObject) -> None:
    """SEM 6.3, 6.4, 8.1."""
    follow_a_stream(example, shuffled(example.rows, seed), data)


@settings(max_examples=max(10, settings.default.max_examples // 10))
@given(interval_crowds(), st.data())
def test_intervals_that_are_forgotten_are_not_missed(example: Example, data: st.DataObject) -> None:
    """SEM 6.3, 8.4."""
    follow_a_stream(example, example.rows, data)


def follow_a_stream(example: Example, rows: list[Row], data: st.DataObject) -> None:
    """One operator over random cuts, with or without watermark, restarts, flushes and a clock moved by hand.

    Some batches are empty, and some have nothing but rows that WHERE removes.
    """
    question, where = example.question, example.question.where
    batches = data.draw(cuts(rows, between_ties=True))
    for _ in range(data.draw(st.integers(0, 2))):
        batches.insert(data.draw(st.integers(0, len(batches))), [])
    delay = data.draw(st.sampled_from([None, None, 0, 2, 6, 40]))
    restarts = data.draw(after_some(batches, 4))
    flushes = data.draw(st.sets(st.integers(0, len(batches) - 1), max_size=2))
    ends = {i: instant_of(batch[-1], question) for i, batch in enumerate(batches) if batch}
    moved = data.draw(st.sets(st.sampled_from(sorted(ends)), max_size=2)) if ends else set()
    advances = {i: ends[i] + data.draw(st.integers(-3, 12)) for i in moved}
    became = outcome(
        batches,
        lambda row: instant_of(row, question),
        lambda row: tuple(row[column] for column in question.partition),
        delay,
        largest_waits=True,
        advances=advances,
        flushes=flushes,
        is_event=lambda row: where is None or where(row) is True,
        has_ticks=question.has_ticks,
    )
    options = options_of(example) | ({} if delay is None else {"watermark": delay})
    query = situ.query(example.text)
    operator = query.operator(example.schema, **options)
    found = []
    for i, batch in enumerate(batches):
        found.append(operator.push(table_of(batch, example.schema)))
        if i in advances:
            found.append(operator.advance(advances[i]))
        if i in flushes:
            found.append(operator.flush())
        if i in restarts:
            operator = query.operator(example.schema, state=operator.state(), **options)
    sizes = [len(batch) for batch in batches]
    shown = f"{example}\nbatches {sizes} {options=} {advances=} {restarts=} {flushes=}"
    so_far = answer(became.applied, question, became.clock)
    agree(result_rows(pa.concat_tables(found), example.text), so_far, shown)
    found.append(operator.flush())
    everything = answer(became.applied + became.waiting, question, became.clock_of_flush)
    agree(result_rows(pa.concat_tables(found), example.text), everything, shown)
    assert operator.late == len(became.late), shown
