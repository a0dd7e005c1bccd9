"""Dates, timestamps and day-time intervals."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.evaluate import null_in_null_out, unary
from situ.expressions.failures import offending, overflow
from situ.expressions.literals import is_utc, zone_of
from situ.expressions.node import Node, constant
from situ.expressions.vectors import Mask, Values, Vector

_DAY = 86_400_000_000
_SECOND = 1_000_000


def cast_temporal(child: Node, target: pa.DataType, time_zone: str) -> Node:
    """Casts among dates and timestamps, and a timestamp's seconds since 1970 as a bigint."""
    source = child.type
    if source == t.TIMESTAMP and target == t.BIGINT:
        return unary(target, child, lambda values, valid: (values // _SECOND, valid))
    if not (t.is_temporal(source) and t.is_temporal(target)):
        raise UnsupportedExpressionError(f"CAST from {t.name_of(source)} to {t.name_of(target)}")
    if t.TIMESTAMP in (source, target) and not is_utc(time_zone):
        return _through_zone(child, target, time_zone)
    if source == t.DATE:
        return _days_to_micros(child, target)
    if target == t.DATE:
        return unary(target, child, lambda values, valid: ((values // _DAY).astype(np.int32), valid))
    return unary(target, child, lambda values, valid: (values, valid))


def _days_to_micros(child: Node, target: pa.DataType) -> Node:
    limit = np.iinfo(np.int64).max // _DAY

    def kernel(values: Values, valid: Mask | None) -> Vector:
        days = values.astype(np.int64)
        if (row := offending((days > limit) | (days < -limit), valid, len(days))) is not None:
            overflow(f"day {days[row]} since 1970", target)
        return days * _DAY, valid

    return unary(target, child, kernel, raises=True)


def _through_zone(child: Node, target: pa.DataType, time_zone: str) -> Node:
    """Constants only: the rules of a zone's history are not applied to whole columns."""
    zone = zone_of(time_zone)
    if not child.folded or target != t.TIMESTAMP:
        raise UnsupportedExpressionError(
            f"turning {t.name_of(child.type)} into {t.name_of(target)} in the time zone {time_zone}"
        )
    micros = int(child.value) * (_DAY if child.type == t.DATE else 1)
    try:
        local = datetime(1970, 1, 1) + timedelta(microseconds=micros)
        instant = local.replace(tzinfo=zone) - datetime(1970, 1, 1, tzinfo=zone_of("UTC"))
    except OverflowError:
        raise UnsupportedExpressionError(
            f"a date outside the years 1 to 9999 in the zone {time_zone}"
        ) from None
    return constant(t.TIMESTAMP, instant // timedelta(microseconds=1))


def add_interval(left: Node, right: Node, *, minus: bool, time_zone: str) -> Node:
    """A timestamp or an interval plus or minus an interval."""
    type_ = left.type
    if type_ == t.TIMESTAMP and not is_utc(time_zone):
        raise UnsupportedExpressionError(f"adding an interval to a timestamp in the time zone {time_zone}")
    return _micros(type_, left, right, minus=minus)


def difference(left: Node, right: Node, *, time_zone: str) -> Node:
    """The interval between two timestamps of one type."""
    if left.type == t.TIMESTAMP and not is_utc(time_zone):
        raise UnsupportedExpressionError(f"subtracting timestamps in the time zone {time_zone}")
    return _micros(t.INTERVAL, left, right, minus=True)


def _micros(type_: pa.DataType, left: Node, right: Node, *, minus: bool) -> Node:
    if left.is_null or right.is_null:
        return constant(type_, None)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        result: Any = a - b if minus else a + b
        bad = ((a ^ b) & (a ^ result)) < 0 if minus else ((a ^ result) & (b ^ result)) < 0
        if offending(bad, valid, len(result)) is not None:
            overflow("a sum of microseconds", type_)
        return result, valid

    return null_in_null_out(type_, left, right, kernel, raises=True)
