"""Decimals as unscaled integers: int64 while they fit, Python integers beyond that."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from situ.expressions import types as t
from situ.expressions.failures import offending, overflow, show
from situ.expressions.vectors import Mask, Values, Vector, both

_INT64_MAX = (1 << 63) - 1


def magnitude(values: Values) -> int:
    """The largest absolute value, as a Python integer."""
    if isinstance(values, (int, np.integer)):
        return abs(int(values))
    if len(values) == 0:
        return 0
    return max(abs(int(values.max())), abs(int(values.min())))


def wide(values: Values) -> Values:
    """The same integers as Python objects, which never overflow."""
    if isinstance(values, (int, np.integer)):
        return int(values)
    return values.astype(np.object_)


def int64(values: Values) -> Values:
    """Narrower integers as int64, so that products do not wrap early."""
    if isinstance(values, np.ndarray) and values.dtype != np.object_:
        return values.astype(np.int64, copy=False)
    return values


def scaled(values: Values, digits: int, bound: int | None) -> Values:
    """`values * 10**digits`; `bound` is a known limit of their magnitude."""
    if digits == 0:
        return values
    factor = 10**digits
    if isinstance(values, (int, np.integer)):
        return int(values) * factor
    if values.dtype == np.object_:
        return values * factor
    limit = magnitude(values) if bound is None else bound
    if max(limit, 1) * factor > _INT64_MAX:
        return wide(values) * factor
    return values * np.int64(factor)


def bound_of(type_: pa.DataType) -> int | None:
    """The largest magnitude of a narrow type; None where the values must be looked at."""
    digits = t.digits_of(type_)
    return 10**digits if digits <= t.NARROW_DIGITS else None


def aligned(left: pa.DataType, right: pa.DataType) -> Callable[[Values, Values], tuple[Values, Values]]:
    """A function that brings two exact numbers to one scale."""
    left_up = max(t.scale_of(right) - t.scale_of(left), 0)
    right_up = max(t.scale_of(left) - t.scale_of(right), 0)
    left_bound, right_bound = bound_of(left), bound_of(right)

    def align(a: Values, b: Values) -> tuple[Values, Values]:
        a = scaled(int64(a), left_up, left_bound)
        b = scaled(int64(b), right_up, right_bound)
        return matched(a, b)

    return align


def matched(a: Values, b: Values) -> tuple[Values, Values]:
    """Both as int64 or both as Python integers."""
    a_wide, b_wide = _is_wide(a), _is_wide(b)
    if a_wide == b_wide:
        return a, b
    return (a, wide(b)) if a_wide else (wide(a), b)


def _is_wide(values: Values) -> bool:
    if isinstance(values, np.ndarray):
        return bool(values.dtype == np.object_)
    return not -_INT64_MAX <= int(values) <= _INT64_MAX


def half_up(numerator: Values, denominator: Values) -> Values:
    """The quotient of integers rounded to the nearest one, halves away from zero."""
    numerator, denominator = matched(numerator, denominator)
    if not _is_wide(numerator) and 2 * magnitude(numerator) + magnitude(denominator) > _INT64_MAX:
        numerator, denominator = wide(numerator), wide(denominator)
    size = (2 * abs(numerator) + abs(denominator)) // (2 * abs(denominator))
    negative = (numerator < 0) != (denominator < 0)
    return np.where(negative, -size, size)


def settle(
    values: Values,
    valid: Mask | None,
    scale: int,
    precision: int,
    type_: pa.DataType,
    *,
    ansi: bool,
    what: str,
) -> Vector:
    """Exact integers at `scale` as values of `type_`; `precision` digits are known to hold them all."""
    if scale > type_.scale:
        values = half_up(values, 10 ** (scale - type_.scale))
    elif scale < type_.scale:
        values = scaled(values, type_.scale - scale, None)
    if precision - scale <= type_.precision - type_.scale and scale <= type_.scale:
        return values, valid
    limit = 10**type_.precision
    if magnitude(values) < limit:
        return values, valid
    bad = (values >= limit) | (values <= -limit)
    if not ansi:
        return values, both(~bad, valid)
    if (row := offending(bad, valid, len(values))) is not None:
        overflow(f"{what}, {show(values, row, type_)},", type_)
    return values, valid
