"""Random row patterns over random tables: every way of running them gives what the oracle gives.

One drawn query and table is asked of several carriers: drawing and the oracle take most of the time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.random_rows import SCHEMA, RowExample, row_examples, table_of, unless_too_long
from conformance.row_runners import result_rows
from conformance.rows import ResultRow
from conformance.strategies import after_some, cuts
from conformance.test_row_semantics import reads_ahead
from oracles.row_answer import answer, timed_out
from oracles.row_items import Row
from oracles.row_matches import SkipError
from oracles.stream import outcome

Answer = list[tuple[Any, ...]]
IS_NOJIT, IS_PLAIN = (bool(os.environ.get(name)) for name in ("NUMBA_DISABLE_JIT", "SITU_TESTS_PLAIN"))
TIMES = (3, 1, 1) if IS_NOJIT else (1, 1, 1) if IS_PLAIN else (6, 3, 1)
MANY, SOME, FEW = (n * settings.default.max_examples for n in TIMES)


def expected(example: RowExample, *options: str) -> Answer | None:
    """What the oracle says; None where SKIP TO has no row to go to (ROW 4.9)."""
    try:
        return unless_too_long(lambda: answer(example.rows, example.question, SCHEMA.names, options=options))
    except SkipError:
        return None


def asked(example: RowExample) -> situ.Query:
    """The query; one that is refused for its SKIP finds nothing that is not empty (ROW 4.9)."""
    try:
        query = situ.query(example.text)
    except situ.errors.RowPatternError:
        question = replace(example.question, skip=("next",), rows="all", empty="omit")
        found = unless_too_long(lambda: answer(example.rows, question, SCHEMA.names))
        assert example.question.skip[0] in ("first", "last"), example
        if found:
            assert expected(example) is None, example
        reject()
    assert situ.query(str(query)) == query, example
    return query


def agrees(run: Callable[[], pa.Table], wanted: Answer | None, example: object) -> None:
    """The result is as wanted, or where that is None an error that says so."""
    if wanted is None:
        with pytest.raises(situ.errors.MatchError):
            run()
    else:
        agree(result_rows(run()), wanted, example)


@pytest.mark.nojit
@settings(max_examples=MANY)
@given(row_examples(ahead=True, shuffled=True), st.sampled_from([1, 2]))
def test_in_process(example: RowExample, threads: int) -> None:
    """ROW 1 to 7, 9; with 6.6's columns too, as tables of Arrow, in any order of input."""
    query = asked(example)
    wanted = expected(example)
    agrees(lambda: situ.match(example.table, query, threads=threads), wanted, example)
    if example.question.time:
        options = {"match_span": True, "match_time": True}
        timed = expected(example, *options)
        agrees(lambda: situ.match(example.table, query, **options), timed, example)


@pytest.mark.nojit
@settings(max_examples=MANY)
@given(row_examples(is_stream=True, ahead=True), st.data())
def test_pushed(example: RowExample, data: st.DataObject) -> None:
    """ROW 8.3, 8.7: the same matches, each with the push that brings its match_time, restarted anywhere."""
    batches = data.draw(cuts(example.rows, between_ties=False))
    restarts = data.draw(after_some(batches))
    query, question = asked(example), example.question
    wanted = expected(example, "match_time")
    if wanted is None:
        with pytest.raises(situ.errors.MatchError):
            pushed(query, batches, restarts)
        return
    n_keys = len(question.partition)
    operator = query.operator(SCHEMA, match_time=True)
    found: list[ResultRow] = []
    clocks: dict[Any, int] = {}
    for i, batch in enumerate(batches):
        found += result_rows(operator.push(table_of(batch)))
        for row in batch:
            if question.where is None or question.where(row) is True:
                clocks[tuple(row[column] for column in question.partition)] = row["t"]
        agree(
            found, [row for row in wanted if is_reached(row, clocks.get(row[:n_keys]))], (i, batches, example)
        )
        if i in restarts:
            operator = query.operator(SCHEMA, match_time=True, state=operator.state())
    found += result_rows(operator.finish())
    agree(found, wanted, example)
    single = pushed(query, [[row] for row in example.rows] if no_ties(example) else [example.rows], set())
    agree(result_rows(single), wanted, example)


def is_reached(row: ResultRow, clock: int | None) -> bool:
    return clock is not None and row[-1] is not None and row[-1] <= clock


def no_ties(example: RowExample) -> bool:
    places = [(row["t"], *(row[name] for name in example.question.partition)) for row in example.rows]
    return len(set(places)) == len(places)


def pushed(query: situ.Query, batches: list[list[Row]], restarts: set[int], **options: Any) -> pa.Table:
    """All of it, with the end."""
    operator = query.operator(SCHEMA, match_time=True, **options)
    found = []
    for i, batch in enumerate(batches):
        found.append(operator.push(table_of(batch)))
        if i in restarts:
            operator = query.operator(SCHEMA, match_time=True, state=operator.state(), **options)
    return pa.concat_tables([*found, operator.finish()])


@settings(max_examples=SOME)
@given(row_examples(is_stream=True, ahead=True, shuffled=True), st.data())
def test_a_stream_with_late_rows(example: RowExample, data: st.DataObject) -> None:
    """ROW 8.2, 8.6 to 8.8: watermarks, flushes, a clock moved by hand, histories, timeouts."""
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
    options: dict[str, Any] = {} if delay is None else {"watermark": delay}
    if question.within is not None and data.draw(st.booleans()):
        options["forget_after"] = question.within + data.draw(st.integers(0, 4))
        question = replace(question, forget_after=options["forget_after"])
    has_timeouts = question.within is not None and question.strategy != "any" and question.mode is None
    # where NEXT is null because a history is over, the last row was no candidate; the oracle took it for one
    is_judged_late = question.forget_after is not None and reads_ahead(question)
    if has_timeouts and data.draw(st.booleans()) and not is_judged_late:
        options["timeouts"] = True

    became = outcome(
        batches,
        lambda row: row["t"],
        lambda row: tuple(row[column] for column in question.partition),
        delay,
        advances=advances,
        flushes=flushes,
        is_event=lambda row: where is None or where(row) is True,
        has_ticks=question.within is not None,
    )
    try:
        so_far = unless_too_long(
            lambda: answer(became.applied, question, SCHEMA.names, became.clock, ["match_time"])
        )
        left = became.applied + became.waiting
        at_end = unless_too_long(lambda: answer(left, question, SCHEMA.names, options=["match_time"]))
    except SkipError:
        reject()
    query = asked(example)
    operator = query.operator(SCHEMA, match_time=True, **options)
    found, gone = [], []

    def collect(result: pa.Table) -> None:
        found.append(result)
        if "timeouts" in options:
            gone.append(operator.timeouts())

    for i, batch in enumerate(batches):
        collect(operator.push(table_of(batch)))
        if i in advances:
            collect(operator.advance(advances[i]))
        if i in flushes:
            collect(operator.flush())
        if i in restarts:
            operator = query.operator(SCHEMA, match_time=True, state=operator.state(), **options)
    sizes = [len(batch) for batch in batches]
    shown = f"{example}\nbatches {sizes} {options=} {advances=} {restarts=} {flushes=}"
    agree(result_rows(pa.concat_tables(found)), so_far, shown)
    if gone:
        wanted = unless_too_long(lambda: timed_out(became.applied, question, became.clock))
        agree(result_rows(pa.concat_tables(gone)), wanted, shown)
    found.append(operator.finish())
    agree(result_rows(pa.concat_tables(found)), at_end, shown)
    assert operator.late == len(became.late), shown


@settings(max_examples=FEW)
@given(row_examples(is_stream=True), st.data())
def test_a_match_has_the_same_id_on_every_path(example: RowExample, data: st.DataObject) -> None:
    """ROW 6.6: and no two matches have one."""
    query = asked(example)
    shown = replace(example.question, rows="one", measures=())
    try:
        n_matches = len(unless_too_long(lambda: answer(example.rows, shown, SCHEMA.names)))
    except SkipError:
        reject()
    whole = situ.match(example.table, query, match_id=True, match_time=True)
    batches = data.draw(cuts(example.rows, between_ties=False))
    agree(result_rows(pushed(query, batches, set(), match_id=True)), result_rows(whole), example)
    assert whole.column_names[-1] == "match_id"
    told = example.question.rows == "one"
    n_ids = len(set(whole["match_id"].to_pylist()))
    assert n_ids == n_matches if told else n_ids <= n_matches, example
