"""Situations derived from events: the operators of `situ.match` and `situ.situations`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from situ.carry.contract import Span, Stepped
from situ.operators.situations import judged_purge
from situ.operators.situations.base import OfMatches, OfSituations, SituationsOperator
from situ.operators.situations.condensed import CondensedEvents, condense, read_condensed
from situ.operators.situations.engine import Input
from situ.operators.situations.input import Ordered, by_slot, in_order
from situ.operators.situations.judged import JudgedEngine
from situ.operators.situations.judged_slices import JudgedSlice, judged_slices_of
from situ.operators.situations.kernels.advance import is_any_late
from situ.operators.situations.kernels.layout import Runs
from situ.operators.situations.known import Known
from situ.operators.situations.purge import next_purge, prune, purge
from situ.operators.situations.result import FoundMatches, FoundSituations
from situ.operators.situations.saved import read_known, write_known
from situ.operators.situations.slices import Slice, read_slice, slices_of
from situ.rows.kernels.numbers import LONG_AGO, OPEN, UNBOUNDED
from situ.rows.kernels.order import goes_on
from situ.rows.order import refuse_ties_with_horizon
from situ.rows.prepared import Flags, Positions, Prepared
from situ.rows.schema import refuse_reserved
from situ.rows.tied import Tied
from situ.saved.codec import Reader, Writer


class EventOperator(SituationsOperator):
    """What matches and situations of events have in common; what is kept is a `Known`."""

    def nothing(self, n_slots: int, since: int = int(LONG_AGO)) -> Known:
        """Partitions never seen before, or forgotten."""
        nothing: Known = self.engine.nothing_known(n_slots)
        return nothing if self.looking is None else nothing._replace(earlier=self.looking.nothing(n_slots))

    def write(self, writer: Writer, kept: Known) -> None:
        """Add what is kept to saved state."""
        write_known(writer, kept, self.engine.aggregates)
        if self.looking is not None:
            assert kept.earlier is not None
            self.looking.write(writer, kept.earlier)

    def read(self, reader: Reader, n_slots: int) -> Known:
        """What `write` wrote of so many partitions."""
        known = self._read_known(reader, n_slots)
        return known if self.looking is None else known._replace(earlier=self.looking.read(reader, n_slots))

    def _read_known(self, reader: Reader, n_slots: int) -> Known:
        types = {field.name: field.type for field in self.schema}
        return read_known(reader, self.engine, n_slots, types)

    def describe(self, kept: Known) -> Iterator[Span]:
        """The situations."""
        names = self.asked.bound.query.symbol_names
        entries, slot = kept.entries, np.repeat(np.arange(kept.n_slots), np.diff(kept.offset))
        for i, symbol in enumerate(entries.symbol.tolist()):
            end = int(entries.te[i])
            yield Span(int(slot[i]), names[symbol], int(entries.ts[i]), None if end == OPEN else end)

    def next_purge(self, kept: Known) -> Positions:
        """For each slot the instant that must be complete before something of it can go."""
        if isinstance(self.engine, JudgedEngine):
            return judged_purge.next_purge(kept, self.engine)
        return next_purge(kept, self.engine.spec)

    def next_due(self, kept: Known) -> Positions:
        """For each slot the smallest `complete` at which time alone brings a match."""
        assert isinstance(self.engine, JudgedEngine), "results of others come with rows"
        return judged_purge.next_due(kept, self.engine)

    def _purged(self, kept: Known, complete: int) -> tuple[Known, Flags]:
        if isinstance(self.engine, JudgedEngine):
            return judged_purge.purge(kept, self.engine, complete)
        return purge(kept, self.engine.spec, complete)

    def counted(self) -> int | None:
        """Of aggregates every row is a value, a minimum is reached at any, matches may wait for others.

        And every row may be looked back at.
        """
        engine = self.engine
        if engine.spec.forget_after != UNBOUNDED or engine.needs_more_rows or self.looking is not None:
            return None
        counts = np.array([bool(own) for own in engine.aggregates]) | (engine.spec.at_least > 0)
        return sum(1 << i for i, one in enumerate(counts) if one)

    def condense(self, rows: Prepared, tied: Tied) -> CondensedEvents:
        """The rows at which something can happen."""
        ordered = by_slot(self.needs, rows, rows.n_slots, tied)
        return condense(self.engine, ordered, self.looking)

    def read_condensed(self, reader: Reader) -> CondensedEvents:
        """What condensed rows have written."""
        return read_condensed(self.engine, reader, self.looking)

    def _expanded(self, kept: Known, condensed: CondensedEvents) -> Input:
        """Condensed rows as the engine takes rows."""
        decided, earlier = condensed.decided(self.looking, kept)
        return decided.expanded(self.engine)._replace(earlier=earlier)

    def _input(
        self, kept: Known, rows: Prepared, complete: int | None, tied: Tied
    ) -> tuple[Input, Flags | None]:
        """The rows that count as the engine takes them, and which of all are late."""
        ordered, is_late = self.in_time(kept, rows, complete, tied)
        return ordered.input(self.engine, self.looking, kept), is_late

    def in_time(
        self, kept: Known, rows: Prepared, complete: int | None, tied: Tied
    ) -> tuple[Ordered, Flags | None]:
        """The rows that count, one an instant and in order, and which of all are late."""
        is_late = None
        before = kept.horizon
        is_known = complete is None and bool((before > LONG_AGO).any())
        if is_known and is_any_late(rows.time, rows.codes, before, LONG_AGO):
            horizon = before[rows.codes]
            is_late = rows.time <= horizon
            refuse_reserved(rows.time[is_late])  # before everything: neither late nor an instant
            if self.needs.order == "error":
                refuse_ties_with_horizon(rows.time[rows.time == horizon], self.needs.time.told)
            rows = rows.select(~is_late)
        return by_slot(self.needs, rows, kept.n_slots, tied), is_late


class EventMatches(EventOperator, OfMatches):
    """Matches, each at the instant it becomes certain (SEM 4.3)."""

    def step(self, kept: Known, rows: Prepared, complete: int | None, *, at_end: bool = False) -> Stepped:
        """The matches that the rows complete."""
        if kept.n_slots == 1 and goes_on(rows.time, kept.horizon, LONG_AGO):  # the way of single events
            events = in_order(self.engine, rows, self.looking, kept)
            return self._stepped(kept, events, complete, at_end=at_end)
        tied = Tied()
        events, is_late = self._input(kept, rows, complete, tied)
        stepped = self._stepped(kept, events, complete, at_end=at_end)
        return stepped if is_late is None and not tied.n_rows else stepped._replace(late=is_late, tied=tied)

    def _stepped(self, kept: Known, events: Input, complete: int | None, *, at_end: bool) -> Stepped:
        if at_end:
            return Stepped(kept, (FoundMatches(self.results, self.engine.find(events, kept, complete)),))
        found, after = self.engine.step(events, kept, complete)
        if events.earlier is not None:
            after = after._replace(earlier=events.earlier)
        return Stepped(after, (FoundMatches(self.results, found),) if found.ends.shape[1] else ())

    def prune(self, kept: Known) -> Known:
        """Without closed situations that the pattern rules out for every match to come."""
        if isinstance(self.engine, JudgedEngine):
            return kept  # a configuration may be waiting for nothing but time
        return prune(kept, self.engine.spec)

    def purge(self, kept: Known, complete: int) -> tuple[Known, Flags]:
        """What the window still reaches; which partitions are to be forgotten."""
        return self._purged(kept, complete)

    def step_condensed(
        self, kept: Known, condensed: CondensedEvents, *, at_end: bool, complete: int | None = None
    ) -> Stepped:
        """`step` of condensed rows."""
        return self._stepped(kept, self._expanded(kept, condensed), complete, at_end=at_end)

    @property
    def is_sliced(self) -> bool:
        """Whether a window says how far back matches reach."""
        return bool(self.engine.spec.within != UNBOUNDED)

    def slices(
        self, condensed: CondensedEvents, wanted: int, least: int, complete: int | None = None
    ) -> Iterator[Slice | JudgedSlice]:
        """Slices of about equally much work."""
        decided, _ = condensed.decided(self.looking, self.nothing(1))
        if isinstance(self.engine, JudgedEngine):
            return judged_slices_of(self.engine, decided, wanted, least, complete)
        return slices_of(self.engine, decided, wanted, least)

    def read_slice(self, reader: Reader) -> Slice | JudgedSlice:
        """What a slice has written."""
        if not isinstance(self.engine, JudgedEngine):
            return read_slice(self.engine, reader)
        complete = reader.array().tolist()
        kept = self._read_known(reader, 1)
        condensed = read_condensed(self.engine, reader)  # where it was cut all looks back were decided
        return JudgedSlice(condensed, kept, complete[0] if complete else None, self.engine.aggregates)

    def step_slice(self, one: Slice | JudgedSlice) -> Sequence[FoundMatches]:
        """The matches of the slice's own instants."""
        engine = self.engine
        events = one.condensed.expanded(engine)
        if isinstance(one, JudgedSlice):
            return [FoundMatches(self.results, engine.find(events, one.kept, one.complete))]
        kept = one.known(engine)
        runs, _ = engine.derive(events.rows, kept)
        matches = engine.match(runs, np.array([one.before]), len(events.rows.time))
        return [FoundMatches(self.results, engine.values(events, runs, kept, matches))]


class EventSituations(EventOperator, OfSituations):
    """The situations themselves, each when it closes; at the end also those that have not (SEM 5.5)."""

    def step(self, kept: Known, rows: Prepared, complete: int | None, *, at_end: bool = False) -> Stepped:
        """The situations that the rows close."""
        if kept.n_slots == 1 and goes_on(rows.time, kept.horizon, LONG_AGO):
            events = in_order(self.engine, rows, self.looking, kept)
            return self._stepped(kept, events, complete, at_end=at_end)
        tied = Tied()
        events, is_late = self._input(kept, rows, complete, tied)
        return self._stepped(kept, events, complete, at_end=at_end)._replace(late=is_late, tied=tied)

    def _stepped(self, kept: Known, events: Input, complete: int | None, *, at_end: bool) -> Stepped:
        engine, earlier = self.engine, events.earlier
        events, begun = engine.begun(events, kept, complete)
        emitted = [
            self.closed(symbol, events, begun.runs, kept, at_end) for symbol in range(engine.n_symbols)
        ]
        if at_end:
            return Stepped(kept, emitted)
        after = engine.keep_begun(events, begun, kept)._replace(earlier=earlier)
        return Stepped(after.keep_entries(after.entries.te == OPEN), emitted)  # the others are reported

    def closed(self, symbol: int, events: Input, runs: Runs, kept: Known, at_end: bool) -> FoundSituations:
        """The situations of a symbol that are over; at the end all."""
        slot, values = self.engine.situations(events, runs, kept, symbol)
        if not at_end:
            over = np.flatnonzero(~values.is_open)
            slot, values = slot[over], values.take(over)
        return FoundSituations(self.results, symbol, slot, values)

    def prune(self, kept: Known) -> Known:
        """Every open situation will be reported."""
        return kept

    def purge(self, kept: Known, complete: int) -> tuple[Known, Flags]:
        """Open situations are kept whatever their age; which partitions are to be forgotten."""
        spec = self.engine.spec
        if spec.forget_after != UNBOUNDED:
            # what a forgotten history left open stays open for ever (SEM 8.5): it will not be reported
            over = kept.horizon < complete - int(spec.forget_after)
            kept = kept.keep_entries(~np.repeat(over, np.diff(kept.offset)))
        return self._purged(kept, complete)

    def step_condensed(
        self, kept: Known, condensed: CondensedEvents, *, at_end: bool, complete: int | None = None
    ) -> Stepped:
        """`step` of condensed rows."""
        return self._stepped(kept, self._expanded(kept, condensed), complete, at_end=at_end)
