"""CAST, and the casts Spark puts in by itself."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.decimals import int64, settle
from situ.expressions.evaluate import unary
from situ.expressions.failures import bad_cast, offending, overflow, show
from situ.expressions.literals import parse_literal
from situ.expressions.node import Node, constant
from situ.expressions.rounding import saturated, units, wrapped
from situ.expressions.temporal import cast_temporal
from situ.expressions.vectors import Mask, Values, Vector

_EXACT_DOUBLE = 1 << 53
_MANY = 400  # digits before the point of the largest double, and some
_EXACT_POWER = 22  # 10**22 is the largest power of ten that is a double


def cast(child: Node, target: pa.DataType, *, ansi: bool, time_zone: str) -> Node:
    """The child as a value of the target type, by Spark's rules."""
    source = child.type
    if source == target:
        return child
    if source == t.NULL or child.is_null:
        return constant(target, None)
    if source == t.STRING:
        return _cast_string(child, target, time_zone)
    if source == t.DAYS and target == t.INTERVAL:
        return unary(t.INTERVAL, child, lambda values, valid: (values, valid))
    if t.is_temporal(source) or t.is_temporal(target):
        return cast_temporal(child, target, time_zone)
    if target == t.STRING:
        return _to_string(child)
    if target == t.BOOLEAN and t.is_number(source):
        return unary(t.BOOLEAN, child, lambda values, valid: (values != 0, valid))
    if t.is_number(target) and (t.is_number(source) or source == t.BOOLEAN):
        return _cast_number(child, target, ansi=ansi)
    raise _refused(source, target)


def _refused(source: pa.DataType, target: pa.DataType) -> UnsupportedExpressionError:
    return UnsupportedExpressionError(f"CAST from {t.name_of(source)} to {t.name_of(target)}")


def _cast_string(child: Node, target: pa.DataType, time_zone: str) -> Node:
    if not child.folded:
        raise _refused(t.STRING, target)
    return constant(target, parse_literal(child.value, target, time_zone))


def _to_string(child: Node) -> Node:
    if not (t.is_integral(child.type) or child.type == t.BOOLEAN):
        raise _refused(child.type, t.STRING)
    return unary(t.STRING, child, lambda values, valid: (pc.cast(pa.array(values), t.STRING), valid))


def _cast_number(child: Node, target: pa.DataType, *, ansi: bool) -> Node:
    source = child.type
    if source == t.BOOLEAN:
        child, source = unary(t.TINYINT, child, lambda v, valid: (v.astype(np.int8), valid)), t.TINYINT
        if target == source:
            return child
    if t.is_decimal(target):
        return _to_decimal(child, target, ansi=ansi)
    if t.is_float(target):
        return _to_float(child, target)
    if t.is_decimal(source):
        return _decimal_to_integer(child, target, ansi=ansi)
    if t.is_float(source):
        return _float_to_integer(child, target, ansi=ansi)
    return _integer_to_integer(child, target, ansi=ansi)


def _integer_to_integer(child: Node, target: pa.DataType, *, ansi: bool) -> Node:
    dtype: Any = t.dtype_of(target)
    source: Any = t.dtype_of(child.type)
    if dtype.itemsize >= source.itemsize:
        return unary(target, child, lambda values, valid: (values.astype(dtype), valid))
    return _narrowing(child, target, lambda v: v.astype(dtype), _outside(dtype), ansi=ansi)


def _outside(dtype: Any) -> Callable[[Any], Any]:
    bounds = np.iinfo(dtype)
    return lambda values: (values > bounds.max) | (values < bounds.min)


def _float_to_integer(child: Node, target: pa.DataType, *, ansi: bool) -> Node:
    dtype: Any = t.dtype_of(target)
    bounds = np.iinfo(dtype)
    # Java converts to int first, then cuts to the narrow types.
    first: Any = np.int64 if target == t.BIGINT else np.int32

    def outside(values: Any) -> Any:
        wide = values.astype(np.float64)
        # As Spark tests it: 127.9 still fits a tinyint; a double cannot tell 2**63 from the largest bigint.
        return ~((np.floor(wide) <= float(bounds.max)) & (np.ceil(wide) >= float(bounds.min)))

    return _narrowing(child, target, lambda v: saturated(v, first).astype(dtype), outside, ansi=ansi)


def _decimal_to_integer(child: Node, target: pa.DataType, *, ansi: bool) -> Node:
    dtype: Any = t.dtype_of(target)
    unit = 10**child.type.scale

    def truncated(values: Any) -> Any:
        if unit >= 1 << 63:
            values = values.astype(np.object_)
        whole = values // unit
        return whole + ((values < 0) & (whole * unit != values))

    outside = _outside(dtype)
    return _narrowing(
        child, target, lambda v: wrapped(truncated(v), dtype), lambda v: outside(truncated(v)), ansi=ansi
    )


def _narrowing(
    child: Node,
    target: pa.DataType,
    convert: Callable[[Any], Any],
    outside: Callable[[Any], Any],
    *,
    ansi: bool,
) -> Node:
    source = child.type

    def kernel(values: Values, valid: Mask | None) -> Vector:
        if ansi and (row := offending(outside(values), valid, len(values))) is not None:
            bad_cast(f"{show(values, row, source)} ({t.name_of(source)})", target)
        return convert(values), valid

    return unary(target, child, kernel, raises=ansi)


def _to_decimal(child: Node, target: pa.DataType, *, ansi: bool) -> Node:
    source = child.type
    if t.is_float(source):
        return _float_to_decimal(child, target, ansi=ansi)
    scale, digits = t.scale_of(source), t.digits_of(source)
    fits = digits - scale <= target.precision - target.scale and scale <= target.scale

    def kernel(values: Values, valid: Mask | None) -> Vector:
        return settle(int64(values), valid, scale, digits, target, ansi=ansi, what="the number")

    return unary(target, child, kernel, raises=ansi and not fits)


def _float_to_decimal(child: Node, target: pa.DataType, *, ansi: bool) -> Node:
    source = child.type
    # A little above, so that what is rounded away does not matter.
    beyond = 10.0 ** (target.precision - target.scale) * (1 + 1e-12)

    def kernel(values: Values, valid: Mask | None) -> Vector:
        values = values.astype(np.float64)
        usable = np.isfinite(values)  # NaN and the infinities become null, under ANSI too
        if valid is not None:
            usable &= valid
        too_large = np.abs(values) >= beyond
        if ansi and (row := offending(too_large, usable, len(values))) is not None:
            overflow(show(values, row, source), target)
        usable &= ~too_large
        if not usable.all():
            values, valid = np.where(usable, values, 0.0), usable
        counted = units(values, target.scale)
        return settle(counted, valid, target.scale, _MANY, target, ansi=ansi, what="the number")

    # Without ANSI too, for some doubles are refused.
    return unary(target, child, kernel, raises=True)


def _to_float(child: Node, target: pa.DataType) -> Node:
    dtype: Any = t.dtype_of(target)
    if not t.is_decimal(child.type):
        return unary(target, child, lambda values, valid: (values.astype(dtype), valid))
    scale = child.type.scale
    if child.folded:
        value = Fraction(child.value, 10**scale)
        return constant(target, float(value) if target == t.DOUBLE else nearest_float(value))
    if target == t.FLOAT:
        raise _refused(child.type, target)
    return unary(target, child, lambda values, valid: (_decimal_to_double(values, scale), valid))


def _decimal_to_double(values: Any, scale: int) -> Any:
    if scale <= _EXACT_POWER and values.dtype != np.object_:
        exact = np.abs(values) <= _EXACT_DOUBLE
        if exact.all():
            return values / 10.0**scale
    # Python divides integers to the nearest double, as Java reads a decimal's digits.
    return (values.astype(np.object_) / 10**scale).astype(np.float64)


def nearest_float(value: Fraction) -> np.float32:
    """The float closest to an exact number, the even one of two."""
    near = np.float32(float(value))
    if not np.isfinite(near):
        return near
    around = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    finite = [candidate for candidate in around if np.isfinite(candidate)]
    return min(finite, key=lambda c: (abs(Fraction(float(c)) - value), int(c.view(np.int32)) & 1))
