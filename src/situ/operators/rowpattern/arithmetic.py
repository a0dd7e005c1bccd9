"""Comparisons, casts and arithmetic of operands whose types are settled, as instructions."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from situ.errors import UnsupportedConditionError
from situ.expressions import types as t
from situ.expressions.temporal import zone_for
from situ.operators.rowpattern.kernels import operations as do
from situ.operators.rowpattern.programs import Operand, Writer

_BITS: Final = {t.TINYINT: 8, t.SMALLINT: 16, t.INT: 32, t.BIGINT: 64}
_FLOAT_BITS: Final = {t.FLOAT: 32, t.DOUBLE: 64}
_DAY: Final = 86_400_000_000
_MOST_DIGITS: Final = 18  # of a power of ten that is an int64

# Equal or less; negated; with operands that change places.
_COMPARED: Final = {
    "=": (False, 0, 0),
    "<>": (False, 1, 0),
    "<": (True, 0, 0),
    ">": (True, 0, 1),
    "<=": (True, 1, 1),
    ">=": (True, 1, 0),
}
_OF_INTS: Final = {"+": do.ADD_INT, "-": do.SUBTRACT_INT, "*": do.MULTIPLY_INT, "%": do.REMAINDER_INT}
_OF_FLOATS: Final = {
    "+": do.ADD_FLOAT,
    "-": do.SUBTRACT_FLOAT,
    "*": do.MULTIPLY_FLOAT,
    "/": do.DIVIDE_FLOAT,
    "%": do.REMAINDER_FLOAT,
}


def compared(writer: Writer, op: str, left: Operand, right: Operand) -> Operand:
    """`left op right`, both of one type or exact numbers."""
    is_order, negated, swapped = _COMPARED[op]
    if t.is_float(left.type):
        code = do.LESS_FLOAT if is_order else do.EQUAL_FLOAT
    else:
        code = do.LESS_INT if is_order else do.EQUAL_INT
        scale = max(t.scale_of(left.type), t.scale_of(right.type)) if t.is_exact(left.type) else 0
        left, right = _at_scale(writer, left, scale), _at_scale(writer, right, scale)
    return writer.write(code, t.BOOLEAN, left.register, right.register, negated, swapped)


def compared_with(
    writer: Writer, op: str, left: Operand, value: int, number_type: pa.DataType
) -> Operand | None:
    """`left op value` of exact numbers on the left one's own integers; None where that needs other ones."""
    shift = t.scale_of(left.type) - t.scale_of(number_type)
    threshold, rest = (value * 10**shift, 0) if shift >= 0 else divmod(value, 10**-shift)
    if rest:  # no value of this scale is the number: it lies just above `threshold`
        if op in ("=", "<>"):
            return None
        op = {"<": "<=", ">=": ">"}.get(op, op)
    if abs(threshold) >= 1 << 63:
        return None
    return compared(writer, op, left, writer.constant(t.BIGINT, threshold)._replace(type=left.type))


def _at_scale(writer: Writer, operand: Operand, scale: int) -> Operand:
    if not t.is_exact(operand.type) or scale == t.scale_of(operand.type):
        return operand
    factor = writer.constant(t.BIGINT, _power(scale - t.scale_of(operand.type)))
    return writer.write(do.SCALE_INT, operand.type, operand.register, factor.register)


def _power(digits: int) -> int:
    if digits > _MOST_DIGITS:
        raise UnsupportedConditionError(f"bringing numbers {digits} digits apart to one scale")
    return int(10**digits)


def cast(writer: Writer, operand: Operand, target: pa.DataType) -> Operand:
    """The operand as another type."""
    source, register = operand.type, operand.register
    if source == target or (source == t.DAYS and target == t.INTERVAL):
        return Operand(register, target)
    if source == t.BOOLEAN and t.is_number(target):
        return cast(writer, Operand(register, t.TINYINT), target)
    if target == t.BOOLEAN and t.is_float(source):
        return writer.write(do.FLOAT_TO_INT, target, register, register, 1)
    if target == t.BOOLEAN and t.is_exact(source):
        return compared(writer, "<>", operand, writer.constant(t.BIGINT, 0)._replace(type=source))
    if t.is_integral(source) and t.is_float(target):
        return writer.write(do.INT_TO_FLOAT, target, register, register, _FLOAT_BITS[target])
    if t.is_float(source) and t.is_float(target):
        short = Operand(register, target)
        return short if source == t.FLOAT else _of_floats(writer, do.ROUND_FLOAT, short, short)
    if t.is_float(source) and t.is_integral(target):
        return writer.write(do.FLOAT_TO_INT, target, register, register, _BITS[target], int(writer.ansi))
    if t.is_integral(source) and t.is_integral(target):
        if _BITS[source] <= _BITS[target]:
            return Operand(register, target)
        return writer.write(do.NARROW_INT, target, register, register, _BITS[target], int(writer.ansi))
    if t.is_exact(source) and t.is_decimal(target):
        return _to_decimal(writer, operand, target)
    raise UnsupportedConditionError(
        f"CAST from {t.name_of(source)} to {t.name_of(target)} of values of several rows",
        hint="cast the columns themselves, each inside of its own navigation",
    )


def _to_decimal(writer: Writer, operand: Operand, target: pa.DataType) -> Operand:
    source = t.as_decimal(operand.type)
    more = target.scale - source.scale
    if more < 0 or source.precision - source.scale > target.precision - target.scale:
        raise UnsupportedConditionError(f"CAST from {t.name_of(operand.type)} to {t.name_of(target)}")
    if more == 0:
        return Operand(operand.register, target)
    factor = writer.constant(t.BIGINT, _power(more))
    return _exactly(writer, do.MULTIPLY_INT, operand, factor, target)


def _exactly(writer: Writer, code: int, left: Operand, right: Operand, type_: pa.DataType) -> Operand:
    """Arithmetic that raises, ANSI or not, where 64 bits do not hold the result."""
    return writer.write(code, type_, left.register, right.register, 64, 1)


def _of_floats(writer: Writer, code: int, left: Operand, right: Operand) -> Operand:
    bits = _FLOAT_BITS[left.type]
    return writer.write(code, left.type, left.register, right.register, bits, int(writer.ansi))


def of_numbers(writer: Writer, op: str, left: Operand, right: Operand) -> Operand:
    """`left op right` of one type, no decimal."""
    if t.is_float(left.type):
        return _of_floats(writer, _OF_FLOATS[op], left, right)
    code = do.DIVIDE_INT if op == "div" else _OF_INTS[op]
    return writer.write(code, left.type, left.register, right.register, _BITS[left.type], int(writer.ansi))


def of_decimals(writer: Writer, op: str, left: Operand, right: Operand, type_: pa.DataType) -> Operand:
    """`left op right` of decimals, where no digit has to be given up."""
    if op == "*" and type_.scale == left.type.scale + right.type.scale:
        return _exactly(writer, do.MULTIPLY_INT, left, right, type_)
    if op in ("+", "-") and type_.scale == max(left.type.scale, right.type.scale):
        left = _to_decimal(writer, left, _at(left.type, type_.scale))
        right = _to_decimal(writer, right, _at(right.type, type_.scale))
        return _exactly(writer, _OF_INTS[op], left, right, type_)
    raise UnsupportedConditionError(
        f"{t.name_of(left.type)} {op} {t.name_of(right.type)} of values of several rows",
        hint="cast one of them to double first",
    )


def _at(type_: pa.DataType, scale: int) -> pa.DataType:
    return pa.decimal128(min(type_.precision - type_.scale + scale, t.MAX_PRECISION), scale)


def of_times(writer: Writer, op: str, left: Operand, right: Operand, type_: pa.DataType) -> Operand:
    """Differences of times and intervals, and a time that is moved, where clocks never change."""
    if op == "+" and t.is_temporal(right.type):
        left, right = right, left
    if left.type == right.type == t.DATE and op == "-":
        days = _exactly(writer, do.SUBTRACT_INT, left, right, t.BIGINT)
        return _exactly(writer, do.MULTIPLY_INT, days, writer.constant(t.BIGINT, _DAY), type_)
    is_moved = t.is_timestamp(left.type) and t.is_day_time(right.type)
    is_apart = t.is_timestamp(left.type) and left.type == right.type and op == "-"
    are_intervals = t.is_day_time(left.type) and t.is_day_time(right.type)
    is_fixed = are_intervals or (t.is_timestamp(left.type) and zone_for(left.type, writer.time_zone).is_fixed)
    if op in ("+", "-") and is_fixed and (is_moved or is_apart or are_intervals):
        return _exactly(writer, _OF_INTS[op], left, right, type_)
    raise UnsupportedConditionError(f"{t.name_of(left.type)} {op} {t.name_of(right.type)} of several rows")


def signed(writer: Writer, operand: Operand, *, is_absolute: bool) -> Operand:
    """Minus the operand, or its size."""
    register, type_ = operand
    if t.is_float(type_):
        return writer.write(do.ABSOLUTE_FLOAT if is_absolute else do.NEGATE_FLOAT, type_, register, register)
    code = do.ABSOLUTE_INT if is_absolute else do.NEGATE_INT
    bits = _BITS.get(type_, 64)
    raises = int(writer.ansi or type_ not in _BITS)
    return writer.write(code, type_, register, register, bits, raises)
