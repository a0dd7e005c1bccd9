"""The common type Spark brings two operands to."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.node import Node


def wider_number(left: pa.DataType, right: pa.DataType, *, ansi: bool) -> pa.DataType:
    """The common type of two number types of which at most one is a decimal, or two equal ones."""
    if left == right:
        return left
    if t.is_decimal(left) or t.is_decimal(right):
        return t.DOUBLE if t.is_float(left) or t.is_float(right) else wider_decimal(left, right)
    wider = max(left, right, key=t.NUMBERS.index)
    # Under ANSI an integer beside a float goes to double, for a float would lose its digits.
    return t.DOUBLE if ansi and wider == t.FLOAT else wider


def wider_decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The decimal that holds every value of two exact number types, of which one is a decimal."""
    left, right = t.as_decimal(left), t.as_decimal(right)
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    if whole + scale > t.MAX_PRECISION:
        raise UnsupportedExpressionError(
            f"bringing {t.name_of(left)} and {t.name_of(right)} to one type of at most 38 digits",
            hint="Cast one of them first.",
        )
    return pa.decimal128(whole + scale, scale)


def common_type(types: list[pa.DataType], *, ansi: bool, where: str) -> pa.DataType:
    """The type the branches of a CASE, COALESCE, IN, LEAST or GREATEST are brought to."""

    def wider(left: pa.DataType, right: pa.DataType) -> pa.DataType:
        if left == right or right == t.NULL:
            return left
        if left == t.NULL:
            return right
        if t.is_number(left) and t.is_number(right):
            return wider_number(left, right, ansi=ansi)
        if t.is_temporal(left) and t.is_temporal(right):
            return wider_temporal(left, right)
        if t.is_day_time(left) and t.is_day_time(right):
            return t.INTERVAL
        raise UnsupportedExpressionError(f"{where} over {t.name_of(left)} and {t.name_of(right)}")

    return reduce(wider, types)


def wider_temporal(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """Dates become timestamps, timestamps without time zone become timestamps with one."""
    if left == right:
        return left
    return t.TIMESTAMP if t.TIMESTAMP in (left, right) else t.TIMESTAMP_NTZ


def literal_decimal(node: Node) -> pa.DataType:
    """The decimal type of an exact number beside a decimal: Spark gives a literal just its own digits."""
    if node.literal and t.is_integral(node.type) and node.value is not None:
        return pa.decimal128(max(len(str(abs(int(node.value)))), 1), 0)
    return t.as_decimal(node.type)
