"""Matching given intervals: the same join over situations that may overlap each other (SEM 6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.aggregate import States
from situ.operators.situations.engine import Engine, Found, SymbolValues
from situ.operators.situations.intervals import IntervalRows, Intervals, resolve
from situ.operators.situations.joins import by_instant, endpoints
from situ.operators.situations.kernels.layout import Runs
from situ.operators.situations.kernels.match import Matches
from situ.operators.situations.kernels.spread import spread
from situ.operators.situations.known import Positions
from situ.rows.instants import ENDS, IDS, STARTS
from situ.rows.kernels.numbers import OPEN
from situ.rows.prepared import Prepared


def interval_rows(rows: Prepared) -> IntervalRows:
    """Prepared rows as `resolve` takes them; their codes are slots."""
    own = dict(rows.attributes)
    ts, te, ids = own.pop(STARTS), own.pop(ENDS), own.pop(IDS, None)
    return IntervalRows(rows.codes, ts.to_numpy(), te.to_numpy(), rows.mask.astype(np.uint64), ids, own)


class IntervalStep(NamedTuple):
    """The intervals of a step and the runs they make."""

    intervals: Intervals
    runs: Runs


class IntervalEngine(Engine):
    """A bound query over given intervals."""

    def spread(self, kept: Intervals, rows: IntervalRows, n_slots: int) -> IntervalStep:
        """Every symbol's situations, of kept intervals and new rows."""
        intervals = resolve(kept, rows)
        spec = self.spec
        runs = spread(
            intervals.slot, intervals.ts, intervals.te, intervals.known, intervals.mask,
            spec.at_least, spec.at_most, n_slots,
        )  # fmt: skip
        return IntervalStep(intervals, runs)

    def leaves_at(self, kept: Intervals) -> Positions:
        """For each interval an instant: once that lies a window back, no match to come needs the interval."""
        return kept.ts

    def interval_values(self, step: IntervalStep, matches: Matches) -> Found:
        """Endpoints and attributes: those of the latest row with an instant <= the match's (SEM 6.2)."""
        matches = by_instant(matches)
        ends, is_over = endpoints(step.runs[:], matches)
        found = Found(ends, is_over, ())
        is_open = found.is_open
        picked = [self._attributes(step, i, matches.pick[:, i], is_open[i]) for i in range(self.n_positive)]
        return found._replace(states=(*picked, *self.no_states[self.n_positive :]))

    def interval_situations(self, step: IntervalStep, symbol: int, column: Positions) -> SymbolValues:
        """A symbol's intervals at these columns, as all rows together have them."""
        ts, te = step.runs.ts[symbol, column], step.runs.te[symbol, column]
        return SymbolValues(ts, te, te == OPEN, self._attributes(step, symbol, column, te == OPEN))

    def _attributes(
        self, step: IntervalStep, symbol: int, column: Positions, is_open: npt.NDArray[np.bool_]
    ) -> States:
        """What the rows say that begin the open ones of these intervals and end the others."""
        spec = self.aggregates[symbol]
        if not spec:
            return spec.empty()
        intervals, runs = step
        interval = runs.first_row[symbol, column]
        row = np.where(is_open, intervals.begin_row[interval], intervals.last_row[interval])
        n_rows = int(max(intervals.last_row.max(initial=-1), intervals.begin_row.max(initial=-1))) + 1
        return spec.rows(intervals.attributes, n_rows).take(row)
