"""Arithmetic with intervals: whole days and months are added to what the clock shows, the rest is time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.arithmetic import add_subtract_multiply, difference_overflows, negate, sum_overflows
from situ.expressions.civil import DAY, fitting_days, join, plus_months, split
from situ.expressions.evaluate import null_in_null_out, unary
from situ.expressions.failures import divided_by_zero, offending, overflow, show
from situ.expressions.node import Node, constant
from situ.expressions.temporal import zone_for
from situ.expressions.vectors import Mask, Values, Vector
from situ.expressions.zones import DAY_SECONDS, Zone

_INT64_MIN = -(1 << 63)

Cast = Callable[[Node, pa.DataType], Node]


def time_arithmetic(op: str, left: Node, right: Node, cast: Cast, time_zone: str) -> Node | None:
    """`left op right` with a date, a timestamp or an interval; None where Spark has no such thing."""
    if op in ("*", "/"):
        return _scaled(op, left, right, cast)
    if op == "+" and t.is_temporal(right.type) and not t.is_temporal(left.type):
        left, right = right, left
    if op == "-" and t.is_temporal(left.type) and t.is_temporal(right.type):
        return _between(left, right, cast, time_zone)
    if left.type == t.DATE:
        return _from_date(op, left, right, cast, time_zone)
    if t.is_timestamp(left.type):
        return _from_timestamp(op, left, right, time_zone)
    if left.type == right.type == t.MONTHS:
        return _exactly(op, t.MONTHS, left, right)
    if t.is_day_time(left.type) and t.is_day_time(right.type):
        return _exactly(op, left.type if left.type == right.type else t.INTERVAL, left, right)
    return None


def negated(node: Node) -> Node:
    """Minus an interval."""
    return negate(node, ansi=True)


def _exactly(op: str, type_: pa.DataType, left: Node, right: Node) -> Node:
    """A sum or difference that fails, ANSI or not, where it does not fit."""
    if left.is_null or right.is_null:
        return constant(type_, None)
    overflows = sum_overflows if op == "+" else difference_overflows

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        result: Any = a + b if op == "+" else a - b
        if offending(overflows(a, b, result), valid, len(result)) is not None:
            overflow(f"{t.name_of(left.type)} {op} {t.name_of(right.type)}", type_)
        return result, valid

    return null_in_null_out(type_, left, right, kernel, raises=True)


# Dates and timestamps plus or minus something


def _from_date(op: str, left: Node, right: Node, cast: Cast, time_zone: str) -> Node | None:
    if right.type in (t.TINYINT, t.SMALLINT, t.INT):
        return plus_days(op, left, right)
    if right.type == t.DAYS:
        return plus_days(
            op, left, unary(t.INT, right, lambda v, valid: (_whole_days(v).astype(np.int32), valid))
        )
    if right.type == t.MONTHS:
        return date_plus_months(left, right if op == "+" else negated(right))
    if right.type == t.INTERVAL:
        return _from_timestamp(op, cast(left, t.TIMESTAMP), right, time_zone)
    return None


def _from_timestamp(op: str, left: Node, right: Node, time_zone: str) -> Node | None:
    if t.is_day_time(right.type):
        if zone_for(left.type, time_zone).is_fixed:
            return _exactly(op, left.type, left, right)
        return plus_day_time(left, right if op == "+" else negated(right), time_zone)
    if right.type == t.MONTHS:
        return timestamp_plus_months(left, right if op == "+" else negated(right), time_zone)
    return None


def plus_days(op: str, left: Node, right: Node) -> Node:
    """A date plus or minus days; like Spark's it wraps around, ANSI or not."""
    if left.is_null or right.is_null:
        return constant(t.DATE, None)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        days = np.asarray(b, np.int64)
        return (a + days if op == "+" else a - days).astype(np.int32), valid

    return null_in_null_out(t.DATE, left, right, kernel)


def date_plus_months(left: Node, right: Node) -> Node:
    """A date some months on."""
    if left.is_null or right.is_null:
        return constant(t.DATE, None)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        return fitting_days(plus_months(a, b), valid), valid

    return null_in_null_out(t.DATE, left, right, kernel, raises=True)


def timestamp_plus_months(left: Node, right: Node, time_zone: str, *, amount_first: bool = False) -> Node:
    """A timestamp some months on, at the same time of the day."""

    def later(local: Values, months: Values) -> Values:
        days = local // DAY_SECONDS
        return plus_months(days, months) * DAY_SECONDS + (local - days * DAY_SECONDS)

    return _on_the_clock(left, right, time_zone, later, lambda months: 0, amount_first=amount_first)


def timestamp_plus_days(left: Node, right: Node, time_zone: str) -> Node:
    """A timestamp some days on, at the same time of the day."""

    def later(local: Values, days: Values) -> Values:
        return local + days * DAY_SECONDS

    return _on_the_clock(left, right, time_zone, later, lambda days: 0, amount_first=True)


def plus_time(left: Node, right: Node) -> Node:
    """A timestamp after some microseconds, whatever the clock does; their number is evaluated first."""
    return _exactly("+", left.type, right, left)


def plus_day_time(left: Node, right: Node, time_zone: str) -> Node:
    """A timestamp plus an interval: whole days on the clock, then the rest of it as time that passes."""

    def later(local: Values, micros: Values) -> Values:
        return local + _whole_days(micros) * DAY_SECONDS

    return _on_the_clock(left, right, time_zone, later, lambda micros: micros - _whole_days(micros) * DAY)


def _on_the_clock(
    left: Node,
    right: Node,
    time_zone: str,
    later: Callable[[Values, Values], Values],
    remaining: Callable[[Values], Values],
    *,
    amount_first: bool = False,
) -> Node:
    """Move the clock by `later`; of a time that comes twice stay in the half one came from.

    `amount_first`: like timestampadd, leave the timestamp unevaluated where the amount is null.
    """
    type_ = left.type
    if left.is_null or right.is_null:
        return constant(type_, None)
    where: Zone = zone_for(type_, time_zone)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        seconds, micros = split(np.atleast_1d(a))
        offset = where.offset(seconds)
        instant = where.instant(later(seconds + offset, b), offset)
        return join(instant, micros + remaining(b), valid, type_), valid

    if amount_first:
        return null_in_null_out(type_, right, left, lambda b, a, valid: kernel(a, b, valid), raises=True)
    return null_in_null_out(type_, left, right, kernel, raises=True)


def _whole_days(micros: Values) -> Any:
    """Towards zero, as Java divides."""
    days = np.floor_divide(micros, DAY)
    return days + ((micros < 0) & (days * DAY != micros))


# Differences


def _between(left: Node, right: Node, cast: Cast, time_zone: str) -> Node:
    """The interval between two dates or timestamps: the difference of what the clock shows."""
    if left.type == right.type == t.DATE:
        return _days_between(left, right)
    if left.type != right.type:
        common = t.TIMESTAMP_NTZ
        if t.DATE in (left.type, right.type):
            common = right.type if left.type == t.DATE else left.type
        left, right = cast(left, common), cast(right, common)
    if left.is_null or right.is_null:
        return constant(t.INTERVAL, None)
    where = zone_for(left.type, time_zone)
    if where.is_fixed:
        return _exactly("-", t.INTERVAL, left, right)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        (a_seconds, a_micros), (b_seconds, b_micros) = split(np.atleast_1d(a)), split(np.atleast_1d(b))
        seconds = a_seconds + where.offset(a_seconds) - (b_seconds + where.offset(b_seconds))
        return join(seconds, a_micros - b_micros, valid, t.INTERVAL), valid

    return null_in_null_out(t.INTERVAL, left, right, kernel, raises=True)


def _days_between(left: Node, right: Node) -> Node:
    if left.is_null or right.is_null:
        return constant(t.DAYS, None)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        seconds = (np.asarray(a, np.int64) - np.asarray(b, np.int64)) * DAY_SECONDS
        return join(seconds, 0, valid, t.DAYS), valid

    return null_in_null_out(t.DAYS, left, right, kernel, raises=True)


# Intervals times and by numbers


def _scaled(op: str, left: Node, right: Node, cast: Cast) -> Node | None:
    if op == "*" and t.is_number(left.type):
        left, right = right, left
    if not (left.type == t.MONTHS or t.is_day_time(left.type)) or not t.is_number(right.type):
        return None
    if not t.is_integral(right.type):
        raise UnsupportedExpressionError(f"{t.name_of(left.type)} {op} {t.name_of(right.type)}")
    type_ = t.MONTHS if left.type == t.MONTHS else t.INTERVAL
    wide = unary(t.BIGINT, left, lambda values, valid: (values.astype(np.int64), valid))
    number = cast(right, t.BIGINT)
    if op == "*":
        result = add_subtract_multiply("*", wide, number, ansi=True)
    else:
        result = _divided(wide, number)
    if type_ == t.MONTHS:
        result = cast_exactly(result)
    return unary(type_, result, lambda values, valid: (values, valid))


def cast_exactly(node: Node) -> Node:
    """Months counted in 64 bits as an interval's 32, or an error."""

    def kernel(values: Values, valid: Mask | None) -> Vector:
        narrow = values.astype(np.int32)
        if (row := offending(narrow != values, valid, len(values))) is not None:
            overflow(f"{values[row]} months", t.MONTHS)
        return narrow, valid

    return unary(t.MONTHS, node, kernel, raises=True)


def _divided(left: Node, right: Node) -> Node:
    """Rounded half away from zero; by zero it fails, ANSI or not."""
    if left.is_null or right.is_null:
        return constant(t.BIGINT, None)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
        if (row := offending(b == 0, valid, len(a))) is not None:
            divided_by_zero(f"an interval of {show(a, row, t.BIGINT)} / 0")
        if offending((a == _INT64_MIN) & (b == -1), valid, len(a)) is not None:
            overflow(f"{_INT64_MIN} / -1", t.INTERVAL)
        size, by = np.abs(a).view(np.uint64), np.where(b == 0, 1, np.abs(b)).view(np.uint64)
        quotient = size // by
        rest = size - quotient * by
        rounded = (quotient + (rest >= by - rest)).view(np.int64)
        return np.where((a < 0) != (b < 0), -rounded, rounded), valid

    return null_in_null_out(t.BIGINT, left, right, kernel, raises=True)
