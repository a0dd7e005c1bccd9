"""The operators of `situ.match` and `situ.situations` where symbols are row patterns (SEM 17).

A step takes the events to the patterns first. What these have found becomes situations beside those that are
derived, each with the instant from which it is known, and the engine joins them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.contract import Field, Setting, Span, Stepped, Work
from situ.operators.composed.engine import ComposedEngine
from situ.operators.composed.kept import ComposedKept
from situ.operators.composed.patterns import PatternOperator
from situ.operators.composed.spans import Spans
from situ.operators.rowpattern.kept import KeptRows
from situ.operators.situations.engine import Input
from situ.operators.situations.events import EventMatches, EventSituations
from situ.operators.situations.input import Ordered
from situ.operators.situations.judged import Judged
from situ.operators.situations.kernels.retain import oldest_kept_each
from situ.operators.situations.known import Known
from situ.operators.situations.purge import later
from situ.operators.situations.result import FoundMatches
from situ.rows.kernels.numbers import LONG_AGO, OPEN, UNBOUNDED, minus
from situ.rows.needs import Needs
from situ.rows.prepared import Flags, Positions, Prepared
from situ.rows.tied import Tied
from situ.saved.codec import Reader, Writer

if TYPE_CHECKING:
    from situ.operators.composed.question import AskedComposed


class _Matches(EventMatches):
    engine_type = judged_type = ComposedEngine


class _Situations(EventSituations):
    engine_type = judged_type = ComposedEngine


class Taken(NamedTuple):
    """A step's events, and the situations that they and the patterns make."""

    events: Input
    begun: Judged  # without those of patterns, as it is kept
    rows: tuple[KeptRows, ...]
    spans: tuple[Spans, ...]
    late: Flags | None
    tied: Tied


class ComposedOperator:
    """What matches and situations have in common; what is kept is a `ComposedKept`."""

    of_events: EventMatches | EventSituations  # the same question, of which no row pattern is asked

    def __init__(self, asked: AskedComposed, schema: pa.Schema, setting: Setting) -> None:
        self.asked, self.schema, self.setting = asked, schema, setting
        self.needs: Needs = asked.needs

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.asked, self.schema, self.setting)  # what is compiled stays where it is

    @property
    def engine(self) -> ComposedEngine:
        """The query compiled."""
        engine: ComposedEngine = self.of_events.engine
        return engine

    @cached_property
    def patterns(self) -> list[PatternOperator]:
        """The row patterns compiled, in the order of their symbols."""
        found = [PatternOperator(asked, self.schema, self.setting) for asked in self.asked.patterns]
        for pattern in found:
            _ = pattern.engine
        return found

    @property
    def looking(self) -> Any:
        """The conditions that look back, compiled; None for none."""
        return self.of_events.looking

    @property
    def output(self) -> Sequence[Field]:
        """What is emitted."""
        return self.of_events.output

    @property
    def identity(self) -> bytes:
        """The query, the types of its columns, and options that state depends on."""
        return self.of_events.identity

    def work(self) -> Work:
        """The plan of the join, and what joins and patterns have looked at."""
        of_events = self.of_events.work()
        steps = sum(pattern.work().n_candidates for pattern in self.patterns)
        return of_events._replace(n_candidates=of_events.n_candidates + steps)

    # -- what is kept

    def nothing(self, n_slots: int, since: int = int(LONG_AGO)) -> ComposedKept:
        """Partitions never seen before, or forgotten."""
        return ComposedKept(
            self.of_events.nothing(n_slots, since),
            tuple(pattern.nothing(n_slots, since) for pattern in self.patterns),
            tuple(Spans.nothing(self.engine.aggregates[i]) for i in self.engine.patterns),
        )

    def write(self, writer: Writer, kept: ComposedKept) -> None:
        """Add what is kept to saved state."""
        self.of_events.write(writer, kept.known)
        for pattern, rows in zip(self.patterns, kept.rows, strict=True):
            pattern.write(writer, rows)
        for symbol, spans in zip(self.engine.patterns, kept.spans, strict=True):
            spans.write(writer, self.engine.aggregates[symbol])

    def read(self, reader: Reader, n_slots: int) -> ComposedKept:
        """What `write` wrote of so many partitions."""
        types = {field.name: field.type for field in self.schema}
        return ComposedKept(
            self.of_events.read(reader, n_slots),
            tuple(pattern.read(reader, n_slots) for pattern in self.patterns),
            tuple(
                Spans.read(reader, n_slots, self.engine.aggregates[i], types) for i in self.engine.patterns
            ),
        )

    def describe(self, kept: ComposedKept) -> Iterator[Span]:
        """The situations, and of each pattern its matches and the rows that may still be one."""
        yield from self.of_events.describe(kept.known)
        names = self.asked.bound.query.symbol_names
        for symbol, pattern, rows, spans in zip(
            self.engine.patterns, self.patterns, kept.rows, kept.spans, strict=True
        ):
            for slot, ts, te in zip(*(array.tolist() for array in spans[:3]), strict=True):
                yield Span(slot, names[symbol], ts, None if te == OPEN else te)
            for one in pattern.describe(rows):
                yield one._replace(label=f"{names[symbol]}, {one.label}")

    def prune(self, kept: ComposedKept) -> ComposedKept:
        """A configuration may be waiting for nothing but time."""
        return kept

    def purge(self, kept: ComposedKept, complete: int) -> tuple[ComposedKept, Flags]:
        """What the window still reaches; which partitions are to be forgotten."""
        known, gone = self.of_events.purge(kept.known, complete)
        spans = self._in_reach(kept.spans, np.maximum(self.engine.clock(known), minus(complete, 1)))
        for pattern, rows in zip(self.patterns, kept.rows, strict=True):
            gone &= pattern.purge(rows, complete)[1]
        for own in spans:
            gone[own.slot] = False
        return ComposedKept(known, kept.rows, spans), gone

    def next_purge(self, kept: ComposedKept) -> Positions:
        """For each slot the instant that must be complete before something of it can go."""
        when = self.of_events.next_purge(kept.known)
        for pattern, rows in zip(self.patterns, kept.rows, strict=True):
            when = np.minimum(when, pattern.next_purge(rows))
        within = self.engine.spec.within
        if within != UNBOUNDED:
            for own in kept.spans:
                np.minimum.at(when, own.slot, later(own.ts, int(within) + 2))
        return when

    def next_due(self, kept: ComposedKept) -> Positions:
        """For each slot the smallest `complete` at which time alone brings a result."""
        due = self.of_events.next_due(kept.known)
        for pattern, rows in zip(self.patterns, kept.rows, strict=True):
            due = np.minimum(due, pattern.next_due(rows))
        return due

    def _in_reach(self, spans: Sequence[Spans], clock: Positions) -> tuple[Spans, ...]:
        """Those that the window still reaches (SEM 8.4)."""
        oldest = oldest_kept_each(clock, self.engine.spec.within)
        return tuple(own.keep(own.ts >= oldest[own.slot]) for own in spans)

    # -- steps

    def _taken(self, kept: ComposedKept, rows: Prepared, complete: int | None, at_end: bool) -> Taken:
        engine, tied = self.engine, Tied()
        ordered, is_late = self.of_events.in_time(kept.known, rows, complete, tied)
        time, mask, offset = ordered.rows
        first = np.full(kept.n_slots, OPEN)
        has_rows = np.diff(offset) > 0
        first[has_rows] = time[offset[:-1][has_rows]]
        own = ordered.rows._replace(mask=_bits(mask, 0, engine.n_symbols, engine.mask_type))
        events = ordered._replace(rows=own).input(engine, self.looking, kept.known)
        earlier = events.earlier
        events, begun = engine.begun(events, kept.known, complete)
        clock = begun.state[engine.clock_row]
        shift, after, spans = engine.n_symbols, [], []
        for symbol, pattern, kept_rows, before in zip(
            engine.patterns, self.patterns, kept.rows, kept.spans, strict=True
        ):
            done = pattern.advanced(kept_rows, _view(pattern, ordered, shift), complete, at_end=at_end)
            shift += len(pattern.needs.conditions)
            after.append(done.kept)
            found = Spans.of(done.found, done.ordered, engine.aggregates[symbol])
            found = found.keep(found.certain <= clock[found.slot])  # at the end all are found
            length = int(engine.least[symbol]), int(engine.most[symbol])
            both = [before.closed(first, *length), found.closed(np.full_like(first, OPEN), *length)]
            spans.append(Spans.concat(both, (0, 0)).in_order())
        return Taken(events._replace(earlier=earlier), begun, tuple(after), tuple(spans), is_late, tied)

    def _kept(self, taken: Taken, known: Known, spans: tuple[Spans, ...]) -> ComposedKept:
        after = self.engine.keep_begun(taken.events, taken.begun, known)
        return ComposedKept(after._replace(earlier=taken.events.earlier), taken.rows, spans)


class ComposedMatches(ComposedOperator):
    """Matches, each at the instant it becomes certain (SEM 17.3)."""

    @cached_property
    def of_events(self) -> EventMatches:  # type: ignore[override]
        """The same question, of which no row pattern is asked."""
        return _Matches(self.asked, self.schema, self.setting)

    def step(
        self, kept: ComposedKept, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Stepped:
        """The matches that the rows complete."""
        taken = self._taken(kept, rows, complete, at_end)
        found = self.engine.reported(
            *self.engine.composed(taken.events, taken.begun, taken.spans), kept.known
        )
        emitted = (FoundMatches(self.of_events.results, found),) if found.size else ()
        if not at_end:
            spans = self._in_reach(taken.spans, taken.begun.state[self.engine.clock_row])
            kept = self._kept(taken, kept.known, spans)
        return Stepped(kept, emitted, taken.late, tied=taken.tied)


class ComposedSituations(ComposedOperator):
    """The situations themselves, each when it is known as a whole (SEM 17.4)."""

    @cached_property
    def of_events(self) -> EventSituations:  # type: ignore[override]
        """The same question, of which no row pattern is asked."""
        return _Situations(self.asked, self.schema, self.setting)

    def step(
        self, kept: ComposedKept, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Stepped:
        """The situations that the rows close."""
        taken = self._taken(kept, rows, complete, at_end)
        events, begun = self.engine.composed(taken.events, taken.begun, taken.spans)
        emitted = [
            self.of_events.closed(symbol, events, begun.runs, kept.known, at_end)
            for symbol in range(self.engine.n_symbols)
        ]
        if not at_end:
            kept = self._kept(taken, kept.known, tuple(own.keep(own.te == OPEN) for own in taken.spans))
            known = kept.known.keep_entries(kept.known.entries.te == OPEN)  # the others are reported
            kept = kept._replace(known=known)
        return Stepped(kept, emitted, taken.late, tied=taken.tied)


def _view(pattern: PatternOperator, ordered: Ordered, shift: int) -> Prepared:
    """The events as a pattern reads them, whose conditions are the bits from `shift` on."""
    time, mask, offset = ordered.rows
    needs = pattern.needs
    codes = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    bits = _bits(mask, shift, len(needs.conditions), needs.mask_type)
    attributes = {name: ordered.attributes[name] for name in needs.attribute_names}
    return Prepared(codes, [], time, bits, attributes, [])


def _bits(mask: npt.NDArray[Any], shift: int, n: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """So many bits of each mask."""
    if n == 0:
        return np.zeros(len(mask), kind)
    kept = mask.astype(np.uint64) >> np.uint64(shift) & np.uint64((1 << n) - 1)
    return kept.astype(kind)
