"""Every case as a stream of micro-batches, on the state that Spark would keep, without Spark."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import situ
from conformance.asking import read_question, results, time_type
from conformance.cases import Case, load_all
from conformance.checking import agree, check
from conformance.reading import read
from conformance.rows import ResultRow, canonical
from conformance.runners import instants_of, joined, result_rows, single_events
from oracles.answer import answer, batch_clock, instant_of, partitions
from streaming.in_memory import MemoryStream

CASES = load_all()


def all_rows(tables: list[pa.Table], text: str) -> list[ResultRow]:
    found = [table for table in tables if table.num_columns]
    return result_rows(pa.concat_tables(found), text) if found else []


def in_order(table: pa.Table, text: str, options: dict[str, Any], n_cuts: int) -> list[ResultRow]:
    """Rows as they come."""
    pieces = list(single_events(table, text, options))
    stream = MemoryStream(text, table.schema, options)
    found = [stream.push(piece) for piece in (joined(pieces, n_cuts) if pieces else [])]
    assert stream.n_late == 0
    return all_rows(found, text)


def out_of_order(table: pa.Table, text: str, options: dict[str, Any], seed: int) -> list[ResultRow]:
    """Shuffled rows under a watermark that follows the instants that can still come."""
    asked = read(text)
    instants = instants_of(table, asked, options)
    stream = MemoryStream(text, table.schema, options, has_watermark=True)
    order, random = list(range(table.num_rows)), Random(seed)
    if None not in instants:
        spread = (max(instants) - min(instants)) // 3 + 1 if instants else 1
        # rows of one instant stay in order: of ties the last one counts (SEM 1.3)
        arrival = {instant: instant + random.randint(0, spread) for instant in sorted(set(instants))}
        order.sort(key=lambda i: arrival[instants[i]])
    found, complete = [], -(2**63)
    for at in range(0, len(order), 3):
        found.append(stream.push(table.take(order[at : at + 3]), complete))
        still = [instants[i] for i in order[at + 3 :]]
        complete = max(complete, min(still)) if None not in instants and still else complete
    found.append(stream.advance(end_of(table, text, options)))
    assert stream.n_late == 0
    return all_rows(found, text)


def end_of(table: pa.Table, text: str, options: dict[str, Any]) -> int:
    """The watermark at which a stream has told what a batch tells: time has passed no further (SEM 11.9)."""
    _, question, rows = read_question(table, text, options)
    clock = batch_clock(rows, question)
    return 2**63 - 1 if clock is None or not question.has_ticks else clock + 1


def told_in_order(case: Case) -> list[ResultRow]:
    """Without a watermark the clock of a partition is its own last event, and `until` is not heard of."""
    asked, question, rows = read_question(case.table, case.query, case.options)
    clocks = {key: max(instant_of(row, question) for row in part) for key, part in partitions(rows, question)}
    found = answer(rows, question, clocks.__getitem__)
    like, unit = time_type(asked, case.table, case.options), case.options.get("time_unit")
    return canonical(results(found, asked, like, unit), len(asked.partition_by))


@pytest.mark.parametrize("n_cuts", [1, 3, 10_000])
@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.asked.ending], ids=lambda case: case.name
)
def test_case_in_order(case: Case, n_cuts: int) -> None:
    if case.error is not None:
        check(case, lambda table, text, options: in_order(table, text, options, n_cuts))
        return
    agree(in_order(case.table, case.query, case.options, n_cuts), told_in_order(case), case.name)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_out_of_order(case: Case, seed: int) -> None:
    check(case, lambda table, text, options: out_of_order(table, text, options, seed))


@pytest.mark.parametrize(
    ("case", "has_watermark"),
    [
        pytest.param(case, has_watermark, id=f"{case.name}-{has_watermark}")
        for case in CASES
        for has_watermark in (False, True)
        if case.error is None and (has_watermark or not case.asked.ending)
    ],
)
def test_situations_when_they_close(case: Case, has_watermark: bool) -> None:
    """SEM 5.5: what a table gives, without the situations that are still open."""
    options = {name: value for name, value in case.options.items() if name != "until"}  # closes nothing
    stream = MemoryStream(
        case.query, case.table.schema, options, has_watermark=has_watermark, kind="situations"
    )
    found = []
    for piece in single_events(case.table, case.query, options):
        found.append(stream.push(piece, -(2**63) if has_watermark else None))
    if has_watermark:
        found.append(stream.advance(2**63 - 1))
    wanted = situ.situations(case.table, situ.query(case.query), **options)
    closed = wanted.filter(wanted["te"].is_valid())
    rows = [row for table in found for row in table.to_pylist()]
    assert sorted(repr(list(row.values())) for row in rows) == sorted(
        repr(list(row.values())) for row in closed.to_pylist()
    )
