"""The map side: rows as they come from Spark, packed for the shuffle, whole or condensed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from situ.carry.batch.pieces import pack_rows, shuffled
from situ.carry.batch.split_parts import Part, condense_split, gathered
from situ.carry.batch.task import Task
from situ.carry.buckets import buckets_of
from situ.carry.contract import at
from situ.rows.kernels.look import ranges
from situ.rows.kernels.order import group
from situ.rows.prepared import Positions, Prepared
from situ.rows.read import read_travelling

_EVENT_BYTES = 32 << 20  # of rows packed at a time: large enough to be fast, small as a single value


def tables(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.Table]:
    """Batches put together until they hold `limit` bytes."""
    whole = (pa.Table.from_batches([batch]) for batch in batches)
    return (part.rows for part in gathered(whole, limit))


def pack(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Whole rows, a piece for each bucket of every part."""
    for table in tables(batches, min(_EVENT_BYTES, task.limit)):
        yield from pack_prepared(task, read_travelling(task.needs, table))


def pack_prepared(task: Task, rows: Prepared) -> Iterator[pa.RecordBatch]:
    """Whole rows, a piece for each bucket."""
    for bucket, data in packed(rows, buckets_of(rows.keys, task.n_buckets)):
        yield shuffled(task.label_of[bucket], data)


def packed(rows: Prepared, buckets: Positions, more: Sequence[pa.Array] = ()) -> Iterator[tuple[int, bytes]]:
    """The rows of each bucket as a piece; `more` columns travel behind their own."""
    if not rows.n_rows:
        return
    order, offset = group(rows.codes, rows.n_slots)
    columns = [*rows.attributes.values(), *rows.ties, *more]
    for bucket in np.unique(buckets).tolist():
        slots = np.flatnonzero(buckets == bucket)
        positions, own_offset = ranges(offset, slots)
        own = order[positions]
        taken = pa.array(own)
        data = pack_rows(
            at(rows.keys, slots),
            own_offset,
            rows.time[own],
            rows.mask[own],
            [column.take(taken) for column in columns],
        )
        yield bucket, data


def condense_splits(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Condensed rows, pieces for each split and bucket; without a split column the task is one split."""
    whole = (pa.Table.from_batches([batch]) for batch in batches)
    parts = split_parts(batches, task.limit) if task.has_splits else gathered(whole, task.limit)
    for first in parts:
        yield from condense_split(task, itertools.chain([first], parts))


def split_parts(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[Part]:
    """The rows of one split after the other; a split of more than `limit` bytes comes in several parts."""
    waiting: list[pa.RecordBatch] = []
    size, current = 0, None
    for batch in batches:
        splits = batch.column(batch.num_columns - 1).to_numpy()
        borders = [0, *(np.flatnonzero(splits[1:] != splits[:-1]) + 1).tolist(), len(splits)]
        for begin, end in itertools.pairwise(borders):
            if begin == end:
                continue
            if waiting and (splits[begin] != current or size >= limit):
                yield Part(pa.Table.from_batches(waiting), goes_on=bool(splits[begin] == current))
                waiting, size = [], 0
            current = splits[begin]
            waiting.append(batch.slice(begin, end - begin))
            size += waiting[-1].nbytes
    if waiting:
        yield Part(pa.Table.from_batches(waiting), goes_on=False)
