"""Sums, with the count that tells whether there is one and that turns it into an average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from situ.aggregate.arrays import frozen
from situ.aggregate.columns import ColumnView, fixed_width
from situ.aggregate.components.base import NO_COUNTS, NO_FLOATS, Component, Fold
from situ.aggregate.components.counts import counts
from situ.aggregate.kernels.exact import LIMB, add_limbs, sum_integers
from situ.aggregate.kernels.floats import add_sums, sum_values
from situ.aggregate.states import Part


@dataclass(frozen=True)
class FloatSums(Component):
    """raw: (values, valid); else (n, total, rest): the sum is total + rest."""

    def view(self, column: ColumnView) -> Part:
        return Part(True, (column.numbers, column.valid))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        add: Callable[..., Any] = sum_values if rows.raw else add_sums
        n, total, rest = add(*rows.arrays, by.row_from, by.row_to, by.carry_idx, *carry.arrays)
        return Part(False, (frozen(n), frozen(total), frozen(rest)))

    def empty(self) -> Part:
        return Part(False, (NO_COUNTS, NO_FLOATS, NO_FLOATS))

    def condense(self, part: Part, length: int) -> Part:
        if not part.raw:
            return part
        values, valid = part.arrays
        total = frozen(np.where(valid, values, 0.0)) if valid.size else values
        return Part(False, (counts(valid, length), total, frozen(np.zeros(length))))


@dataclass(frozen=True)
class ExactSums(Component):
    """raw: (values, valid), int64; else (n, limbs), see kernels.exact. Wide decimals are never raw."""

    @property
    def n_limbs(self) -> int:
        return 4 if self.type.family == "decimals" else 2

    def view(self, column: ColumnView) -> Part:
        if self.type.family == "integers":
            return Part(True, (column.numbers, column.valid))
        length = len(column.array)
        halves = fixed_width(column.array, np.dtype(np.int64), 2).reshape(length, 2)
        limbs = np.empty((length, 4), np.int64)
        limbs[:, 0::2] = halves & LIMB
        limbs[:, 1::2] = halves >> 32
        limbs[:, 1] &= LIMB  # only the last limb has a sign
        if column.valid.size:
            limbs[~column.valid] = 0
        return Part(False, (counts(column.valid, length), frozen(limbs)))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        add: Callable[..., Any] = sum_integers if rows.raw else add_limbs
        n, limbs = add(*rows.arrays, by.row_from, by.row_to, by.carry_idx, *carry.arrays)
        return Part(False, (frozen(n), frozen(limbs)))

    def empty(self) -> Part:
        return Part(False, (NO_COUNTS, frozen(np.empty((0, self.n_limbs), np.int64))))

    def condense(self, part: Part, length: int) -> Part:
        if not part.raw:
            return part
        values, valid = part.arrays
        known = np.where(valid, values, 0) if valid.size else values
        return Part(False, (counts(valid, length), frozen(np.stack((known & LIMB, known >> 32), axis=1))))
