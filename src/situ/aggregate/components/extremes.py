"""Smallest and largest values. An event's own value is its summary, so parts are never raw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import ALL_VALID, Numbers, frozen
from situ.aggregate.columns import ColumnView, fixed_width, validity
from situ.aggregate.components.base import NO_COUNTS, NO_FLOATS, Component, Fold
from situ.aggregate.kernels.extremes import extreme_bytes, extreme_values
from situ.aggregate.states import Part


@dataclass(frozen=True)
class NumberExtremes(Component):
    """(values, valid), int64 or float64."""

    largest: bool

    def view(self, column: ColumnView) -> Part:
        return Part(False, (column.numbers, column.valid))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        values, valid = rows.arrays
        carry_values, carry_valid = carry.arrays
        best, found = extreme_values(
            values, valid, self.largest, by.row_from, by.row_to, by.carry_idx, carry_values, carry_valid
        )
        return Part(False, (frozen(best), frozen(found)))

    def empty(self) -> Part:
        return Part(False, (NO_FLOATS if self.type.family == "floats" else NO_COUNTS, ALL_VALID))

    def condense(self, part: Part, length: int) -> Part:
        return part


@dataclass(frozen=True)
class ArrowExtremes(Component):
    """(values,), an Arrow array: strings and binaries by unsigned bytes as in Spark, wide decimals."""

    largest: bool

    def view(self, column: ColumnView) -> Part:
        return Part(False, (column.array,))

    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        entries = rows.arrays[0]
        if len(carry.arrays[0]):
            entries = pa.concat_arrays([entries, carry.arrays[0]])
        data, offsets = _as_bytes(entries)
        best = extreme_bytes(
            data, offsets, validity(entries), by.n_rows, self.largest, by.row_from, by.row_to, by.carry_idx
        )
        return Part(False, (entries.take(pa.array(best, mask=best < 0)),))

    def empty(self) -> Part:
        return Part(False, (pa.array([], self.type.arrow),))

    def condense(self, part: Part, length: int) -> Part:
        return part


def _as_bytes(array: pa.Array) -> tuple[Numbers, Numbers]:
    """Data and offsets of byte strings that order as the values do."""
    if pa.types.is_decimal(array.type):
        halves = fixed_width(array, np.dtype(np.int64), 2).view(np.uint64).reshape(len(array), 2)
        sortable = np.empty((len(array), 2), ">u8")
        sortable[:, 0] = halves[:, 1] ^ np.uint64(1 << 63)  # negative numbers before the others
        sortable[:, 1] = halves[:, 0]
        data = frozen(sortable.reshape(-1).view(np.uint8))
        return data, np.arange(0, 16 * len(array) + 1, 16)
    _, offsets, data = array.buffers()
    starts = np.frombuffer(offsets, np.int32, len(array) + 1, array.offset * 4) if offsets else np.zeros(1)
    memory = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return frozen(memory), starts.astype(np.int64)
