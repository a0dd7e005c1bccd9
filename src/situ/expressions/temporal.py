"""Casts among dates and timestamps, and a timestamp's seconds as a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.civil import SECOND, join, split
from situ.expressions.evaluate import unary
from situ.expressions.node import Node
from situ.expressions.vectors import Mask, Values, Vector
from situ.expressions.zones import DAY_SECONDS, Seconds, Zone, zone


def zone_for(type_: pa.DataType, time_zone: str) -> Zone:
    """Where the clock of a date or timestamp type goes: those without a zone have one that never changes."""
    return zone(time_zone if type_ == t.TIMESTAMP else "UTC")


def cast_temporal(child: Node, target: pa.DataType, time_zone: str) -> Node:
    """Casts among dates and timestamps, and a timestamp's seconds since 1970 as a bigint."""
    source = child.type
    if source == t.TIMESTAMP and target == t.BIGINT:
        return unary(target, child, lambda values, valid: (values // SECOND, valid))
    if not (t.is_temporal(source) and t.is_temporal(target)):
        raise UnsupportedExpressionError(f"CAST from {t.name_of(source)} to {t.name_of(target)}")
    if source == t.DATE:
        return _day_starts(child, target, zone_for(target, time_zone))
    if target == t.DATE:
        return _days(child, zone_for(source, time_zone))
    if target == t.TIMESTAMP:
        return moved(child, target, zone(time_zone).instant)
    return local_times(child, zone(time_zone))


def _day_starts(child: Node, target: pa.DataType, where: Zone) -> Node:
    def kernel(values: Values, valid: Mask | None) -> Vector:
        return join(where.start_of_day(values.astype(np.int64)), 0, valid, target), valid

    return unary(target, child, kernel, raises=True)


def _days(child: Node, where: Zone) -> Node:
    def kernel(values: Values, valid: Mask | None) -> Vector:
        return (local_seconds(values, where) // DAY_SECONDS).astype(np.int32), valid

    return unary(t.DATE, child, kernel)


def local_seconds(micros: Values, where: Zone) -> Seconds:
    """What the clock shows, in whole seconds since it showed 1970-01-01."""
    seconds: Seconds = np.floor_divide(micros, SECOND)
    return seconds if where.is_utc else seconds + where.offset(seconds)


def local_times(child: Node, where: Zone) -> Node:
    """What the clock of a zone shows at instants, as timestamps without a zone."""
    return moved(child, t.TIMESTAMP_NTZ, lambda seconds: seconds + where.offset(seconds))


def moved(child: Node, target: pa.DataType, move: Callable[[Seconds], Seconds]) -> Node:
    """Timestamps whose whole seconds are moved."""

    def kernel(values: Values, valid: Mask | None) -> Vector:
        seconds, rest = split(values)
        return join(move(seconds), rest, valid, target), valid

    return unary(target, child, kernel, raises=True)
