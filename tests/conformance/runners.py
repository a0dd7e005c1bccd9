"""The ways of running a query: each takes a table, query text and options, and gives canonical rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pyarrow as pa

import situ
from conformance.asking import durations, read_question, results, ticks, time_column, time_type
from conformance.reading import Asked, read
from conformance.rows import ResultRow, canonical
from conformance.tables import Tables
from oracles.answer import answer

Run = Callable[[Tables, str, dict[str, Any]], list[ResultRow]]


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
def run_oracle(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    asked, question, rows = read_question(table, text, options)
    like = time_type(asked, table, options)
    return canonical(
        results(answer(rows, question), asked, like, options.get("time_unit")), len(asked.partition_by)
    )


@runner("in process")
def run_in_process(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return result_rows(situ.match(table, situ.query(text), **options), text)


@runner("in process, range join")
def run_range_join(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, text, {**options, "join": "range"})


@runner("in process, pair join")
def run_pair_join(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, text, {**options, "join": "pair"})


@runner("in process, two threads")
def run_two_threads(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, text, {**options, "threads": 2})


@runner("push, everything at once")
def run_push_whole(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push([table], text, options)


@runner("push, one event at a time")
def run_push_single(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(list(single_events(table, text, options)), text, options)


@runner("push, three cuts")
def run_push_cuts(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(joined(list(single_events(table, text, options)), 3), text, options)


@runner("push, restarted after every event")
def run_push_restarted(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(list(single_events(table, text, options)), text, options, restart=lambda _: True)


@runner("push, out of order under a watermark")
def run_push_shuffled(table: Tables, text: str, options: dict[str, Any]) -> list[ResultRow]:
    """Pieces arrive in any order; the delay is as long as the whole input, so nothing is late."""
    pieces = list(single_events(table, text, options))
    instants = [i for _, i, *_ in placed(table, read(text), options) if i is not None]
    Random(len(pieces)).shuffle(pieces)
    longest = max(instants) - min(instants) if instants else 0
    if longest > LARGEST:
        pieces, longest = [table], LARGEST  # no delay is long enough for two batches
    like = time_type(read(text), table, options)
    (delay,) = durations([longest], like, options.get("time_unit"))
    return push(pieces, text, {**options, "watermark": delay})


def push(
    batches: Sequence[Tables],
    text: str,
    options: dict[str, Any],
    restart: Callable[[int], bool] = lambda _: False,
) -> list[ResultRow]:
    """All batches through one operator, saved and restored after the batches that `restart` names.

    `until` is where the clock of a batch ends: a stream is moved there by hand (SEM 11.9).
    """
    options = dict(options)
    until = options.pop("until", None)
    query = situ.query(text)
    schema = schema_of(batches[0])
    operator = query.operator(schema, **options)
    found = []
    for i, batch in enumerate(batches):
        found.append(operator.push(batch))
        if restart(i):
            operator = query.operator(schema, state=operator.state(), **options)
    found.append(operator.flush())
    if until is not None:
        found.append(operator.advance(one_later(until)))
    return result_rows(pa.concat_tables(found), text)


def schema_of(tables: Tables) -> pa.Schema | dict[str, pa.Schema]:
    return (
        {name: table.schema for name, table in tables.items()} if isinstance(tables, dict) else tables.schema
    )


def one_later(until: int | datetime) -> int | datetime:
    """`advance(t)` moves the clock to t - 1."""
    return until + 1 if isinstance(until, int) else until + timedelta(microseconds=1)


def single_events(table: Tables, text: str, options: dict[str, Any]) -> Iterator[Tables]:
    """One row each in instant order; rows of one partition and instant stay together (SEM 8.3).

    Given intervals may be cut between rows of one instant (SEM 6.4).
    """
    asked = read(text)
    rows = placed(table, asked, options)
    if not rows or any(instant is None for _, instant, *_ in rows):
        yield table
        return
    groups: dict[Any, list[tuple[str | None, int]]] = {}
    for (name, i), instant, key in sorted(rows, key=lambda row: row[1]):
        groups.setdefault((instant, key, name, i) if asked.ending else (instant, key), []).append((name, i))
    for group in groups.values():
        if isinstance(table, dict):
            rows = {name: pa.array([i for of, i in group if of == name], pa.int64()) for name in table}
            yield {name: one.take(rows[name]) for name, one in table.items()}
        else:
            yield table.take([i for _, i in group])


def placed(
    table: Tables, asked: Asked, options: dict[str, Any]
) -> list[tuple[tuple[str | None, int], int | None, tuple[Any, ...]]]:
    """Every row's place (of which table, and where in it), instant and partition."""
    if not isinstance(table, dict):
        return placed_in(None, table, asked, options)
    return [
        row
        for of in asked.tables
        for row in placed_in(
            of.name,
            table[of.name],
            replace(asked, order_by=of.order_by, partition_by=of.partition_by),
            options,
        )
    ]


def placed_in(
    name: str | None, table: pa.Table, asked: Asked, options: dict[str, Any]
) -> list[tuple[tuple[str | None, int], int | None, tuple[Any, ...]]]:
    keys = [table[column].to_pylist() for column in asked.partition_by]
    return [
        ((name, i), instant, tuple(column[i] for column in keys))
        for i, instant in enumerate(instants_of(table, asked, options))
    ]


def joined(pieces: Sequence[Tables], n: int) -> list[Tables]:
    """The pieces, in order, as at most n tables."""
    size = -(-len(pieces) // n)
    parts = [pieces[i : i + size] for i in range(0, len(pieces), size)]
    if isinstance(pieces[0], dict):
        return [
            {name: pa.concat_tables(piece[name] for piece in part) for name in pieces[0]} for part in parts
        ]
    return [pa.concat_tables(part) for part in parts]


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
