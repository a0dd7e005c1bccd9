"""Arrow columns as the arrays that kernels read, without a copy where the memory already fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import ALL_VALID, Numbers, frozen
from situ.aggregate.types import ValueType
from situ.errors import DataError

_WIDTHS: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}
_EXACT_DIGITS = 15  # such integers are exact as doubles
_EXACT_SCALE = 22  # and so are such powers of ten


class ColumnView:
    """One column of raw events; each form is made when first asked for."""

    __slots__ = ("_floats", "_numbers", "_valid", "array", "type")

    def __init__(self, name: str, array: pa.Array, value_type: ValueType) -> None:
        self.type = value_type
        self.array = array if array.type == value_type.arrow else _adapted(name, array, value_type)
        self._valid: Numbers | None = None
        self._numbers: Numbers | None = None
        self._floats: Numbers | None = None

    @property
    def valid(self) -> Numbers:
        """Which values are not null; size 0 when none is."""
        if self._valid is None:
            self._valid = validity(self.array)
        return self._valid

    @property
    def numbers(self) -> Numbers:
        """int64 or float64, after the type's family; anything at all stands where the value is null."""
        if self._numbers is None:
            self._numbers = _numbers(self.array, self.type)
        return self._numbers

    @property
    def floats(self) -> Numbers:
        """float64 whatever the number type, rounded as Spark's cast to double rounds."""
        if self._floats is None:
            self._floats = _floats(self)
        return self._floats


def validity(array: pa.Array) -> Numbers:
    """Which entries are not null; size 0 when none is."""
    if array.null_count == 0:
        return ALL_VALID
    bitmap = array.buffers()[0]
    if bitmap is None:  # the null type has no bitmap
        return frozen(np.zeros(len(array), np.bool_))
    first, skip = divmod(array.offset, 8)
    bits = np.frombuffer(bitmap, np.uint8, offset=first)
    return frozen(np.unpackbits(bits, count=skip + len(array), bitorder="little")[skip:].view(np.bool_))


def fixed_width(array: pa.Array, dtype: np.dtype[Any], per_entry: int = 1) -> Numbers:
    """The values' memory as it is, `per_entry` numbers for each entry."""
    memory = array.buffers()[1]
    count = len(array) * per_entry
    if memory is None or count == 0:
        return frozen(np.zeros(count, dtype))
    return frozen(np.frombuffer(memory, dtype, count, array.offset * per_entry * dtype.itemsize))


def _floats(column: ColumnView) -> Numbers:
    scale = column.type.scale
    if column.type.family == "floats":
        return column.numbers
    if column.type.precision <= _EXACT_DIGITS and scale <= _EXACT_SCALE:
        floats = column.numbers.astype(np.float64)
        return frozen(floats / 10.0**scale if scale else floats)
    # Both numbers of a quotient would have to be exact for it to be rounded once; text is read exactly.
    return fixed_width(column.array.cast(pa.string()).cast(pa.float64()), np.dtype(np.float64))


def _numbers(array: pa.Array, value_type: ValueType) -> Numbers:
    if value_type.family == "floats":
        if array.type.bit_width == 64:
            return fixed_width(array, np.dtype(np.float64))
        return frozen(fixed_width(array, np.dtype(np.float32)).astype(np.float64))
    if value_type.is_decimal:  # up to 18 digits: the low half says it all
        return frozen(np.ascontiguousarray(fixed_width(array, _WIDTHS[64], 2)[::2]))
    if array.type.bit_width == 1:
        array = array.cast(pa.int8())
    dtype = _WIDTHS[array.type.bit_width]
    narrow = fixed_width(array, dtype)
    return narrow if dtype.itemsize == 8 else frozen(narrow.astype(np.int64))


def _adapted(name: str, array: pa.Array, value_type: ValueType) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if value_type.arrow is None or array.type == value_type.arrow:
        return array
    try:
        return array.cast(value_type.arrow)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name} has values of type {array.type} that do not fit {value_type.spark}: {error}",
            hint=f"cast {name} to {value_type.arrow} before matching",
        ) from error
