"""Random queries over two sources (SEM 13): a random table in two, symbols on the one or the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.reading import read
from conformance.runners import push, result_rows
from conformance.strategies import Example, after_some, bounded_by_window, cuts, examples, table_of
from oracles.answer import answer
from oracles.question import SOURCE, Row
from oracles.stream import outcome

TABLES = {"p": "one", "q": "other"}
EITHER = st.integers(0, 2**16 - 1)


class Two:
    """An example whose rows and symbols are divided between two sources; `salt` 0 leaves all in the first."""

    def __init__(self, example: Example, salt: int) -> None:
        assume(not example.question.looks_back)  # refused with several sources
        self.schema = example.schema
        self.rows = [row | {SOURCE: of(salt, i)} for i, row in enumerate(example.rows)]
        symbols = [*example.question.holds, *example.question.silences]
        self.sources = {symbol: of(salt, 3 + ord(symbol)) for symbol in symbols}
        self.text = self._text(example.text)
        self.question = replace(example.question, sources=self.sources)

    def _text(self, text: str) -> str:
        lines = text.splitlines()
        where = lines[0].partition(" WHERE ")[2]
        lines[0] = "FROM one AS p, other AS q"
        if where:
            each = [re.sub(r"\b([a-z])\b", rf"{alias}.\1", where) for alias in TABLES]
            lines[0] += " WHERE " + " AND ".join(f"({part})" for part in each)
        at = next(i for i, line in enumerate(lines) if line.startswith("DEFINE"))
        lines[at] = re.sub(
            r"\b([A-Z]) AS ",
            lambda found: f"{found[1]} ON {self.sources[found[1]]} AS ",
            lines[at],
        )
        return "\n".join(lines)

    def tables(self, rows: Sequence[Row]) -> dict[str, pa.Table]:
        return {
            name: table_of([row for row in rows if row[SOURCE] == alias], self.schema)
            for alias, name in TABLES.items()
        }

    @property
    def schemas(self) -> dict[str, pa.Schema]:
        return dict.fromkeys(TABLES.values(), self.schema)

    def __repr__(self) -> str:
        names = [
            name for name in (*self.schema.names, SOURCE) if any(row[name] is not None for row in self.rows)
        ]
        return "\n".join([self.text, *(" ".join(f"{n}={row[n]}" for n in names) for row in self.rows)])


def of(salt: int, i: int) -> str:
    return "pq"[salt >> i % 16 & 1]


@given(examples(), EITHER)
def test_text_and_question_say_the_same(example: Example, salt: int) -> None:
    two = Two(example, salt)
    asked = read(two.text)
    assert asked.on == two.sources
    assert [table.name for table in asked.tables] == list(TABLES.values())
    query = situ.query(two.text)
    assert situ.query(str(query)) == query


@pytest.mark.nojit
@given(examples(shuffled=True), EITHER, st.sampled_from(["auto", "range", "pair"]), st.sampled_from([1, 2]))
def test_in_process(example: Example, salt: int, join: str, threads: int) -> None:
    two = Two(example, salt)
    result = situ.match(two.tables(two.rows), situ.query(two.text), join=join, threads=threads)
    agree(result_rows(result, two.text), answer(in_parts(two.rows), two.question), two)


def in_parts(rows: Sequence[Row]) -> list[Row]:
    """The rows in the order in which the tables have them: that of equal times counts (SEM 1.3)."""
    return sorted(rows, key=lambda row: row[SOURCE])


@given(examples(), EITHER, st.data())
def test_pushed_and_restarted(example: Example, salt: int, data: st.DataObject) -> None:
    two = Two(example, salt)
    batches = [two.tables(batch) for batch in data.draw(cuts(two.rows, between_ties=False))]
    restarts = data.draw(after_some(batches))
    found = push(batches, two.text, {}, restarts.__contains__)
    agree(found, answer(two.rows, two.question), two)


@given(examples(shuffled=True), EITHER, st.data())
def test_streams(example: Example, salt: int, data: st.DataObject) -> None:
    """SEM 13.5: late is what is before the least of the sources' watermarks."""
    example = bounded_by_window(example, 20) if data.draw(st.booleans()) else example
    two = Two(example, salt)
    question, where = two.question, two.question.where
    batches = data.draw(cuts(two.rows, between_ties=True))
    delay = data.draw(st.sampled_from([None, 0, 1, 3, 10, 100]))
    restarts = data.draw(after_some(batches, 4))
    flushes = data.draw(st.sets(st.integers(0, len(batches) - 1), max_size=2))
    options: dict[str, Any] = {} if delay is None else {"watermark": delay}
    if question.within is not None and data.draw(st.booleans()):
        options["forget_after"] = question.within + data.draw(st.integers(0, 8))
        question = replace(question, forget_after=options["forget_after"])
    became = outcome(
        batches,
        lambda row: row["t"],
        lambda row: tuple(row[column] for column in question.partition),
        delay,
        flushes=flushes,
        is_event=lambda row: where is None or where(row) is True,
        has_ticks=question.has_ticks,
        sources=tuple(TABLES),
    )
    query = situ.query(two.text)
    operator = query.operator(two.schemas, late_rows=not restarts, **options)
    found = []
    for i, batch in enumerate(batches):
        found.append(operator.push(two.tables(batch)))
        if i in flushes:
            found.append(operator.flush())
        if i in restarts:
            operator = query.operator(two.schemas, state=operator.state(), **options)
    shown = f"{two}\nbatches {[len(batch) for batch in batches]} {options=} {restarts=} {flushes=}"
    so_far = answer(became.applied, question, became.clock)
    agree(result_rows(pa.concat_tables(found), two.text), so_far, shown)
    found.append(operator.flush())
    everything = answer(became.applied + became.waiting, question, became.clock_of_flush)
    agree(result_rows(pa.concat_tables(found), two.text), everything, shown)
    assert operator.late == len(became.late), shown
    if not restarts:
        late = two.tables(became.late)
        assert {name: table.num_rows for name, table in operator.late_rows.items()} == {
            name: table.num_rows for name, table in late.items()
        }
