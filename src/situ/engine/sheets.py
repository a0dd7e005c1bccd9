"""Results of small steps: slices of a table that was made ahead.

To make one column takes Arrow longer than a step takes to find a few matches; a slice of a table costs
the same for any number of columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from situ.engine.core import Found

_BYTES = 1 << 16  # of a sheet: what a result that is kept can hold on to


class Sheets:
    """Tables of endpoints and instants, filled from the top; a full one is left to those who hold slices.

    `rows[c]` says what column c shows: symbol i's ts is row i, its te row n + i, the match's instant 2n.
    """

    def __init__(self, schema: pa.Schema, rows: Sequence[int], n_symbols: int) -> None:
        self._schema, self._rows, self._n = schema, rows, n_symbols
        self.size = _BYTES // (2 * n_symbols + 1) // 64 * 8
        self._used = self.size

    def table(self, found: Found) -> pa.Table:
        """The matches as a table; there must be at most `size`."""
        n, size = found.ts.shape
        if self._used + size > self.size:
            self._begin()
        first, last = self._used, self._used + size
        ticks = self._ticks
        ticks[:n, first:last] = found.ts
        ticks[n:-1, first:last] = found.te
        ticks[-1, first:last] = found.instant
        bits = np.packbits(found.is_open, axis=1, bitorder="little")
        first_byte, last_byte = first >> 3, (last + 7) >> 3
        np.invert(bits, out=self._valid[:, first_byte:last_byte])
        self._used = last_byte << 3  # a step's bits are bytes of its own
        return self._table.slice(first, size)

    def _begin(self) -> None:
        """A new sheet."""
        n, size = self._n, self.size
        self._ticks = np.empty((2 * n + 1, size), np.int64)
        self._valid = np.empty((n, size // 8), np.uint8)
        ticks, valid = pa.py_buffer(self._ticks), pa.py_buffer(self._valid)
        columns = []
        for field, row in zip(self._schema, self._rows, strict=True):
            ends = n <= row < 2 * n
            bits = valid.slice((row - n) * size // 8, size // 8) if ends else None
            columns.append(
                pa.Array.from_buffers(field.type, size, [bits, ticks.slice(8 * row * size, 8 * size)])
            )
        self._table = pa.Table.from_arrays(columns, schema=self._schema)
        self._used = 0
