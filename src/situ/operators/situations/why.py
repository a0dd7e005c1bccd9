"""Why a query matches what it matches, or nothing: situations, pairs and prefixes of the plan, counted.

Every count is a sum over partitions and every extreme a maximum, so that carriers add up what they find
apart from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.language.situations.ast import Difference, Query
from situ.operators.situations.engine import Engine
from situ.operators.situations.input import by_slot
from situ.operators.situations.interval_engine import IntervalEngine, interval_rows
from situ.operators.situations.intervals import no_intervals
from situ.operators.situations.judged import Judged, JudgedEngine, JudgingEngine
from situ.operators.situations.judged_intervals import JudgedIntervals
from situ.operators.situations.kernels.judge import (
    Heard,
    drop_beyond_window,
    wait_for_absence,
    wait_for_events,
    wait_for_gaps,
)
from situ.operators.situations.kernels.layout import LEFT, RIGHT, Runs, Spec
from situ.operators.situations.kernels.relate import bounds_of
from situ.operators.situations.kernels.why import (
    N_BINS,
    count_pairs,
    count_prefixes,
    keep_existing,
    nearest_miss,
    surely_fits,
)
from situ.operators.situations.looking import Looking
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared
from situ.rows.small import Mask
from situ.rows.tied import MOST_INSTANTS, Tied

Counts = npt.NDArray[np.int64]
NONE = -1  # of an extreme: there is no value
_KINDS = {"tied_at": "max", "longest": "max", "shortest": "min", "span": "min", "missed": "min"}


@dataclass(frozen=True)
class Tally:
    """What was counted of n symbols, C constraints, Q differences, G NO groups and a plan of n steps.

    Extremes are NONE where empty.
    """

    rows: (
        Counts  # [4]: events, partitions, partitions with a situation of every symbol, rows left out as ties
    )
    events: Counts  # [n]: events that satisfy the condition
    left_out: Counts  # [n]: rows left out as ties (SEM 1.3) that satisfy the condition
    runs: Counts  # [n]: times the condition held, whatever the duration
    too_short: Counts
    too_long: Counts
    situations: Counts  # [n]: those that can take part in matches
    near: Counts  # [C, N_BINS], see kernels.why.Pairs
    far: Counts
    in_time: Counts
    prefixes: Counts  # [n, 3]: candidates, standing as asked, in time; of positive symbols
    apart: Counts  # [Q]: near pairs that stand as asked by relations and all differences between the two
    outcome: Counts  # [4]: configurations reported, forbidden by a NO group, not certain yet, and too late
    groups: Counts  # [G, 2]: configurations that a situation forbids, and those that one still may
    longest: Counts  # [n]: of runs that are over
    shortest: Counts
    span: Counts  # [C, N_BINS]: smallest window that would let such a pair through
    missed: Counts  # [Q]: by how much the nearest pair misses a difference
    tied_at: Counts  # [MOST_INSTANTS]: instants that lost rows, LONG_AGO for none

    @classmethod
    def of(
        cls, engine: Engine, raw: Runs, events: Events, runs: Runs, judged: Outcome | None = None
    ) -> Tally:
        """Count what `engine` derived: raw runs as if no durations were asked for, and its own runs."""
        n = engine.n_positive
        spec = _by_written_relations(engine.join_spec)
        runs = runs._replace(latest_te=keep_existing(runs, spec.followed, spec.final))
        per_slot = np.diff(runs.offset, axis=1)
        pairs = [count_pairs(runs, spec, a, b) for a, b in constrained_pairs(engine.bound.query)]
        durations = [_durations(raw, engine, symbol) for symbol in range(engine.n_symbols)]
        n_runs = np.diff(raw.offset, axis=1).sum(axis=1)
        too_short, too_long = np.array([d[0] for d in durations]), np.array([d[1] for d in durations])
        situations = per_slot.sum(axis=1)
        situations[n:] = (n_runs - too_short - too_long)[n:]  # lengths of absent ones are judged with them
        prefixes = count_prefixes(runs, spec, plan_order(engine))
        if judged is None:
            judged = Outcome(np.array([prefixes[-1, 2], 0, 0, 0]), np.zeros((0, 2), np.int64))
        return cls(
            rows=np.array(
                [events.n, per_slot.shape[1], int((per_slot[:n] > 0).all(axis=0).sum()), events.tied.n_rows]
            ),
            events=events.satisfying,
            left_out=events.left_out,
            runs=n_runs,
            too_short=too_short,
            too_long=too_long,
            situations=situations,
            near=_stacked([pair.near for pair in pairs]),
            far=_stacked([pair.far for pair in pairs]),
            in_time=_stacked([pair.in_time for pair in pairs]),
            prefixes=prefixes,
            apart=np.array([_n_apart(runs, spec, one) for one in spec.differences], np.int64),
            outcome=judged.outcome,
            groups=judged.groups,
            longest=np.array([d[2] for d in durations]),
            shortest=np.array([d[3] for d in durations]),
            span=_stacked([np.where(pair.span == OPEN, NONE, pair.span) for pair in pairs]),
            missed=np.array([_missed(engine, runs, q) for q in range(len(spec.differences))], np.int64),
            tied_at=_spread([one.ticks for one in events.tied.instants]),
        )

    @classmethod
    def nothing(cls, query: Query) -> Tally:
        """Of no data at all."""
        none = np.zeros(len(query.symbols), np.int64)
        bins = np.zeros((len(query.constraints), N_BINS), np.int64)
        prefixes = np.zeros((len(query.positives), 3), np.int64)
        apart = np.zeros(len(query.differences), np.int64)
        judged = (np.zeros(4, np.int64), np.zeros((len(query.absences), 2), np.int64))
        counts = (np.zeros(4, np.int64), *(none,) * 6, *(bins,) * 3, prefixes, apart, *judged)
        return cls(*counts, none + NONE, none + NONE, bins + NONE, apart + NONE, _spread([]))

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            *(
                _combine(field.name, getattr(self, field.name), getattr(other, field.name))
                for field in fields(self)
            )
        )

    def kinds(self) -> list[str]:
        """How each of `to_numbers` adds up with another's: sum, max or min."""
        return [
            _KINDS.get(field.name, "sum")
            for field in fields(self)
            for _ in np.ravel(getattr(self, field.name))
        ]

    def to_numbers(self) -> Counts:
        """All of it as one row of numbers."""
        return np.concatenate([np.ravel(getattr(self, field.name)) for field in fields(self)])

    def with_numbers(self, numbers: Counts) -> Tally:
        """A tally of what `to_numbers` was called on, with other numbers."""
        shapes = [np.shape(getattr(self, field.name)) for field in fields(self)]
        borders = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
        parts = np.split(np.asarray(numbers, np.int64), borders)
        return Tally(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))

    @property
    def n_tied(self) -> int:
        """How many rows were left out as ties."""
        return int(self.rows[3])


def _combine(name: str, a: Counts, b: Counts) -> Counts:
    kind = _KINDS.get(name, "sum")
    if kind == "max":
        return np.maximum(a, b)
    if kind == "min":
        return np.where(a == NONE, b, np.where(b == NONE, a, np.minimum(a, b)))
    return a + b


class Events(NamedTuple):
    """The rows that count, and those left out as ties; per symbol how many satisfy its condition."""

    n: int
    satisfying: Counts
    left_out: Counts
    tied: Tied


class Outcome(NamedTuple):
    """What becomes of configurations that stand as asked; see Tally."""

    outcome: Counts
    groups: Counts


def tally(
    engine: Engine,
    needs: Needs,
    prepared: Prepared,
    tied: Tied | None = None,
    complete: int | None = None,
    looking: Looking | None = None,
) -> Tally:
    """Count prepared rows; every partition is whole. `tied` takes note of rows left out.

    `complete` is one more than the clock, where there is one (SEM 11.9).
    """
    tied = Tied() if tied is None else tied
    if isinstance(engine, IntervalEngine):
        return _tally_intervals(engine, prepared, complete)
    known = engine.nothing_known(prepared.n_slots)
    if looking is not None:
        known = known._replace(earlier=looking.nothing(prepared.n_slots))
    given = by_slot(needs, prepared, prepared.n_slots, tied).input(engine, looking, known)
    _, loose = _without_durations(engine).begun(given, known, complete)
    counted = satisfying(given.rows.mask, engine.n_symbols)
    left_out = satisfying(prepared.mask, engine.n_symbols) - counted
    if looking is not None:  # what was left out is no instant, and so looks back at none
        left_out[list(looking.look_back.symbols)] = 0
    _, derived = engine.begun(given, known, complete)
    events = Events(len(given.rows.time), counted, left_out, tied)
    outcome = None
    if isinstance(engine, JudgedEngine):
        assert isinstance(derived, Judged)
        clock = derived.state[engine.clock_row]
        outcome = _judged(engine, derived.runs, derived.heard, known.horizon, clock)
        _leave_out_what_comes(engine, derived)
    return Tally.of(engine, loose.runs, events, derived.runs, outcome)


def _judged(engine: JudgingEngine, runs: Runs, heard: Heard, horizon: Counts, clock: Counts) -> Outcome:
    """What becomes of the configurations that the join finds."""
    waits = engine.waits
    pick, slot, instant = engine.standing(runs, horizon)
    clock = clock[slot]
    wait_for_events(waits, runs, heard, pick, slot, instant, horizon)
    groups = np.zeros((len(waits.absent), 2), np.int64)
    now, is_forbidden = instant.copy(), np.zeros(len(slot), bool)
    for group in range(len(groups)):
        absent = instant.copy()
        wait_for_absence(waits, group, runs, heard, pick, slot, absent)
        fitted = np.flatnonzero((absent == NEVER) & (instant != NEVER))
        fitted = fitted[surely_fits(waits, group, runs, pick, slot, fitted)]
        is_forbidden[fitted] = True
        groups[group] = len(fitted), int((absent > clock).sum()) - len(fitted)
        now = np.maximum(now, absent)
    wait_for_gaps(waits, runs, heard, pick, slot, now)
    # what is not certain yet can be too late already: no instant up to the clock is one
    in_time = np.maximum(np.minimum(now, clock), instant)
    if waits.within != UNBOUNDED:
        drop_beyond_window(waits.within, runs.ts, pick, in_time)
    is_late = (in_time == NEVER) & (instant != NEVER) & ~is_forbidden
    is_waiting = (now > clock) & ~is_forbidden & ~is_late
    n_lost = [int(lost.sum()) for lost in (is_forbidden, is_waiting, is_late)]
    return Outcome(np.array([len(slot) - sum(n_lost), *n_lost]), groups)


def _leave_out_what_comes(engine: JudgedEngine, derived: Judged) -> None:
    """A silence exists once it has lasted long enough, which may be after the clock."""
    clock = derived.state[engine.clock_row]
    for silence in engine.silences:
        of = np.repeat(np.arange(len(clock)), np.diff(derived.runs.offset[silence.symbol]))
        admissible = derived.runs.admissible[silence.symbol, : len(of)]
        admissible[admissible > clock[of]] = NEVER


def _tally_intervals(engine: IntervalEngine, prepared: Prepared, complete: int | None) -> Tally:
    rows = interval_rows(prepared)
    nothing = no_intervals(
        {name: column.type for name, column in rows.attributes.items()},
        None if rows.ids is None else rows.ids.type,
    )
    loose = _without_durations(engine)
    assert isinstance(loose, IntervalEngine)
    raw = loose.spread(nothing, rows, prepared.n_slots).runs
    runs = engine.spread(nothing, rows, prepared.n_slots).runs
    counted = satisfying(prepared.mask, engine.n_symbols)
    events = Events(prepared.n_rows, counted, np.zeros_like(counted), Tied())
    outcome = None
    if isinstance(engine, JudgedIntervals):
        clock = np.full(prepared.n_slots, LONG_AGO if complete is None else complete - 1)  # None: no rows
        before = np.full(prepared.n_slots, LONG_AGO)
        outcome = _judged(engine, runs, engine.nothing_heard(prepared.n_slots), before, clock)
    return Tally.of(engine, raw, events, runs, outcome)


def satisfying(mask: Mask, n_symbols: int) -> Counts:
    """How many rows satisfy each condition."""
    one = mask.dtype.type(1)
    return np.array([int(((mask >> mask.dtype.type(i)) & one).sum()) for i in range(n_symbols)], np.int64)


def _spread(instants: Sequence[int]) -> Counts:
    """Instants in places of their own, so that the largest of every place are different ones."""
    places = np.full(MOST_INSTANTS, LONG_AGO)
    for ticks in instants:
        at = hash(ticks) % MOST_INSTANTS
        places[at] = max(places[at], ticks)
    return places


def plan_order(engine: Engine) -> Counts:
    """The plan made before anything is known of the data: the same wherever the data lies."""
    from situ.plan.plan import Planner

    return np.array(Planner(engine.join_spec.relations).plan.full, np.int64)


def constrained_pairs(query: Query) -> list[tuple[int, int]]:
    """The symbols of each constraint, by position."""
    position = {name: i for i, name in enumerate(query.symbol_names)}
    return [(position[constraint.left], position[constraint.right]) for constraint in query.constraints]


def _without_durations(engine: Engine) -> Engine:
    none: tuple[None, ...] = (None,) * engine.n_symbols
    loose = replace(engine.bound, at_least=none, at_most=none)
    forget_after = int(engine.spec.forget_after)
    return type(engine)(loose, forget_after=None if forget_after < 0 else forget_after)


def _by_written_relations(spec: Spec) -> Spec:
    """Ranges from each constraint alone: a pair is not to be left out for what other pairs imply."""
    lower, upper = np.zeros_like(spec.lower), np.zeros_like(spec.upper)
    for a, b in np.ndindex(*spec.relations.shape):
        lower[a, b], upper[a, b] = bounds_of(int(spec.relations[a, b]))
    return spec._replace(lower=lower, upper=upper)


def differences_of(engine: Engine) -> list[Difference]:
    """The differences of the query, in the order in which kernels have them."""
    query = engine.bound.query
    position = {name: i for i, name in enumerate(query.symbol_names)}
    written = {
        (
            position[one.left.symbol],
            one.left.end == "te",
            position[one.right.symbol],
            one.right.end == "te",
        ): one
        for one in query.differences
    }
    return [written[tuple(row[:4])] for row in engine.spec.differences.tolist()]


def _n_apart(runs: Runs, spec: Spec, difference: Counts) -> int:
    """How many pairs stand as asked by all that is said of the symbols of a difference."""
    return int(count_prefixes(runs, spec, difference[[LEFT, RIGHT]])[-1, 1])


def _missed(engine: Engine, runs: Runs, q: int) -> int:
    if engine.bound.query.intervals is not None:  # their ends are in no order
        return NONE
    nearest = int(nearest_miss(runs, engine.join_spec, q))
    return NONE if nearest == NEVER else nearest


def _durations(raw: Runs, engine: Engine, symbol: int) -> tuple[int, int, int, int]:
    """Of a symbol's raw runs that are over: too short, too long, the longest and the shortest."""
    n = raw.offset[symbol, -1]
    te = raw.te[symbol, :n]
    is_over = te != OPEN
    length = te[is_over] - raw.ts[symbol, :n][is_over]
    length[length < 0] = OPEN - 1  # longer than 64 bits can say
    if not len(length):
        return 0, 0, NONE, NONE
    least, most = engine.bound.at_least[symbol] or 0, engine.bound.at_most[symbol]
    too_long = 0 if most is None else int((length > most).sum())
    return int((length < least).sum()), too_long, int(length.max()), int(length.min())


def _stacked(rows: Sequence[Counts]) -> Counts:
    return np.array(rows, np.int64).reshape(len(rows), N_BINS)
