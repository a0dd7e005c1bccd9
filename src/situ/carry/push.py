"""The push operator: batches or single events in, matches out, at the earliest instant (SEM 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.in_process import check_matchable
from situ.carry.store import SLOT_0, Store
from situ.carry.validate import check_rows, require
from situ.errors import DataError, OptionError
from situ.language.situations.ast import Query
from situ.language.situations.binder import bind
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.kernels.advance import is_any_late
from situ.operators.situations.known import Known, Positions
from situ.operators.situations.purge import prune, purge
from situ.operators.situations.result import Results
from situ.options import Options, check_applicable, check_forget_after, read_options, ticks
from situ.plan.explain import Explanation, explain_query
from situ.rows import prepare
from situ.rows.ahead import Ahead, max_ahead_ticks
from situ.rows.kernels.numbers import LONG_AGO, OPEN, minus
from situ.rows.kernels.order import extent, goes_on
from situ.rows.keys import shown
from situ.rows.late_log import LateLog
from situ.rows.plain import event_schema, plain_schema, plain_table, refuse_types
from situ.rows.prepare import Prepared, Preparer
from situ.rows.schema import refuse_reserved, spark_schema, time_text, to_ticks
from situ.rows.tied import Instant, Tied, Ties
from situ.saved.codec import Reader, Writer, identity, read_rows, write_rows
from situ.saved.ipc import DAMAGE, damaged

OPTIONS = frozenset(
    {"time", "ties", "on_bad_rows", "join", "threads", "watermark", "late_rows", "forget_after", "match_id"}
    | {"ansi", "time_zone", "points", "max_ahead"}
)

_PRUNE_FROM = 64  # situations kept in a step's partitions; doubles with what pruning leaves

_TABLES = (pa.RecordBatch, pa.Table)
Batch: TypeAlias = pa.Table | pa.RecordBatch | Mapping[str, Any]


class Operator:
    """Many partitions of one query; results do not depend on how the input is cut (SEM 8.3)."""

    engine_type: type[Engine] = Engine
    preparer_type: type[Preparer] = Preparer

    def __init__(
        self, query: Query, schema: pa.Schema, *, state: bytes | None = None, **options: Any
    ) -> None:
        if not isinstance(schema, pa.Schema):
            raise DataError(
                f"an operator is made for a pyarrow Schema, not for a {type(schema).__name__}",
                hint="give the schema of the tables to come, such as table.schema",
            )
        check_matchable(query)
        self.query = query
        self.options: Options = read_options(options, OPTIONS, "an operator")
        check_applicable(options, query)
        self._event_schema, schema = event_schema(schema), plain_schema(schema)
        self.bound = bind(query, spark_schema(schema), time=self.options.time)
        refuse_types(self.bound, schema)
        self.input_schema = schema
        self.delay = ticks(self.options.watermark, self.bound, "watermark")
        self.engine = self.engine_type(
            self.bound,
            ansi=self.options.ansi,
            forget_after=check_forget_after(self.options.forget_after, self.bound),
            join=self.options.join,
            threads=self.options.threads,
        )
        self._prepare = self.preparer_type(self.bound, schema, self.engine, self.options)
        self._results = Results(self.bound, schema, self.engine, self.options)
        self._store = Store(self.engine, [schema.field(column.name).type for column in self.bound.partition])
        # one partition whose rows never wait: where they come in order, nothing has to be looked up
        self._is_simple = not self.bound.partition and self.delay is None and query.intervals is None
        self._waiting: list[Prepared] = []
        self._latest = int(LONG_AGO)  # the largest instant seen in earlier batches
        self._complete = int(LONG_AGO)  # instants before this one are complete: W of SEM 8.1
        self._swept = int(LONG_AGO)
        self._prune_at = _PRUNE_FROM
        self._late: list[pa.Table] = []
        self.late = 0
        self.n_tied_rows = 0  # rows left out since it was made: a later one has their time (SEM 1.3)
        max_ahead = max_ahead_ticks(self.options.max_ahead, self.bound)
        self._ahead = None if max_ahead is None else Ahead(max_ahead, self.bound, schema, self.options)
        self._set_aside: list[pa.Table] = []
        self.ahead = 0
        self._n_pushed = 0
        has_ticks = pa.types.is_integer(schema.field(self.bound.time.name).type)
        self._late_log = LateLog(delay=self.delay, in_microseconds=not has_ticks)
        if state is not None:
            self._restore(state)

    def push(self, batch: Batch, *, now: Any = None) -> pa.Table:
        """Take in rows, in any order within the batch, and return the matches they complete.

        With a watermark also those of rows that waited, even if this batch has no rows at all.
        `now` is the time that `max_ahead` counts from, the clock's if it is left out.
        """
        table = self._table(batch)
        if self._ahead is not None or now is not None:
            table = self._without_ahead(table, now)
        self._n_pushed += table.num_rows
        rows = self._prepare(table)
        if not rows.n_rows and self.delay is None:
            return self._results.empty
        if self._is_simple:
            known = self._store.read(SLOT_0)
            if goes_on(rows.time, known.horizon, self._complete):
                return self._step(SLOT_0, prepare.in_order(self.engine, rows), known)
        if rows.keys:
            rows = rows._replace(codes=self._store.slots_of(rows.keys)[rows.codes], keys=[])
        if self.delay is not None:
            earliest, latest = extent(rows.time)
            if earliest == LONG_AGO or latest == OPEN:
                refuse_reserved(rows.time)  # one that waited would make every row after it late
            self._complete = max(self._complete, int(minus(self._latest, self.delay)))
            seen, self._latest = self._latest, max(self._latest, self._prepare.latest(table, latest))
        else:
            seen = None
        is_late = self._is_late(rows)
        if is_late is not None:
            refuse_reserved(rows.time[is_late])  # before everything: neither late nor an instant
            self._count_late(table, is_late)
            seen = self._latest_known() if seen is None else seen
            self._late_log.note(self._n_pushed, int(is_late.sum()), int(rows.time[is_late].min()), seen)
            rows = prepare.select(rows, ~is_late)
        return self._take(rows)

    def _take(self, rows: Prepared) -> pa.Table:
        """Rows without a watermark are applied as they come; with one they wait."""
        if self.delay is None:
            return self._apply(rows)
        if rows.n_rows:
            self._waiting.append(rows)
        return self._release()

    def advance(self, t: Any) -> pa.Table:
        """Say that instants before `t` are complete, for every partition.

        What waits for them is processed, state is purged, and later rows with an earlier instant are late.
        """
        self._complete = max(self._complete, self._tick(t))
        matches = self._release()
        self._sweep()
        return matches

    def flush(self) -> pa.Table:
        """Process all that waits, as if the input ended here (open situations stay open).

        With a watermark a later row at or before the largest instant processed is late (SEM 8.1).
        """
        if not self._waiting:
            return self._results.empty
        waiting, self._waiting = prepare.concat(self._waiting), []
        if self.delay is not None:
            self._complete = max(self._complete, int(waiting.time.max()) + 1)
        return self._apply(waiting)

    def state(self) -> bytes:
        """Everything the operator knows, as versioned bytes for `q.operator(schema, state=...)`."""
        writer = Writer(self._identity())
        waiting = [prepare.concat(self._waiting)] if self._waiting else []
        numbers = [self._latest, self._complete, self._swept, self.late, self.ahead, self.n_bad_rows]
        writer.array(np.array([*numbers, len(waiting)]))
        self._store.write_to(writer)
        for rows in waiting:
            write_rows(writer, rows)
        self._write_more(writer)
        return writer.bytes()

    def _restore(self, state: bytes) -> None:
        try:
            self._read(Reader(state, self._identity()))
        except DAMAGE as error:  # values that Arrow or Python cannot make sense of
            raise damaged(error) from error

    def _read(self, reader: Reader) -> None:
        numbers = reader.array(np.int64, (7,)).tolist()
        self._latest, self._complete, self._swept, self.late, self.ahead = numbers[:5]
        self._prepare.n_bad_rows, n_waiting = numbers[5:]
        counts = (self.late, self.ahead, self.n_bad_rows, n_waiting)
        require(min(counts) >= 0 and n_waiting <= 1, "a count is impossible")
        require(self._swept <= self._complete, "more was purged than is complete")
        self._store.read_from(reader)
        types = self._prepare.waiting_types(self.input_schema)
        waiting = [read_rows(reader, self._prepare.mask_type, *types) for _ in range(n_waiting)]
        self._read_more(reader)
        reader.end()
        for rows in waiting:
            self._check_waiting(rows)
        self._waiting = [rows for rows in waiting if rows.n_rows]

    def _check_waiting(self, rows: Prepared) -> None:
        check_rows(rows, self._store.horizon, self.engine.n_symbols)

    def _write_more(self, writer: Writer) -> None:
        """State that only some operators have."""

    def _read_more(self, reader: Reader) -> None:
        """What `_write_more` wrote."""

    def _identity(self) -> bytes:
        return identity(self.bound, self.input_schema)

    def explain(self) -> Explanation:
        """What was understood of the query, and what its plan has done so far."""
        return explain_query(self.bound.query).with_actuals(self.engine.actuals())

    @property
    def late_rows(self) -> pa.Table:
        """The late rows so far, as they came; the operator must be made with late_rows=True."""
        if not self.options.late_rows:
            raise OptionError(
                "late rows are counted but not kept", hint="make the operator with late_rows=True"
            )
        return pa.concat_tables(self._late) if self._late else self.input_schema.empty_table()

    @property
    def ahead_rows(self) -> pa.Table:
        """The rows that `max_ahead` has set aside so far, as they came; kept with late_rows=True."""
        if not self.options.late_rows or self._ahead is None:
            raise OptionError(
                "rows from the future are not kept",
                hint="make the operator with max_ahead, say max_ahead='1 hour', and late_rows=True",
            )
        return pa.concat_tables(self._set_aside) if self._set_aside else self.input_schema.empty_table()

    @property
    def n_situations(self) -> int:
        """How many situations are kept."""
        return self._store.n_entries

    @property
    def n_partitions(self) -> int:
        """How many partitions are remembered."""
        return len(self._store)

    @property
    def n_waiting(self) -> int:
        """How many rows wait until their instant is complete."""
        return sum(rows.n_rows for rows in self._waiting)

    @property
    def n_bad_rows(self) -> int:
        """How many rows on_bad_rows="drop" has dropped."""
        return self._prepare.n_bad_rows

    @property
    def nbytes(self) -> int:
        """Memory of what is kept between pushes."""
        return self._store.nbytes + sum(rows.nbytes for rows in self._waiting)

    def _table(self, batch: Batch) -> pa.Table | pa.RecordBatch:
        if not isinstance(batch, _TABLES):
            if isinstance(batch, Mapping):
                return self._event(batch)
            raise DataError(
                f"cannot push a {type(batch).__name__}",
                hint="push a pyarrow Table or RecordBatch, or one event as a dict",
            )
        if batch.schema.equals(self.input_schema):
            return batch
        return _conformed(batch, self.input_schema)

    def _event(self, event: Mapping[str, Any]) -> pa.RecordBatch:
        """A single event as a batch of one row."""
        for name in self.input_schema.names:
            if name not in event:
                raise DataError(
                    f"the event lacks column {name}; the operator was made for "
                    f"{', '.join(self.input_schema.names)}",
                    hint="give None where an event has no value",
                )
        try:
            return plain_table(pa.RecordBatch.from_pylist([event], self._event_schema))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise DataError(f"the event does not fit the operator's schema: {error}") from error

    def _tick(self, t: Any) -> int:
        kind = self.input_schema.field(self.bound.time.name).type
        if t is None or isinstance(t, float):  # Arrow would take the one as null and cut the other off
            raise DataError(f"cannot advance to {t!r}: the time column is {kind}")
        try:
            return int(to_ticks(pa.array([t], kind), self.bound.time.name)[0])
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise DataError(f"cannot advance to {t!r}: the time column is {kind}") from error

    def _is_late(self, rows: Prepared) -> npt.NDArray[np.bool_] | None:
        """Which rows are late (SEM 8.1), None for none."""
        if self.delay is not None:
            is_late = rows.time < self._complete
            return is_late if is_late.any() else None
        slots, codes = self._store.dense(rows.codes)
        horizons = self._store.read(slots).horizon
        if not is_any_late(rows.time, codes, horizons, self._complete):
            return None
        horizon = horizons[codes]
        if self.options.ties == "error":
            _refuse_ties(rows.time[rows.time == horizon], self.bound.time.type)
        return (rows.time < self._complete) | (rows.time <= horizon)

    def _count_late(self, table: pa.Table | pa.RecordBatch, is_late: npt.NDArray[np.bool_]) -> None:
        self.late += int(is_late.sum())
        if self.options.late_rows:
            self._late.append(_as_table(self._prepare.events(table)).filter(pa.array(is_late)))

    def _latest_known(self) -> int:
        """The largest instant of earlier pushes, where no watermark keeps it: asked when rows are late."""
        slots = self._store.known_slots()
        return int(self._store.read(slots).horizon.max()) if len(slots) else int(LONG_AGO)

    def _without_ahead(self, table: pa.Table | pa.RecordBatch, now: Any) -> pa.Table | pa.RecordBatch:
        """The rows that are not later than now + max_ahead; events among the others are counted (SEM 8.6)."""
        if self._ahead is None:
            raise OptionError(
                "push takes now= where max_ahead says how far ahead of it rows may be",
                hint="make the operator with max_ahead, say max_ahead='1 hour', or leave out now",
            )
        is_ahead = self._ahead.of(table, now)
        if is_ahead is None:
            return table
        found = self._prepare.events(table.filter(pa.array(is_ahead)))
        self.ahead += found.num_rows
        if self.options.late_rows:
            self._set_aside.append(_as_table(found))
        return table.filter(pa.array(~is_ahead))

    def _release(self) -> pa.Table:
        """Process the waiting rows that are complete."""
        if not self._waiting:
            return self._results.empty
        waiting = prepare.concat(self._waiting)
        ready = waiting.time < self._complete
        self._waiting = [] if ready.all() else [prepare.select(waiting, ~ready)]
        matches = self._apply(prepare.select(waiting, ready))
        # state is purged partition by partition as rows come; silent ones need a look now and then
        if self._complete - self._swept > self.engine.spec.within // 2:
            self._sweep()
        return matches

    def _apply(self, rows: Prepared) -> pa.Table:
        """Step the partitions these rows belong to."""
        if not rows.n_rows:
            return self._results.empty
        slots, codes = self._store.dense(rows.codes)
        tied = Tied()
        given = prepare.to_input(self.engine, rows, codes, len(slots), self.options.ties, tied)
        if tied.n_rows:
            self._note_tied(tied, slots)
        return self._step(slots, given, self._store.read(slots))

    def _note_tied(self, tied: Tied, slots: Positions) -> None:
        """Count rows that were left out; the first time, tell of them."""
        if not self.n_tied_rows and self.options.ties == "warn":
            first = tied.instants[0]
            key = tuple(shown(values[0]) for values in self._store.keys(slots[[first.code]]))
            ask = "situ.why(events, query) names those that tell the rows apart"
            Ties(self.bound, tied.n_rows, Instant(first.ticks, key, 0), at_least=True, ask=ask).warn()
        self.n_tied_rows += tied.n_rows

    def _step(self, slots: Positions, given: Input, known: Known) -> pa.Table:
        """Step these partitions, of which so much is known."""
        found, known = self.engine.step(given, known)
        if known.n_entries >= self._prune_at:
            known = prune(known, self.engine.spec)
            self._prune_at = max(_PRUNE_FROM, 2 * known.n_entries)
        self._store.write(slots, known)
        if not found.size:
            return self._results.empty
        return self._results.table(found, self._store.keys(slots[found.slot]) if self.bound.partition else [])

    def _sweep(self) -> None:
        """Purge silent partitions, and forget those of which nothing is left (SEM 8.5)."""
        self._swept = self._complete
        slots = self._store.known_slots()
        if len(slots):
            known, gone = purge(self._store.read(slots), self.engine.spec, self._complete)
            self._store.write(slots, known)
            self._forget(slots[gone])

    def _forget(self, slots: Positions) -> Positions | None:
        """Forget partitions, unless rows of theirs wait; the others' slots from now on, if changed."""
        for rows in self._waiting:
            slots = np.setdiff1d(slots, rows.codes)
        if not len(slots) or not self.bound.partition:
            return None
        number = self._store.forget(slots)
        self._waiting = [rows._replace(codes=number[rows.codes]) for rows in self._waiting]
        return number


def _as_table(rows: pa.Table | pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows


def _refuse_ties(times: npt.NDArray[np.int64], kind: str) -> None:
    if len(times):
        raise DataError(
            f"a row shares the time {time_text(int(times[0]), kind)} with one already processed, "
            'and ties="error" was asked for',
            hint="give the operator a watermark, so that an instant is processed when it is complete",
        )


def _conformed(batch: pa.Table | pa.RecordBatch, schema: pa.Schema) -> pa.Table | pa.RecordBatch:
    """The batch with the operator's columns and types, or an error that names what does not fit."""
    missing = [name for name in schema.names if name not in batch.schema.names]
    if missing:
        raise DataError(
            f"the batch lacks column {missing[0]}; the operator was made for {', '.join(schema.names)}",
        )
    try:
        return plain_table(batch.select(schema.names)).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"the batch does not fit the operator's schema: {error}") from error


def operator(query: Query, schema: pa.Schema, *, state: bytes | None = None, **options: Any) -> Operator:
    """An operator for rows of this schema, from the start or from saved `state`."""
    if query.intervals is None:
        return Operator(query, schema, state=state, **options)
    from situ.carry.interval_push import IntervalOperator

    return IntervalOperator(query, schema, state=state, **options)
