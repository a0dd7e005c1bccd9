"""Decimal arithmetic with Spark's result types and rounding: exact, then half up, then checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from situ.expressions import types as t
from situ.expressions.arithmetic import division
from situ.expressions.decimals import aligned, half_up, int64, magnitude, matched, scaled, settle, wide
from situ.expressions.evaluate import null_in_null_out
from situ.expressions.node import Node, constant
from situ.expressions.vectors import Mask, Values, Vector

_MINIMUM_SCALE = 6  # Spark keeps this many digits after the point when it must give some up
_INT64_MAX = (1 << 63) - 1


def bounded(precision: int, scale: int) -> pa.DataType:
    """The type of a result that would need this much, giving up digits after the point beyond 38."""
    if precision <= t.MAX_PRECISION:
        return pa.decimal128(precision, scale)
    whole = precision - scale
    return pa.decimal128(t.MAX_PRECISION, max(t.MAX_PRECISION - whole, min(scale, _MINIMUM_SCALE)))


def add_subtract(op: str, left: Node, right: Node, *, ansi: bool) -> Node:
    """`left + right` or `left - right` of decimals."""
    a_type, b_type = left.type, right.type
    scale = max(a_type.scale, b_type.scale)
    precision = max(a_type.precision - a_type.scale, b_type.precision - b_type.scale) + scale + 1
    type_ = bounded(precision, scale)
    if left.is_null or right.is_null:
        return constant(type_, None)
    align = aligned(a_type, b_type)
    compute = np.add if op == "+" else np.subtract
    narrow = precision <= t.NARROW_DIGITS

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        a, b = align(a, b)
        if not narrow and magnitude(a) + magnitude(b) > _INT64_MAX:
            a, b = wide(a), wide(b)
        return settle(compute(a, b), valid, scale, precision, type_, ansi=ansi, what=f"the {op} of decimals")

    return null_in_null_out(type_, left, right, kernel, raises=ansi and precision > t.MAX_PRECISION)


def multiply(left: Node, right: Node, *, ansi: bool) -> Node:
    """`left * right` of decimals."""
    scale = left.type.scale + right.type.scale
    precision = left.type.precision + right.type.precision + 1
    type_ = bounded(precision, scale)
    if left.is_null or right.is_null:
        return constant(type_, None)
    narrow = precision <= t.NARROW_DIGITS + 1

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        a, b = matched(int64(a), int64(b))
        if not narrow and magnitude(a) * magnitude(b) > _INT64_MAX:
            a, b = wide(a), wide(b)
        return settle(a * b, valid, scale, precision, type_, ansi=ansi, what="the * of decimals")

    return null_in_null_out(type_, left, right, kernel, raises=ansi and precision > t.MAX_PRECISION)


def divide(left: Node, right: Node, *, ansi: bool) -> Node:
    """`left / right` of decimals, rounded half up to the result's scale."""
    a_type, b_type = left.type, right.type
    scale = max(_MINIMUM_SCALE, a_type.scale + b_type.precision + 1)
    precision = a_type.precision - a_type.scale + b_type.scale + scale
    type_ = bounded(precision, scale)
    shift = type_.scale + b_type.scale - a_type.scale

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        divisor = _nonzero(b)
        numerator = scaled(int64(a), max(shift, 0), None)
        quotient = half_up(numerator, scaled(int64(divisor), max(-shift, 0), None))
        return settle(
            quotient, valid, type_.scale, precision, type_, ansi=ansi, what="the quotient of decimals"
        )

    return division("/", type_, left, right, kernel, ansi=ansi, overflows=precision > t.MAX_PRECISION)


def remainder(left: Node, right: Node, *, ansi: bool) -> Node:
    """`left % right` of decimals, with the sign of the left."""
    a_type, b_type = left.type, right.type
    scale = max(a_type.scale, b_type.scale)
    precision = min(a_type.precision - a_type.scale, b_type.precision - b_type.scale) + scale
    type_ = bounded(precision, scale)
    align = aligned(a_type, b_type)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        a, b = align(a, _nonzero(b))
        # % follows the divisor's sign; where the left has the other one, the rest is one divisor too far.
        rest = a % b
        signed = np.where((rest != 0) & ((a < 0) != (b < 0)), rest - b, rest)
        return settle(signed, valid, scale, precision, type_, ansi=ansi, what="the remainder of decimals")

    return division("%", type_, left, right, kernel, ansi=ansi)


def _nonzero(values: Any) -> Any:
    """Zeros, whose rows are null or failed already, replaced so that dividing does not stumble."""
    if isinstance(values, np.ndarray):
        return np.where(values == 0, 1, values)
    return values or 1
