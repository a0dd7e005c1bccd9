"""ROUND, FLOOR and CEIL.

Spark rounds the decimal number a double is *written* as (its shortest text), half away from zero; 1.005
rounds to 1.01 although the double lies below. For up to 15 digits the decimal halfway mark has a nearest
double of its own, and a double is written at or above the mark exactly when it is at or above that double;
so one comparison decides. Beyond 15 digits the text itself is used, value by value, up to 2**53; the digits
of larger doubles differ between Java versions, so there they are refused.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.decimal_arithmetic import bounded
from situ.expressions.decimals import half_up, int64, magnitude, scaled, wide
from situ.expressions.evaluate import unary
from situ.expressions.failures import offending, overflow
from situ.expressions.node import Node, constant
from situ.expressions.vectors import Mask, Values, Vector

_EXACT = 1e15  # below this every count of units, halfway marks included, is exact in a double
_UNTOUCHED = 1e17  # a double is written with at most 17 digits
_MAX_DIGITS = 15
_MAX_FLOAT_DIGITS = 8
_BEYOND_BIGINT = 2.0**63
_LAST_PLAIN = 2.0**53
_WHOLE = 2.0**52  # from here on a double has nothing after the point
_WIDE = Context(prec=800, Emax=10_000, Emin=-10_000)  # any double's digits, exactly


def units(values: Any, digits: int) -> Any:
    """Finite doubles as counts of 10**-digits, rounded as Spark does; int64, or objects where too large."""
    size = np.abs(values)
    with np.errstate(all="ignore"):
        count, exact = _count(size, digits)
    signed = np.where(values < 0, -count, count)
    if exact.all():
        return signed.astype(np.int64)
    result = np.where(exact, signed, 0).astype(np.int64).astype(np.object_)
    unit = Decimal(1).scaleb(-digits)
    for row in np.flatnonzero(~exact):
        text = _written(float(values[row]))
        result[row] = int(text.quantize(unit, ROUND_HALF_UP, context=_WIDE).scaleb(digits, context=_WIDE))
    return result


def _written(value: float) -> Decimal:
    """The decimal number a double is written as."""
    if abs(value) > _LAST_PLAIN:
        raise UnsupportedExpressionError(f"rounding {value!r}, whose digits depend on the version of Java,")
    return Decimal(repr(value))


def _count(size: Any, digits: int) -> tuple[Any, Any]:
    """Magnitudes in units of 10**-digits, and where the count can be relied on."""
    if abs(digits) > _MAX_DIGITS:
        return np.zeros_like(size), size == 0
    power = 10.0 ** abs(digits)
    if digits >= 0:
        exact = size * (power * 10) < _EXACT
        count = np.floor(size * power)
        halfway = (count * 10 + 5) / (power * 10)
    else:
        exact = size < _EXACT
        count = np.floor(size / power)
        halfway = (count * 10 + 5) * (power / 10)
    return count + (size >= halfway), exact


def round_double(values: Any, digits: int) -> Any:
    """ROUND of doubles; a result of zero is never negative zero."""
    size = np.abs(values)
    count, exact = _count(size, digits)
    power = 10.0 ** min(abs(digits), _MAX_DIGITS)
    rounded = count / power if digits >= 0 else count * power
    result = np.where(rounded == 0, 0.0, np.copysign(rounded, values))
    if exact.all():
        return result
    untouched = ~np.isfinite(values)
    if digits >= 0:  # whole numbers, and those written with no more digits than are asked for
        untouched |= (size >= _WHOLE) | (size * 10.0 ** min(digits, 300) >= _UNTOUCHED)
    result = np.where(exact, result, values)
    unit = Decimal(1).scaleb(-digits)
    for row in np.flatnonzero(~exact & ~untouched):
        text = _written(float(values[row]))
        result[row] = float(text.quantize(unit, ROUND_HALF_UP, context=_WIDE)) + 0.0
    return result


def round_half_up(child: Node, digits: int, *, ansi: bool) -> Node:
    """ROUND(child, digits)."""
    type_ = child.type
    if t.is_decimal(type_):
        return _round_decimal(child, digits)
    if type_ == t.FLOAT:
        return _round_float(child, digits)
    if child.is_null or (t.is_integral(type_) and digits >= 0):
        return replace(child, literal=False)  # to Spark the result of a function is no literal
    if type_ == t.DOUBLE:
        return _round_double(child, digits)
    return _round_integer(child, 10**-digits, ansi=ansi)


def _round_double(child: Node, digits: int) -> Node:
    def kernel(values: Values, valid: Mask | None) -> Vector:
        return round_double(values if valid is None else np.where(valid, values, 0.0), digits), valid

    return unary(t.DOUBLE, child, kernel, raises=digits < 0)


def _round_float(child: Node, digits: int) -> Node:
    """Spark rounds the double of the same value. Up to 8 digits the nearest float of the nearest double is
    the nearest float; beyond, rounding twice could go wrong."""
    if not 0 <= digits <= _MAX_FLOAT_DIGITS:
        raise UnsupportedExpressionError(
            f"ROUND of a float to {digits} digits", hint="Cast it to double first."
        )
    if child.is_null:
        return child

    def kernel(values: Values, valid: Mask | None) -> Vector:
        return round_double(values.astype(np.float64), digits).astype(np.float32), valid

    return unary(t.FLOAT, child, kernel)


def _round_integer(child: Node, unit: int, *, ansi: bool) -> Node:
    type_ = child.type
    dtype: Any = t.dtype_of(type_)
    bounds = np.iinfo(dtype)

    def kernel(values: Values, valid: Mask | None) -> Vector:
        count = half_up(int64(values), unit)
        rounded = count * unit if magnitude(count) * unit <= bounds.max else wide(count) * unit
        bad = (rounded > bounds.max) | (rounded < bounds.min)
        if ansi and (row := offending(bad, valid, len(values))) is not None:
            overflow(f"round({values[row]})", type_)
        return wrapped(rounded, dtype), valid

    return unary(type_, child, kernel, raises=ansi)


def wrapped(values: Any, dtype: Any) -> Any:
    """Integers of any size cut to the low bits, as Java narrows them."""
    if values.dtype == np.object_:
        values = (values & ((1 << 64) - 1)).astype(np.uint64).view(np.int64)
    return values.astype(dtype)


def _round_decimal(child: Node, digits: int) -> Node:
    precision, scale = child.type.precision, child.type.scale
    whole = precision - scale + 1
    if digits < 0:
        type_ = pa.decimal128(min(max(whole, -digits + 1), t.MAX_PRECISION), 0)
    else:
        kept = min(scale, digits)
        type_ = pa.decimal128(min(whole + kept, t.MAX_PRECISION), kept)
    needed = max(whole, -digits + 1) + type_.scale
    if needed > t.MAX_PRECISION:  # Spark may fail there, ANSI or not
        raise UnsupportedExpressionError(f"ROUND of {t.name_of(child.type)} to {digits} digits")
    if child.is_null:
        return constant(type_, None)
    dropped = scale - min(scale, digits)

    def kernel(values: Values, valid: Mask | None) -> Vector:
        count = half_up(values, 10**dropped) if dropped else values
        return scaled(count, max(-digits, 0), None), valid

    return unary(type_, child, kernel)


def floor_or_ceil(child: Node, *, up: bool, ansi: bool) -> Node:
    """FLOOR or CEIL: a bigint, of a decimal a decimal without digits after the point."""
    type_ = child.type
    if t.is_decimal(type_):
        return _floor_decimal(child, up=up)
    if child.is_null:
        return constant(t.BIGINT, None)
    if t.is_integral(type_):
        return unary(t.BIGINT, child, lambda values, valid: (values.astype(np.int64), valid))
    step = np.ceil if up else np.floor

    def kernel(values: Values, valid: Mask | None) -> Vector:
        stepped = step(values.astype(np.float64))
        bad = (stepped >= _BEYOND_BIGINT) | (stepped < -_BEYOND_BIGINT)
        if ansi and (row := offending(bad, valid, len(values))) is not None:
            overflow(f"{'ceil' if up else 'floor'}({values[row]})", t.BIGINT)
        return saturated(stepped, np.int64), valid

    return unary(t.BIGINT, child, kernel, raises=ansi)


def _floor_decimal(child: Node, *, up: bool) -> Node:
    precision, scale = child.type.precision, child.type.scale
    if precision == t.MAX_PRECISION and scale > 0:  # Spark rounds these within 38 digits, and may fail
        raise UnsupportedExpressionError(f"{'CEIL' if up else 'FLOOR'} of {t.name_of(child.type)}")
    type_ = child.type if scale == 0 else bounded(precision - scale + 1, 0)
    if child.is_null or scale == 0:
        return child if scale == 0 else constant(type_, None)
    unit = 10**scale

    def kernel(values: Values, valid: Mask | None) -> Vector:
        if unit >= 1 << 63:
            values = wide(values)
        return (-(-values // unit) if up else values // unit), valid

    return unary(type_, child, kernel)


def saturated(values: Any, dtype: Any) -> Any:
    """Floating numbers as integers the way Java converts: NaN is 0, what does not fit is the nearest end."""
    bounds = np.iinfo(dtype)
    above = values >= float(bounds.max)
    below = values <= float(bounds.min)
    inside = np.where(above | below | np.isnan(values), 0, values).astype(dtype)
    return np.where(above, bounds.max, np.where(below, bounds.min, inside)).astype(dtype)
