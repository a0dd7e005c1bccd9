"""Literals, and string literals where Spark would cast them: read as Spark reads them or refused."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa

from situ.errors import OptionError, UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.node import Node, constant

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SPECIAL: Final = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), np.inf),
    **dict.fromkeys(("-inf", "-infinity"), -np.inf),
    "nan": np.nan,
}
_TRUTHS: Final = {
    **dict.fromkeys(("t", "true", "y", "yes", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "0"), False),
}
_INSTANT = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2})"
    r"(?:[ T](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})"
    r"(?::(?P<second>[0-9]{1,2})(?:\.(?P<fraction>[0-9]{1,6}))?)?"
    r"(?P<zone> ?(?:Z|UTC|[+-][0-9]{2}:[0-9]{2}))?)?"
)
_OFFSET = re.compile(r"(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>[0-9]{1,2}):?(?P<minutes>[0-9]{2})")
_UTC_NAMES: Final = frozenset(
    {"UTC", "Z", "GMT", "Etc/UTC", "Etc/GMT", "Etc/UCT", "UCT", "Zulu", "+00:00", "UT"}
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_INTERVAL_UNITS: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}


_MOST_DIGITS = 1_000


def number(text: str) -> Node:
    """A number as Spark types it: int, bigint or decimal without exponent, double with one."""
    if len(text) > _MOST_DIGITS:  # Python reads no more than some thousands
        raise UnsupportedExpressionError(f"a literal of {len(text)} characters, {text[:10]}...,")
    if re.search(r"[eE]", text):
        value = float(text)
        if not np.isfinite(value):
            raise UnsupportedExpressionError(f"the literal {text}, beyond the range of a double,")
        return constant(t.DOUBLE, value, literal=True)
    if _INTEGER.fullmatch(text):
        whole = int(text)
        for type_ in (t.INT, t.BIGINT):
            bounds = np.iinfo(type_.to_pandas_dtype())
            if bounds.min <= whole <= bounds.max:
                return constant(type_, whole, literal=True)
    return _decimal_literal(text)


def _decimal_literal(text: str) -> Node:
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    scale = -exponent
    value = int("".join(map(str, digits)))
    precision = max(len(str(value)), scale)
    if precision > t.MAX_PRECISION:
        raise UnsupportedExpressionError(f"the literal {text}, of more than 38 digits,")
    return constant(pa.decimal128(precision, scale), -value if sign else value, literal=True)


def parse_literal(text: str, target: pa.DataType, time_zone: str) -> object:
    """A string literal cast to the target; refused where Spark would fail, give null or read it loosely."""
    trimmed = text.strip(" \t\n\r")
    value: object = None
    if t.is_integral(target):
        value = _as_integer(trimmed, target)
    elif t.is_float(target):
        value = _as_float(trimmed, target)
    elif t.is_decimal(target):
        value = _as_decimal(trimmed, target)
    elif target == t.BOOLEAN:
        value = _TRUTHS.get(trimmed.lower())
    elif target == t.DATE:
        value = _as_date(trimmed)
    elif t.is_timestamp(target):
        value = _as_instant(trimmed, target, time_zone)
    if value is None:
        raise UnsupportedExpressionError(f"the text {text!r} as {t.name_of(target)}")
    return value


def _as_integer(text: str, target: pa.DataType) -> int | None:
    bounds = np.iinfo(target.to_pandas_dtype())
    if not _INTEGER.fullmatch(text) or not bounds.min <= int(text) <= bounds.max:
        return None
    return int(text)


def _as_float(text: str, target: pa.DataType) -> float | None:
    special = _SPECIAL.get(text.lower())
    if special is not None:
        return special
    if target == t.FLOAT or not _NUMBER.fullmatch(text):
        return None
    return float(text)


def _as_decimal(text: str, target: pa.DataType) -> int | None:
    if not _NUMBER.fullmatch(text):
        return None
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    if len(digits) > t.MAX_PRECISION or abs(exponent) > t.MAX_PRECISION:
        return None
    rounded = Decimal((sign, digits, exponent + target.scale)).quantize(Decimal(1), ROUND_HALF_UP)
    return int(rounded) if abs(rounded) < 10**target.precision else None


def _as_date(text: str) -> int | None:
    match = _INSTANT.fullmatch(text)
    if match is None or match["hour"] is not None:
        return None
    try:
        return (_day(match["date"]) - date(1970, 1, 1)).days
    except ValueError:
        return None


def _day(text: str) -> date:
    year, month, day = map(int, text.split("-"))
    return date(year, month, day)


def _as_instant(text: str, target: pa.DataType, time_zone: str) -> int | None:
    """Microseconds since 1970; a zone in the text is refused for timestamps without time zone."""
    match = _INSTANT.fullmatch(text)
    if match is None or (match["zone"] is not None and target == t.TIMESTAMP_NTZ):
        return None
    zone: tzinfo = UTC
    if match["zone"] is not None:
        zone = zone_of(match["zone"].strip())
    elif target == t.TIMESTAMP:
        zone = zone_of(time_zone)
    micros = int((match["fraction"] or "").ljust(6, "0"))
    clock = (int(match["hour"] or 0), int(match["minute"] or 0), int(match["second"] or 0), micros)
    try:
        day = _day(match["date"])
        local = datetime(day.year, day.month, day.day, *clock, tzinfo=zone)
        return (local - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None


def is_utc(time_zone: str) -> bool:
    return time_zone in _UTC_NAMES


def zone_of(time_zone: str) -> tzinfo:
    """The time zone of an option or a literal."""
    if is_utc(time_zone):
        return UTC
    match = _OFFSET.fullmatch(time_zone)
    if match is not None:
        offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
        return timezone(-offset if match["sign"] == "-" else offset)
    try:
        return ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise OptionError(
            f"time_zone={time_zone!r} is not a time zone",
            hint="Name one such as 'Europe/Berlin' or '+02:00'.",
        ) from None


def interval(amount: str, unit: str) -> Node:
    """`INTERVAL 'amount' unit` of a unit of fixed length."""
    micros = _INTERVAL_UNITS.get(unit.upper().removesuffix("S"))
    written = Decimal(amount) if _NUMBER.fullmatch(amount) else None
    whole = written is not None and (written == int(written) or unit.upper().startswith("SECOND"))
    if micros is None or written is None or not whole or written * micros != int(written * micros):
        raise UnsupportedExpressionError(f"INTERVAL '{amount}' {unit}")
    if abs(written * micros) > np.iinfo(np.int64).max:
        raise UnsupportedExpressionError(f"INTERVAL '{amount}' {unit}, which is too long,")
    return constant(t.INTERVAL, int(written * micros), literal=True)
