"""How many events, and how many with a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from situ.aggregate.arrays import ALL_VALID, frozen
from situ.aggregate.columns import ColumnView
from situ.aggregate.components.base import NO_COUNTS, Component, Fold
from situ.aggregate.kernels.counts import add_counts, count_rows, count_valid
from situ.aggregate.states import Part

ONE_EACH = Part(True, (ALL_VALID,))  # raw events, all counted


@dataclass(frozen=True)
class Counts(Component):
    """raw: (valid,); else (n,)."""

    def view(self, column: ColumnView) -> Part:
        return Part(True, (column.valid,))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        requests = by.row_from, by.row_to, by.carry_idx, carry.arrays[0]
        counted = rows.arrays[0]
        if not rows.raw:
            n = add_counts(counted, *requests)
        elif counted.size == 0:
            n = count_rows(*requests)
        else:
            n = count_valid(counted, *requests)
        return Part(False, (frozen(n),))

    def empty(self) -> Part:
        return Part(False, (NO_COUNTS,))

    def condense(self, part: Part, length: int) -> Part:
        return Part(False, (counts(part.arrays[0], length),)) if part.raw else part


def counts(valid: np.ndarray, length: int) -> np.ndarray:
    """A validity mask as counts of 0 and 1."""
    return frozen(valid.astype(np.int64) if valid.size else np.ones(length, np.int64))
