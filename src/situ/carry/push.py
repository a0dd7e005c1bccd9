"""The push carrier: batches or single events in, results out, at the earliest instant (SEM 8)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from situ.carry.contract import (
    Emitted,
    Kept,
    Question,
    Setting,
    emitted_schema,
    naming,
    purged,
    tables_of,
)
from situ.carry.describe import drawn
from situ.carry.intake import Batch, intake_of
from situ.carry.store import SLOT_0, Store
from situ.carry.trace import Trace
from situ.errors import DataError, MatchError, OptionError, SourceError
from situ.options import Options, read_options, ticks
from situ.rows.clock import tick_of
from situ.rows.kernels.numbers import LONG_AGO, OPEN, UNBOUNDED, minus
from situ.rows.kernels.order import extent
from situ.rows.keys import shown
from situ.rows.late_log import LateLog
from situ.rows.prepared import Flags, Positions, Prepared, concat
from situ.rows.saved import check_rows, read_rows, write_rows
from situ.rows.schema import refuse_reserved
from situ.rows.tied import Instant, Tied, Ties
from situ.saved.checks import require
from situ.saved.codec import Reader, Writer
from situ.saved.ipc import DAMAGE, damaged

OPTIONS = frozenset(
    {"time", "ties", "on_bad_rows", "join", "threads", "watermark", "late_rows", "forget_after", "match_id"}
    | {"ansi", "time_zone", "points", "max_ahead", "time_unit"}
    | {"match_span", "match_time", "max_steps", "max_matches", "timeouts"}
)

_ELSEWHERE = "until is for whole inputs, an operator has advance(t); strategy is for batch DataFrames"

_PRUNE_FROM = 64  # things kept in a step's partitions; doubles with what pruning leaves
_LAYOUT = b"push 1"  # of saved state beside what the operator writes

_LONG_AGO = int(LONG_AGO)  # NumPy compares its own numbers more slowly than Python does its own


class PushOperator:
    """Many partitions of one question; results do not depend on how the input is cut (SEM 8.3)."""

    def __init__(
        self,
        question: Question,
        schema: pa.Schema | Mapping[str, pa.Schema],
        *,
        state: bytes | None = None,
        **options: Any,
    ) -> None:
        self.question = question
        self.options: Options = read_options(options, OPTIONS, "an operator", _ELSEWHERE)
        question.check_options(options)
        self._intake: Any = intake_of(schema, question, self.options)
        self.needs = self._intake.needs
        self.input_schema = schema = self._intake.schema
        self.delay = ticks(self.options.watermark, self.needs.time, "watermark")
        self.operator = self._intake.asked.operator(schema, setting_of(self.options))
        self._read_table = self._intake.rows
        self._schema = emitted_schema(self.operator)
        self._empty = pa.Table.from_batches([], self._schema)  # empty_table would import pandas
        key_types = [schema.field(column.name).type for column in self.needs.partition]
        self._store = Store(self.operator, key_types)
        self._has_ticks = self.needs.ticks  # results come between events: largest times are kept track of
        # one partition whose rows never wait: nothing has to be looked up
        self._is_simple = not self.needs.partition and self.delay is None and not self._has_ticks
        self._waiting: list[Prepared] = []
        # of each source: the largest instant seen, and its own W, by earlier batches or `advance`
        self._latest = [_LONG_AGO] * self.needs.n_sources
        self._passed = [_LONG_AGO] * self.needs.n_sources
        self._complete = int(LONG_AGO)  # instants before this one are complete: W of SEM 8.1
        self._swept = int(LONG_AGO)
        self._prune_at = _PRUNE_FROM
        self._late: list[Any] = []
        self.late = 0
        self.forgotten = 0  # rows of things out of the window's reach (SEM 6.3)
        self.n_tied_rows = 0  # rows left out since it was made: a later one has their time (SEM 1.3)
        self._set_aside: list[Any] = []
        self.ahead = 0
        self._n_pushed = 0
        self._late_log = LateLog(delay=self.delay, in_microseconds=not self.needs.time.counts_ticks)
        self._trace = Trace.if_asked_for("push")
        if state is not None:
            self._restore(state)

    def push(self, batch: Batch, *, now: Any = None) -> pa.Table:
        """Take in rows, in any order within the batch, and return the results they complete.

        With a watermark also those of rows that waited, even if this batch has no rows at all.
        `now` is the time that `max_ahead` counts from, the clock's if it is left out.
        """
        table = self._intake.taken(batch)
        if self.options.max_ahead is not None or now is not None:
            table = self._without_ahead(table, now)
        self._n_pushed += self._intake.n_rows(table)
        rows = self._read_table(table)
        if self._is_simple and self._complete == _LONG_AGO:
            return self._step(SLOT_0, rows, None, table) if len(rows.time) else self._empty
        if rows.keys:
            rows = rows._replace(codes=self._store.slots_of(rows.keys)[rows.codes], keys=[])
        seen = max(self._latest)
        if self.delay is not None or self._has_ticks:
            earliest, latest = extent(rows.time)
            if earliest == LONG_AGO or latest == OPEN:
                refuse_reserved(rows.time)  # one that waited would make every row after it late
            if self.delay is not None:
                self._pass(self._by_rows())
            self._latest = list(map(max, self._latest, self._intake.latest(table, latest)))
        if self._complete != LONG_AGO:
            is_late = rows.time < self._complete
            if is_late.any():
                self._note_late(rows, is_late, table, seen if self.delay is not None else None)
                rows = rows.select(~is_late)
                if self.delay is None and self.options.late_rows:
                    table = self._intake.chosen(table, ~is_late)
        if self.delay is None:
            return self._apply(rows, None, table) if rows.n_rows else self._empty
        if rows.n_rows:
            self._waiting.append(rows)
        return self._release()

    def advance(self, t: Any, source: str | None = None) -> pa.Table:
        """Say that instants before `t` are complete, for every partition; of one source, where it is named.

        What waits for them is processed, state is purged, and later rows with an earlier instant are late.
        Results that come between events are reported up to there, also those of partitions without rows.
        Of several sources an instant is complete when it is in all of them.
        """
        tick, called = self._tick(t), self._sources_called(source)
        if source is not None:  # it comes behind the latest batch, whose rows have moved the others
            self._pass(self._by_rows())
        self._pass([tick if i in called else _LONG_AGO for i in range(self.needs.n_sources)])
        results = [self._release(), self._release_held(self._complete), self._step_due()]
        self._sweep()
        return _joined(results)

    def flush(self) -> pa.Table:
        """Process all that waits, as if the input ended here (open situations stay open).

        With a watermark a later row at or before the largest instant processed is late (SEM 8.1). Where
        results come between events, time has passed up to the largest seen, in all partitions (SEM 11.9).
        """
        latest = max(self._latest)
        if self._has_ticks and latest != _LONG_AGO:
            self._complete = max(self._complete, latest + 1)
        results = [self._release_held(self._complete if self._has_ticks else int(OPEN))]
        if self._waiting:
            waiting, self._waiting = concat(self._waiting), []
            self._complete = max(self._complete, int(waiting.time.max()) + 1)
            results.append(self._apply(waiting, self._complete))
        results.append(self._step_due())
        return _joined(results)

    def state(self) -> bytes:
        """Everything the operator knows, as versioned bytes for `q.operator(schema, state=...)`."""
        writer = Writer(self._identity())
        waiting = [concat(self._waiting)] if self._waiting else []
        counts = [self.late, self.ahead, self.n_bad_rows, self.forgotten]
        numbers = [max(self._latest), self._complete, self._swept, *counts, len(waiting)]
        writer.array(np.array(numbers))
        if self.needs.parts:
            writer.array(np.array([self._latest, self._passed]))
        self._store.write_to(writer)
        for rows in waiting:
            write_rows(writer, rows)
        return writer.bytes()

    def _restore(self, state: bytes) -> None:
        try:
            self._read(Reader(state, self._identity()))
        except DAMAGE as error:  # values that Arrow or Python cannot make sense of
            raise damaged(error) from error

    def _read(self, reader: Reader) -> None:
        numbers = reader.array(np.int64, (8,)).tolist()
        latest, self._complete, self._swept = numbers[:3]
        self._latest = [latest]
        if self.needs.parts:
            of_each = reader.array(np.int64, (2, self.needs.n_sources))
            self._latest, self._passed = of_each.tolist()
            require(max(self._latest) == latest, "the largest time is none of any source")
        self.late, self.ahead, self._read_table.n_bad_rows, self.forgotten, n_waiting = numbers[3:]
        require(min(numbers[3:]) >= 0 and n_waiting <= 1, "a count is impossible")
        require(self._swept <= self._complete, "more was purged than is complete")
        self._store.since = self._swept
        self._store.read_from(reader)
        carried = self.needs.carried(self.operator.schema)
        ties = [self.input_schema.field(column.name).type for column in self.needs.ties]
        waiting = [read_rows(reader, self.needs, carried, ties) for _ in range(n_waiting)]
        reader.end()
        for rows in waiting:
            check_rows(rows, self._store.horizon, self.needs)
        self._waiting = [rows for rows in waiting if rows.n_rows]

    def _identity(self) -> bytes:
        return hashlib.blake2b(self.operator.identity + _LAYOUT, digest_size=16).digest()

    def describe(self) -> str:
        """What is kept, drawn: a line for each thing, over time, partition by partition."""
        slots = self._store.known_slots()
        if not len(slots):
            return "nothing is kept"
        kept = self._store.read(slots)
        return drawn(
            self.operator.describe(kept), kept.horizon, self._store.keys(slots), self.needs, self.n_waiting
        )

    def trace(self, *, on: bool = True) -> None:
        """Log one line for each step from now on, through the logger `situ.carry.trace`."""
        self._trace = Trace("push") if on else None

    @property
    def late_rows(self) -> Any:
        """The late rows so far, as they came; the operator must be made with late_rows=True.

        A table; of several sources a dict of tables by name.
        """
        if not self.options.late_rows:
            raise OptionError(
                "late rows are counted but not kept", hint="make the operator with late_rows=True"
            )
        return self._intake.together(self._late)

    @property
    def ahead_rows(self) -> Any:
        """The rows that `max_ahead` has set aside so far, like `late_rows`; kept with late_rows=True."""
        if not self.options.late_rows or self.options.max_ahead is None:
            raise OptionError(
                "rows from the future are not kept",
                hint="make the operator with max_ahead, say max_ahead='1 hour', and late_rows=True",
            )
        return self._intake.together(self._set_aside)

    @property
    def n_situations(self) -> int:
        """How many situations, or other things, are kept."""
        return self._store.n_entries

    @property
    def n_partitions(self) -> int:
        """How many partitions are remembered."""
        return len(self._store)

    @property
    def n_waiting(self) -> int:
        """How many rows wait until their instant is complete."""
        return sum(rows.n_rows for rows in self._waiting) + self._store.n_held

    @property
    def n_bad_rows(self) -> int:
        """How many rows on_bad_rows="drop" has dropped."""
        n_rows: int = self._read_table.n_bad_rows
        return n_rows

    @property
    def nbytes(self) -> int:
        """Memory of what is kept between pushes."""
        return self._store.nbytes + sum(rows.nbytes for rows in self._waiting)

    def _by_rows(self) -> list[int]:
        """Up to where the rows seen make each source complete."""
        if self.delay is None:
            return [_LONG_AGO] * self.needs.n_sources
        return [int(minus(latest, self.delay)) for latest in self._latest]

    def _pass(self, instants: Sequence[int]) -> None:
        """Instants before these are complete in each source; W is the least of theirs (SEM 13.5)."""
        self._passed = list(map(max, self._passed, instants))
        self._complete = max(self._complete, min(self._passed))

    def _sources_called(self, source: str | None) -> Sequence[int]:
        """The places of the sources that are meant; None means all."""
        if source is None:
            return range(self.needs.n_sources)
        parts = self.needs.parts
        found = [i for i, part in enumerate(parts) if source in (part.name, part.alias)]
        if not found:
            names = ", ".join(part.name for part in parts)
            raise SourceError(
                f"there is no source {source!r}",
                hint=f"the sources are {names}" if parts else "leave it out: the query has one source",
            )
        return found

    def _tick(self, t: Any) -> int:
        kind = self.input_schema.field(self.needs.time.name).type
        tick = tick_of(t, kind, self.needs)
        if tick is None:
            raise DataError(f"cannot advance to {t!r}: the time column is {kind}")
        return tick

    def _note_late(self, rows: Prepared, is_late: Flags, table: Any, seen: int | None) -> None:
        """Count late rows, and keep them where they are asked for; `rows` are the events of `table`."""
        n_late = int(is_late.sum())
        self.late += n_late
        if self.options.late_rows:
            self._late.append(self._intake.chosen(table, is_late))
        seen = self._latest_known() if seen is None else seen
        self._late_log.note(self._n_pushed, n_late, int(rows.time[is_late].min()), seen)

    def _latest_known(self) -> int:
        """The largest instant of earlier pushes, where no watermark keeps it: asked when rows are late."""
        slots = self._store.known_slots()
        return int(self._store.read(slots).horizon.max()) if len(slots) else int(LONG_AGO)

    def _without_ahead(self, table: Any, now: Any) -> Any:
        """The rows that are not later than now + max_ahead; events among the others are counted (SEM 8.6)."""
        if self.options.max_ahead is None:
            raise OptionError(
                "push takes now= where max_ahead says how far ahead of it rows may be",
                hint="make the operator with max_ahead, say max_ahead='1 hour', or leave out now",
            )
        table, found = self._intake.set_aside(table, now)
        if found is not None:
            self.ahead += self._intake.n_rows(found)
            if self.options.late_rows:
                self._set_aside.append(found)
        return table

    def _release(self) -> pa.Table:
        """Process the waiting rows that are complete, and what comes between events up to there."""
        if not self._waiting and not self._has_ticks:
            return self._empty
        results = self._empty
        if self._waiting:
            waiting = concat(self._waiting)
            ready = waiting.time < self._complete
            self._waiting = [] if ready.all() else [waiting.select(~ready)]
            due = waiting.select(ready)
            results = self._apply(due, self._complete) if due.n_rows else results
        if self._has_ticks:
            results = _joined([results, self._step_due()])
        # state is purged partition by partition as rows come; silent ones need a look now and then
        window = UNBOUNDED if self.needs.window is None else self.needs.window
        if self._complete - self._swept > max(0, window // 2):
            self._sweep()
        return results

    def _step_due(self) -> pa.Table:
        """Step the partitions that report something though no row of theirs came (SEM 11.9)."""
        slots = self._store.due_slots(self._complete) if self._has_ticks else None
        if slots is None or not len(slots):
            return self._empty
        return self._step(slots, self._no_rows(), self._complete)

    def _no_rows(self) -> Prepared:
        ties = [self.input_schema.field(column.name).type for column in self.needs.ties]
        return Prepared.nothing(self.needs.mask_type, self.needs.carried(self.operator.schema), ties)

    def _release_held(self, complete: int) -> pa.Table:
        """Process rows before `complete` that the operator holds back for want of a watermark (SEM 6.4)."""
        if self.delay is not None or not self._store.n_held:
            return self._empty
        return self._step(self._store.known_slots(), self._no_rows(), complete)

    def _apply(self, rows: Prepared, complete: int | None, table: Any = None) -> pa.Table:
        """Step the partitions these rows belong to."""
        slots, codes = self._store.dense(rows.codes)
        return self._step(slots, rows._replace(codes=codes), complete, table)

    def _step(
        self,
        slots: Positions,
        rows: Prepared,
        complete: int | None,
        table: Any = None,
    ) -> pa.Table:
        """Step these partitions; the rows' codes are positions in `slots`. `table` is what they came in."""
        kept = self._store.read(slots)
        try:
            if self._trace is None:
                stepped = self.operator.step(kept, rows, complete)
            else:
                stepped = self._trace.step(self.operator, kept, rows, complete)
        except MatchError:
            with naming(self._store.keys(slots)):
                raise
        if stepped.timeouts is not None and len(stepped.timeouts.slot):
            self._note_timeouts(stepped.timeouts, slots)
        if stepped.late is not None:
            self._note_late(rows, stepped.late, table, None)
        if stepped.tied is not None and stepped.tied.n_rows:
            self._note_tied(stepped.tied, slots)
        self.forgotten += stepped.n_ignored
        after = stepped.kept
        self._store.write(slots, after if after.n_entries < self._prune_at else self._pruned(after))
        if not stepped.emitted:
            return self._empty
        tables = tables_of(stepped.emitted, self._store.keys(slots), self._schema)
        if len(tables) == 1:
            return tables[0]
        return pa.concat_tables(tables) if tables else self._empty

    def _note_timeouts(self, timeouts: Emitted, slots: Positions) -> None:
        """What a kind reports beside its results is for that kind to hand out."""

    def _pruned(self, kept: Kept) -> Kept:
        """Without what the question rules out, looked at when there is much of it."""
        kept = self.operator.prune(kept)
        self._prune_at = max(_PRUNE_FROM, 2 * kept.n_entries)
        return kept

    def _note_tied(self, tied: Tied, slots: Positions) -> None:
        """Count rows that were left out; the first time, tell of them."""
        if not self.n_tied_rows and self.options.ties == "warn":
            first = tied.instants[0]
            key = tuple(shown(values[0]) for values in self._store.keys(slots[[first.code]]))
            ask = "situ.why(events, query) names those that tell the rows apart"
            Ties(self.needs, tied.n_rows, Instant(first.ticks, key, 0), at_least=True, ask=ask).warn()
        self.n_tied_rows += tied.n_rows

    def _sweep(self) -> None:
        """Purge silent partitions, and forget those of which nothing is left (SEM 8.5)."""
        self._swept = self._store.since = self._complete
        slots = self._store.known_slots()
        if len(slots):
            kept, gone = purged(self.operator, self._store.read(slots), self._complete)
            self._store.write(slots, kept)
            self._forget(slots[gone])

    def _forget(self, slots: Positions) -> None:
        """Forget partitions, unless rows of theirs wait."""
        for rows in self._waiting:
            slots = np.setdiff1d(slots, rows.codes)
        if len(slots) and self.needs.partition:
            number = self._store.forget(slots)
            self._waiting = [rows._replace(codes=number[rows.codes]) for rows in self._waiting]


def setting_of(options: Options) -> Setting:
    """How an operator works in process: it evaluates everything itself."""
    return Setting(True, options.ansi, options.time_zone, options.join, options.threads)


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Results one after the other."""
    filled = [table for table in tables if table.num_rows]
    if len(filled) > 1:
        return pa.concat_tables(filled)
    return filled[0] if filled else tables[0]
