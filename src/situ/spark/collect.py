"""The map side: events as they come from Spark, packed for the shuffle, whole or condensed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from situ.engine import prepare
from situ.engine.condense import condense
from situ.engine.interval_engine import IntervalEngine
from situ.engine.kernels.look import ranges
from situ.engine.kernels.order import group
from situ.engine.prepare import Prepared
from situ.spark.buckets import buckets_of
from situ.spark.given import read_given
from situ.spark.pieces import pack_condensed, pack_events, part_of
from situ.spark.project import read_batch
from situ.spark.task import Task

SHUFFLED = pa.schema([("bucket", pa.int32()), ("data", pa.binary())])
_EVENT_BYTES = 32 << 20  # of rows packed at a time: large enough to be fast, small as a single value


def tables(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.Table]:
    """Batches put together until they hold `limit` bytes."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            size += batch.nbytes
        if size >= limit:
            yield pa.Table.from_batches(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


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


def shuffled(label: np.int32, data: bytes) -> pa.RecordBatch:
    """One row for the shuffle."""
    return pa.RecordBatch.from_arrays(
        [pa.array([label], pa.int32()), pa.array([data], pa.binary())], schema=SHUFFLED
    )


def condense_splits(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Condensed rows, a piece for each split and bucket; without a split column the task is one split."""
    for table in split_tables(batches, task.limit) if task.has_splits else tables(batches, task.limit):
        yield from condense_split(task, read_batch(task.layout, table, task.mask_type))


def split_tables(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.Table]:
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
                yield pa.Table.from_batches(waiting)
                waiting, size = [], 0
            current = splits[begin]
            waiting.append(batch.slice(begin, end - begin))
            size += waiting[-1].nbytes
    if waiting:
        yield pa.Table.from_batches(waiting)


def condense_split(task: Task, events: Prepared) -> Iterator[pa.RecordBatch]:
    """Events of one split, condensed, a piece for each bucket."""
    if not events.n_rows:
        return
    engine = task.engine
    order, offset = prepare.arrange(events, events.codes, events.n_slots, task.ties)
    condensed = condense(engine, prepare.to_input(engine, events, order, offset))
    buckets = buckets_of(events.keys, task.n_buckets)
    for bucket in np.unique(buckets):
        slots = np.flatnonzero(buckets == bucket)
        keys = [column.take(pa.array(slots)) for column in events.keys]
        own = part_of(condensed, slots, engine.aggregates)
        yield shuffled(task.label_of[bucket], pack_condensed(keys, own, engine.aggregates))
