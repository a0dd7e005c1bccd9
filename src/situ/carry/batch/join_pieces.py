"""Condensed pieces put together: per partition in time order, which is checked, then run (Alg. 5.5).

What the algorithm does case by case for each open situation needs no cases here: condensed rows one
after the other are rows, and a run that goes on over a border is simply a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.aggregate import States
from situ.carry.batch.merge import Registry, values
from situ.carry.batch.pieces import Piece, part_of, unpack_condensed
from situ.carry.batch.runner import Runner
from situ.carry.batch.task import Task
from situ.errors import DataError
from situ.operators.situations.condense import Condensed, expand, widened
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.kernels.layout import Rows
from situ.operators.situations.known import Positions
from situ.rows.keys import shown
from situ.rows.schema import from_ticks

_BYTES_PER_ROW = 64  # of a condensed row while it is matched, states included


class Stretches(NamedTuple):
    """The rows of one partition in one piece, for all partitions and pieces, piece by piece."""

    piece: Positions
    slot: Positions  # in its piece
    code: Positions
    first: Positions  # times of its first and last row
    last: Positions
    n_rows: Positions


def merge_condensed(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All partitions of the task, in groups that fit the limit."""
    pieces = [unpack_condensed(data, task.engine.aggregates) for data in values(batches)]
    if not pieces:
        return
    registry = Registry()
    stretches, order = in_time_order(task, pieces, registry)
    runner = Runner(task)
    most = max(1, task.limit // _BYTES_PER_ROW)
    for group, goes_on in groups(stretches, order, most):
        given = expand(task.engine, joined(task.engine, pieces, stretches, group))
        given, slots = one_slot_each(given, stretches.code[group])
        keys = [column.take(pa.array(slots)) for column in registry.keys]
        yield from runner.feed(given, keys, goes_on=goes_on)


def in_time_order(task: Task, pieces: Sequence[Piece], registry: Registry) -> tuple[Stretches, Positions]:
    """The stretches and their order by partition and time; pieces that interleave are refused."""
    stretches = Stretches(
        np.repeat(np.arange(len(pieces)), [piece.n_slots for piece in pieces]),
        np.concatenate([np.arange(piece.n_slots) for piece in pieces]),
        np.concatenate([registry.codes_of(piece.keys, piece.n_slots) for piece in pieces]),
        np.concatenate([_times(piece, piece.offset[:-1]) for piece in pieces]),
        np.concatenate([_times(piece, piece.offset[1:] - 1) for piece in pieces]),
        np.concatenate([np.diff(piece.offset) for piece in pieces]),
    )
    order = np.lexsort((stretches.first, stretches.code))
    code, first, last = stretches.code[order], stretches.first[order], stretches.last[order]
    overlap = np.flatnonzero((code[1:] == code[:-1]) & (first[1:] <= last[:-1]))
    if len(overlap):
        raise _interleaved(task, registry, stretches, order[overlap[0]], order[overlap[0] + 1])
    return stretches, order


def _times(piece: Piece, rows: Positions) -> npt.NDArray[np.int64]:
    return widened(piece.low, piece.step, piece.multiples[rows])


def _interleaved(task: Task, registry: Registry, stretches: Stretches, one: int, other: int) -> DataError:
    kind = task.schema.field(task.bound.time.name).type

    def span(at: int) -> str:
        ticks = np.array([stretches.first[at], stretches.last[at]])
        return " to ".join(str(value) for value in from_ticks(ticks, kind).to_pylist())

    key = tuple(shown(column[int(stretches.code[one])]) for column in registry.keys)
    where = f"of partition {key} " if key else ""
    return DataError(
        'strategy="map-side" needs splits whose times do not interleave, but one split holds the events '
        f"{where}from {span(one)} and another those from {span(other)}",
        hint='use strategy="shuffle", or write the data as files that follow each other in time',
    )


def groups(stretches: Stretches, order: Positions, most: int) -> Iterator[tuple[Positions, bool]]:
    """Successive stretches of at most `most` rows together, and whether the last partition goes on."""
    total = np.cumsum(stretches.n_rows[order])
    begin = 0
    while begin < len(order):
        done = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + most, side="right")))
        codes = stretches.code[order]
        yield order[begin:end], end < len(order) and codes[end] == codes[end - 1]
        begin = end


def joined(engine: Engine, pieces: Sequence[Piece], stretches: Stretches, group: Positions) -> Condensed:
    """The rows of these stretches, in this order, a slot for each."""
    by_piece = group[np.argsort(stretches.piece[group], kind="stable")]
    parts = []
    for at in np.split(by_piece, np.flatnonzero(np.diff(stretches.piece[by_piece])) + 1):
        piece = pieces[int(stretches.piece[at[0]])]
        rows = Rows(piece.time, piece.mask, piece.offset)
        parts.append(part_of(Condensed(rows, piece.states), stretches.slot[at], engine.aggregates))
    together = _concat(parts)
    if bool((by_piece == group).all()):
        return together
    place = np.empty(int(by_piece.max()) + 1, np.int64)  # where each stretch now is
    place[by_piece] = np.arange(len(by_piece))
    return part_of(together, place[group], engine.aggregates)


def _concat(parts: Sequence[Condensed]) -> Condensed:
    if len(parts) == 1:
        return parts[0]
    rows = [part.rows for part in parts]
    lengths = np.concatenate([np.diff(one.offset) for one in rows])
    return Condensed(
        Rows(
            np.concatenate([one.time for one in rows]),
            np.concatenate([one.mask for one in rows]),
            np.concatenate([[0], np.cumsum(lengths)]),
        ),
        tuple(States.concat(several) for several in zip(*(part.states for part in parts), strict=True)),
    )


def one_slot_each(given: Input, codes: Positions) -> tuple[Input, Positions]:
    """Neighbouring slots of one partition as one; and each slot's code."""
    begins = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    offset = np.concatenate([given.rows.offset[begins], given.rows.offset[-1:]])
    return Input(given.rows._replace(offset=offset), given.states), codes[begins]
