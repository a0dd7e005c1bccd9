"""What is kept of partitions of events between micro-batches, and the engine's step over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.batch.task import Task
from situ.carry.stream.outcome import Emitted, Stepped
from situ.errors import DataError
from situ.operators.situations.engine import Found, Input, SymbolValues
from situ.operators.situations.identity import match_ids
from situ.operators.situations.kernels.layout import Runs
from situ.operators.situations.known import Known
from situ.operators.situations.purge import purge
from situ.rows import prepare
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED
from situ.rows.prepare import Prepared
from situ.rows.schema import time_text
from situ.rows.tied import Tied
from situ.saved.codec import Reader, Writer, read_known, write_known

Positions = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class EventKeeper:
    """Partitions of events; what is known of K of them is a `Known`."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.engine = task.engine
        self._types = {field.name: field.type for field in task.schema}

    def nothing(self, n_slots: int) -> Known:
        """Partitions never seen before."""
        return self.engine.nothing_known(n_slots)

    def concat(self, several: Sequence[Known]) -> Known:
        """The partitions of several, one after the other."""
        return Known.concat(several)

    def select(self, known: Known, slots: Positions) -> Known:
        """Some of the partitions, in this order."""
        return known.select(slots)

    def cut(self, known: Known, borders: Positions) -> list[Known]:
        """The partitions between each two borders, group by group."""
        return known.cut(borders)

    def write(self, writer: Writer, known: Known) -> None:
        """Add what is known to saved state."""
        write_known(writer, known, self.engine.aggregates)

    def read(self, reader: Reader, n_slots: int) -> Known:
        """What `write` wrote of so many partitions."""
        return read_known(reader, self.engine, n_slots, self._types)

    def late(self, known: Known, rows: Prepared) -> Flags:
        """Which rows come too late where there is no watermark (SEM 8.1); codes are slots of `known`."""
        horizon = known.horizon[rows.codes]
        if self.task.ties == "error" and bool((rows.time == horizon).any()):
            tied = time_text(int(rows.time[rows.time == horizon][0]), self.task.bound.time.type)
            raise DataError(
                f'a row shares the time {tied} with one already processed, and ties="error" was asked for',
                hint="give the stream a watermark, so that an instant is processed when it is complete",
            )
        return rows.time <= horizon

    def step(self, known: Known, rows: Prepared, complete: int | None) -> Stepped:
        """Apply rows, whose codes are slots of `known`; what they complete."""
        engine, n_slots, tied = self.engine, known.n_slots, Tied()
        given = prepare.to_input(engine, rows, rows.codes, n_slots, self.task.ties, tied)
        if self.task.kind == "match":
            found, after = engine.step(given, known)
            return Stepped(after, [found_columns(self.task, found)], tied=tied)
        runs, state = engine.derive(given.rows, known)
        emitted = [self._closed(symbol, given, runs, known) for symbol in range(engine.n_symbols)]
        after = engine.keep(given, runs, state, known)
        after = after.keep_entries(after.entries.te == OPEN)  # those that are over have been reported
        return Stepped(after, emitted, tied=tied)

    def _closed(self, symbol: int, given: Input, runs: Runs, known: Known) -> Emitted:
        """The situations of a symbol that ended in this step."""
        slot, values = self.engine.situations(given, runs, known, symbol)
        over = np.flatnonzero(~values.is_open)
        taken = pa.array(over)
        columns = [column.take(taken) for column in situation_columns(self.task, symbol, values)]
        return Emitted(slot[over], columns, [])

    def purge(self, known: Known, complete: int) -> tuple[Known, Flags]:
        """What is left once instants before `complete` are over; which partitions are to be forgotten."""
        spec = self.engine.spec
        if self.task.kind == "situations" and spec.forget_after != UNBOUNDED:
            # what a forgotten history left open stays open for ever (SEM 8.5): it will not be reported
            over = known.horizon < complete - int(spec.forget_after)
            known = known.keep_entries(~np.repeat(over, np.diff(known.offset)))
        return purge(known, spec, complete)

    def next_purge(self, known: Known) -> Positions:
        """For each slot the instant that must be complete before something of it can go."""
        spec, slots, entries = self.engine.spec, known.slots, known.entries
        when = np.full(known.n_slots, NEVER)
        if spec.within != UNBOUNDED:
            oldest = np.full(known.n_slots, NEVER)
            of = np.repeat(np.arange(known.n_slots), np.diff(entries.offset))
            np.minimum.at(oldest, of, entries.ts)
            for ends in slots.raw_end:
                oldest = np.where((ends > LONG_AGO) & (slots.mask == 0), np.minimum(oldest, ends), oldest)
            when = later(oldest, int(spec.within) + 2)
        if spec.forget_after != UNBOUNDED:
            when = np.minimum(when, later(slots.horizon, int(spec.forget_after) + 2))
        return when


def found_columns(task: Task, found: Found) -> Emitted:
    """Matches as the columns workers give back."""
    results = task.results
    columns = [*results.items(found).values(), results.times(found.instant)]
    return Emitted(found.slot, columns, list(found.ts))


def situation_columns(task: Task, symbol: int, values: SymbolValues) -> list[pa.Array]:
    """Situations as the columns workers give back, without the partition's."""
    results, name = task.results, task.bound.query.symbol_names[symbol]
    keys = [pa.nulls(len(values.ts), field.type) for field in results.key_fields]
    table = results.situations(name, symbol, values, keys)
    return [column.combine_chunks() for column in table.columns[len(keys) :]]


def later(instants: Positions, by: int) -> Positions:
    """The instants moved by a duration, NEVER at the most."""
    by = min(by, int(NEVER))
    return np.where(instants > NEVER - by, NEVER, np.minimum(instants, NEVER - by) + by)


def with_ids(task: Task, emitted: Emitted, keys: Sequence[pa.Array]) -> list[pa.Array]:
    """The columns of the output: partition values, what was found, and match_id where it is asked for."""
    columns = [*keys, *emitted.columns]
    if task.match_id and task.kind == "match":
        columns.append(match_ids(task.bound.query, keys, emitted.starts))
    return columns
