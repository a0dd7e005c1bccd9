"""States as Spark-typed Arrow values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import Numbers, expanded
from situ.aggregate.lists import Lists, as_list_array
from situ.aggregate.overflow import refuse_overflow
from situ.aggregate.states import Part
from situ.aggregate.types import ValueType
from situ.errors import DataError

_MOST_LISTED = 2**31 - 1  # values of one array of lists, in Arrow and in Spark


def number_array(values: Numbers, valid: Numbers, arrow: pa.DataType) -> pa.Array:
    """int64 or float64 `values` as an Arrow array of the type they stand for; null where not `valid`."""
    if pa.types.is_boolean(arrow):
        return pa.array(values != 0, arrow, mask=~valid)
    if pa.types.is_decimal(arrow):
        memory = np.stack((values, values >> 63), axis=1)
    elif arrow.bit_width == 64:
        memory = np.ascontiguousarray(values)
    else:
        memory = values.astype(np.float32 if pa.types.is_floating(arrow) else np.int32)
        if arrow.bit_width < 32:
            memory = memory.astype(np.int8 if arrow.bit_width == 8 else np.int16)
    return from_memory(memory, valid, arrow)


def from_memory(memory: Numbers, valid: Numbers, arrow: pa.DataType) -> pa.Array:
    """An Arrow array over `memory`, which holds its fixed-width values."""
    bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(arrow, valid.size, [bitmap, pa.py_buffer(memory)])


def count(part: Part) -> pa.Array:
    return pa.array(part.arrays[0], pa.int64())


def kept(part: Part, value_type: ValueType, length: int) -> pa.Array:
    """Values of first, last, min and max, in the attribute's own type."""
    if len(part.arrays) == 1:
        return part.arrays[0]
    values, valid = part.arrays
    assert value_type.arrow is not None, "numbers have an Arrow type"
    return number_array(values, expanded(valid, length), value_type.arrow)


def collected(lists: Lists, what: str) -> pa.Array:
    """Lists as Arrow lists."""
    n_values = int(lists.length.sum())
    if n_values > _MOST_LISTED:
        raise DataError(
            f"{what} of {len(lists.length)} results has {n_values} values together, and an array of lists "
            f"holds at most {_MOST_LISTED}",
            hint="narrow the query (WHERE, WITHIN), match parts of the input one after the other, or take "
            "median, percentile or another aggregate in place of the list",
        )
    return as_list_array(lists)


def float_sum(part: Part) -> Numbers:
    """total + rest; a total that is not finite is the answer itself, and its rest means nothing."""
    _, total, rest = part.arrays
    with np.errstate(invalid="ignore"):
        both: Numbers = total + rest
    lost = ~np.isfinite(both)
    if lost.any():
        both[lost] = total[lost]
    return both


def sum_of_floats(part: Part) -> pa.Array:
    return number_array(float_sum(part), part.arrays[0] > 0, pa.float64())


def average_of_floats(part: Part) -> pa.Array:
    n = part.arrays[0]
    return number_array(float_sum(part) / np.maximum(n, 1), n > 0, pa.float64())


def sum_of_integers(part: Part, ansi: bool, what: str) -> pa.Array:
    n, limbs = part.arrays
    low, high = limbs[:, 0], limbs[:, 1]
    if ansi:
        fits = (high >= -(1 << 31)) & (high < (1 << 31))
        if not fits.all():
            refuse_overflow(what, "bigint", limbs[~fits][0], scale=0)
    return number_array((high << 32) | low, n > 0, pa.int64())


def average_of_integers(part: Part) -> pa.Array:
    n, limbs = part.arrays
    total = limbs[:, 1] * 4294967296.0 + limbs[:, 0]
    return number_array(total / np.maximum(n, 1), n > 0, pa.float64())


def deviation(part: Part) -> pa.Array:
    return number_array(np.sqrt(_squared_deviation(part)), part.arrays[0] > 1, pa.float64())


def variance(part: Part) -> pa.Array:
    return number_array(_squared_deviation(part), part.arrays[0] > 1, pa.float64())


def _squared_deviation(part: Part) -> Numbers:
    n, _, _, m2 = part.arrays
    # beyond the range of double m2 can be -inf; Spark says NaN then
    squared: Numbers = np.where(m2 < 0, np.nan, m2) / np.maximum(n - 1, 1)
    return squared
