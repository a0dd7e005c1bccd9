"""The push operator for given intervals (SEM 6.3, 6.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.push import Operator
from situ.carry.validate import check_given_rows, check_intervals, require
from situ.operators.situations.interval_engine import IntervalEngine, IntervalPreparer, interval_rows
from situ.operators.situations.intervals import IntervalRows, Intervals, nothing_kept
from situ.operators.situations.kernels.retain import oldest_kept_each
from situ.rows import prepare
from situ.rows.kernels.numbers import LONG_AGO, minus
from situ.rows.prepare import Prepared
from situ.saved.codec import Reader, Writer


class IntervalOperator(Operator):
    """Intervals as rows that end (or, with ids, begin) them.

    Equal instants are normal, so the rows of the largest instant a partition has seen wait until a
    larger one comes; a row is late only if its instant was processed (SEM 6.4).
    """

    engine: IntervalEngine
    engine_type = IntervalEngine
    preparer_type = IntervalPreparer

    def __init__(self, *args: Any, **options: Any) -> None:
        self._kept: Intervals | None = None
        self._horizon = np.empty(0, np.int64)  # largest processed instant, per slot
        self.forgotten = 0  # rows that close intervals out of the window's reach
        super().__init__(*args, **options)

    def _is_late(self, rows: Prepared) -> npt.NDArray[np.bool_] | None:
        self._grow(len(self._store))
        is_late = rows.time < self._complete
        if self.delay is None:
            is_late |= rows.time <= self._horizon[rows.codes]
        return is_late if is_late.any() else None

    def _latest_known(self) -> int:
        waiting = [rows.time for rows in self._waiting]
        return int(np.concatenate([self._horizon, *waiting]).max(initial=LONG_AGO))

    def _grow(self, n_slots: int) -> None:
        more = n_slots - len(self._horizon)
        if more > 0:
            self._horizon = np.concatenate([self._horizon, np.full(more, LONG_AGO)])

    def _take(self, rows: Prepared) -> pa.Table:
        if self.delay is not None:
            return super()._take(rows)
        self._waiting.append(rows)
        waiting = prepare.concat(self._waiting)
        latest = np.full(len(self._horizon), LONG_AGO)
        np.maximum.at(latest, waiting.codes, waiting.time)
        ready = (waiting.time < latest[waiting.codes]) | (waiting.time < self._complete)
        self._waiting = [] if ready.all() else [prepare.select(waiting, ~ready)]
        return self._apply(prepare.select(waiting, ready))

    def _apply(self, rows: Prepared) -> pa.Table:
        if not rows.n_rows:
            return self._results.empty
        slots, codes = self._store.dense(rows.codes)
        given = interval_rows(rows, codes)
        kept, others = self._kept_of(slots, given)
        before = self._horizon[slots]
        reached = np.maximum(before, minus(self._swept, 1))  # how far the last purge of each slot went
        self.forgotten += int((given.ts < oldest_kept_each(reached, self.engine.spec.within)[codes]).sum())
        step = self.engine.spread(kept, given, len(slots))
        matches = self.engine.match(step.runs, before, rows.n_rows)
        found = self.engine.interval_values(step, matches)
        np.maximum.at(self._horizon, rows.codes, rows.time)
        self._keep(step.intervals, slots, others)
        return self._results.table(found, self._store.keys(slots[found.slot]))

    def _kept_of(self, slots: npt.NDArray[np.int64], given: IntervalRows) -> tuple[Intervals, Intervals]:
        """What is kept of these slots, numbered by their place, and what is kept of all others."""
        if self._kept is None:
            nothing = nothing_kept(given)
            return nothing, nothing
        if len(slots) == len(self._horizon):
            return self._kept, nothing_kept(given)
        own = np.isin(self._kept.slot, slots)
        mine, others = self._kept.take(np.flatnonzero(own)), self._kept.take(np.flatnonzero(~own))
        return mine._replace(slot=np.searchsorted(slots, mine.slot)).compacted(), others.compacted()

    def _keep(self, intervals: Intervals, slots: npt.NDArray[np.int64], others: Intervals) -> None:
        mine = intervals._replace(slot=slots[intervals.slot])
        oldest = oldest_kept_each(
            np.maximum(self._horizon, minus(self._complete, 1)), self.engine.spec.within
        )
        relevant = (mine.ts >= oldest[mine.slot]) & (mine.mask != 0)
        mine = mine.take(np.flatnonzero(relevant)).compacted()
        self._kept = _joined(others, mine) if len(others.ts) else mine

    def _sweep(self) -> None:
        self._swept = self._complete
        self._grow(len(self._store))
        is_idle = self._horizon < self._complete
        if self._kept is not None:
            nothing = self._kept.take(np.empty(0, np.int64)).compacted()
            self._keep(self._kept, np.arange(len(self._horizon)), nothing)
            is_idle[self._kept.slot] = False
        self._forget(np.flatnonzero(is_idle))

    def _forget(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
        number = super()._forget(slots)
        if number is not None:
            horizon = np.full(len(self._store), LONG_AGO)
            stays = np.diff(number, prepend=-1) == 1
            horizon[number[stays]] = self._horizon[stays]
            self._horizon = horizon
            if self._kept is not None:
                self._kept = self._kept._replace(slot=number[self._kept.slot])
        return number

    @property
    def n_situations(self) -> int:
        """How many intervals are kept."""
        return 0 if self._kept is None else len(self._kept.ts)

    @property
    def nbytes(self) -> int:
        """Memory of what is kept between pushes."""
        kept = (
            0
            if self._kept is None
            else sum(array.nbytes for array in self._kept[:5])
            + sum(column.nbytes for column in self._kept.attributes.values())
        )
        return super().nbytes + kept

    def _write_more(self, writer: Writer) -> None:
        writer.array(np.array([self.forgotten, self._kept is not None]))
        writer.array(self._horizon)
        if self._kept is not None:
            for array in self._kept[:5]:
                writer.array(array)
            ids = [] if self._kept.ids is None else [self._kept.ids]
            writer.columns([*ids, *self._kept.attributes.values()])

    def _read_more(self, reader: Reader) -> None:
        self.forgotten, has_kept = reader.array(np.int64, (2,)).tolist()
        require(self.forgotten >= 0 and has_kept in (0, 1), "a count is impossible")
        self._horizon = reader.array(np.int64, (None,))
        require(len(self._horizon) <= len(self._store), "a partition is known that is not there")
        if not has_kept:
            return
        slot, ts, te, known = (reader.array(np.int64, (None,)) for _ in range(4))
        mask = reader.array(np.uint64, (len(slot),))
        types, _ = self._prepare.waiting_types(self.input_schema)
        own = {name: kind for name, kind in types.items() if name not in ("_ts", "_te")}
        columns = dict(zip(own, reader.columns(list(own.values()), len(slot)), strict=True))
        ids = columns.pop("_id", None)
        rows = np.arange(len(slot))
        self._kept = Intervals(slot, ts, te, known, mask, ids, rows, rows, columns)
        check_intervals(self._kept, len(self._horizon), self.engine.n_symbols)

    def _check_waiting(self, rows: Prepared) -> None:
        self._grow(len(self._store))
        check_given_rows(rows, self._horizon, self.engine.n_symbols)


def _joined(first: Intervals, second: Intervals) -> Intervals:
    shift = len(first.ts)
    ids = None if first.ids is None or second.ids is None else pa.concat_arrays([first.ids, second.ids])
    return Intervals(
        np.concatenate([first.slot, second.slot]),
        np.concatenate([first.ts, second.ts]),
        np.concatenate([first.te, second.te]),
        np.concatenate([first.known, second.known]),
        np.concatenate([first.mask, second.mask]),
        ids,
        np.concatenate([first.begin_row, second.begin_row + shift]),
        np.concatenate([first.last_row, second.last_row + shift]),
        {
            name: pa.concat_arrays([column, second.attributes[name]])
            for name, column in first.attributes.items()
        },
    )
