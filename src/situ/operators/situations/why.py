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

from situ.language.situations.ast import Query
from situ.operators.situations.engine import Engine
from situ.operators.situations.input import to_input
from situ.operators.situations.interval_engine import IntervalEngine, interval_rows
from situ.operators.situations.intervals import no_intervals
from situ.operators.situations.kernels.layout import Runs, Spec
from situ.operators.situations.kernels.relate import bounds_of
from situ.operators.situations.kernels.why import N_BINS, count_pairs, count_prefixes, keep_existing
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared
from situ.rows.small import Mask
from situ.rows.tied import MOST_INSTANTS, Tied

Counts = npt.NDArray[np.int64]
NONE = -1  # of an extreme: there is no value
_KINDS = {"tied_at": "max", "longest": "max", "shortest": "min", "span": "min"}


@dataclass(frozen=True)
class Tally:
    """What was counted of n symbols, C constraints and a plan of n steps. Extremes are NONE where empty."""

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
    prefixes: Counts  # [n, 3]: candidates, standing as asked, in time
    longest: Counts  # [n]: of runs that are over
    shortest: Counts
    span: Counts  # [C, N_BINS]: smallest window that would let such a pair through
    tied_at: Counts  # [MOST_INSTANTS]: instants that lost rows, LONG_AGO for none

    @classmethod
    def of(cls, engine: Engine, raw: Runs, events: Events, runs: Runs) -> Tally:
        """Count what `engine` derived: raw runs as if no durations were asked for, and its own runs."""
        spec = _by_written_relations(engine.spec)
        runs = runs._replace(latest_te=keep_existing(runs, spec.followed, spec.final))
        per_slot = np.diff(runs.offset, axis=1)
        pairs = [count_pairs(runs, spec, a, b) for a, b in constrained_pairs(engine.bound.query)]
        durations = [_durations(raw, spec, symbol) for symbol in range(engine.n_symbols)]
        return cls(
            rows=np.array(
                [events.n, per_slot.shape[1], int((per_slot > 0).all(axis=0).sum()), events.tied.n_rows]
            ),
            events=events.satisfying,
            left_out=events.left_out,
            runs=np.diff(raw.offset, axis=1).sum(axis=1),
            too_short=np.array([d[0] for d in durations]),
            too_long=np.array([d[1] for d in durations]),
            situations=per_slot.sum(axis=1),
            near=_stacked([pair.near for pair in pairs]),
            far=_stacked([pair.far for pair in pairs]),
            in_time=_stacked([pair.in_time for pair in pairs]),
            prefixes=count_prefixes(runs, spec, plan_order(engine)),
            longest=np.array([d[2] for d in durations]),
            shortest=np.array([d[3] for d in durations]),
            span=_stacked([np.where(pair.span == OPEN, NONE, pair.span) for pair in pairs]),
            tied_at=_spread([one.ticks for one in events.tied.instants]),
        )

    @classmethod
    def nothing(cls, n_symbols: int, n_constraints: int) -> Tally:
        """Of no data at all."""
        none = np.zeros(n_symbols, np.int64)
        bins = np.zeros((n_constraints, N_BINS), np.int64)
        prefixes = np.zeros((n_symbols, 3), np.int64)
        counts = (np.zeros(4, np.int64), *(none,) * 6, *(bins,) * 3, prefixes)
        return cls(*counts, none + NONE, none + NONE, bins + NONE, _spread([]))

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


def tally(engine: Engine, needs: Needs, prepared: Prepared, tied: Tied | None = None) -> Tally:
    """Count prepared rows; every partition is whole. `tied` takes note of rows left out."""
    tied = Tied() if tied is None else tied
    if isinstance(engine, IntervalEngine):
        return _tally_intervals(engine, prepared)
    rows = to_input(engine, needs, prepared, prepared.n_slots, tied).rows
    known = engine.nothing_known(prepared.n_slots)
    raw = _without_durations(engine).derive(rows, known).runs
    counted = satisfying(rows.mask, engine.n_symbols)
    left_out = satisfying(prepared.mask, engine.n_symbols) - counted
    events = Events(len(rows.time), counted, left_out, tied)
    return Tally.of(engine, raw, events, engine.derive(rows, known).runs)


def _tally_intervals(engine: IntervalEngine, prepared: Prepared) -> Tally:
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
    return Tally.of(engine, raw, Events(prepared.n_rows, counted, np.zeros_like(counted), Tied()), runs)


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

    return np.array(Planner(engine.spec.relations).plan.full, np.int64)


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


def _durations(raw: Runs, spec: Spec, symbol: int) -> tuple[int, int, int, int]:
    """Of a symbol's raw runs that are over: too short, too long, the longest and the shortest."""
    n = raw.offset[symbol, -1]
    te = raw.te[symbol, :n]
    is_over = te != OPEN
    length = te[is_over] - raw.ts[symbol, :n][is_over]
    length[length < 0] = OPEN - 1  # longer than 64 bits can say
    if not len(length):
        return 0, 0, NONE, NONE
    longest_allowed = spec.at_most[symbol]
    too_long = int((length > longest_allowed).sum()) if longest_allowed >= 0 else 0
    return int((length < spec.at_least[symbol]).sum()), too_long, int(length.max()), int(length.min())


def _stacked(rows: Sequence[Counts]) -> Counts:
    return np.array(rows, np.int64).reshape(len(rows), N_BINS)
