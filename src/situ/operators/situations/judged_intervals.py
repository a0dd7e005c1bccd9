"""Given intervals beside which others must be absent: NO groups over FROM INTERVALS (SEM 11.8)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from situ.operators.situations.engine import Found
from situ.operators.situations.interval_engine import IntervalEngine, IntervalStep
from situ.operators.situations.intervals import Intervals
from situ.operators.situations.judged import JudgingEngine, by_clock
from situ.operators.situations.kernels.judge import Heard
from situ.operators.situations.known import Positions
from situ.operators.situations.purge import later
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED
from situ.rows.prepared import Flags


class JudgedIntervals(JudgingEngine, IntervalEngine):
    """A bound query over given intervals, with NO groups."""

    def reported(
        self, step: IntervalStep, before: Positions, clock: Positions, n_rows: int
    ) -> tuple[Found, Positions]:
        """The matches between each slot's clocks; and when the next one comes if no row does, else NEVER."""
        matches = self.judged(step.runs, self.nothing_heard(len(clock)), before, n_rows)
        now, due = by_clock(matches, before, clock)
        positives = step._replace(runs=self.of_positives(step.runs))
        return self.interval_values(positives, now), due

    def nothing_heard(self, n_slots: int) -> Heard:
        """Given intervals have no events, so no silences and no gaps."""
        nothing = np.zeros((self.n_symbols, 0), np.int64)
        each = np.zeros((self.n_symbols, n_slots), np.int64)
        none = np.zeros(0, np.int64)
        offset = np.zeros((self.n_symbols, n_slots + 1), np.int64)
        own = none.view(np.uint64)
        return Heard(none, offset[0], own, each, nothing, nothing, offset, each, each, none, offset[0])

    def leaves_at(self, kept: Intervals) -> Positions:
        """Of an absent symbol one stays while it is open, and then as long as SEM 11.7 says."""
        leaves = np.where(self._is_of(kept, range(self.n_positive)), kept.ts, LONG_AGO)
        for symbol in range(self.n_positive, self.n_symbols):
            reach = int(self.reach[symbol])
            gone = later(kept.te, reach) if reach != UNBOUNDED else np.full(len(kept.te), NEVER)
            counts = self._is_of(kept, [symbol]) & self._may_fit(kept, symbol)
            leaves = np.where(counts, np.maximum(leaves, gone), leaves)
        return leaves

    def _is_of(self, kept: Intervals, symbols: Iterable[int]) -> Flags:
        is_one: Flags = kept.mask & np.uint64(sum(1 << symbol for symbol in symbols)) != 0
        return is_one

    def _may_fit(self, kept: Intervals, symbol: int) -> Flags:
        """All but those that are over, and too short or too long."""
        length = kept.te - kept.ts
        length[length < 0] = NEVER  # longer than 64 bits can say
        most = self.most[symbol]
        fits: Flags = (length >= self.least[symbol]) & ((most == UNBOUNDED) | (length <= most))
        fits |= kept.te == OPEN
        return fits
