"""Situations that are given as intervals (SEM 6): the operators of `situ.match` and `situ.situations`.

Equal instants are normal, so without a watermark the rows of the largest instant a partition has seen are
held back until a larger one comes; a row is late only if its instant was processed (SEM 6.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from situ.carry.contract import Setting, Span, Stepped
from situ.operators.situations.base import OfMatches, OfSituations, SituationsOperator
from situ.operators.situations.interval_engine import IntervalEngine, IntervalStep, interval_rows
from situ.operators.situations.intervals import IntervalRows, Intervals, concat_intervals, no_intervals
from situ.operators.situations.judged_intervals import JudgedIntervals
from situ.operators.situations.kernels.retain import oldest_kept_each
from situ.operators.situations.purge import later
from situ.operators.situations.result import FoundMatches, FoundSituations
from situ.operators.situations.saved import check_intervals
from situ.rows.instants import ENDS, IDS, STARTS
from situ.rows.kernels.look import ranges
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, minus
from situ.rows.prepared import Flags, Positions, Prepared, concat
from situ.rows.saved import check_rows, read_rows, write_rows
from situ.saved.checks import require
from situ.saved.codec import Reader, Writer

if TYPE_CHECKING:
    from situ.operators.situations.question import AskedSituations


class KnownIntervals(NamedTuple):
    """K partitions: horizons, the intervals kept (sorted by slot), and rows held back (SEM 6.4)."""

    horizon: Positions
    kept: Intervals
    held: Prepared  # codes are slots
    purged: Positions  # of each slot: what began a window before this instant is forgotten
    clock: Positions  # how far time has come (SEM 11.9), not before the horizon
    due: Positions  # when something is reported though no row comes, NEVER for none

    @property
    def n_slots(self) -> int:
        """K."""
        return len(self.horizon)

    @property
    def n_entries(self) -> int:
        """How many intervals are kept."""
        return len(self.kept.ts)

    @property
    def n_held(self) -> int:
        """How many rows are held back."""
        return self.held.n_rows

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        columns = self.kept.attributes.values()
        own = sum(array.nbytes for array in self.kept[:5]) + sum(int(column.nbytes) for column in columns)
        of_slots = self.horizon.nbytes + self.purged.nbytes + self.clock.nbytes + self.due.nbytes
        return of_slots + own + self.held.nbytes

    def select(self, slots: Positions) -> KnownIntervals:
        """Some of the partitions, in this order."""
        if len(slots) == self.n_slots and bool((slots == np.arange(len(slots))).all()):
            return self
        offset = np.searchsorted(self.kept.slot, np.arange(self.n_slots + 1))
        positions, own_offset = ranges(offset, slots)
        kept = self.kept.take(positions)
        kept = kept._replace(slot=np.repeat(np.arange(len(slots)), np.diff(own_offset))).compacted()
        number = np.full(self.n_slots, -1)
        number[slots] = np.arange(len(slots))
        held = self.held.select(number[self.held.codes] >= 0)
        held = held._replace(codes=number[held.codes])
        return KnownIntervals(
            self.horizon[slots], kept, held, self.purged[slots], self.clock[slots], self.due[slots]
        )

    def cut(self, borders: Positions) -> list[KnownIntervals]:
        """The partitions between each two borders, group by group."""
        return [self.select(np.arange(begin, end)) for begin, end in pairwise(borders)]

    def followed_by(self, others: Sequence[KnownIntervals]) -> KnownIntervals:
        """These partitions, and behind them those of others."""
        several = [self, *others]
        shifts = np.cumsum([0, *(one.n_slots for one in several)])
        moved = [
            (one.kept._replace(slot=one.kept.slot + shift), one.held._replace(codes=one.held.codes + shift))
            for one, shift in zip(several, shifts, strict=False)
        ]
        return KnownIntervals(
            np.concatenate([one.horizon for one in several]),
            concat_intervals([kept for kept, _ in moved]),
            concat([held for _, held in moved]),
            np.concatenate([one.purged for one in several]),
            np.concatenate([one.clock for one in several]),
            np.concatenate([one.due for one in several]),
        )


class IntervalOperator(SituationsOperator):
    """What matches and situations of given intervals have in common; what is kept is a `KnownIntervals`."""

    engine_type = IntervalEngine
    judged_type = JudgedIntervals

    def __init__(self, asked: AskedSituations, schema: pa.Schema, setting: Setting) -> None:
        super().__init__(asked, schema, setting)
        self._types = asked.needs.carried(schema)
        self._own = {name: kind for name, kind in self._types.items() if name not in (STARTS, ENDS, IDS)}
        self._id_type = self._types.get(IDS)
        self._within = UNBOUNDED if asked.bound.within is None else asked.bound.within

    def nothing(self, n_slots: int, since: int = int(LONG_AGO)) -> KnownIntervals:
        """Partitions never seen before, or forgotten at `since`."""
        held = Prepared.nothing(self.needs.mask_type, self._types)
        kept = no_intervals(self._own, self._id_type)
        never = np.full(n_slots, LONG_AGO)
        return KnownIntervals(never, kept, held, np.full(n_slots, since), never, np.full(n_slots, NEVER))

    def write(self, writer: Writer, kept: KnownIntervals) -> None:
        """Add what is kept to saved state."""
        intervals = kept.kept.compacted()
        for instants in (kept.horizon, kept.purged, kept.clock, kept.due):
            writer.array(instants)
        for array in intervals[:5]:
            writer.array(array)
        ids = [] if intervals.ids is None else [intervals.ids]
        writer.columns([*ids, *intervals.attributes.values()])
        write_rows(writer, kept.held)

    def read(self, reader: Reader, n_slots: int) -> KnownIntervals:
        """What `write` wrote of so many partitions."""
        horizon, purged, clock, due = (reader.array(np.int64, (n_slots,)) for _ in range(4))
        require(bool((clock >= horizon).all() and (due > clock).all()), "a clock is wrong")
        slot = reader.array(np.int64, (None,))
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
        held = read_rows(reader, self.needs, self._types, [])
        check_rows(held, horizon, self.needs)
        return KnownIntervals(horizon, kept, held, purged, clock, due)

    def describe(self, kept: KnownIntervals) -> Iterator[Span]:
        """The intervals, once for each symbol they are of."""
        intervals = kept.kept
        for symbol, name in enumerate(self.asked.bound.query.symbol_names):
            for i in np.flatnonzero(intervals.mask >> np.uint64(symbol) & np.uint64(1)).tolist():
                end = int(intervals.te[i])
                yield Span(int(intervals.slot[i]), name, int(intervals.ts[i]), None if end == OPEN else end)

    def step(
        self, kept: KnownIntervals, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Stepped:
        """What the rows complete that are not held back."""
        is_late: Flags | None = None
        if complete is None and not at_end:
            is_late = rows.time <= kept.horizon[rows.codes]
            is_late = is_late if is_late.any() else None
            rows = rows if is_late is None else rows.select(~is_late)
        held, rows = self._released(kept, rows, complete, at_end)
        if not rows.n_rows and not self.needs.ticks:
            return Stepped(kept._replace(held=held), (), is_late)
        given = interval_rows(rows)
        step = self.engine.spread(kept.kept.compacted(), given, kept.n_slots)
        horizon = kept.horizon.copy()
        np.maximum.at(horizon, rows.codes, rows.time)
        clock = np.maximum(kept.clock, horizon)
        if complete is not None and self.needs.ticks:
            clock = np.maximum(clock, minus(complete, 1))
        emitted, due = self._emitted(step, kept, clock, rows.n_rows, at_end)
        after = KnownIntervals(horizon, step.intervals, held, kept.purged, clock, due)
        return Stepped(self._retained(after, clock), emitted, is_late, self._n_ignored(kept, given))

    def _n_ignored(self, kept: KnownIntervals, given: IntervalRows) -> int:
        """How many rows are of intervals that are forgotten (SEM 6.3); those of absent symbols count on."""
        reached = np.maximum(kept.horizon, np.maximum(kept.purged, LONG_AGO + 1) - 1)
        is_forgotten = given.ts < oldest_kept_each(reached, self.engine.spec.within)[given.slot]
        is_absent = given.mask >> np.uint64(self.engine.n_positive) != 0
        return int((is_forgotten & ~is_absent).sum())

    def _released(
        self, kept: KnownIntervals, rows: Prepared, complete: int | None, at_end: bool
    ) -> tuple[Prepared, Prepared]:
        """Rows that are held back, and those that are not: of each partition, before its largest instant."""
        both = concat([kept.held, rows._replace(keys=[])]) if kept.n_held else rows._replace(keys=[])
        if at_end:
            return both.select(np.zeros(both.n_rows, bool)), both
        if complete is not None:
            ready = both.time < complete
        else:
            latest = np.full(kept.n_slots, LONG_AGO)
            np.maximum.at(latest, both.codes, both.time)
            ready = both.time < latest[both.codes]
        return both.select(~ready), both.select(ready)

    def _emitted(
        self, step: IntervalStep, kept: KnownIntervals, clock: Positions, n_rows: int, at_end: bool
    ) -> tuple[Sequence[FoundMatches | FoundSituations], Positions]:
        """The results up to the clock, and for each slot when time alone brings the next."""
        raise NotImplementedError

    def _stays(self, kept: Intervals, is_recent: Flags) -> Flags:
        """Which intervals can be in a further result, given which the window still reaches."""
        return is_recent

    def _retained(self, known: KnownIntervals, clock: Positions) -> KnownIntervals:
        """Without intervals that can be in no further result, and keep no match from being one."""
        kept = known.kept
        is_recent = self.engine.leaves_at(kept) >= oldest_kept_each(clock, self._within)[kept.slot]
        wanted = (kept.mask != 0) & self._stays(kept, is_recent)
        return known._replace(kept=kept.take(np.flatnonzero(wanted)).compacted())

    def prune(self, kept: KnownIntervals) -> KnownIntervals:
        """Given intervals may overlap, so that nothing is known to be ruled out."""
        return kept

    def purge(self, kept: KnownIntervals, complete: int) -> tuple[KnownIntervals, Flags]:
        """What is left once instants before `complete` are over; which partitions are to be forgotten."""
        kept = self._retained(kept, np.maximum(kept.clock, minus(complete, 1)))
        kept = kept._replace(purged=np.maximum(kept.purged, complete))
        busy = np.zeros(kept.n_slots, bool)
        busy[kept.kept.slot] = True
        busy[kept.held.codes] = True
        return kept, ~busy & (kept.horizon < complete)

    def _leaving(self, kept: Intervals) -> Flags:
        """Which intervals go with the window."""
        return np.ones(len(kept.ts), bool)

    def next_purge(self, kept: KnownIntervals) -> Positions:
        """For each slot the instant that must be complete before something of it can go."""
        oldest = np.full(kept.n_slots, NEVER)
        if self._within != UNBOUNDED:
            leaving = self._leaving(kept.kept)
            np.minimum.at(oldest, kept.kept.slot[leaving], self.engine.leaves_at(kept.kept)[leaving])
            oldest = later(oldest, int(self._within) + 2)
        return oldest

    def next_due(self, kept: KnownIntervals) -> Positions:
        """For each slot the smallest `complete` at which time alone brings a match."""
        return later(kept.due, 1)


class IntervalMatches(IntervalOperator, OfMatches):
    """Matches, each at the instant it becomes certain (SEM 4.3, 6.3)."""

    def _emitted(
        self, step: IntervalStep, kept: KnownIntervals, clock: Positions, n_rows: int, at_end: bool
    ) -> tuple[Sequence[FoundMatches], Positions]:
        if isinstance(self.engine, JudgedIntervals):
            found, due = self.engine.reported(step, kept.clock, clock, n_rows)
        else:
            matches = self.engine.match(step.runs, kept.horizon, n_rows)
            found, due = self.engine.interval_values(step, matches), kept.due
        return [FoundMatches(self.results, found)], due


class IntervalSituations(IntervalOperator, OfSituations):
    """The intervals that count, each when its closing row comes; at the end also the open ones (SEM 5.5)."""

    def _emitted(
        self, step: IntervalStep, kept: KnownIntervals, clock: Positions, n_rows: int, at_end: bool
    ) -> tuple[Sequence[FoundSituations], Positions]:
        symbols = range(self.engine.n_symbols)
        return [self._closed(symbol, step, kept.horizon, at_end) for symbol in symbols], kept.due

    def _closed(self, symbol: int, step: IntervalStep, before: Positions, at_end: bool) -> FoundSituations:
        slot, column = self.engine.existing(step.runs, symbol)
        te = step.runs.te[symbol, column]
        over = (te > before[slot]) & (at_end | (te != OPEN))
        slot, column = slot[over], column[over]
        return FoundSituations(
            self.results, symbol, slot, self.engine.interval_situations(step, symbol, column)
        )

    def _stays(self, kept: Intervals, is_recent: Flags) -> Flags:
        # those that are over have been reported, and stay only to refuse rows of the same id (SEM 6.3)
        refuses = self._id_type is not None and self._within != UNBOUNDED
        stays: Flags = (kept.te == OPEN) | (is_recent & refuses)
        return stays

    def _leaving(self, kept: Intervals) -> Flags:
        is_over: Flags = kept.te != OPEN
        return is_over
