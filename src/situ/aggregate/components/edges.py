"""Values of the first and the last event, nulls included. Parts are never raw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import ALL_VALID, frozen
from situ.aggregate.columns import ColumnView
from situ.aggregate.components.base import NO_COUNTS, NO_FLOATS, Component, Fold
from situ.aggregate.kernels.edges import pick
from situ.aggregate.states import Part


@dataclass(frozen=True)
class NumberEdges(Component):
    """(values, valid), int64 or float64."""

    last: bool

    def view(self, column: ColumnView) -> Part:
        return Part(False, (column.numbers, column.valid))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        values, valid = rows.arrays
        carry_values, carry_valid = carry.arrays
        bits, known = pick(
            values.view(np.int64), valid, carry_values.view(np.int64), carry_valid, by.edges(self.last)
        )
        return Part(False, (frozen(bits.view(values.dtype)), frozen(known)))

    def empty(self) -> Part:
        return Part(False, (NO_FLOATS if self.type.family == "floats" else NO_COUNTS, ALL_VALID))

    def condense(self, part: Part, length: int) -> Part:
        return part


@dataclass(frozen=True)
class ArrowEdges(Component):
    """(values,), an Arrow array of any type."""

    last: bool

    def view(self, column: ColumnView) -> Part:
        return Part(False, (column.array,))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        source = by.edges(self.last)
        values, carried = rows.arrays[0], carry.arrays[0]
        if len(carried) == 0:
            return Part(False, (values.take(pa.array(source, mask=source < 0)),))
        if len(values) == 0:  # of an opaque type we may not know the type before the first column
            values = carried.slice(0, 0)
        # Take from each side before joining: the work is that of the requests, not of the rows.
        in_carry = source >= by.n_rows
        ours = values.take(pa.array(source[~in_carry], mask=source[~in_carry] < 0))
        theirs = carried.take(pa.array(source[in_carry] - by.n_rows))
        place = np.empty(source.size, np.int64)
        place[~in_carry] = np.arange(len(ours))
        place[in_carry] = np.arange(len(ours), source.size)
        both = [side for side in (ours, theirs) if len(side)]
        return Part(False, (pa.concat_arrays(both).take(pa.array(place)) if both else ours,))

    def empty(self) -> Part:
        return Part(False, (pa.array([], self.type.arrow or pa.null()),))

    def condense(self, part: Part, length: int) -> Part:
        return part
