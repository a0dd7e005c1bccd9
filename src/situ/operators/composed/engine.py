"""Situations that are matches of row patterns beside those that are derived: one join of both (SEM 17)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from situ.language.situations.binder import BoundQuery
from situ.operators.composed.spans import Spans
from situ.operators.situations.engine import Found, Input
from situ.operators.situations.judged import Judged, JudgedEngine
from situ.operators.situations.kernels.layout import Runs
from situ.operators.situations.kernels.match import Matches
from situ.operators.situations.known import Known, Positions
from situ.rows.kernels.numbers import NEVER


class ComposedEngine(JudgedEngine):
    """A bound query, compiled; what `Known` holds of symbols that are row patterns are no situations."""

    def __init__(self, bound: BoundQuery, **settings: object) -> None:
        super().__init__(bound, **settings)
        self.patterns = [i for i, symbol in enumerate(bound.query.symbols) if symbol.rows is not None]

    def clock(self, known: Known) -> Positions:
        """How far time has come in each slot."""
        clock: Positions = known.state[self.clock_row]
        return clock

    def composed(self, events: Input, begun: Judged, spans: Sequence[Spans]) -> tuple[Input, Judged]:
        """What `begun` gave, with the situations of row patterns.

        Each brings its aggregates along, as one row of its symbol.
        """
        runs, states = begun.runs, list(events.states)
        for symbol, own in zip(self.patterns, spans, strict=True):
            runs = with_spans(runs, symbol, own)
            states[symbol] = own.states
        return events._replace(states=tuple(states)), begun._replace(runs=runs)

    def reported(self, events: Input, begun: Judged, known: Known) -> Found:
        """The matches of this step."""
        return self._reported(events, begun, known)

    def standing(self, runs: Runs, horizon: Positions, n_events: int = 1) -> Matches:
        """No match comes before its situations are known, also by EMIT FINAL (SEM 17.3)."""
        matches = super().standing(runs, horizon, n_events)
        for symbol in self.patterns:
            np.maximum(matches.instant, runs.admissible[symbol, matches.pick[:, symbol]], out=matches.instant)
        return matches


def with_spans(runs: Runs, symbol: int, spans: Spans) -> Runs:
    """The runs, and those of one more symbol, which may overlap each other."""
    n_slots, size = runs.offset.shape[1] - 1, spans.size
    width = max(size, runs.ts.shape[1])
    parts = {name: _wider(part, width) for name, part in runs._asdict().items() if name != "offset"}
    rows = np.arange(size)
    columns = {
        "ts": spans.ts,
        "te": spans.te,
        "admissible": spans.known,
        "latest_te": _latest(spans),
        "first_row": rows,
        "last_row": rows,
        "carry": np.full(size, -1),
    }
    for name, column in columns.items():
        parts[name][symbol, :size] = column
    offset = runs.offset.copy()
    offset[symbol] = np.searchsorted(spans.slot, np.arange(n_slots + 1))
    return Runs(**parts, offset=offset)


def _wider(part: Positions, width: int) -> Positions:
    wide = np.full((part.shape[0], width), NEVER)
    wide[:, : part.shape[1]] = part
    return wide


def _latest(spans: Spans) -> Positions:
    """The running maximum of te in each slot."""
    size = spans.size
    rank = np.empty(size, np.int64)
    order = np.argsort(spans.te, kind="stable")
    rank[order] = np.arange(size)
    first = np.cumsum(np.diff(spans.slot, prepend=-1) != 0) * size  # no rank of a slot reaches the next one's
    latest: Positions = spans.te[order][np.maximum.accumulate(first + rank) - first]
    return latest
