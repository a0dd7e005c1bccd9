"""All values of a situation in event order, nulls left out: for what no summary of fixed size can answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import ALL_VALID, frozen
from situ.aggregate.columns import ColumnView, validity
from situ.aggregate.components.base import NO_COUNTS, Component, Fold
from situ.aggregate.components.counts import counts
from situ.aggregate.kernels.lists import list_sources
from situ.aggregate.lists import Lists, joined_pools
from situ.aggregate.states import Part


@dataclass(frozen=True)
class Values(Component):
    """raw: (values,), an Arrow array with nulls; else (lists,)."""

    def view(self, column: ColumnView) -> Part:
        return Part(True, (column.array,))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        carried: Lists = carry.arrays[0]
        if rows.raw:
            pool, row_start, row_length = rows.arrays[0], NO_COUNTS, NO_COUNTS
            valid = validity(pool)
            if pa.types.is_null(pool.type):  # nothing but nulls, of a type that no other pool has
                pool = pool[:0]
        else:
            lists: Lists = rows.arrays[0]
            pool, row_start, row_length, valid = lists.pool, lists.start, lists.length, ALL_VALID
        start, length, source = list_sources(
            valid,
            row_start,
            row_length,
            len(pool),
            carried.start,
            carried.length,
            by.row_from,
            by.row_to,
            by.carry_idx,
        )
        both = joined_pools([pool, carried.pool])
        return Part(False, (Lists(frozen(start), frozen(length), both.take(pa.array(source))),))

    def empty(self) -> Part:
        return Part(False, (Lists(NO_COUNTS, NO_COUNTS, pa.array([], self.type.arrow or pa.null())),))

    def condense(self, part: Part, length: int) -> Part:
        if not part.raw:
            return part
        values = part.arrays[0]
        here = counts(validity(values), length)
        return Part(False, (Lists(frozen(np.cumsum(here) - here), here, values.drop_null()),))
