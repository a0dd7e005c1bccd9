"""The reduce side: pieces of the input put together, partition by partition, and run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from situ.carry.batch.clock import with_complete
from situ.carry.batch.pieces import Piece, unpack_rows, values
from situ.carry.batch.runner import RowsBlock, Runner
from situ.carry.batch.spill import Block, SortedFiles
from situ.carry.batch.task import Task
from situ.rows.keys import Codes, encode
from situ.rows.prepared import Prepared, concat

BLOCKS_PER_FILE = 8


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


def merge_rows(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Whole rows of every partition of the task; beyond the limit, by way of files.

    A partition that fills more than a block is stepped through block by block, and what the operator keeps
    of it bounds memory, as in a stream.
    """
    complete, batches = with_complete(task, batches)
    registry, runner = Registry(), Runner(task, complete)
    for block in _blocks(task, registry, _unpacked(task, registry, batches)):
        rows = block.rows.present(registry.keys, len(registry))
        yield from runner.feed(RowsBlock(rows, rows.n_slots), rows.keys, goes_on=block.goes_on)


def _unpacked(
    task: Task, registry: Registry, batches: Iterator[pa.RecordBatch]
) -> Iterator[tuple[Prepared, int]]:
    """The rows of every piece, and how many bytes they hold."""
    names = list(task.needs.carried(task.operator.schema))
    for data in values(batches):
        piece = unpack_rows(data)
        codes = registry.codes_of(piece.keys, piece.n_slots)
        yield prepared_of(piece, np.repeat(codes, np.diff(piece.offset)), names), piece.nbytes


def prepared_of(piece: Piece, codes: Codes, names: list[str]) -> Prepared:
    """A piece of whole rows as operators take them; `names` are the columns that rows carry."""
    carried = dict(zip(names, piece.columns, strict=False))
    return Prepared(codes, [], piece.time, piece.mask, carried, piece.columns[len(names) :])


def _blocks(task: Task, registry: Registry, pieces: Iterator[tuple[Prepared, int]]) -> Iterator[Block]:
    """All rows in one block, or beyond the limit in several by way of files, sorted by partition and time."""
    with SortedFiles(task.needs, task.tied) as files:
        waiting: list[Prepared] = []
        size = 0
        for rows, n_bytes in pieces:
            waiting.append(rows)
            size += n_bytes
            if size > task.limit:
                files.add(drained(waiting, registry), len(registry), BLOCKS_PER_FILE)
                size = 0
        if not files.n_bytes:
            if waiting:
                yield Block(drained(waiting, registry), goes_on=False)
            return
        if waiting:
            files.add(drained(waiting, registry), len(registry), BLOCKS_PER_FILE)
        yield from files.blocks()


def drained(waiting: list[Prepared], registry: Registry) -> Prepared:
    """All rows that wait, which wait no longer: earlier pieces first, so that little is left to sort."""
    waiting.sort(key=lambda rows: int(rows.time[0]))
    rows = concat(waiting)
    waiting.clear()
    return rows._replace(keys=registry.keys)
