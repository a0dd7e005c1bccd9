"""Results of small steps: slices of a batch that was made ahead.

To make a column for each endpoint takes Arrow longer than a step takes to find a few matches; a slice of
them all is one call.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from situ.operators.situations.engine import Found

_BYTES = 100_000  # of a sheet, at the most
_RESULTS = 16  # of the size of the one that began it: what is kept or pickled takes its whole sheet along


class Sheets:
    """Batches of endpoints and instants, filled from the top; a full one is left to those who hold slices.

    `rows[c]` says what column c shows: symbol i's ts is row i, its te row n + i, the match's instant 2n.
    """

    def __init__(self, schema: pa.Schema, rows: Sequence[int], n_symbols: int) -> None:
        self._schema, self._rows, self._n = schema, rows, n_symbols
        self.size = _BYTES // (2 * n_symbols + 1) // 64 * 8
        self._used = self._room = 0  # rows of the present sheet

    def table(self, found: Found) -> pa.Table:
        """The matches as a table; there must be at most `size`."""
        size = found.size
        if self._used + size > self._room:
            self._begin(size)
        first, last = self._used, self._used + size
        last_byte = (last + 7) >> 3
        self._ticks[:, first:last] = found.ends[:-1]
        self._valid[:, first >> 3 : last_byte] = found.is_over
        self._used = last_byte << 3  # a step's bits are bytes of its own
        return pa.Table.from_batches([self._sheet.slice(first, size)], self._schema)

    def _begin(self, first: int) -> None:
        """A new sheet, for a result of this size and others like it."""
        n, size = self._n, min(_RESULTS * ((first + 7) >> 3 << 3), self.size)
        self._ticks = np.zeros((2 * n + 1, size), np.int64)  # no memory of others where all is taken along
        self._valid = np.zeros((n, size // 8), np.uint8)
        ticks, valid = pa.py_buffer(self._ticks), pa.py_buffer(self._valid)
        columns = []
        for field, row in zip(self._schema, self._rows, strict=True):
            ends = n <= row < 2 * n
            bits = valid.slice((row - n) * size // 8, size // 8) if ends else None
            columns.append(
                pa.Array.from_buffers(field.type, size, [bits, ticks.slice(8 * row * size, 8 * size)])
            )
        # a batch, not a table: that would count nulls once for all, and slices believe what was counted
        self._sheet = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        self._used, self._room = 0, size
