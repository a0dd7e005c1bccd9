"""Sums and averages of decimals, with Spark's result types and Spark's roundings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.aggregate.arrays import Numbers
from situ.aggregate.kernels.exact import divide_half_up
from situ.aggregate.overflow import refuse_overflow
from situ.aggregate.states import Part
from situ.aggregate.types import MAX_DIGITS, ValueType

# Up to this many digits Spark's optimizer (DecimalAggregates) averages unscaled values in double
# arithmetic: the average then has at most the 15 digits a double can hold.
_DOUBLE_AVERAGE_DIGITS = 11
_WORD = (1 << 64) - 1


def sum_type(value: ValueType) -> pa.Decimal128Type:
    return pa.decimal128(min(MAX_DIGITS, value.precision + 10), value.scale)


def average_type(value: ValueType) -> pa.Decimal128Type:
    return pa.decimal128(min(MAX_DIGITS, value.precision + 4), min(MAX_DIGITS, value.scale + 4))


def sum_decimal(part: Part, value: ValueType, ansi: bool, what: str) -> pa.Array:
    """The exact sum; too large for its type: an error under ANSI, else null."""
    n, limbs = part.arrays
    return _decimal_array(limbs, n > 0, sum_type(value), ansi, what)


def average_decimal(part: Part, value: ValueType, ansi: bool, what: str) -> pa.Array:
    """Sum over count, rounded half up to four more decimal places."""
    n, limbs = part.arrays
    if value.precision <= _DOUBLE_AVERAGE_DIGITS:
        return _double_average(n, limbs, value)
    total_type, result_type = sum_type(value), average_type(value)
    some = n > 0
    fits = _fits(limbs, total_type)
    if ansi and not (fits | ~some).all():
        refuse_overflow(what, str(total_type), limbs[some & ~fits][0], scale=value.scale)
    quotients = divide_half_up(limbs, n, some & fits, 10 ** (result_type.scale - value.scale))
    return _decimal_array(quotients, some & fits, result_type, ansi, what)


def _double_average(n: Numbers, limbs: Numbers, value: ValueType) -> pa.Array:
    """Spark's way for few digits: divide as doubles, then read the shortest decimal text half up."""
    total = limbs[:, 1] * 4294967296.0 + limbs[:, 0]
    average = total / np.maximum(n, 1) / 10.0**value.scale
    exact = pa.array(average, mask=n == 0).cast(pa.string()).cast(pa.decimal256(76, 38))
    result_type = average_type(value)
    return pc.round(exact, result_type.scale, "half_towards_infinity").cast(result_type)


def _decimal_array(
    limbs: Numbers, valid: Numbers, type_: pa.Decimal128Type, ansi: bool, what: str
) -> pa.Array:
    fits = _fits(limbs, type_)
    if ansi and not (fits | ~valid).all():
        refuse_overflow(what, str(type_), limbs[valid & ~fits][0], scale=type_.scale)
    valid = valid & fits
    bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    memory = np.stack(_words(limbs), axis=1)
    return pa.Array.from_buffers(type_, valid.size, [bitmap, pa.py_buffer(memory)])


def _words(limbs: Numbers) -> tuple[Numbers, Numbers]:
    """Low and high half of the 128-bit number; what lies above is cut off."""
    if limbs.shape[1] == 2:
        low, high = limbs[:, 0], limbs[:, 1]
        return low | (high << 32), high >> 32
    return limbs[:, 0] | (limbs[:, 1] << 32), limbs[:, 2] | (limbs[:, 3] << 32)


def _fits(limbs: Numbers, type_: pa.Decimal128Type) -> Numbers:
    """Whether the number has at most the type's digits."""
    low, high = _words(limbs)
    unsigned = low.view(np.uint64)
    bound = 10**type_.precision
    above, below = bound >> 64, (-bound) >> 64
    small = (high < above) | ((high == above) & (unsigned < np.uint64(bound & _WORD)))
    large = (high > below) | ((high == below) & (unsigned > np.uint64(-bound & _WORD)))
    fits: Numbers = small & large
    if limbs.shape[1] == 4:
        fits &= (limbs[:, 3] >= -(1 << 31)) & (limbs[:, 3] < (1 << 31))
    return fits
