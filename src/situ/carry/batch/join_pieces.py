"""Condensed pieces put together: per partition in time order, which is checked, then run (Alg. 5.5).

What the algorithm does case by case for each open situation needs no cases here: condensed rows one
after the other are rows, and a run that goes on over a border is simply a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from situ.carry.batch.clock import with_complete
from situ.carry.batch.merge import Registry
from situ.carry.batch.pieces import shuffled, unpack_condensed, values
from situ.carry.batch.runner import CondensedBlock, Runner, batches_of
from situ.carry.batch.task import Task
from situ.carry.contract import Condensed, Condenses, Slices, at, tables_of
from situ.carry.trace import Trace
from situ.errors import DataError
from situ.rows.clock import check_until
from situ.rows.keys import shown
from situ.rows.prepared import Positions
from situ.rows.schema import from_ticks
from situ.saved.codec import Reader, Writer

_BYTES_PER_ROW = 64  # of a condensed row while it is matched, states included
_SLICE = b"situ slice 0002."


class Stretches(NamedTuple):
    """The rows of one partition in one piece, for all partitions and pieces, piece by piece."""

    piece: Positions
    slot: Positions  # in its piece
    code: Positions
    first: Positions  # times of its first and last row
    last: Positions
    n_rows: Positions


def merge_condensed(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All partitions of the task, in blocks that fit the limit."""
    complete, batches = with_complete(task, batches)
    registry = Registry()
    several, stretches, order = in_time_order(task, values(batches), registry)
    if not several:
        return
    runner = Runner(task, complete)
    most = max(1, task.limit // _BYTES_PER_ROW)
    for chosen, goes_on in blocks_of(stretches, order, most):
        codes = stretches.code[chosen]
        begins = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
        condensed = joined(several, stretches, chosen).joined(begins)
        keys = at(registry.keys, codes[begins])
        yield from runner.feed(CondensedBlock(condensed, len(begins)), keys, goes_on=goes_on)


def cut(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All condensed pieces in time order, cut into slices: one task, light because few rows are left."""
    assert isinstance(task.operator, Slices)
    complete, batches = with_complete(task, batches)
    several, stretches, order = in_time_order(task, values(batches), Registry())
    if not several:
        return
    if complete is not None:
        check_until(complete - 1, int(stretches.last.max()), task.needs)
    whole = joined(several, stretches, order).joined(np.zeros(1, np.int64))
    for number, one in enumerate(task.operator.slices(whole, task.n_slices, task.least_rows, complete)):
        writer = Writer(_SLICE)
        one.write(writer)
        yield shuffled(task.slice_labels[number], writer.bytes())


def match_slices(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results of each slice's own time."""
    assert isinstance(task.operator, Slices)
    for data in values(batches):
        reader = Reader(data, _SLICE)
        one = task.operator.read_slice(reader)
        reader.end()
        trace = Trace.if_asked_for("Spark batch, slice")
        emitted = task.operator.step_slice(one) if trace is None else trace.step_slice(task.operator, one)
        yield from batches_of(tables_of(emitted, [], task.output))


def in_time_order(
    task: Task, pieces: Iterator[bytes], registry: Registry
) -> tuple[list[Any], Stretches, Positions]:
    """Pieces unpacked, and their stretches and order by partition and time; none may interleave."""
    assert isinstance(task.operator, Condenses)
    several: list[Any] = []
    parts: list[Stretches] = []
    for data in pieces:
        keys, condensed = unpack_condensed(task.operator, data)
        n_rows = condensed.n_rows
        n_slots = len(n_rows)
        parts.append(
            Stretches(
                np.full(n_slots, len(several)),
                np.arange(n_slots),
                registry.codes_of(keys, n_slots),
                condensed.first,
                condensed.last,
                n_rows,
            )
        )
        several.append(condensed)
    if not several:
        none = np.empty(0, np.int64)
        return [], Stretches(none, none, none, none, none, none), none
    stretches = Stretches(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    order = np.lexsort((stretches.first, stretches.code))
    code, first, last = stretches.code[order], stretches.first[order], stretches.last[order]
    overlap = np.flatnonzero((code[1:] == code[:-1]) & (first[1:] <= last[:-1]))
    if len(overlap):
        raise _interleaved(task, registry, stretches, order[overlap[0]], order[overlap[0] + 1])
    return several, stretches, order


def _interleaved(task: Task, registry: Registry, stretches: Stretches, one: int, other: int) -> DataError:
    kind = task.operator.schema.field(task.needs.time.name).type

    def span(at: int) -> str:
        ticks = np.array([stretches.first[at], stretches.last[at]])
        return " to ".join(
            str(value) for value in from_ticks(ticks, kind, unit=task.needs.time.unit).to_pylist()
        )

    key = tuple(shown(column[int(stretches.code[one])]) for column in registry.keys)
    where = f"of partition {key} " if key else ""
    return DataError(
        'strategy="map-side" needs splits whose times do not interleave, but one split holds the events '
        f"{where}from {span(one)} and another those from {span(other)}",
        hint='use strategy="shuffle", or write the data as files that follow each other in time',
    )


def blocks_of(stretches: Stretches, order: Positions, most: int) -> Iterator[tuple[Positions, bool]]:
    """Successive stretches of at most `most` rows together, and whether the last partition goes on."""
    total = np.cumsum(stretches.n_rows[order])
    codes = stretches.code[order]
    begin = 0
    while begin < len(order):
        done = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + most, side="right")))
        yield order[begin:end], bool(end < len(order) and codes[end] == codes[end - 1])
        begin = end


def joined(several: Sequence[Any], stretches: Stretches, chosen: Positions) -> Condensed:
    """The rows of these stretches, in this order, a slot for each."""
    by_piece = chosen[np.argsort(stretches.piece[chosen], kind="stable")]
    parts = [
        several[int(stretches.piece[own[0]])].select(stretches.slot[own])
        for own in np.split(by_piece, np.flatnonzero(np.diff(stretches.piece[by_piece])) + 1)
    ]
    together: Condensed = parts[0].followed_by(parts[1:])
    if bool((by_piece == chosen).all()):
        return together
    place = np.empty(int(by_piece.max()) + 1, np.int64)  # where each stretch now is
    place[by_piece] = np.arange(len(by_piece))
    return together.select(place[chosen])
