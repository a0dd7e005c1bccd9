"""The engine of queries whose matches may wait for more than endpoints (SEM 9.3, 11 to 14).

A step joins all that is kept and new, and then judges every configuration: when its match is reported, if at
all. Those whose instant falls between the clock before the step and the clock after it are its matches, so
that nothing has to be kept of a configuration that waits: the situations it is made of are kept anyway.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.aggregate import AggregateSpec, States
from situ.language.situations.ast import Difference, Query
from situ.language.situations.binder import BoundQuery
from situ.operators.situations.absences import how_far_back, make_groups
from situ.operators.situations.engine import Engine, Found, Input
from situ.operators.situations.joins import by_instant, endpoints
from situ.operators.situations.kernels.admit import admit, judge_followed, latest_raw_ends
from situ.operators.situations.kernels.bridge import DECIDED, bridge
from situ.operators.situations.kernels.derive import derive, new_histories
from situ.operators.situations.kernels.judge import Heard, Waits, hide_undecided, judge, take_due
from situ.operators.situations.kernels.layout import Rows, Runs
from situ.operators.situations.kernels.match import Matches
from situ.operators.situations.kernels.needed import needed
from situ.operators.situations.kernels.retain import retain_some, stays
from situ.operators.situations.kernels.silences import Column, silences
from situ.operators.situations.kernels.unite import at_own_events, unite
from situ.operators.situations.known import Known, Positions
from situ.operators.situations.marks import are_some, marks_of
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, minus
from situ.saved.checks import require

Flags = npt.NDArray[np.bool_]
_ONE_SLOT = np.zeros(1, np.int64)


def is_judged(query: Query) -> bool:
    """Whether a query asks for something that this engine is for."""
    odd = any(symbol.is_silence or symbol.ignoring for symbol in query.symbols)
    return bool(_that_wait(query)) or odd or bool(query.absences) or len(query.sources) > 1


def _that_wait(query: Query) -> list[Difference]:
    """The differences that an event of none of the situations may make certain (SEM 9.3).

    Where y is a start it has occurred: a match waits for that anyway.
    """
    if query.intervals is not None or query.emit == "FINAL":
        return []
    return [one for one in query.differences if one.bound.value < 0 and one.right.end == "te"]


class Silence(NamedTuple):
    """A symbol that is a SILENCE."""

    symbol: int
    least: int
    most: int  # UNBOUNDED for none
    is_absent: bool


class Ignored(NamedTuple):
    """A symbol that ignores gaps; one of the two bounds is UNBOUNDED."""

    symbol: int
    longest: int
    most_events: int


class Judged(NamedTuple):
    """The situations of a step's slots, the slots' state afterwards, and what else judging looks at."""

    runs: Runs
    state: Positions
    heard: Heard


class JudgingEngine(Engine):
    """One whose join says which configurations stand as asked, and `judge` when each is reported."""

    def __init__(self, bound: BoundQuery, **settings: object) -> None:
        super().__init__(bound, **settings)  # type: ignore[arg-type]  # as they are
        self.waits = _waits(bound)
        reach = how_far_back(bound)
        self.reach = np.array([reach.get(i, 0) for i in range(self.n_symbols)], np.int64)
        self.least = np.array([length or 0 for length in bound.at_least], np.int64)
        self.most = np.array([_or_unbounded(length) for length in bound.at_most], np.int64)

    def judged(self, runs: Runs, heard: Heard, horizon: Positions, n_events: int) -> Matches:
        """Every configuration that stands as asked, with the instant of its match; NEVER: none (yet)."""
        matches = self.standing(runs, horizon, n_events)
        judge(self.waits, runs, heard, matches.pick, matches.slot, matches.instant, horizon)
        return matches

    def standing(self, runs: Runs, horizon: Positions, n_events: int = 1) -> Matches:
        """Every configuration that stands as asked, with the instant from which its own endpoints say so."""
        return self.match(self.of_positives(runs), np.full(len(horizon), LONG_AGO), n_events)

    def _orders_for(self, runs: Runs, before: Positions) -> Positions:
        return self._full  # what waits may have been touched long ago

    def of_positives(self, runs: Runs) -> Runs:
        """The runs that matches are made of."""
        n = self.n_positive
        of_each = {name: part[:n] for name, part in runs._asdict().items() if name != "verdict"}
        return Runs(**of_each, verdict=runs.verdict)


def by_clock(matches: Matches, before: Positions, clock: Positions) -> tuple[Matches, Positions]:
    """The matches between each slot's clocks, by instant; and when the next one comes if nothing happens."""
    due = np.empty(len(clock), np.int64)
    n_now = take_due(*matches, before, clock, due)
    return by_instant(Matches(*(part[:n_now] for part in matches))), due


class JudgedEngine(JudgingEngine):
    """A bound query, compiled; `Known.state` has more rows than those that all queries have.

    They are each slot's clock, the next instant at which something may be reported though nothing happens
    (NEVER for none), for each silence the last event of its source, and for each symbol that ignores gaps
    how many events an undecided gap has so far, and the last event instant before that gap.
    """

    def __init__(self, bound: BoundQuery, **settings: object) -> None:
        super().__init__(bound, **settings)
        query, n = bound.query, self.n_symbols
        self._derives_only = bool(settings.get("with_count"))  # for `situations`
        self.silences = [
            Silence(i, bound.at_least[i] or 0, _or_unbounded(bound.at_most[i]), i >= self.n_positive)
            for i in range(n)
            if query.symbols[i].is_silence
        ]
        self.ignored = [_ignored(i, query) for i in range(n) if query.symbols[i].ignoring is not None]
        self.clock_row = self.n_state_rows
        self.due_row = self.clock_row + 1
        self._heard_row = self.due_row + 1
        self._pending_row = self._heard_row + len(self.silences)
        self._eve_row = self._pending_row + len(self.ignored)
        self.n_state_rows = self._eve_row + len(self.ignored)
        of_source = [source.alias for source in query.sources]
        sources = [of_source.index(str(symbol.on)) if of_source else 0 for symbol in query.symbols]
        self._source_of = sources
        bits = [sum(1 << i for i in range(n) if sources[i] == s) for s in range(max(1, len(of_source)))]
        self._symbols_of = np.array(bits, np.uint64)

        self._marks = marks_of(self, has_several=len(bits) > 1)

    @property
    def needs_more_rows(self) -> bool:
        """Whether something is told by rows at which no condition begins, ends or reaches its minimum."""
        return are_some(self._marks)

    @property
    def needs_all_rows(self) -> bool:
        """Whether that may be any row."""
        return self._marks.everything

    def rows_needed(self, rows: Rows) -> Flags:
        """Which rows are, of no row where none is."""
        if not self.needs_more_rows:
            return super().rows_needed(rows)
        alone: Flags = needed(rows, self._marks, self.spec.forget_after)
        return alone

    @property
    def _has_several(self) -> bool:
        return len(self._symbols_of) > 1

    def nothing_known(self, n_slots: int) -> Known:
        """Partitions never seen before."""
        known = super().nothing_known(n_slots)
        more = np.full((self.n_state_rows - self.clock_row, n_slots), LONG_AGO)
        more[1] = NEVER
        more[self._pending_row - self.clock_row : self._eve_row - self.clock_row] = DECIDED
        return known._replace(state=np.concatenate([known.state, more]))

    def check_state(self, known: Known) -> None:
        """Clocks and events lie where they can."""
        state, horizon = known.state, known.horizon
        clock, due = state[self.clock_row], state[self.due_row]
        require(bool((clock >= horizon).all() and (due > clock).all()), "a clock is wrong")
        require(bool((state[self._heard_row : self._pending_row] <= horizon).all()), "an event lies ahead")
        pending, eve = state[self._pending_row : self._eve_row], state[self._eve_row :]
        require(bool((pending >= DECIDED).all() and (eve <= horizon).all()), "a gap is impossible")

    def holds_on(self, known: Known) -> Flags:
        """Which slots would begin otherwise if they were forgotten: by a condition, a gap, or a silence."""
        silent = sum(1 << silence.symbol for silence in self.silences)  # always goes on, and may begin anew
        holds: Flags = (known.slots.mask & ~np.uint64(silent)) != 0
        holds |= (known.state[self._pending_row : self._eve_row] != DECIDED).any(axis=0)
        for number, silence in enumerate(self.silences):
            if silence.is_absent:
                holds |= known.state[self._heard_row + number] != LONG_AGO
        return holds

    # -- rows to situations

    def begun(self, events: Input, known: Known, complete: int | None) -> tuple[Input, Judged]:  # type: ignore[override]
        """The rows as situations are derived from them, one an instant, and these."""
        events, own = self._united(events, known)
        rows, slots, entries, spec = events.rows, known.slots, known.entries, self.spec
        runs, mask = derive(
            rows, entries, slots, len(spec.followed), spec.at_least, spec.at_most, spec.forget_after
        )
        runs = Runs(*runs)
        state = self._state_after(events, known, complete, mask)
        if len(spec.ending):
            judge_followed(runs, entries, slots, spec.followed, spec.ending)
            latest_raw_ends(runs, slots, spec.ending, state[2 : 2 + len(spec.ending)])
        gaps = self._bridged(events, runs, known, own, state)
        if self._has_several:
            at_own_events(rows, own, runs, spec.at_least, spec.at_most)
        held = np.bitwise_or.reduce(slots.mask, initial=np.uint64(0))
        admit(rows, runs, spec.at_least, spec.at_most, spec.followed, held)
        last = np.full((self.n_symbols, known.n_slots), LONG_AGO)
        runs = self._with_silences(events, runs, known, own, state, last)
        histories = new_histories(rows.time, rows.offset, known.horizon, spec.forget_after)
        return events, Judged(runs, state, Heard(rows.time, rows.offset, own, last, *gaps, *histories))

    def _united(self, events: Input, known: Known) -> tuple[Input, npt.NDArray[np.uint64]]:
        """The rows with the masks of all sources; of each row, the symbols it is an event of."""
        rows, states = events[:2]
        own = np.empty(0, np.uint64)
        if self._has_several:
            rows, own, place = unite(
                rows.time, rows.mask, rows.offset, self._symbols_of, self.n_symbols,
                known.horizon, known.slots.mask, self.spec.forget_after,
            )  # fmt: skip
            states = tuple(
                _picked(spec, one, place[self._source_of[i]])
                for i, (spec, one) in enumerate(zip(self.aggregates, states, strict=True))
            )
        elif self.silences or self.ignored:
            own = np.full(len(rows.time), self._symbols_of[0])
        for ignored in self.ignored:  # SEM 14.1: events in gaps are not the situation's
            i = ignored.symbol
            holds = rows.mask >> rows.mask.dtype.type(i) & rows.mask.dtype.type(1) == 1
            own_states = _picked(self.aggregates[i], states[i], np.where(holds, np.arange(len(holds)), -1))
            states = (*states[:i], own_states, *states[i + 1 :])
        return Input(rows, states), own

    def _state_after(
        self, events: Input, known: Known, complete: int | None, mask: npt.NDArray[np.uint64]
    ) -> Positions:
        """The slots' state after the step, but for what is known once runs are put together."""
        state = known.state.copy()
        time, offset = events.rows.time, events.rows.offset
        some = np.diff(offset) > 0
        state[0][some] = time[offset[1:][some] - 1]
        state[1] = mask.view(np.int64)
        clock = np.maximum(state[self.clock_row], state[0])
        if complete is not None:
            clock = np.maximum(clock, minus(complete, 1))
        state[self.clock_row] = clock
        return state

    def _with_silences(
        self,
        events: Input,
        runs: Runs,
        known: Known,
        own: npt.NDArray[np.uint64],
        state: Positions,
        last: Positions,
    ) -> Runs:
        for number, silence in enumerate(self.silences):
            heard = state[self._heard_row + number]
            last[silence.symbol] = heard
            column = silences(
                events.rows, own, runs, known.entries, silence.symbol, silence.least, silence.most,
                silence.is_absent, heard, self.spec.forget_after,
            )  # fmt: skip
            if self._derives_only:  # a silence that is too short so far does not exist
                of = np.repeat(np.arange(known.n_slots), np.diff(column.offset))
                column.admissible[column.admissible > state[self.clock_row][of]] = NEVER
            runs = _replaced(runs, silence.symbol, column)
        return runs

    def _bridged(
        self, events: Input, runs: Runs, known: Known, own: npt.NDArray[np.uint64], state: Positions
    ) -> tuple[Positions, ...]:
        """Put runs together over the gaps they ignore; the gaps as `Heard` has them."""
        n, n_slots = self.n_symbols, known.n_slots
        offset = np.zeros((n, n_slots + 1), np.int64)
        since, eve = np.full((n, n_slots), LONG_AGO), np.full((n, n_slots), OPEN)
        found = {}
        for number, (symbol, longest, most_events) in enumerate(self.ignored):
            place = 2 + int(np.searchsorted(self.spec.ending, symbol))
            undecided = known.state[self._pending_row + number], known.state[self._eve_row + number]
            gaps = bridge(
                events.rows, own, runs, known.entries, known.slots, symbol, longest, most_events,
                known.state[place], undecided, self.spec.forget_after,
            )  # fmt: skip
            found[symbol] = gaps
            offset[symbol] = gaps.offset
            state[self._pending_row + number] = gaps.pending
            state[self._eve_row + number] = gaps.eve
            is_undecided = undecided[0] != DECIDED
            since[symbol][is_undecided] = known.state[place][is_undecided]
            eve[symbol][is_undecided] = undecided[1][is_undecided]
        width = max((len(gaps.begin) for gaps in found.values()), default=0)
        begin, end = np.zeros((n, width), np.int64), np.zeros((n, width), np.int64)
        for symbol, gaps in found.items():
            begin[symbol, : len(gaps.begin)], end[symbol, : len(gaps.end)] = gaps.begin, gaps.end
        return begin, end, offset, since, eve

    # -- situations to matches

    def step(self, events: Input, known: Known, complete: int | None = None) -> tuple[Found, Known]:
        """The matches up to the clock, and what is known afterwards."""
        events, judged = self.begun(events, known, complete)
        found = self._reported(events, judged, known)
        return found, self.keep_begun(events, judged, known)

    def find(self, events: Input, known: Known, complete: int | None = None) -> Found:
        """The matches up to the clock, where nothing comes after it."""
        events, judged = self.begun(events, known, complete)
        return self._reported(events, judged, known)

    def _reported(self, events: Input, judged: Judged, known: Known) -> Found:
        """The matches of this step; what waits for an instant to come is written down in the state."""
        state, heard = judged.state, judged.heard
        runs = self.with_codes(events, judged.runs, known)
        matches = self.judged(runs, heard, known.horizon, len(events.rows.time))
        now, due = by_clock(matches, known.state[self.clock_row], state[self.clock_row])
        state[self.due_row] = due
        positives = self.of_positives(runs)
        ends, is_over = endpoints(positives[:], now)
        n = self.n_positive
        for symbol, *_ in self.ignored:
            if symbol < n:
                hide_undecided(heard, now.slot, ends[symbol], ends[n + symbol], now.instant, symbol)
                is_over[symbol] = np.packbits(ends[n + symbol] <= now.instant, bitorder="little")
        return self._found(events, positives, known, now.pick, Found(ends, is_over, ()))

    def _undecided_since(self, state: Positions) -> Positions:
        """For each slot the begin of its first undecided gap, OPEN for none."""
        since = np.full(state.shape[1], OPEN)
        for number, (symbol, *_) in enumerate(self.ignored):
            place = 2 + int(np.searchsorted(self.spec.ending, symbol))
            is_undecided = state[self._pending_row + number] != DECIDED
            since = np.where(is_undecided, np.minimum(since, state[place]), since)
        return since

    def keep_begun(self, events: Input, begun: Judged, known: Known) -> Known:  # type: ignore[override]
        """What later steps need of the runs (SEM 8.4, 11.7)."""
        runs, state, heard = begun
        within = self.spec.within
        clock, undecided = state[self.clock_row], self._undecided_since(state)
        latest = np.full(known.n_slots, LONG_AGO)  # the last history that has begun
        has_begun = np.diff(heard.history_offset) > 0
        latest[has_begun] = heard.history[heard.history_offset[1:][has_begun] - 1]
        keep = stays(
            runs, self.n_positive, within, clock, self.reach, self.least, self.most, undecided, latest
        )
        kept, offset, column = retain_some(runs, self.spec.followed, keep, state[0])
        return Known(state, kept, offset, self._carried(events, runs, known, kept[0], column))


def _waits(bound: BoundQuery) -> Waits:
    """What the matches of a query wait for."""
    query = bound.query
    position = {name: i for i, name in enumerate(query.symbol_names)}
    differences = [
        (position[one.left.symbol], one.left.end == "te", -one.bound.value) for one in _that_wait(query)
    ]
    groups = make_groups(bound)
    return Waits(
        np.array(differences, np.int64).reshape(-1, 3),
        *groups,
        has_gaps=np.array([symbol.ignoring is not None for symbol in query.symbols]),
        silence=np.array(
            [bound.at_least[i] or 0 if symbol.is_silence else 0 for i, symbol in enumerate(query.symbols)],
            np.int64,
        ),
        within=np.int64(_or_unbounded(bound.within)),
        is_given=query.intervals is not None,
    )


def _ignored(symbol: int, query: Query) -> Ignored:
    gaps = query.symbols[symbol].ignoring
    assert gaps is not None
    longest = int(UNBOUNDED) if gaps.duration is None else gaps.duration.value
    return Ignored(symbol, longest, _or_unbounded(gaps.events))


def _or_unbounded(length: int | None) -> int:
    return int(UNBOUNDED) if length is None else length


def _picked(spec: AggregateSpec, states: States, rows: Positions) -> States:
    """The states of these rows, nothing where there is none (-1)."""
    if not spec:
        return States((), (), len(rows))
    nothing = spec.fold(states, spec.empty(), _ONE_SLOT, _ONE_SLOT - 1, _ONE_SLOT - 1)  # of no rows
    return States.concat([states, nothing]).take(np.where(rows < 0, len(states), rows))


def _replaced(runs: Runs, symbol: int, column: Column) -> Runs:
    """The runs with others of one symbol."""
    size, width = len(column.ts), runs.ts.shape[1]
    if size > width:
        wider = {name: _wider(part, size) for name, part in runs._asdict().items() if name != "offset"}
        runs = runs._replace(**wider)._replace(latest_te=wider["te"])
    for name in ("ts", "te", "admissible", "first_row", "last_row", "carry"):
        getattr(runs, name)[symbol, :size] = getattr(column, name)
    runs.offset[symbol] = column.offset
    return runs


def _wider(part: Positions, width: int) -> Positions:
    wide = np.empty((part.shape[0], width), np.int64)
    wide[:, : part.shape[1]] = part
    return wide
