"""An operator over the partitions of a task, one block after the other, and its results as batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from situ.carry.batch.task import Task
from situ.carry.contract import Condensed, Condenses, Kept, Operator, Stepped, at, tables_of
from situ.carry.trace import Trace, traced
from situ.errors import SituError
from situ.rows.clock import check_until
from situ.rows.keys import shown
from situ.rows.prepared import Prepared
from situ.rows.schema import latest_of

_ROWS_PER_BATCH = 50_000


class Steppable(Protocol):
    """Rows of K partitions, a slot for each, whole or condensed."""

    @property
    def n_slots(self) -> int:
        """K."""

    def slots(self, first: int, last: int) -> Steppable:
        """Some neighbouring slots."""

    @property
    def latest(self) -> int:
        """The largest instant, LONG_AGO for none."""

    def step(self, operator: Operator, kept: Any, complete: int | None, *, at_end: bool) -> Stepped:
        """Step them."""


class RowsBlock(NamedTuple):
    """Whole rows in any order; codes are slots."""

    rows: Prepared
    n_slots: int

    def slots(self, first: int, last: int) -> RowsBlock:
        """Some neighbouring slots."""
        if first == 0 and last == self.n_slots:
            return self
        chosen = (self.rows.codes >= first) & (self.rows.codes < last)
        rows = self.rows.select(chosen)
        keys = [column.slice(first, last - first) for column in rows.keys]
        return RowsBlock(rows._replace(codes=rows.codes - first, keys=keys), last - first)

    @property
    def latest(self) -> int:
        """The largest instant."""
        return latest_of(self.rows.time)

    def step(self, operator: Operator, kept: Any, complete: int | None, *, at_end: bool) -> Stepped:
        """Step them."""
        return traced(operator, "Spark batch")(kept, self.rows, complete, at_end=at_end)


class CondensedBlock(NamedTuple):
    """Condensed rows."""

    condensed: Condensed
    n_slots: int

    def slots(self, first: int, last: int) -> CondensedBlock:
        """Some neighbouring slots."""
        if first == 0 and last == self.n_slots:
            return self
        return CondensedBlock(self.condensed.select(np.arange(first, last)), last - first)

    @property
    def latest(self) -> int:
        """The largest instant."""
        return latest_of(self.condensed.last)

    def step(self, operator: Operator, kept: Any, complete: int | None, *, at_end: bool) -> Stepped:
        """Step them."""
        assert isinstance(operator, Condenses)
        trace = Trace.if_asked_for("Spark batch")
        if trace is None:
            return operator.step_condensed(kept, self.condensed, at_end=at_end, complete=complete)
        return trace.step_condensed(operator, kept, self.condensed, at_end=at_end, complete=complete)


class Runner:
    """Feeds blocks to the operator; the last partition of a block may go on as the first of the next.

    `complete` is what a partition is stepped to at its end (SEM 11.9).
    """

    def __init__(self, task: Task, complete: int | None = None) -> None:
        self.task = task
        self._complete = complete
        self._going_on: Kept | None = None

    def feed(
        self, block: Steppable, keys: Sequence[pa.Array], *, goes_on: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The results the rows complete; `keys` are each slot's values."""
        if self._complete is not None:
            check_until(self._complete - 1, block.latest, self.task.needs)
        n_whole = block.n_slots - goes_on
        if n_whole:
            kept = self._kept_of(n_whole)
            yield from self._fed(block.slots(0, n_whole), kept, at(keys, np.arange(n_whole)), at_end=True)
        if goes_on:
            kept = self._kept_of(1)
            last = block.slots(n_whole, block.n_slots)
            yield from self._fed(last, kept, at(keys, np.array([n_whole])), at_end=False)

    def _kept_of(self, n_slots: int) -> Kept:
        """What is kept of the next slots, of which the first may be the one that goes on."""
        operator, going_on = self.task.operator, self._going_on
        self._going_on = None
        if going_on is None:
            nothing: Kept = operator.nothing(n_slots)
            return nothing
        return going_on if n_slots == 1 else going_on.followed_by([operator.nothing(n_slots - 1)])

    def _fed(
        self, block: Steppable, kept: Kept, keys: Sequence[pa.Array], *, at_end: bool
    ) -> Iterator[pa.RecordBatch]:
        try:
            stepped = self._step(block, kept, at_end=at_end)
            tables = tables_of(stepped.emitted, keys, self.task.output)
        except SituError as error:
            raise self._blamed(error, block, kept, keys, at_end) from None
        if stepped.tied is not None and stepped.tied.n_rows:
            self.task.tied.note(stepped.tied.n_rows, stepped.tied.instants)
        if not at_end:
            self._going_on = stepped.kept
        yield from batches_of(tables)

    def _step(self, block: Steppable, kept: Kept, *, at_end: bool) -> Stepped:
        return block.step(self.task.operator, kept, self._complete if at_end else None, at_end=at_end)

    def _blamed(
        self, error: SituError, block: Steppable, kept: Kept, keys: Sequence[pa.Array], at_end: bool
    ) -> SituError:
        """The error with the partition that causes it, found by running each alone."""
        if not keys:
            return error
        for slot in range(block.n_slots):
            one = np.array([slot])
            try:
                alone = block.slots(slot, slot + 1)
                stepped = self._step(alone, kept.select(one), at_end=at_end)
                tables_of(stepped.emitted, at(keys, one), self.task.output)
            except SituError as found:
                return located(found, keys, slot)
        return error


def batches_of(tables: Sequence[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Tables in batches of a size that Spark likes."""
    for table in tables:
        yield from table.to_batches(max_chunksize=_ROWS_PER_BATCH)


def located(error: SituError, keys: Sequence[pa.Array], slot: int) -> SituError:
    """The same error, its message beginning with the partition."""
    key = tuple(shown(column[slot]) for column in keys)
    again = type(error).__new__(type(error))
    SituError.__init__(again, f"in partition {key}: {error.message}", hint=error.hint)
    return again
