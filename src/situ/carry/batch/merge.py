"""The reduce side: pieces of the input put together, partition by partition, and run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from situ.carry.batch.given import StartedIntervals
from situ.carry.batch.pieces import Piece, unpack_events
from situ.carry.batch.runner import Runner
from situ.carry.batch.spill import Block, SortedRuns
from situ.carry.batch.task import Task
from situ.operators.situations.interval_engine import interval_rows
from situ.rows import prepare
from situ.rows.keys import Codes, encode
from situ.rows.prepare import Prepared

TS, TE, ID = "_ts", "_te", "_id"  # how given intervals travel (see interval_engine)
BLOCKS_PER_RUN = 8


class Registry:
    """Partition values to codes, in order of first appearance over all pieces."""

    def __init__(self) -> None:
        self.keys: list[pa.Array] = []
        self._n = 0

    def codes_of(self, keys: list[pa.Array], n_slots: int) -> Codes:
        """The code of each of a piece's slots."""
        if not keys:
            self._n = 1
            return np.zeros(n_slots, np.int64)
        before = self._n
        both = (
            [pa.concat_arrays([old, new]) for old, new in zip(self.keys, keys, strict=True)]
            if before
            else keys
        )
        codes, self.keys = encode(both, before + n_slots)
        self._n = len(self.keys[0])
        return codes[before:]

    def __len__(self) -> int:
        return self._n


def merge_events(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Whole events of every partition of the task, sorted and run; beyond the limit, by way of files."""
    registry, runner = Registry(), Runner(task)
    for block in _blocks(task, registry, _unpacked(task, registry, batches)):
        yield from _fed(task, registry, runner, block)


def _unpacked(
    task: Task, registry: Registry, batches: Iterator[pa.RecordBatch]
) -> Iterator[tuple[Prepared, int]]:
    """The rows of every piece, and how many bytes they hold."""
    for data in values(batches):
        piece = unpack_events(data)
        yield to_prepared(task, piece, registry.codes_of(piece.keys, piece.n_slots)), piece.nbytes


def _blocks(task: Task, registry: Registry, pieces: Iterator[tuple[Prepared, int]]) -> Iterator[Block]:
    """All rows in one block, or beyond the limit in several by way of files, sorted by partition and time."""
    # rows of one instant all count where intervals are given (SEM 6.4)
    ties = task.ties if task.bound.query.intervals is None else "all"
    with SortedRuns(ties, task.tied, task.bound.time.type) as runs:
        waiting: list[Prepared] = []
        size = 0
        for rows, n_bytes in pieces:
            waiting.append(rows)
            size += n_bytes
            if size > task.limit:
                runs.add(drained(waiting, registry), len(registry), BLOCKS_PER_RUN)
                size = 0
        if not runs.n_bytes:
            if waiting:
                yield Block(drained(waiting, registry), goes_on=False)
            return
        if waiting:
            runs.add(drained(waiting, registry), len(registry), BLOCKS_PER_RUN)
        yield from runs.blocks()


def drained(waiting: list[Prepared], registry: Registry) -> Prepared:
    """All rows that wait, which wait no longer: earlier pieces first, so that little is left to sort."""
    waiting.sort(key=lambda rows: int(rows.time[0]))
    rows = prepare.concat(waiting)
    waiting.clear()
    return rows._replace(keys=registry.keys)


def merge_given(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Given intervals of every partition of the task; beyond the limit by way of files.

    A partition that fills more than a block is stepped through by instant, and WITHIN says what is kept
    of it, as in a stream: a begin row's instant lies before that of the row that closes it.
    """
    registry = Registry()
    started: StartedIntervals | None = None
    for block in _blocks(task, registry, _unpacked(task, registry, batches)):
        rows = block.rows
        going_on = int(rows.codes.max()) if block.goes_on else -1  # which no partition's code is
        if started is not None:
            own = rows.codes == started.code
            yield from started.feed(prepare.select(rows, own), at_end=started.code != going_on)
            rows = prepare.select(rows, ~own)
            if started.code == going_on:
                continue
            started = None
        is_whole = rows.codes != going_on
        if is_whole.any():
            yield from _fed_given(task, registry, prepare.select(rows, is_whole))
        if block.goes_on:
            keys = [column.slice(going_on, 1) for column in registry.keys]
            started = StartedIntervals(task, going_on, keys)
            yield from started.feed(prepare.select(rows, ~is_whole), at_end=False)


def _fed_given(task: Task, registry: Registry, rows: Prepared) -> Iterator[pa.RecordBatch]:
    """All rows of some partitions through the engine."""
    rows = present(rows, registry)
    yield from Runner(task).feed_given(interval_rows(rows, rows.codes), rows.keys, rows.n_slots)


def _fed(task: Task, registry: Registry, runner: Runner, block: Block) -> Iterator[pa.RecordBatch]:
    """One block of rows in any order through the engine, partitions in the order of their codes."""
    rows = present(block.rows, registry)
    given = prepare.to_input(task.engine, rows, rows.codes, rows.n_slots, task.ties, task.tied)
    yield from runner.feed(given, rows.keys, goes_on=block.goes_on)


def present(rows: Prepared, registry: Registry) -> Prepared:
    """The rows with codes and keys of those partitions only that they belong to."""
    is_there = np.bincount(rows.codes, minlength=len(registry)) > 0
    slots, codes = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[rows.codes]
    return rows._replace(codes=codes, keys=[column.take(pa.array(slots)) for column in registry.keys])


def values(batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """The packed pieces of a task's rows."""
    for batch in batches:
        column = batch.column(1)
        for i in range(len(column)):
            yield column[i].as_buffer().to_pybytes()


def to_prepared(task: Task, piece: Piece, codes: Codes) -> Prepared:
    """A piece of whole events as rows of the engine."""
    names = [task.layout.columns[i].name for i in task.layout.attributes]
    if task.bound.query.intervals is not None:
        names = [TS, TE, *[ID] * (task.bound.query.intervals.id_by is not None), *names]
    return Prepared(
        np.repeat(codes, np.diff(piece.offset)),
        [],
        piece.time,
        piece.mask,
        dict(zip(names, piece.columns, strict=False)),
        piece.columns[len(names) :],
    )
