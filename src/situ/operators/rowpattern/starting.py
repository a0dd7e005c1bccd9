"""The tables of a pattern whose tests read the match's first row, for kernels/starts.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from situ.operators.rowpattern.kernels.layout import Bools, Bytes, Rows
from situ.operators.rowpattern.quick import guard_lines, quick_of

if TYPE_CHECKING:
    from situ.operators.rowpattern.engine import Engine


_FEW = 10  # positions: the sets of so many are listed


class Starting:
    """Sets of positions as bits in words, and what can be said of tests without the machine."""

    def __init__(self, engine: Engine) -> None:
        shape, automaton = engine.shape, engine.automaton
        m = automaton.n_positions
        self.n_words = max(1, -(-m // 64))
        self.follow = np.zeros((m + 1, self.n_words), np.uint64)
        for line, ways in zip(self.follow, [*automaton.follow, automaton.start], strict=True):
            for way in ways:
                if way.to >= 0:
                    line[way.to >> 6] |= np.uint64(1) << np.uint64(way.to & 63)
        self.after, self.before = (np.zeros(1 << m if m <= _FEW else 0, np.uint64) for _ in range(2))
        if m <= _FEW:
            sets = np.arange(1 << m, dtype=np.uint64)
            for q in range(m):
                behind, bit = self.follow[q, 0], np.uint64(1) << np.uint64(q)
                self.after[(sets & bit) != 0] |= behind
                self.before[(sets & behind) != 0] |= bit
        self.ends, self.ends_last = (self._bits(engine.may_end(at_last)) for at_last in (False, True))
        self.depends = self._bits(shape.test >= shape.n_truth)
        self._n_truth = shape.n_truth
        self._quick = quick_of(engine.conditions.programs, len(engine.plan.tests) - shape.n_truth)
        self.compare = self._quick.compare

    def guards(self, rows: Rows) -> tuple[Bytes, dict[int, int]] | None:
        """Lines as in `Rows.truth`, which tests need, and the line behind it of each; None if one raised."""
        found = guard_lines(self._quick, rows.ints, rows.int_state)
        if found is None:
            return None
        lines, programs = found
        return lines, {self._n_truth + program: self._n_truth + i for i, program in enumerate(programs)}

    def _bits(self, positions: Bools) -> Any:
        words = np.zeros(self.n_words, np.uint64)
        for q in np.flatnonzero(positions).tolist():
            words[q >> 6] |= np.uint64(1) << np.uint64(q & 63)
        return words
