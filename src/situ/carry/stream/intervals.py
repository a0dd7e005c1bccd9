"""What is kept of given intervals between micro-batches, and the engine's step over it (SEM 6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.batch.task import Task
from situ.carry.stream.events import found_columns, later, situation_columns
from situ.carry.stream.outcome import Emitted, Stepped
from situ.carry.validate import check_given_rows, check_intervals, require
from situ.operators.situations.interval_engine import IntervalEngine, IntervalStep, interval_rows
from situ.operators.situations.intervals import Intervals
from situ.operators.situations.kernels.retain import oldest_kept_each
from situ.rows import prepare
from situ.rows.kernels.look import ranges
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, minus
from situ.rows.prepare import Prepared
from situ.saved.codec import Reader, Writer, read_rows, write_rows

Positions = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class KnownIntervals(NamedTuple):
    """K partitions: horizons, the intervals kept (sorted by slot), and rows held back (SEM 6.4)."""

    horizon: Positions
    kept: Intervals
    held: Prepared  # codes are slots

    @property
    def n_slots(self) -> int:
        return len(self.horizon)


class IntervalKeeper:
    """Partitions of given intervals."""

    def __init__(self, task: Task, engine: IntervalEngine, attributes: dict[str, pa.DataType]) -> None:
        self.task = task
        self.engine = engine
        self._types = attributes  # of the columns rows carry: start, end, id, attributes
        self._own = {name: kind for name, kind in attributes.items() if name not in ("_ts", "_te", "_id")}
        self._id_type = attributes.get("_id")
        self._within = UNBOUNDED if task.bound.within is None else task.bound.within
        self._refuses_reported = self._id_type is not None and self._within != UNBOUNDED

    def nothing(self, n_slots: int) -> KnownIntervals:
        """Partitions never seen before."""
        none = np.empty(0, np.int64)
        ids = None if self._id_type is None else pa.array([], self._id_type)
        own = {name: pa.array([], kind) for name, kind in self._own.items()}
        kept = Intervals(none, none, none, none, np.empty(0, np.uint64), ids, none, none, own)
        columns = {name: pa.array([], kind) for name, kind in self._types.items()}
        held = Prepared(none, [], none, np.empty(0, self.task.mask_type), columns, [])
        return KnownIntervals(np.full(n_slots, LONG_AGO, np.int64), kept, held)

    def concat(self, several: Sequence[KnownIntervals]) -> KnownIntervals:
        """The partitions of several, one after the other."""
        shifts = np.cumsum([0, *(one.n_slots for one in several)])
        moved = [
            (one.kept._replace(slot=one.kept.slot + shift), one.held._replace(codes=one.held.codes + shift))
            for one, shift in zip(several, shifts, strict=False)
        ]
        return KnownIntervals(
            np.concatenate([one.horizon for one in several]),
            _concat_intervals([kept for kept, _ in moved]),
            prepare.concat([held for _, held in moved]),
        )

    def select(self, known: KnownIntervals, slots: Positions) -> KnownIntervals:
        """Some of the partitions, in this order."""
        offset = np.searchsorted(known.kept.slot, np.arange(known.n_slots + 1))
        positions, own_offset = ranges(offset, slots)
        kept = known.kept.take(positions)
        kept = kept._replace(slot=np.repeat(np.arange(len(slots)), np.diff(own_offset))).compacted()
        number = np.full(known.n_slots, -1)
        number[slots] = np.arange(len(slots))
        held = prepare.select(known.held, number[known.held.codes] >= 0)
        return KnownIntervals(known.horizon[slots], kept, held._replace(codes=number[held.codes]))

    def cut(self, known: KnownIntervals, borders: Positions) -> list[KnownIntervals]:
        """The partitions between each two borders, group by group."""
        return [self.select(known, np.arange(begin, end)) for begin, end in pairwise(borders)]

    def write(self, writer: Writer, known: KnownIntervals) -> None:
        """Add what is known to saved state."""
        kept = known.kept.compacted()
        writer.array(known.horizon)
        for array in kept[:5]:
            writer.array(array)
        writer.columns([*([] if kept.ids is None else [kept.ids]), *kept.attributes.values()])
        write_rows(writer, known.held)

    def read(self, reader: Reader, n_slots: int) -> KnownIntervals:
        """What `write` wrote of so many partitions."""
        horizon, slot = reader.array(np.int64, (n_slots,)), reader.array(np.int64, (None,))
        ts, te, first = (reader.array(np.int64, (len(slot),)) for _ in range(3))
        mask = reader.array(np.uint64, (len(slot),))
        types = [*([] if self._id_type is None else [self._id_type]), *self._own.values()]
        columns = reader.columns(types, len(slot))
        ids = columns.pop(0) if self._id_type is not None else None
        rows = np.arange(len(ts))
        own = dict(zip(self._own, columns, strict=True))
        kept = Intervals(slot, ts, te, first, mask, ids, rows, rows, own)
        check_intervals(kept, n_slots, self.engine.n_symbols)
        require(bool((slot[1:] >= slot[:-1]).all()), "intervals are out of order")
        held = read_rows(reader, self.task.mask_type, self._types, [])
        check_given_rows(held, horizon, self.engine.n_symbols)
        return KnownIntervals(horizon, kept, held)

    def late(self, known: KnownIntervals, rows: Prepared) -> Flags:
        """Only a row whose instant was processed is late (SEM 6.4)."""
        is_late: Flags = rows.time <= known.horizon[rows.codes]
        return is_late

    def step(
        self, known: KnownIntervals, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Stepped:
        """Apply rows; without a watermark those of each partition's largest instant are held back.

        At the end nothing is held back, and intervals that were never closed are situations too.
        """
        held = known.held
        if complete is None:
            rows = prepare.concat([held, rows._replace(keys=[])])
            latest = np.full(known.n_slots, LONG_AGO)
            np.maximum.at(latest, rows.codes, rows.time)
            ready = (rows.time < latest[rows.codes]) | at_end
            held, rows = prepare.select(rows, ~ready), prepare.select(rows, ready)
        if not rows.n_rows:
            return Stepped(known._replace(held=held), [])
        before = known.horizon
        given = interval_rows(rows, rows.codes)
        step = self.engine.spread(known.kept.compacted(), given, known.n_slots)
        horizon = before.copy()
        np.maximum.at(horizon, rows.codes, rows.time)
        if self.task.kind == "match":
            matches = self.engine.match(step.runs, before, rows.n_rows)
            emitted = [found_columns(self.task, self.engine.interval_values(step, matches))]
        else:
            emitted = [self._closed(symbol, step, before, at_end) for symbol in range(self.engine.n_symbols)]
        after = self._kept(KnownIntervals(horizon, step.intervals, held), horizon)
        oldest = oldest_kept_each(before, self.engine.spec.within)
        return Stepped(after, emitted, int((given.ts < oldest[given.slot]).sum()))

    def _closed(self, symbol: int, step: IntervalStep, before: Positions, at_end: bool) -> Emitted:
        """The intervals of a symbol whose closing rows are in this step; at the end also the open ones."""
        slot, column = self.engine.existing(step.runs, symbol)
        te = step.runs.te[symbol, column]
        over = (te > before[slot]) & (at_end | (te != OPEN))
        slot, column = slot[over], column[over]
        values = self.engine.interval_situations(step, symbol, column)
        return Emitted(slot, situation_columns(self.task, symbol, values), [])

    def _kept(self, known: KnownIntervals, horizon: Positions) -> KnownIntervals:
        """Without intervals that can be in no further result."""
        kept = known.kept
        is_recent = kept.ts >= oldest_kept_each(horizon, self._within)[kept.slot]
        if self.task.kind == "situations":
            # those that are over have been reported, and stay only to refuse rows of the same id (SEM 6.3)
            is_recent = (kept.te == OPEN) | (is_recent & self._refuses_reported)
        wanted = (kept.mask != 0) & is_recent
        return known._replace(kept=kept.take(np.flatnonzero(wanted)).compacted())

    def purge(self, known: KnownIntervals, complete: int) -> tuple[KnownIntervals, Flags]:
        """What is left once instants before `complete` are over; which partitions are to be forgotten."""
        known = self._kept(known, np.maximum(known.horizon, minus(complete, 1)))
        busy = np.zeros(known.n_slots, bool)
        busy[known.kept.slot] = True
        busy[known.held.codes] = True
        return known, ~busy & (known.horizon < complete)

    def next_purge(self, known: KnownIntervals) -> Positions:
        """For each slot the instant that must be complete before something of it can go."""
        oldest = np.full(known.n_slots, NEVER)
        if self._within != UNBOUNDED:
            kept = known.kept
            leaving = np.ones(len(kept.ts), bool) if self.task.kind == "match" else kept.te != OPEN
            np.minimum.at(oldest, kept.slot[leaving], kept.ts[leaving])
            oldest = later(oldest, int(self._within) + 2)
        return oldest


def _concat_intervals(several: Sequence[Intervals]) -> Intervals:
    compact = [one.compacted() for one in several]
    rows = np.arange(sum(len(one.ts) for one in compact))
    ids = None if compact[0].ids is None else pa.concat_arrays([one.ids for one in compact])
    attributes = {
        name: pa.concat_arrays([one.attributes[name] for one in compact]) for name in compact[0].attributes
    }
    arrays = [np.concatenate(parts) for parts in zip(*(one[:5] for one in compact), strict=True)]
    slot, ts, te, first, mask = arrays
    return Intervals(slot, ts, te, first, mask, ids, rows, rows, attributes)
