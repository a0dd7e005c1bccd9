"""The ways of running a query: each takes a table, query text and options, and gives canonical rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa

import situ
from conformance.asking import durations, read_question, results, ticks, time_column
from conformance.reading import Asked, read
from conformance.rows import ResultRow, canonical
from oracles.answer import answer

Run = Callable[[pa.Table, str, dict[str, Any]], list[ResultRow]]


@dataclass(frozen=True)
class Runner:
    name: str
    run: Run


RUNNERS: list[Runner] = []
LARGEST = 2**63 - 1


def runner(name: str) -> Callable[[Run], Run]:
    """Registers a way of running a query; every case then goes through it."""

    def register(run: Run) -> Run:
        RUNNERS.append(Runner(name, run))
        return run

    return register


def result_rows(result: pa.Table, text: str) -> list[ResultRow]:
    """An Arrow result as canonical rows."""
    rows = list(zip(*(column.to_pylist() for column in result.columns), strict=True))
    return canonical(rows, len(read(text).partition_by))


@runner("oracle")
def run_oracle(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    asked, question, rows = read_question(table, text, options)
    like = table.schema.field(time_column(asked, table.schema, options)).type
    return canonical(
        results(answer(rows, question), asked, like, options.get("time_unit")), len(asked.partition_by)
    )


@runner("in process")
def run_in_process(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return result_rows(situ.match(table, situ.query(text), **options), text)


@runner("in process, range join")
def run_range_join(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, text, {**options, "join": "range"})


@runner("in process, pair join")
def run_pair_join(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, text, {**options, "join": "pair"})


@runner("in process, two threads")
def run_two_threads(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, text, {**options, "threads": 2})


@runner("push, everything at once")
def run_push_whole(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push([table], text, options)


@runner("push, one event at a time")
def run_push_single(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(list(single_events(table, text, options)), text, options)


@runner("push, three cuts")
def run_push_cuts(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(joined(list(single_events(table, text, options)), 3), text, options)


@runner("push, restarted after every event")
def run_push_restarted(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(list(single_events(table, text, options)), text, options, restart=lambda _: True)


@runner("push, out of order under a watermark")
def run_push_shuffled(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    """Pieces arrive in any order; the delay is as long as the whole input, so nothing is late."""
    pieces = list(single_events(table, text, options))
    instants = [i for i in instants_of(table, read(text), options) if i is not None]
    Random(len(pieces)).shuffle(pieces)
    longest = max(instants) - min(instants) if instants else 0
    if longest > LARGEST:
        pieces, longest = [table], LARGEST  # no delay is long enough for two batches
    like = table.schema.field(time_column(read(text), table.schema, options)).type
    (delay,) = durations([longest], like, options.get("time_unit"))
    return push(pieces, text, {**options, "watermark": delay})


def push(
    batches: Sequence[pa.Table],
    text: str,
    options: dict[str, Any],
    restart: Callable[[int], bool] = lambda _: False,
) -> list[ResultRow]:
    """All batches through one operator, saved and restored after the batches that `restart` names."""
    query = situ.query(text)
    schema = batches[0].schema
    operator = query.operator(schema, **options)
    found = []
    for i, batch in enumerate(batches):
        found.append(operator.push(batch))
        if restart(i):
            operator = query.operator(schema, state=operator.state(), **options)
    found.append(operator.flush())
    return result_rows(pa.concat_tables(found), text)


def single_events(table: pa.Table, text: str, options: dict[str, Any]) -> Iterator[pa.Table]:
    """One row each in instant order; rows of one partition and instant stay together (SEM 8.3).

    Given intervals may be cut between rows of one instant (SEM 6.4).
    """
    asked = read(text)
    instants = instants_of(table, asked, options)
    if None in instants or not instants:
        yield table
        return
    keys = list(zip(instants, *(table[column].to_pylist() for column in asked.partition_by), strict=True))
    groups: dict[Any, list[int]] = {}
    for i in sorted(range(len(keys)), key=instants.__getitem__):
        groups.setdefault((keys[i], i) if asked.ending else keys[i], []).append(i)
    for rows in groups.values():
        yield table.take(rows)


def joined(pieces: Sequence[pa.Table], n: int) -> list[pa.Table]:
    """The pieces, in order, as at most n tables."""
    size = -(-len(pieces) // n)
    return [pa.concat_tables(pieces[i : i + size]) for i in range(0, len(pieces), size)]


def instants_of(table: pa.Table, asked: Asked, options: dict[str, Any]) -> list[int | None]:
    """Each row's instant (SEM 1.1, 6.3)."""
    unit = options.get("time_unit")
    starts = ticks(table[time_column(asked, table.schema, options)], unit)
    if not asked.ending:
        return starts
    ends = ticks(table[asked.ending], unit)
    widened = int(options.get("points") == "widen")
    pairs = zip(starts, ends, strict=True)
    return [start if end is None else end + widened * (start == end) for start, end in pairs]
