"""Random queries over random events: every way of running them gives what the oracles give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.features import ON
from conformance.reading import read
from conformance.rows import ResultRow
from conformance.runners import push, result_rows
from conformance.strategies import Example, after_some, bounded_by_window, crowds, cuts, examples, table_of
from oracles.answer import answer
from oracles.derive import in_order
from oracles.question import Row
from oracles.stream import outcome


def expected(example: Example, rows: list[Row] | None = None) -> list[tuple[Any, ...]]:
    return answer(example.rows if rows is None else rows, example.question)


def in_batches(example: Example, batches: list[list[Row]]) -> list[pa.Table]:
    return [table_of(batch, example.schema) for batch in batches]


@given(examples())
def test_text_and_question_say_the_same(example: Example) -> None:
    """The two forms the strategies draw agree, by a reader that shares nothing with situ."""
    asked, question = read(example.text), example.question
    assert asked.symbols == question.symbols
    assert asked.constraints == question.constraints
    assert (asked.at_least, asked.at_most) == (question.at_least, question.at_most)
    assert (asked.within, asked.emit, asked.items) == (question.within, question.emit, question.items)
    assert (asked.partition_by, asked.order_by[1:]) == (question.partition, question.ties)
    assert (asked.differences, asked.absences) == (question.differences, question.absences)
    assert (asked.silences, asked.gaps) == (question.silences, question.gaps)
    assert set(asked.having_items) == set(question.having.items if question.having else ())


@pytest.mark.nojit
@settings(max_examples=2 * settings.default.max_examples)
@given(
    examples(shuffled=True),
    st.sampled_from(["auto", "range", "pair"]),
    st.sampled_from([1, 2]),
    st.sampled_from([None, 0, 2, 30]),
)
def test_in_process(example: Example, join: str, threads: int, later: int | None) -> None:
    question, options = example.question, {}
    if "until" in ON and question.has_ticks and example.rows and later is not None:  # SEM 11.9
        options["until"] = max(row["t"] for row in example.rows) + later
    result = situ.match(example.table, situ.query(example.text), join=join, threads=threads, **options)
    agree(result_rows(result, example.text), answer(example.rows, replace(question, **options)), example)


@pytest.mark.nojit
@settings(max_examples=2 * settings.default.max_examples)
@given(examples(), st.sampled_from(["range", "pair"]), st.data())
def test_push_in_any_cuts(example: Example, join: str, data: st.DataObject) -> None:
    """SEM 8.3, 4.3, 11.9: the same matches, each with the push that brings its match_time."""
    batches = data.draw(cuts(example.rows, between_ties=False))
    question, where = example.question, example.question.where
    wanted = expected(example)
    operator = situ.query(example.text).operator(example.schema, join=join)
    found: list[ResultRow] = []
    clocks: dict[Any, int] = {}
    for batch in batches:
        found += result_rows(operator.push(table_of(batch, example.schema)), example.text)
        for row in batch:
            if where is None or where(row) is True:
                clocks[tuple(row[column] for column in question.partition)] = row["t"]
        n_keys = len(question.partition)
        reached = [row for row in wanted if row[:n_keys] in clocks and row[-1] <= clocks[row[:n_keys]]]
        agree(found, reached, example)
    found += result_rows(operator.flush(), example.text)
    agree(found, wanted if question.has_ticks else reached, example)
    assert operator.late == 0


@given(examples(), st.data())
def test_restarted_anywhere(example: Example, data: st.DataObject) -> None:
    batches = in_batches(example, data.draw(cuts(example.rows, between_ties=False)))
    restarts = data.draw(after_some(batches))
    agree(push(batches, example.text, {}, restarts.__contains__), expected(example), example)


@settings(max_examples=2 * settings.default.max_examples)
@given(examples(shuffled=True), st.data())
def test_late_rows_are_left_out_and_counted(example: Example, data: st.DataObject) -> None:
    """SEM 8.1, 8.2, 8.5: a stream's matches are those of the rows that were not late."""
    follow_a_stream(example, data)


@settings(max_examples=max(10, settings.default.max_examples // 10))
@given(crowds(), st.data())
def test_state_that_comes_and_goes_is_not_missed(example: Example, data: st.DataObject) -> None:
    """SEM 8.4, 8.5: what is purged and forgotten can be in no further match."""
    follow_a_stream(example, data)


def follow_a_stream(example: Example, data: st.DataObject) -> None:
    """One operator over random cuts, with or without watermark, restarts, flushes and a clock moved by hand.

    Some batches are empty, and some have nothing but rows that WHERE removes.
    """
    question, where = example.question, example.question.where
    batches = data.draw(cuts(example.rows, between_ties=True))
    for _ in range(data.draw(st.integers(0, 2))):
        batches.insert(data.draw(st.integers(0, len(batches))), [])
    delay = data.draw(st.sampled_from([None, None, 0, 1, 3, 10, 100]))
    restarts = data.draw(after_some(batches, 4))
    flushes = data.draw(st.sets(st.integers(0, len(batches) - 1), max_size=2))
    ends = {i: batch[-1]["t"] for i, batch in enumerate(batches) if batch}
    moved = data.draw(st.sets(st.sampled_from(sorted(ends)), max_size=2)) if ends else set()
    advances = {i: ends[i] + data.draw(st.integers(-3, 12)) for i in moved}
    options = {} if delay is None else {"watermark": delay}
    if question.within is not None and not question.patterns and data.draw(st.booleans()):
        options["forget_after"] = question.within + data.draw(st.integers(0, 8))
        question = replace(question, forget_after=options["forget_after"])

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(row[column] for column in question.partition)

    def is_event(row: Row) -> bool:
        return where is None or where(row) is True

    became = outcome(
        batches,
        lambda row: row["t"],
        key,
        delay,
        advances=advances,
        flushes=flushes,
        is_event=is_event,
        has_ticks=question.has_ticks,
    )
    query = situ.query(example.text)
    operator = query.operator(example.schema, late_rows=not restarts, **options)
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
    if not restarts:
        agree(as_rows(operator.late_rows), as_rows(table_of(became.late, example.schema)), shown)


def as_rows(table: pa.Table) -> list[ResultRow]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@given(examples(), st.integers(5, 30), st.data())
def test_a_long_gap_begins_a_new_history(example: Example, forget_after: int, data: st.DataObject) -> None:
    """SEM 8.5, in batch and push alike."""
    example = bounded_by_window(example, data.draw(st.integers(0, forget_after)))
    options = {"forget_after": max(forget_after, example.question.within)}
    wanted = answer(example.rows, replace(example.question, **options))
    result = situ.match(example.table, situ.query(example.text), **options)
    agree(result_rows(result, example.text), wanted, example)
    batches = in_batches(example, data.draw(cuts(example.rows, between_ties=False)))
    agree(push(batches, example.text, options, lambda i: i % 2 == 0), wanted, example)


@given(examples(), st.data())
def test_a_match_has_the_same_id_on_every_path(example: Example, data: st.DataObject) -> None:
    """SEM 5.4: and no two matches have one."""
    query = situ.query(example.text)
    whole = situ.match(example.table, query, match_id=True)
    batches = in_batches(example, data.draw(cuts(example.rows, between_ties=False)))
    operator = query.operator(example.schema, match_id=True)
    pushed = pa.concat_tables([*(operator.push(batch) for batch in batches), operator.flush()])
    agree(as_rows(pushed), as_rows(whole), example)
    (added,) = set(whole.column_names) - set(situ.match(example.table, query).column_names)
    assert len(set(whole[added].to_pylist())) == len(expected(example))


@given(examples(shuffled=True))
def test_ties_are_refused_when_asked(example: Example) -> None:
    """SEM 1.3."""
    question = example.question
    keys = [
        (row["t"], *(row[column] for column in question.partition))
        for row in example.rows
        if question.where is None or question.where(row) is True
    ]
    if len(set(keys)) == len(keys):
        result = situ.match(example.table, situ.query(example.text), ties="error")
        agree(result_rows(result, example.text), expected(example), example)
    else:
        with pytest.raises(situ.errors.DataError):
            situ.match(example.table, situ.query(example.text), ties="error")


@given(examples())
def test_only_the_last_row_of_an_instant_counts(example: Example) -> None:
    """SEM 1.3: taking the others away first changes nothing."""
    question = example.question
    rows = [row for row in example.rows if question.where is None or question.where(row) is True]
    parts: dict[Any, list[Row]] = {}
    for row in rows:
        parts.setdefault(tuple(row[column] for column in question.partition), []).append(row)
    last = [row for part in parts.values() for row in in_order(part, question.time, question.ties)]
    query = situ.query(example.text)
    clock = {"until": max(row["t"] for row in example.rows)} if question.has_ticks and example.rows else {}
    alone = situ.match(table_of(last), query, ties="error", **clock)  # SEM 11.9: WHERE's rows count there
    agree(
        result_rows(situ.match(example.table, query), example.text), result_rows(alone, example.text), example
    )
