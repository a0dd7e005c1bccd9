"""Fields of dates, timestamps and intervals, and truncation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.civil import SECOND, civil, days_of, join, split
from situ.expressions.evaluate import unary
from situ.expressions.failures import offending, overflow
from situ.expressions.node import Node
from situ.expressions.rules import Rules
from situ.expressions.temporal import local_seconds, zone_for
from situ.expressions.vectors import Mask, Values, Vector, nulls
from situ.expressions.zones import DAY_SECONDS, Zone

Field = Callable[[Values], Any]

_SECOND_FIELD: Final = pa.decimal128(8, 6)


def as_date(rules: Rules, node: Node, where: str) -> Node:
    """An argument Spark casts to a date."""
    return _as(t.DATE, rules, node, where)


def as_timestamp(rules: Rules, node: Node, where: str) -> Node:
    """An argument Spark casts to a timestamp."""
    return _as(t.TIMESTAMP, rules, node, where)


def as_any_timestamp(rules: Rules, node: Node, where: str) -> Node:
    """An argument that may be a timestamp with or without a zone."""
    return node if node.type == t.TIMESTAMP_NTZ else as_timestamp(rules, node, where)


def _as(type_: pa.DataType, rules: Rules, node: Node, where: str) -> Node:
    if not (t.is_temporal(node.type) or node.type == t.NULL or (node.type == t.STRING and node.constant)):
        raise UnsupportedExpressionError(f"{where} of {t.name_of(node.type)}")
    return rules.cast(node, type_)


def literal_text(node: Any, where: str) -> str | None:
    """A text that must be written as a literal; None for NULL."""
    if isinstance(node, Node) and (node.is_null or (node.folded and node.type == t.STRING)):
        return None if node.is_null else str(node.value)
    raise UnsupportedExpressionError(f"{where} that is not a text literal")


# Fields


def _week_thursday(days: Values) -> Any:
    return days - (days + 3) % 7 + 3


def _week(days: Values) -> Any:
    thursday = _week_thursday(days)
    return (thursday - days_of(civil(thursday)[0], 1, 1)) // 7 + 1


_DATE_FIELDS: Final[dict[str, Field]] = {
    "year": lambda days: civil(days)[0],
    "quarter": lambda days: (civil(days)[1] + 2) // 3,
    "month": lambda days: civil(days)[1],
    "day": lambda days: civil(days)[2],
    "dayofyear": lambda days: days - days_of(civil(days)[0], 1, 1) + 1,
    "dayofweek": lambda days: (days + 4) % 7 + 1,
    "weekday": lambda days: (days + 3) % 7,
    "dayofweek_iso": lambda days: (days + 3) % 7 + 1,
    "weekofyear": _week,
    "yearofweek": lambda days: civil(_week_thursday(days))[0],
}
_CLOCK_FIELDS: Final[dict[str, Field]] = {
    "hour": lambda seconds: seconds % DAY_SECONDS // 3_600,
    "minute": lambda seconds: seconds % 3_600 // 60,
    "second": lambda seconds: seconds % 60,
}
# The names EXTRACT and DATE_PART know, for the fields above.
_EXTRACTED: Final = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), "year"),
    "YEAROFWEEK": "yearofweek",
    **dict.fromkeys(("QUARTER", "QTR"), "quarter"),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), "month"),
    **dict.fromkeys(("WEEK", "W", "WEEKS"), "weekofyear"),
    **dict.fromkeys(("DAY", "D", "DAYS"), "day"),
    **dict.fromkeys(("DAYOFWEEK", "DOW"), "dayofweek"),
    **dict.fromkeys(("DAYOFWEEK_ISO", "DOW_ISO"), "dayofweek_iso"),
    "DOY": "dayofyear",
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), "hour"),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), "minute"),
    **dict.fromkeys(("SECOND", "S", "SEC", "SECONDS", "SECS"), "second"),
}


# The type, the microseconds of one, and how many make the next field up.
_INTERVAL_FIELDS: Final = {
    "day": (t.INT, DAY_SECONDS * SECOND, 0),
    "hour": (t.TINYINT, 3_600 * SECOND, 24),
    "minute": (t.TINYINT, 60 * SECOND, 60),
    "second": (_SECOND_FIELD, 1, 60 * SECOND),
}


def field(name: str, rules: Rules, node: Node) -> Node:
    """One number of a date or timestamp: `hour(x)`, `dayofweek(x)` and the like."""
    if name in _CLOCK_FIELDS:
        return _clock_field(name, rules, as_any_timestamp(rules, node, name))
    compute = _DATE_FIELDS[name]

    def kernel(values: Values, valid: Mask | None) -> Vector:
        return compute(values.astype(np.int64)).astype(np.int32), valid

    return unary(t.INT, as_date(rules, node, name), kernel)


def _clock_field(name: str, rules: Rules, node: Node) -> Node:
    compute, where = _CLOCK_FIELDS[name], zone_for(node.type, rules.time_zone)

    def kernel(values: Values, valid: Mask | None) -> Vector:
        return compute(local_seconds(values, where)).astype(np.int32), valid

    return unary(t.INT, node, kernel)


def extract(rules: Rules, written: str, node: Node) -> Node:
    """`EXTRACT(field FROM node)`; seconds come with their microseconds, as a decimal."""
    name = _EXTRACTED.get(written.upper())
    where = f"EXTRACT({written} FROM {t.name_of(node.type)})"
    if name is None:
        raise UnsupportedExpressionError(where)
    if t.is_day_time(node.type):
        return _interval_field(name, node, where)
    if name != "second":
        return field(name, rules, node)
    node = as_any_timestamp(rules, node, where)
    zone = zone_for(node.type, rules.time_zone)

    def kernel(values: Values, valid: Mask | None) -> Vector:
        return local_seconds(values, zone) % 60 * SECOND + split(values)[1], valid

    return unary(_SECOND_FIELD, node, kernel)


def _interval_field(name: str, node: Node, where: str) -> Node:
    # A constant may be of a narrower interval type, of which Spark extracts less.
    if name not in _INTERVAL_FIELDS or node.constant or (node.type == t.DAYS and name != "day"):
        raise UnsupportedExpressionError(where)
    type_, unit, limit = _INTERVAL_FIELDS[name]

    def kernel(values: Values, valid: Mask | None) -> Vector:
        count = np.floor_divide(values, unit)
        count += (values < 0) & (count * unit != values)  # towards zero, and so is the remainder
        return (np.fmod(count, limit) if limit else count).astype(t.dtype_of(type_)), valid

    return unary(type_, node, kernel)


# Truncation

_DATE_LEVELS: Final = {
    "WEEK": "week",
    **dict.fromkeys(("MON", "MONTH", "MM"), "month"),
    "QUARTER": "quarter",
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
}
_CLOCK_LEVELS: Final = {"MINUTE": 60, "HOUR": 3_600, "DAY": DAY_SECONDS, "DD": DAY_SECONDS}
_FRACTIONS: Final = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": SECOND}


def _start_of(level: str, days: Values) -> Any:
    if level == "week":
        return days - (days + 3) % 7
    year, month, _ = civil(days)
    if level == "quarter":
        month = (month - 1) // 3 * 3 + 1
    return days_of(year, np.ones_like(month) if level == "year" else month, 1)


def trunc(rules: Rules, node: Node, unit: Any) -> Node:
    """`trunc(date, unit)`: the first day of a week, month, quarter or year; null for any other unit."""
    child = as_date(rules, node, "trunc")
    level = _DATE_LEVELS.get((literal_text(unit, "trunc to a unit") or "").upper())
    if level is None:
        return _never(t.DATE)

    def kernel(values: Values, valid: Mask | None) -> Vector:
        return _start_of(level, values.astype(np.int64)).astype(np.int32), valid

    return unary(t.DATE, child, kernel)


def date_trunc(rules: Rules, unit: Any, node: Node) -> Node:
    """`date_trunc(unit, timestamp)`: what the clock showed when the unit began; null for an unknown unit."""
    child = as_timestamp(rules, node, "date_trunc")
    level = (literal_text(unit, "date_trunc to a unit") or "").upper()
    where = zone_for(t.TIMESTAMP, rules.time_zone)
    if level in _FRACTIONS:
        return _fraction_start(child, _FRACTIONS[level])
    if level in _CLOCK_LEVELS:
        return _from_seconds(child, _clock_start(_CLOCK_LEVELS[level], where))
    if level in _DATE_LEVELS:
        return _from_seconds(child, _date_start(_DATE_LEVELS[level], where))
    return _never(t.TIMESTAMP)


def _never(type_: pa.DataType) -> Node:
    """Null on every row without a look at the argument; no constant, for its neighbours are evaluated."""
    return Node(type_, lambda frame: nulls(type_, frame.n))


def _fraction_start(child: Node, length: int) -> Node:
    def kernel(values: Values, valid: Mask | None) -> Vector:
        result = values - values % length
        if offending(result > values, valid, len(values)) is not None:
            overflow("the start of the first second there is", t.TIMESTAMP)
        return result, valid

    return unary(t.TIMESTAMP, child, kernel, raises=True)


def _clock_start(length: int, where: Zone) -> Field:
    def start(seconds: Values) -> Any:
        offset = where.offset(seconds)
        local = seconds + offset
        return where.instant(local - local % length, offset)

    return start


def _date_start(level: str, where: Zone) -> Field:
    return lambda seconds: where.start_of_day(
        _start_of(level, (seconds + where.offset(seconds)) // DAY_SECONDS)
    )


def _from_seconds(child: Node, compute: Field) -> Node:
    def kernel(values: Values, valid: Mask | None) -> Vector:
        return join(compute(split(values)[0]), 0, valid, t.TIMESTAMP), valid

    return unary(t.TIMESTAMP, child, kernel, raises=True)
