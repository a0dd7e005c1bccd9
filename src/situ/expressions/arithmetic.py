"""Arithmetic on integers and floating numbers; decimals have a file of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.decimals import magnitude
from situ.expressions.evaluate import Kernel, null_in_null_out, on_rows, unary
from situ.expressions.failures import divided_by_zero, offending, overflow, show
from situ.expressions.node import Node, constant, operation, rows_of
from situ.expressions.vectors import Frame, Mask, Values, Vector, both

_UFUNCS: Final[dict[str, Callable[[Values, Values], Values]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
}
_INT64_MAX = (1 << 63) - 1
_SIGNED_DIGITS = 34  # what a sign change keeps of a decimal on the JVM


def add_subtract_multiply(op: str, left: Node, right: Node, *, ansi: bool) -> Node:
    """`left op right` for + - *, both of one integer or floating type, which the result has too."""
    type_ = left.type
    if left.is_null or right.is_null:
        return constant(type_, None)
    compute = _UFUNCS[op]
    checked = ansi and t.is_integral(type_)
    overflows = _OVERFLOWS[op]

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        return compute(a, b), valid

    def checking(a: Values, b: Values, valid: Mask | None) -> Vector:
        result = compute(a, b)
        bad = overflows(a, b, result)
        if bad is not None and (row := offending(bad, valid, len(result))) is not None:
            overflow(f"{show(a, row, type_)} {op} {show(b, row, type_)}", type_)
        return result, valid

    return null_in_null_out(type_, left, right, checking if checked else kernel, raises=checked)


def sum_overflows(a: Any, b: Any, result: Any) -> Any:
    return ((a ^ result) & (b ^ result)) < 0


def difference_overflows(a: Any, b: Any, result: Any) -> Any:
    return ((a ^ b) & (a ^ result)) < 0


def _product_overflows(a: Any, b: Any, result: Any) -> Any:
    if result.dtype.itemsize < 8:
        return np.multiply(a, b, dtype=np.int64) != result
    if magnitude(a) * magnitude(b) <= _INT64_MAX:
        return None
    # Dividing back gives the other factor exactly when nothing wrapped; -1 * MIN is the case it misses.
    undone = np.floor_divide(result, np.where(b == 0, 1, b))
    wrapped = (b != 0) & ((undone != a) | (undone * b != result))
    lowest = np.iinfo(np.int64).min
    return wrapped | ((b == -1) & (a == lowest)) | ((a == -1) & (b == lowest))


_OVERFLOWS: Final = {"+": sum_overflows, "-": difference_overflows, "*": _product_overflows}


def divide(left: Node, right: Node, *, ansi: bool) -> Node:
    """`left / right` of doubles."""
    return division("/", t.DOUBLE, left, right, lambda a, b, valid: (a / b, valid), ansi=ansi)


def integral_divide(left: Node, right: Node, *, ansi: bool) -> Node:
    """`left div right` of bigints, towards zero."""
    lowest = np.iinfo(np.int64).min

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        divisor = np.where(b == 0, 1, b)
        if ansi:
            row = offending((a == lowest) & (divisor == -1), valid, len(a) if np.ndim(a) else len(divisor))
            if row is not None:
                overflow(f"{lowest} div -1", t.BIGINT)
        quotient = a // divisor
        return quotient + ((quotient * divisor != a) & ((a < 0) != (divisor < 0))), valid

    return division("div", t.BIGINT, left, right, kernel, ansi=ansi, overflows=True)


def remainder(left: Node, right: Node, *, ansi: bool) -> Node:
    """`left % right`, with the sign of the left, both of one integer or floating type."""
    exact = t.is_integral(left.type)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        return np.fmod(a, np.where(b == 0, b.dtype.type(1), b) if exact else b), valid

    return division("%", left.type, left, right, kernel, ansi=ansi)


def positive_remainder(left: Node, right: Node, *, ansi: bool) -> Node:
    """PMOD(left, right): the remainder, plus the right side where negative; both of one type."""
    exact = t.is_integral(left.type)
    dtype = t.dtype_of(left.type)
    # Java adds bytes and shorts as ints; the sum of two ints or longs wraps.
    wide: Any = np.promote_types(dtype, np.int32) if exact else dtype

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        a, b = np.asarray(a, wide), np.asarray(b, wide)
        divisor = np.where(b == 0, wide.type(1), b) if exact else b
        rest = np.fmod(a, divisor)
        return np.where(rest < 0, np.fmod(rest + divisor, divisor), rest).astype(dtype), valid

    return division("pmod", left.type, left, right, kernel, ansi=ansi)


def division(
    op: str,
    type_: pa.DataType,
    left: Node,
    right: Node,
    kernel: Kernel,
    *,
    ansi: bool,
    overflows: bool = False,
) -> Node:
    """An operator that fails (ANSI) or is null where the right side is zero; `overflows`: so may its kernel.

    Like Spark's it evaluates the right side first, and the left one only where that is not null.
    """
    if left.is_null or right.is_null:
        return constant(type_, None)
    never_zero = right.folded and right.value != 0
    run_left = rows_of(left) if right.constant else left.run
    run_right = right.run
    left_type, right_type = left.type, right.type

    def run(frame: Frame) -> Vector:
        right_values, right_valid = run_right(frame)
        zero = None if never_zero else np.equal(right_values, 0)
        needed = right_valid if ansi or zero is None else both(right_valid, ~zero)
        left_values, left_valid = on_rows(left, frame, needed) if left.raises else run_left(frame)
        valid = both(left_valid, needed)
        if ansi and zero is not None and (row := offending(zero, valid, frame.n)) is not None:
            divided_by_zero(f"{show(left_values, row, left_type)} {op} {show(right_values, row, right_type)}")
        if valid is not None and np.ndim(valid) == 0:
            valid = np.broadcast_to(valid, frame.n)
        return kernel(left_values, right_values, valid)

    return operation(type_, run, left, right, raises=ansi and (overflows or not never_zero))


def negate(child: Node, *, ansi: bool) -> Node:
    return _signed("-", child, np.negative, ansi=ansi)


def absolute(child: Node, *, ansi: bool) -> Node:
    return _signed("abs", child, np.abs, ansi=ansi)


def _signed(op: str, child: Node, compute: Callable[[Values], Values], *, ansi: bool) -> Node:
    """Minus or ABS; of the smallest integer neither exists."""
    if t.is_decimal(child.type) and child.type.precision > _SIGNED_DIGITS:
        raise UnsupportedExpressionError(
            f"{op} of {t.name_of(child.type)}, which Spark rounds to {_SIGNED_DIGITS} digits,"
        )
    if child.is_null:
        return constant(child.type, None)
    checked = ansi and not (t.is_float(child.type) or t.is_decimal(child.type))
    lowest: Any = np.iinfo(t.dtype_of(child.type)).min if checked else None  # type: ignore[type-var]

    def kernel(values: Values, valid: Mask | None) -> Vector:
        if checked and (row := offending(values == lowest, valid, len(values))) is not None:
            overflow(f"{op}({values[row]})", child.type)
        return compute(values), valid

    return unary(child.type, child, kernel, raises=checked)
