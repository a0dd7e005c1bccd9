"""The ways of running a row pattern: each takes a table, text and options, and gives result rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pyarrow as pa

import situ
from conformance.asking import durations, ticks
from conformance.random_row_patterns import has, is_bounded
from conformance.row_asking import answered, has_time
from conformance.row_reading import read_rows
from conformance.rows import ResultRow
from conformance.runners import Runner, joined

ROW_RUNNERS: list[Runner] = []
PUSHED: list[Runner] = []  # of queries that a stream takes
Run = Callable[[pa.Table, str, dict[str, Any]], list[ResultRow]]


def runner(name: str, among: list[Runner]) -> Callable[[Run], Run]:
    def register(run: Run) -> Run:
        among.append(Runner(name, run))
        return run

    return register


def result_rows(result: pa.Table) -> list[ResultRow]:
    return list(zip(*(column.to_pylist() for column in result.columns), strict=True))


def is_pushable(table: pa.Table, text: str) -> bool:
    """ROW 6.3, 8.1."""
    asked = read_rows(text)
    return (
        has_time(asked, table)
        and (asked.within is not None or is_bounded(asked.pattern))
        and not has(asked.pattern, "$")
        and asked.empty != "unmatched"
    )


@runner("oracle", ROW_RUNNERS)
def run_oracle(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return answered(table, text, options)


@runner("in process", ROW_RUNNERS)
def run_in_process(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return result_rows(situ.match(table, situ.query(text), **options))


@runner("in process, as text again", ROW_RUNNERS)
def run_printed(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, str(situ.query(text)), options)


@runner("in process, two threads", ROW_RUNNERS)
def run_two_threads(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return run_in_process(table, text, {**options, "threads": 2})


@runner("push, everything at once", PUSHED)
def run_push_whole(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push([table], text, options)


@runner("push, one row at a time", PUSHED)
def run_push_single(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(list(single_rows(table, text)), text, options)


@runner("push, three cuts", PUSHED)
def run_push_cuts(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(joined(list(single_rows(table, text)), 3), text, options)


@runner("push, restarted after every row", PUSHED)
def run_push_restarted(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    return push(list(single_rows(table, text)), text, options, restart=lambda _: True)


@runner("push, out of order under a watermark", PUSHED)
def run_push_shuffled(table: pa.Table, text: str, options: dict[str, Any]) -> list[ResultRow]:
    """Rows arrive in any order; the delay is as long as the whole input, so nothing is late."""
    pieces = list(single_rows(table, text))
    Random(len(pieces)).shuffle(pieces)
    times = table[read_rows(text).order_by[0][0]]
    instants = ticks(times) or [0]
    (delay,) = durations([max(instants) - min(instants)], times.type)
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
    found.append(operator.finish())
    return result_rows(pa.concat_tables(found))


def single_rows(table: pa.Table, text: str) -> Iterator[pa.Table]:
    """One row each in order of time; rows of one partition and time stay together (SEM 8.3)."""
    asked = read_rows(text)
    times = ticks(table[asked.order_by[0][0]])
    if not times or None in times:
        yield table
        return
    columns = [table[column].to_pylist() for column in asked.partition_by]
    keys = [tuple(column[i] for column in columns) for i in range(len(times))]
    groups: dict[Any, list[int]] = {}
    for i in sorted(range(len(times)), key=times.__getitem__):
        groups.setdefault((times[i], keys[i]), []).append(i)
    for group in groups.values():
        yield table.take(group)
