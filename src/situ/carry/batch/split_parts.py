"""A split of more rows than a worker holds: condensed part by part if it is in time order, else sorted first.

Whether it is shows only at its end. So the parts are put aside in a file as they come, and what they were
condensed to in another: rows in order cost one file that is written and never read.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from situ.carry.batch.merge import BLOCKS_PER_FILE, Registry
from situ.carry.batch.pieces import SHUFFLED, pack_condensed, shuffled
from situ.carry.batch.spill import SortedFiles, local_folder
from situ.carry.batch.task import Task
from situ.carry.buckets import buckets_of
from situ.carry.contract import Condensed, Condenses, at
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.prepared import Prepared
from situ.rows.read import read_travelling


class Part(NamedTuple):
    """Rows of a split, at least as many as the limit unless they are the last."""

    rows: pa.Table
    goes_on: bool  # may more rows of the split follow


def gathered(tables: Iterator[pa.Table], limit: int) -> Iterator[Part]:
    """The tables of one split put together until they hold `limit` bytes."""
    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        if table.num_rows:
            waiting.append(table)
            size += table.nbytes
        if size >= limit:
            yield Part(pa.concat_tables(waiting), goes_on=True)
            waiting, size = [], 0
    if waiting:
        yield Part(pa.concat_tables(waiting), goes_on=False)


def condense_split(task: Task, parts: Iterator[Part]) -> Iterator[pa.RecordBatch]:
    """The next split, condensed: a piece for each bucket and part."""
    first = next(parts)
    if not first.goes_on:
        yield from condense_rows(task, read_travelling(task.needs, first.rows))
        return
    with Spool(first.rows.schema) as rows, Spool(SHUFFLED) as pieces:
        order = _Order()
        for part in itertools.chain([first], parts):
            rows.add(part.rows)
            if order.holds:
                events = read_travelling(task.needs, part.rows)
                condensed = _condensed(task, events)
                order.follow(events, condensed)
                for piece in _pieces(task, events, condensed):
                    pieces.add(piece)
            if not part.goes_on:
                break
        yield from pieces.read() if order.holds else _sorted_first(task, rows.read())


def condense_rows(task: Task, events: Prepared) -> Iterator[pa.RecordBatch]:
    """Events that no other rows of their split interleave with, condensed, a piece for each bucket."""
    if events.n_rows:
        yield from _pieces(task, events, _condensed(task, events))


def _condensed(task: Task, events: Prepared) -> Condensed:
    assert isinstance(task.operator, Condenses)
    condensed: Condensed = task.operator.condense(events, task.tied)
    return condensed


def _pieces(task: Task, events: Prepared, condensed: Condensed) -> Iterator[pa.RecordBatch]:
    buckets = buckets_of(events.keys, task.n_buckets)
    order = np.argsort(buckets, kind="stable")  # each bucket's slots side by side: then they are only cut
    numbers, starts = np.unique(buckets[order], return_index=True)
    borders = np.append(starts, len(order))
    keys, own = at(events.keys, order), condensed.select(order).cut(borders)
    for bucket, part, (begin, end) in zip(numbers.tolist(), own, pairwise(borders), strict=True):
        cut_keys = [column.slice(begin, end - begin) for column in keys]
        yield shuffled(task.label_of[bucket], pack_condensed(cut_keys, part))


class _Order:
    """Do the parts of a split follow each other in time, for every partition?"""

    def __init__(self) -> None:
        self.holds = True
        self._registry = Registry()
        self._last = np.empty(0, np.int64)  # of each partition, the last instant so far

    def follow(self, events: Prepared, condensed: Condensed) -> None:
        """Take note of the next part; condensing keeps the first and the last row of each partition."""
        codes = self._registry.codes_of(events.keys, events.n_slots)
        n_new = len(self._registry) - len(self._last)
        self._last = np.concatenate([self._last, np.full(n_new, LONG_AGO)])
        # an instant in two parts is one instant (SEM 1.3): only sorting puts its rows together
        self.holds = bool((condensed.first > self._last[codes]).all())
        self._last[codes] = np.maximum(self._last[codes], condensed.last)


def _sorted_first(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows of a split, sorted by way of files, each block condensed as a split of its own."""
    registry = Registry()
    with SortedFiles(task.needs, task.tied) as files:
        for part in gathered((pa.Table.from_batches([batch]) for batch in batches), task.limit):
            events = read_travelling(task.needs, part.rows)
            codes = registry.codes_of(events.keys, events.n_slots)[events.codes]
            files.add(events._replace(codes=codes, keys=registry.keys), len(registry), BLOCKS_PER_FILE)
        for block in files.blocks():
            yield from condense_rows(task, block.rows.present(registry.keys, len(registry)))


class Spool:
    """Batches put aside in a file without a name, which the system removes however the worker ends."""

    def __init__(self, schema: pa.Schema) -> None:
        self._file = tempfile.TemporaryFile(dir=local_folder(), prefix="situ-part-")  # noqa: SIM115 - see close
        self._writer = pa.ipc.new_stream(pa.PythonFile(self._file, "w"), schema)

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Write rows behind those that are there."""
        self._writer.write(rows)

    def read(self) -> Iterator[pa.RecordBatch]:
        """All that was added, in order; nothing can be added afterwards."""
        self._writer.close()
        self._file.seek(0)
        yield from pa.ipc.open_stream(pa.PythonFile(self._file, "r"))
