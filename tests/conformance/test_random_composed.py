"""Random queries with row patterns among their symbols (SEM 17), as the oracles say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.random_composed import composed_examples
from conformance.random_rows import unless_too_long
from conformance.reading import read
from conformance.runners import push, result_rows
from conformance.strategies import Example, after_some, cuts, table_of
from conformance.test_random import follow_a_stream
from oracles.answer import answer
from oracles.question import Question


def expected(example: Example, question: Question | None = None) -> list[tuple[object, ...]]:
    return unless_too_long(lambda: answer(example.rows, question or example.question))


@given(composed_examples())
def test_text_and_question_say_the_same(example: Example) -> None:
    """By a reader that shares nothing with situ."""
    asked, question = read(example.text), example.question
    assert (asked.symbols, asked.within, asked.emit) == (question.symbols, question.within, question.emit)
    assert (asked.at_least, asked.at_most) == (question.at_least, question.at_most)
    assert set(asked.patterns) == set(question.patterns)
    query = situ.query(example.text)
    assert situ.query(str(query)).row_patterns == query.row_patterns


@pytest.mark.nojit
@given(composed_examples(shuffled=True), st.sampled_from(["auto", "pair"]), st.sampled_from([None, 0, 2, 30]))
def test_in_process(example: Example, join: str, later: int | None) -> None:
    question, options = example.question, {}
    if question.has_ticks and example.rows and later is not None:  # SEM 11.9
        options["until"] = max(row["t"] for row in example.rows) + later
    wanted = expected(example, replace(question, **options))
    result = situ.match(example.table, situ.query(example.text), join=join, **options)
    agree(result_rows(result, example.text), wanted, example)


@pytest.mark.nojit
@given(composed_examples(is_stream=True), st.data())
def test_push_in_any_cuts_and_restarted(example: Example, data: st.DataObject) -> None:
    """SEM 8.3, 17.3."""
    wanted = expected(example)
    batches = data.draw(cuts(example.rows, between_ties=False))
    tables = [table_of(batch, example.schema) for batch in batches]
    agree(push(tables, example.text, {}, data.draw(after_some(tables)).__contains__), wanted, example)


@given(composed_examples(is_stream=True, shuffled=True), st.data())
def test_streams(example: Example, data: st.DataObject) -> None:
    """SEM 8.1, 8.2, 8.4, 17.5: late rows, watermarks, clocks moved by hand, restarts."""
    unless_too_long(lambda: follow_a_stream(example, data))
