"""One partition matched in parallel: slices of time, with the window as overlap.

Slice i reports the matches of its own instants (lo, hi]. A match reported at td has no start before
td - w, so the slice takes the rows from w before its first instant on. Of what came earlier it needs what
a stream keeps of a silent partition (SEM 8.4): which conditions hold, so that nothing is started anew,
and the ends of raw runs, for followed-by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.batch.join_pieces import in_time_order, joined
from situ.carry.batch.merge import Registry, values
from situ.carry.batch.pieces import pack_condensed, shuffled, unpack_condensed
from situ.carry.batch.runner import Runner
from situ.carry.batch.task import Task
from situ.operators.situations.condense import Condensed, expand, holds
from situ.operators.situations.engine import Engine
from situ.operators.situations.kernels.layout import Rows, Slots
from situ.operators.situations.known import Known, Positions
from situ.rows.kernels.numbers import LONG_AGO, UNBOUNDED, minus
from situ.saved.codec import Reader, Writer

_IDENTITY = b"situ slice 0001."
_ROWS_PER_OVERLAP = 4  # a slice is at least that many times as long as the window before it


class Slice(NamedTuple):
    """Rows of one slice and its overlap, and what is known before them."""

    condensed: Condensed
    before: int  # lo: matches at or before this instant are another slice's
    horizon: int  # the instant of the last row left out, LONG_AGO for none
    mask: int  # which conditions held there
    raw_end: Positions  # int64[R]: ends of the latest raw runs there, of Spec.ending's symbols


def cut(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All condensed pieces in time order, cut into slices: one task, light because few rows are left."""
    pieces = [unpack_condensed(data, task.engine.aggregates) for data in values(batches)]
    if not pieces:
        return
    stretches, order = in_time_order(task, pieces, Registry())
    whole = joined(task.engine, pieces, stretches, order)
    for number, one in enumerate(slices_of(task.engine, whole, task.n_slices, task.least_rows)):
        yield shuffled(task.slice_labels[number], packed(task.engine, one))


def match_slices(task: Task, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The matches of each slice's own instants."""
    runner = Runner(task)
    for data in values(batches):
        yield from match_slice(task.engine, runner, unpacked(task.engine, data))


def match_slice(engine: Engine, runner: Runner, one: Slice) -> Iterator[pa.RecordBatch]:
    """The matches of one slice."""
    given = expand(engine, one.condensed)
    known = engine.nothing_known(1)
    slots = Slots(np.array([one.horizon]), np.array([one.mask], np.uint64), one.raw_end.reshape(-1, 1))
    known = Known.of(slots, known.entries, known.carry)
    runs, _ = engine.derive(given.rows, known)
    matches = engine.match(runs, np.array([one.before]), len(given.rows.time))
    found = engine.values(given, runs, known, matches)
    yield from runner.batches([runner.table(found, [])])


def slices_of(engine: Engine, whole: Condensed, wanted: int, least: int) -> Iterator[Slice]:
    """At most `wanted` slices with about equally much to do."""
    time, mask = whole.rows.time, whole.rows.mask
    within = engine.spec.within
    assert within != UNBOUNDED, "without a window a match may reach back to the first row"
    n_rows = len(time)
    n_slices = max(
        1, min(wanted, n_rows // max(least, _ROWS_PER_OVERLAP * _rows_in(time, int(within), least)))
    )
    borders = _borders(time, int(within), n_slices)
    ends = _raw_ends(engine, whole.rows)
    ordinals = [
        np.concatenate([[0], np.cumsum(_bits(mask, symbol), dtype=np.int64)])
        for symbol in range(engine.n_symbols)
    ]
    for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        start = int(np.searchsorted(time, minus(time[begin], within)))
        own = [np.arange(ordinal[start], ordinal[end]) for ordinal in ordinals]
        states = tuple(
            states.take(chosen) if states.components else states
            for states, chosen in zip(whole.states, own, strict=True)
        )
        rows = Rows(time[start:end], mask[start:end], np.array([0, end - start]))
        yield Slice(
            Condensed(rows, states),
            int(time[begin - 1]) if begin else int(LONG_AGO),
            int(time[start - 1]) if start else int(LONG_AGO),
            int(mask[start - 1]) if start else 0,
            np.array(
                [_latest(own_ends, time[start - 1] if start else LONG_AGO) for own_ends in ends], np.int64
            ),
        )


def _borders(time: Positions, within: int, n_slices: int) -> Positions:
    """First rows of slices of about equal work: a row meets the rows that its window reaches back to."""
    reach = np.maximum(time, LONG_AGO + within) - within
    work = np.cumsum(np.arange(1, len(time) + 1) - np.searchsorted(time, reach))
    wanted = work[-1] * np.arange(1, n_slices) / n_slices
    return np.unique(np.concatenate([[0], np.searchsorted(work, wanted), [len(time)]]))


def _rows_in(time: Positions, within: int, least: int) -> int:
    """How many rows a window holds on average, as far as it matters; 0 where slices may be of any size."""
    if least <= 1:
        return 0
    span = max(1, int(time[-1]) - int(time[0]))
    return int(min(1.0, within / span) * len(time))


def _bits(mask: npt.NDArray[np.unsignedinteger], symbol: int) -> npt.NDArray[np.bool_]:
    return np.asarray(mask >> mask.dtype.type(symbol) & mask.dtype.type(1), bool)


def _raw_ends(engine: Engine, rows: Rows) -> list[Positions]:
    """For each of Spec.ending's symbols the instants at which a run of it ends; a gap ends none (SEM 8.5)."""
    ended = rows.mask[:-1] & ~rows.mask[1:]
    if engine.spec.forget_after != UNBOUNDED:
        is_gap = rows.time[1:].view(np.uint64) - rows.time[:-1].view(np.uint64) > np.uint64(
            engine.spec.forget_after
        )
        ended = np.where(is_gap, ended.dtype.type(0), ended)
    return [rows.time[holds(ended, int(symbol)) + 1] for symbol in engine.spec.ending]


def _latest(ends: Positions, instant: Any) -> int:
    at = int(np.searchsorted(ends, instant, side="right"))
    return int(ends[at - 1]) if at else int(LONG_AGO)


def packed(engine: Engine, one: Slice) -> bytes:
    """A slice for the shuffle."""
    writer = Writer(_IDENTITY)
    writer.array(np.array([one.before, one.horizon], np.int64))
    writer.array(np.array([one.mask], np.uint64))
    writer.array(one.raw_end)
    writer.array(np.frombuffer(pack_condensed([], one.condensed, engine.aggregates), np.uint8))
    return writer.bytes()


def unpacked(engine: Engine, data: bytes) -> Slice:
    """What `packed` wrote."""
    reader = Reader(data, _IDENTITY)
    before, horizon = reader.array().tolist()
    (mask,) = reader.array().tolist()
    raw_end = reader.array().astype(np.int64)
    piece = unpack_condensed(reader.array().tobytes(), engine.aggregates)
    reader.end()
    condensed = Condensed(Rows(piece.time, piece.mask, piece.offset), piece.states)
    return Slice(condensed, before, horizon, mask, raw_end)
