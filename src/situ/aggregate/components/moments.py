"""Count, mean and sum of squared deviations: what a standard deviation needs, mergeable and stable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from situ.aggregate.arrays import frozen
from situ.aggregate.columns import ColumnView
from situ.aggregate.components.base import NO_COUNTS, NO_FLOATS, Component, Fold
from situ.aggregate.components.counts import counts
from situ.aggregate.kernels.floats import merge_moments, moments_of_values
from situ.aggregate.states import Part


@dataclass(frozen=True)
class Moments(Component):
    """raw: (values, valid); else (n, anchor, offset, m2): the mean is anchor + offset."""

    def view(self, column: ColumnView) -> Part:
        return Part(True, (column.floats, column.valid))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        merge: Callable[..., Any] = moments_of_values if rows.raw else merge_moments
        merged = merge(*rows.arrays, by.row_from, by.row_to, by.carry_idx, *carry.arrays)
        return Part(False, tuple(map(frozen, merged)))

    def empty(self) -> Part:
        return Part(False, (NO_COUNTS, NO_FLOATS, NO_FLOATS, NO_FLOATS))

    def condense(self, part: Part, length: int) -> Part:
        if not part.raw:
            return part
        values, valid = part.arrays
        zeros = frozen(np.zeros(length))
        return Part(False, (counts(valid, length), values, zeros, zeros))
