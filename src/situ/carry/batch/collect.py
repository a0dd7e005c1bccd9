"""The map side: events as they come from Spark, packed for the shuffle, whole or condensed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from situ.carry.batch.given import read_given
from situ.carry.batch.pieces import pack_events, shuffled
from situ.carry.batch.split_parts import Part, condense_split, gathered
from situ.carry.batch.task import Task
from situ.carry.buckets import buckets_of
from situ.operators.situations.interval_engine import IntervalEngine
from situ.rows.kernels.look import ranges
from situ.rows.kernels.order import group
from situ.rows.prepare import Prepared
from situ.spark.select.project import read_batch

_EVENT_BYTES = 32 << 20  # of rows packed at a time: large enough to be fast, small as a single value


def tables(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.Table]:
    """Batches put together until they hold `limit` bytes."""
    whole = (pa.Table.from_batches([batch]) for batch in batches)
    return (part.rows for part in gathered(whole, limit))


def pack(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Whole events, a piece for each bucket of every chunk."""
    for table in tables(batches, min(_EVENT_BYTES, task.limit)):
        yield from pack_prepared(task, read_rows(task, table))


def read_rows(task: Task, table: pa.Table) -> Prepared:
    """Rows as Spark hands them over: events, or given intervals."""
    engine = task.engine
    if not isinstance(engine, IntervalEngine):
        return read_batch(task.layout, table, task.mask_type)
    return read_given(task, engine, table)


def pack_prepared(task: Task, events: Prepared) -> Iterator[pa.RecordBatch]:
    """Whole events, a piece for each bucket."""
    if not events.n_rows:
        return
    order, offset = group(events.codes, events.n_slots)
    buckets = buckets_of(events.keys, task.n_buckets)
    columns = [*events.attributes.values(), *events.ties]
    for bucket in np.unique(buckets):
        slots = np.flatnonzero(buckets == bucket)
        positions, own_offset = ranges(offset, slots)
        rows = order[positions]
        keys = [column.take(pa.array(slots)) for column in events.keys]
        taken = pa.array(rows)
        data = pack_events(
            keys, own_offset, events.time[rows], events.mask[rows], [column.take(taken) for column in columns]
        )
        yield shuffled(task.label_of[bucket], data)


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
