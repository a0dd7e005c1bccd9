"""Literals, and string literals where Spark would cast them: read as Spark reads them or refused."""

from __future__ import annotations

import re
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

import numpy as np
import pyarrow as pa

from situ.errors import OptionError, UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.node import Node, constant
from situ.expressions.zones import zone

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
_INTERVAL_UNITS: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
_MONTH_UNITS: Final = {"MONTH": 1, "YEAR": 12}


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
    name = "UTC"
    if match["zone"] is not None:
        name = match["zone"].strip()
    elif target == t.TIMESTAMP:
        name = time_zone
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = (_day(match["date"]) - date(1970, 1, 1)).days
    except ValueError:
        return None
    local = days * 86_400 + hour * 3_600 + minute * 60 + second
    try:
        instant = int(zone(name).instant(np.array([local], np.int64))[0])
    except OptionError:
        if match["zone"] is None:  # the option is wrong, not the text
            raise
        return None
    return instant * 1_000_000 + int((match["fraction"] or "").ljust(6, "0"))


def interval(amount: str, unit: str) -> Node:
    """`INTERVAL 'amount' unit`, typed as Spark types the unit."""
    unit = unit.upper().removesuffix("S")
    if unit in _MONTH_UNITS:
        return _months(amount, unit)
    micros = _INTERVAL_UNITS.get(unit)
    written = Decimal(amount) if _NUMBER.fullmatch(amount) else None
    whole = written is not None and (written == int(written) or unit == "SECOND")
    if micros is None or written is None or not whole or written * micros != int(written * micros):
        raise UnsupportedExpressionError(f"INTERVAL '{amount}' {unit}")
    if abs(written * micros) > np.iinfo(np.int64).max:
        raise UnsupportedExpressionError(f"INTERVAL '{amount}' {unit}, which is too long,")
    type_ = t.DAYS if unit in ("DAY", "WEEK") else t.INTERVAL
    return constant(type_, int(written * micros), literal=True)


def _months(amount: str, unit: str) -> Node:
    months = int(amount) * _MONTH_UNITS[unit] if _INTEGER.fullmatch(amount) else None
    if months is None or abs(months) > np.iinfo(np.int32).max:
        raise UnsupportedExpressionError(f"INTERVAL '{amount}' {unit}")
    return constant(t.MONTHS, months, literal=True)
