"""A table's columns as arrays, and boolean arrays as bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.rows.kernels.bits import set_where_true
from situ.rows.small import Mask, Predicate

Bits = npt.NDArray[np.uint8]
_ALL_VALID = np.empty(0, np.uint8)
_ALL_VALID.flags.writeable = False  # like the memory of Arrow arrays: one kernel serves both


class Columns(dict[str, pa.Array]):
    """A table's columns as arrays, put together when first asked for."""

    def __init__(
        self, table: pa.Table | pa.RecordBatch, positions: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        super().__init__()
        self.table = table
        self._positions = positions  # of the columns, where somebody has looked them up already
        self.n_rows: int = table.num_rows

    def __missing__(self, name: str) -> pa.Array:
        column = self.table.column(self._positions.get(name, name))
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        self[name] = column
        return column


def mask_of(
    conditions: Sequence[Predicate], columns: Columns, mask_type: np.dtype[np.unsignedinteger]
) -> Mask:
    """Bit i set in each row where condition i holds."""
    mask = np.zeros(columns.n_rows, mask_type)
    add_where_true(mask, conditions, columns)
    return mask


def add_where_true(mask: Mask, conditions: Sequence[Predicate], columns: Columns) -> None:
    """Set the bits of the conditions that hold in each row."""
    for condition, bits in conditions:
        values, valid, skip = _bitmaps(condition(columns, columns.n_rows))
        if values is not None:
            set_where_true(mask, values, _ALL_VALID if valid is None else valid, skip, mask.dtype.type(bits))


def truths(array: pa.Array) -> Bits:
    """1 where a boolean array is true, 0 where it is false or null (SEM 1.5)."""
    bits, valid, skip = _bitmaps(array)
    if bits is None:
        return np.zeros(len(array), np.uint8)
    if valid is not None:
        bits = bits[: len(valid)] & valid[: len(bits)]
    return np.unpackbits(bits, count=skip + len(array), bitorder="little")[skip:]


def _bitmaps(array: pa.Array) -> tuple[Bits | None, Bits | None, int]:
    """A boolean array's values and validity from the byte of its first bit on, and that bit's place in it.

    No values: no rows, or nothing but nulls, which may be an array of nulls that has no values at all.
    No validity: nothing is null.
    """
    first, skip = divmod(array.offset, 8)
    if array.null_count == len(array):
        return None, None, skip
    validity, values = array.buffers()
    bits = np.frombuffer(values, np.uint8, offset=first)
    return bits, np.frombuffer(validity, np.uint8, offset=first) if array.null_count else None, skip
