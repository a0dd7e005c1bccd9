"""The engine over the partitions of a task, one group after the other, and its results as batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from situ.carry.batch.task import Task
from situ.errors import SituError
from situ.operators.situations.engine import Found, Input
from situ.operators.situations.identity import match_ids
from situ.operators.situations.interval_engine import IntervalEngine
from situ.operators.situations.intervals import IntervalRows, nothing_kept
from situ.operators.situations.kernels.layout import Rows, Runs
from situ.operators.situations.known import Known, Positions
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.keys import shown

_ROWS_PER_BATCH = 50_000


class Runner:
    """Feeds sorted rows to the engine; the last partition of a group may go on in the next."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.engine = task.engine
        self._known: Known | None = None  # of the partition that goes on

    def feed(
        self, given: Input, keys: Sequence[pa.Array], *, goes_on: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The results the rows complete; `keys` are each slot's values.

        With `goes_on` the next call's first slot is this call's last.
        """
        known = self._known_of(len(given.rows.offset) - 1)
        try:
            tables = self._run(given, keys, known, goes_on)
        except SituError as error:
            raise self._blamed(error, given, keys, known, goes_on) from None
        yield from self.batches(tables)

    def feed_given(
        self, rows: IntervalRows, keys: Sequence[pa.Array], n_slots: int
    ) -> Iterator[pa.RecordBatch]:
        """The results of all given intervals of these partitions."""
        engine = self.engine
        assert isinstance(engine, IntervalEngine)
        step = engine.spread(nothing_kept(rows), rows, n_slots)
        if self.task.kind == "match":
            matches = engine.match(step.runs, np.full(n_slots, LONG_AGO), len(rows.ts))
            found = engine.interval_values(step, matches)
            yield from self.batches([self.table(found, _at(keys, found.slot))])
            return
        for symbol, name in enumerate(self.task.bound.query.symbol_names):
            slot, column = engine.existing(step.runs, symbol)
            values = engine.interval_situations(step, symbol, column)
            table = self.task.results.situations(name, symbol, values, _at(keys, slot))
            yield from self.batches([table.rename_columns(self.task.output_names)])

    @staticmethod
    def batches(tables: Sequence[pa.Table]) -> Iterator[pa.RecordBatch]:
        """Tables in batches of a size that Spark likes."""
        for table in tables:
            yield from table.to_batches(max_chunksize=_ROWS_PER_BATCH)

    def _known_of(self, n_slots: int) -> Known:
        if self._known is None:
            return self.engine.nothing_known(n_slots)
        if n_slots == 1:
            return self._known
        return Known.concat([self._known, self.engine.nothing_known(n_slots - 1)])

    def _run(self, given: Input, keys: Sequence[pa.Array], known: Known, goes_on: bool) -> list[pa.Table]:
        engine = self.engine
        runs, state = engine.derive(given.rows, known)
        if self.task.kind == "match":
            matches = engine.match(runs, known.horizon, len(given.rows.time))
            found = engine.values(given, runs, known, matches)
            tables = [self.table(found, _at(keys, found.slot))]
        else:
            tables = [self._situations(i, given, runs, known, keys, goes_on) for i in range(engine.n_symbols)]
        self._known = None
        if goes_on:
            last = engine.keep(given, runs, state, known).select(np.array([known.n_slots - 1]))
            if self.task.kind == "situations":  # those that are over have been reported
                last = last.keep_entries(last.entries.te == OPEN)
            self._known = last
        return tables

    def table(self, found: Found, keys: Sequence[pa.Array]) -> pa.Table:
        """Matches as the columns Spark goes on with: partition values, items, match_time, match_id."""
        results = self.task.results
        columns = [*keys, *results.items(found).values(), results.times(found.instant)]
        if self.task.match_id:
            columns.append(match_ids(self.task.bound.query, keys, list(found.ts)))
        return pa.Table.from_arrays(columns, names=self.task.output_names)

    def _situations(
        self, symbol: int, given: Input, runs: Runs, known: Known, keys: Sequence[pa.Array], goes_on: bool
    ) -> pa.Table:
        slot, values = self.engine.situations(given, runs, known, symbol)
        name = self.task.bound.query.symbol_names[symbol]
        table = self.task.results.situations(name, symbol, values, _at(keys, slot))
        if goes_on:  # an open situation of the partition that goes on may still end
            over = ~values.is_open | (slot < known.n_slots - 1)
            table = table.filter(pa.array(over))
        return table.rename_columns(self.task.output_names)

    def _blamed(
        self, error: SituError, given: Input, keys: Sequence[pa.Array], known: Known, goes_on: bool
    ) -> SituError:
        """The error with the partition that causes it, found by running each alone."""
        if not keys:
            return error
        for slot in range(known.n_slots):
            try:
                one = np.array([slot])
                self._run(_slot_of(given, slot), _at(keys, one), known.select(one), goes_on)
            except SituError as found:
                return located(found, keys, slot)
        return error


def located(error: SituError, keys: Sequence[pa.Array], slot: int) -> SituError:
    """The same error, its message beginning with the partition."""
    key = tuple(shown(column[slot]) for column in keys)
    again = type(error).__new__(type(error))
    SituError.__init__(again, f"in partition {key}: {error.message}", hint=error.hint)
    return again


def _at(keys: Sequence[pa.Array], slots: Positions) -> list[pa.Array]:
    return [column.take(pa.array(slots)) for column in keys]


def _slot_of(given: Input, slot: int) -> Input:
    begin, end = given.rows.offset[slot : slot + 2]
    rows = np.arange(begin, end)
    states = tuple(one.take(rows) if one.components else one for one in given.states)
    return Input(Rows(given.rows.time[rows], given.rows.mask[rows], np.array([0, len(rows)])), states)
