"""Comparison as Spark does it: NaN equals NaN and is greater than every number, -0.0 equals 0.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.expressions import types as t
from situ.expressions.decimals import aligned
from situ.expressions.evaluate import null_in_null_out, operands
from situ.expressions.node import Node, constant, operation
from situ.expressions.vectors import Frame, Mask, Values, Vector, both, read_boolean

Test = Callable[[Values, Values], Values]

FLIPPED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

_PLAIN: Final[dict[str, Test]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_STRINGS: Final[dict[str, str]] = {
    "=": "equal",
    "<>": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


def compare(op: str, left: Node, right: Node) -> Node:
    """`left op right`; both of one type, or both exact numbers."""
    if left.is_null or right.is_null:
        return constant(t.BOOLEAN, None)
    if t.is_exact(left.type) and t.is_exact(right.type):
        if right.folded and not left.constant:
            return _against_threshold(op, left, right)
        if left.folded and not right.constant:
            return _against_threshold(FLIPPED[op], right, left)
    if left.folded and not right.folded:
        left, right, op = right, left, FLIPPED[op]
    test = _test(op, left, right)
    return null_in_null_out(t.BOOLEAN, left, right, lambda a, b, valid: (test(a, b), valid))


def null_safe_equal(left: Node, right: Node) -> Node:
    """`left <=> right`: never null, two nulls are equal."""
    test = _test("=", left, right)
    run_left, run_right = operands(left, right)

    def run(frame: Frame) -> Vector:
        left_values, left_valid = run_left(frame)
        right_values, right_valid = run_right(frame)
        equal = test(left_values, right_values)
        valid = both(left_valid, right_valid)
        if valid is None:
            return equal, None
        return (equal & valid) | _both_null(left_valid, right_valid, frame.n), None

    return operation(t.BOOLEAN, run, left, right)


def equality(left: Node, right: Node) -> Test:
    """The bare test for equal values of two nodes of one type."""
    return _test("=", left, right)


def _both_null(left: Mask | None, right: Mask | None, n: int) -> Mask:
    return np.zeros(n, np.bool_) if left is None or right is None else ~(left | right)


def _test(op: str, left: Node, right: Node) -> Test:
    if left.type == t.STRING:
        return _string_test(op)
    if t.is_float(left.type):
        known = right.folded and not np.isnan(right.value)
        return _FLOATS_TO_NUMBER[op] if known else _FLOATS[op]
    test = _PLAIN[op]
    if left.type == right.type:
        return test
    align = aligned(left.type, right.type)
    return lambda a, b: test(*align(a, b))


def _string_test(op: str) -> Test:
    function = pc.get_function(_STRINGS[op])

    return lambda a, b: read_boolean(function.call([a, b]))[0]


def _less(a: Any, b: Any) -> Any:
    return (a < b) | ((b != b) & (a == a))


def _equal(a: Any, b: Any) -> Any:
    return (a == b) | ((a != a) & (b != b))


_FLOATS: Final[dict[str, Test]] = {
    "=": _equal,
    "<>": lambda a, b: ~_equal(a, b),
    "<": _less,
    "<=": lambda a, b: ~_less(b, a),
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: ~_less(a, b),
}

# Against a number that is not NaN one comparison does: NaN is above it, so "above" is "not below".
_FLOATS_TO_NUMBER: Final[dict[str, Test]] = _PLAIN | {
    ">": lambda a, b: ~(a <= b),
    ">=": lambda a, b: ~(a < b),
}


def _against_threshold(op: str, column: Node, number: Node) -> Node:
    """Compare exact numbers with a constant on the column's own integers, whatever the common type."""
    shift = t.scale_of(column.type) - t.scale_of(number.type)
    value = int(number.value)
    if shift >= 0:
        threshold, rest = value * 10**shift, 0
    else:
        threshold, rest = divmod(value, 10**-shift)
    if rest:  # no value of the column's scale equals the number: it lies just above `threshold`
        op = {"<": "<=", ">=": ">"}.get(op, op)
    unequal = bool(rest) and op in ("=", "<>")
    return _integers_against(op, column, threshold, never_equal=unequal)


def _integers_against(op: str, column: Node, threshold: int, *, never_equal: bool) -> Node:
    dtype: Any = t.dtype_of(column.type)
    bounds = np.iinfo(dtype)
    below, above = threshold < bounds.min, threshold > bounds.max
    test = _PLAIN[op]
    run_column = column.run
    narrow = not t.is_decimal(column.type) or column.type.precision <= t.NARROW_DIGITS
    if never_equal or (narrow and (below or above)):
        always = (op == "<>") or (op in (">", ">=") and below) or (op in ("<", "<=") and above)

        def settled(frame: Frame) -> Vector:
            _, valid = run_column(frame)
            return np.full(frame.n, always), valid

        return operation(t.BOOLEAN, settled, column)
    limit: Values = dtype.type(threshold) if not (below or above) else threshold

    def run(frame: Frame) -> Vector:
        values, valid = run_column(frame)
        if (below or above) and values.dtype != np.object_:
            values = values.astype(np.object_)
        return test(values, limit), valid

    return operation(t.BOOLEAN, run, column)


def smaller(type_: pa.DataType) -> Test:
    """Whether a value sorts before another of the same type, for LEAST and GREATEST."""
    if type_ == t.STRING:
        return _string_test("<")
    return _less if t.is_float(type_) else np.less
