"""The functions of dates and times, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from situ.errors import OptionError, UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.calendar import (
    as_any_timestamp,
    as_date,
    as_timestamp,
    date_trunc,
    extract,
    field,
    literal_text,
    trunc,
)
from situ.expressions.civil import SECOND, civil, days_of, join, month_length, split
from situ.expressions.evaluate import null_in_null_out, unary
from situ.expressions.failures import offending, overflow
from situ.expressions.node import Node, constant, untyped_as
from situ.expressions.rules import Rules
from situ.expressions.spans import (
    date_plus_months,
    plus_days,
    plus_time,
    timestamp_plus_days,
    timestamp_plus_months,
)
from situ.expressions.temporal import local_seconds, local_times, moved
from situ.expressions.vectors import Mask, Values, Vector
from situ.expressions.zones import DAY_SECONDS, Zone, zone

_SMALL: Final = (t.TINYINT, t.SMALLINT, t.INT)
_WEEKDAYS: Final = {
    name: day
    for day, names in enumerate(
        ["MO MON MONDAY", "TU TUE TUESDAY", "WE WED WEDNESDAY", "TH THU THURSDAY", "FR FRI FRIDAY",
         "SA SAT SATURDAY", "SU SUN SUNDAY"]
    )
    for name in names.split()
}  # fmt: skip


def _small_integer(node: Node, where: str) -> Node:
    node = untyped_as(node, t.INT)
    if node.type not in _SMALL:
        raise UnsupportedExpressionError(f"{where} with {t.name_of(node.type)}")
    return node


def _date_part(rules: Rules, name: Node, node: Node) -> Node:
    return extract(rules, literal_text(name, "date_part of a field") or "NULL", node)


# Dates


def _shift(op: str, rules: Rules, node: Node, days: Node) -> Node:
    where = "date_add" if op == "+" else "date_sub"
    return plus_days(op, as_date(rules, node, where), _small_integer(days, where))


def _date_diff(rules: Rules, end: Node, start: Node) -> Node:
    end, start = as_date(rules, end, "datediff"), as_date(rules, start, "datediff")
    if end.is_null or start.is_null:
        return constant(t.INT, None)
    return null_in_null_out(t.INT, end, start, lambda a, b, valid: (a - b, valid))


def _add_months(rules: Rules, node: Node, months: Node) -> Node:
    return date_plus_months(as_date(rules, node, "add_months"), _small_integer(months, "add_months"))


def _last_day(rules: Rules, node: Node) -> Node:
    def kernel(values: Values, valid: Mask | None) -> Vector:
        year, month, _ = civil(values)
        return days_of(year, month, month_length(year, month)).astype(np.int32), valid

    return unary(t.DATE, as_date(rules, node, "last_day"), kernel)


def _next_day(rules: Rules, node: Node, name: Node) -> Node:
    """The first day after the date that is the weekday named."""
    weekday = _WEEKDAYS.get((literal_text(name, "next_day to a weekday") or "").strip().upper())
    if weekday is None:
        raise UnsupportedExpressionError("next_day to something that is not the name of a weekday")

    distance = np.int32((weekday + 4) % 7 - 1)  # 1970 began on a Thursday

    def kernel(values: Values, valid: Mask | None) -> Vector:
        return values + np.int32(1) + (distance - values) % np.int32(7), valid

    return unary(t.DATE, as_date(rules, node, "next_day"), kernel)


def _unix_date(rules: Rules, node: Node) -> Node:
    node = untyped_as(node, t.DATE)
    if node.type != t.DATE:
        raise UnsupportedExpressionError(f"unix_date of {t.name_of(node.type)}")
    return unary(t.INT, node, lambda values, valid: (values, valid))


def _from_unix_date(rules: Rules, node: Node) -> Node:
    days = rules.cast(_small_integer(node, "date_from_unix_date"), t.INT)
    return unary(t.DATE, days, lambda values, valid: (values, valid))


# Numbers from and to instants


def _unix(where: str, unit: int, rules: Rules, node: Node) -> Node:
    node = untyped_as(node, t.TIMESTAMP)
    if not t.is_timestamp(node.type):
        raise UnsupportedExpressionError(f"{where} of {t.name_of(node.type)}")
    return unary(t.BIGINT, node, lambda values, valid: (values // unit, valid))


def _from_unix(where: str, unit: int, rules: Rules, node: Node) -> Node:
    node = untyped_as(node, t.BIGINT)
    if not t.is_integral(node.type):
        raise UnsupportedExpressionError(f"{where} of {t.name_of(node.type)}")

    def kernel(values: Values, valid: Mask | None) -> Vector:
        micros = values * unit
        if (row := offending(micros // unit != values, valid, len(values))) is not None:
            overflow(f"{where}({values[row]})", t.TIMESTAMP)
        return micros, valid

    return unary(t.TIMESTAMP, rules.cast(node, t.BIGINT), kernel, raises=unit > 1)


def _unix_timestamp(rules: Rules, node: Node) -> Node:
    if not t.is_temporal(node.type):
        raise UnsupportedExpressionError(f"unix_timestamp of {t.name_of(node.type)}")
    child = as_any_timestamp(rules, node, "unix_timestamp")
    return unary(t.BIGINT, child, lambda values, valid: (_towards_zero(values, SECOND), valid))


# Zones


def _literal_zone(node: Node, where: str) -> Zone:
    name = literal_text(node, f"{where} with a zone")
    try:
        return zone(name or "")
    except OptionError:
        raise UnsupportedExpressionError(f"{where} with the zone {name!r}") from None


def _from_utc(rules: Rules, node: Node, name: Node) -> Node:
    where = _literal_zone(name, "from_utc_timestamp")
    child = as_timestamp(rules, node, "from_utc_timestamp")
    return moved(child, t.TIMESTAMP, lambda seconds: seconds + where.offset(seconds))


def _to_utc(rules: Rules, node: Node, name: Node) -> Node:
    where = _literal_zone(name, "to_utc_timestamp")
    return moved(as_timestamp(rules, node, "to_utc_timestamp"), t.TIMESTAMP, where.instant)


def _convert(rules: Rules, *nodes: Node) -> Node:
    """`convert_timezone([from,] to, x)`, on timestamps without a zone."""
    *names, node = nodes
    zones = [_literal_zone(name, "convert_timezone") for name in names]
    source, target = zones if len(zones) == 2 else (zone(rules.time_zone), *zones)
    if not (t.is_temporal(node.type) or node.type == t.NULL):
        raise UnsupportedExpressionError(f"convert_timezone of {t.name_of(node.type)}")
    return local_times(moved(rules.cast(node, t.TIMESTAMP_NTZ), t.TIMESTAMP, source.instant), target)


# Units of time as words: `timestampadd(HOUR, 3, ts)`

_MICROS: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": SECOND,
    "MINUTE": 60 * SECOND,
    "HOUR": 3_600 * SECOND,
    "DAY": DAY_SECONDS * SECOND,
    "WEEK": 7 * DAY_SECONDS * SECOND,
}
_DAYS: Final = {"DAY": 1, "WEEK": 7}
_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def _unit(word: Any, where: str) -> str:
    name = str(word).upper()
    if not isinstance(word, str) or (name not in _MICROS and name not in _MONTHS):
        raise UnsupportedExpressionError(f"{where} in a unit other than {', '.join([*_MICROS, *_MONTHS])}")
    return name


def _timestamp_add(rules: Rules, word: Any, amount: Node, node: Node) -> Node:
    unit = _unit(word, "timestampadd")
    child = as_any_timestamp(rules, node, "timestampadd")
    amount = rules.cast(_small_integer(amount, "timestampadd"), t.BIGINT)
    if unit in _MONTHS:
        months = _times(amount, _MONTHS[unit], t.MONTHS)
        return timestamp_plus_months(child, months, rules.time_zone, amount_first=True)
    if unit in _DAYS:
        return timestamp_plus_days(child, _times(amount, _DAYS[unit], t.BIGINT), rules.time_zone)
    return plus_time(child, _times(amount, _MICROS[unit], t.INTERVAL))


def _times(amount: Node, unit: int, type_: pa.DataType) -> Node:
    dtype: Any = t.dtype_of(type_)

    def kernel(values: Values, valid: Mask | None) -> Vector:
        product = (values * unit).astype(dtype)
        if (row := offending(product // unit != values, valid, len(values))) is not None:
            overflow(f"{values[row]} times {unit}", type_)
        return product, valid

    return unary(type_, amount, kernel, raises=True)


def _timestamp_diff(rules: Rules, word: Any, start: Node, end: Node) -> Node:
    """Whole units from start to end as the clock shows them."""
    unit = _unit(word, "timestampdiff")
    start, end = (as_timestamp(rules, node, "timestampdiff") for node in (start, end))
    if start.is_null or end.is_null:
        return constant(t.BIGINT, None)
    where = zone(rules.time_zone)

    def kernel(a: Values, b: Values, valid: Mask | None) -> Vector:
        (a_seconds, a_micros), (b_seconds, b_micros) = _clock(a, where), _clock(b, where)
        if unit in _MONTHS:
            months = _months_between(a_seconds, a_micros, b_seconds, b_micros)
            return _towards_zero(months, _MONTHS[unit]), valid
        more, micros = split(b_micros - a_micros)
        return _whole(unit, b_seconds - a_seconds + more, micros, valid), valid

    return null_in_null_out(t.BIGINT, start, end, kernel, raises=unit == "MICROSECOND")


def _clock(micros: Values, where: Zone) -> tuple[Any, Any]:
    micros = np.atleast_1d(micros)
    return local_seconds(micros, where), split(micros)[1]


def _whole(unit: str, seconds: Values, micros: Values, valid: Mask | None) -> Any:
    """Whole units in a span, towards zero."""
    length = _MICROS[unit]
    if length == 1:
        return join(seconds, micros, valid, t.BIGINT)
    if length < SECOND:
        per_second = SECOND // length
        count, rest = seconds * per_second + micros // length, micros % length
        return count + ((seconds < 0) & (rest > 0))
    return _towards_zero(seconds + ((seconds < 0) & (micros > 0)), length // SECOND)


def _months_between(a_seconds: Values, a_micros: Values, b_seconds: Values, b_micros: Values) -> Any:
    """As java.time counts them: the end's day moves towards the start where its clock is not there yet."""
    a_day, b_day = a_seconds // DAY_SECONDS, b_seconds // DAY_SECONDS
    a_clock = (a_seconds - a_day * DAY_SECONDS) * SECOND + a_micros
    b_clock = (b_seconds - b_day * DAY_SECONDS) * SECOND + b_micros
    b_day = b_day - ((b_day > a_day) & (b_clock < a_clock)) + ((b_day < a_day) & (b_clock > a_clock))
    return _towards_zero(_packed(b_day) - _packed(a_day), 32)


def _packed(days: Values) -> Any:
    """Months and days as one number, as if every month had 32 days."""
    year, month, day = civil(days)
    return (year * 12 + month) * 32 + day


def _towards_zero(values: Values, unit: int) -> Any:
    count = np.floor_divide(values, unit)
    return count + ((values < 0) & (count * unit != values))


def _either(by_unit: Callable[..., Node], plain: Callable[..., Node]) -> Callable[..., Node]:
    """Functions of two and of three arguments under one name: `datediff(a, b)`, `datediff(HOUR, a, b)`."""
    return lambda rules, *arguments: (by_unit if len(arguments) == 3 else plain)(rules, *arguments)


# Name -> what builds it from the rules and the bound arguments, and how many it takes.
FUNCTIONS: Final[dict[str, tuple[Callable[..., Node], tuple[int, ...]]]] = {
    **{
        name: (partial(field, name), (1,))
        for name in ("year", "quarter", "month", "day", "dayofyear", "dayofweek", "weekday", "weekofyear",
                     "hour", "minute", "second")
    },
    "dayofmonth": (partial(field, "day"), (1,)),
    "date_part": (_date_part, (2,)),
    "datepart": (_date_part, (2,)),
    "date_trunc": (date_trunc, (2,)),
    "trunc": (trunc, (2,)),
    "to_date": (lambda rules, node: as_date(rules, node, "to_date"), (1,)),
    "to_timestamp": (lambda rules, node: as_timestamp(rules, node, "to_timestamp"), (1,)),
    "date_add": (_either(_timestamp_add, partial(_shift, "+")), (2, 3)),
    "dateadd": (_either(_timestamp_add, partial(_shift, "+")), (2, 3)),
    "date_sub": (partial(_shift, "-"), (2,)),
    "datediff": (_either(_timestamp_diff, _date_diff), (2, 3)),
    "date_diff": (_either(_timestamp_diff, _date_diff), (2, 3)),
    "timestampadd": (_timestamp_add, (3,)),
    "timestampdiff": (_timestamp_diff, (3,)),
    "add_months": (_add_months, (2,)),
    "last_day": (_last_day, (1,)),
    "next_day": (_next_day, (2,)),
    "unix_date": (_unix_date, (1,)),
    "date_from_unix_date": (_from_unix_date, (1,)),
    "unix_timestamp": (_unix_timestamp, (1,)),
    "to_unix_timestamp": (_unix_timestamp, (1,)),
    "unix_seconds": (partial(_unix, "unix_seconds", SECOND), (1,)),
    "unix_millis": (partial(_unix, "unix_millis", 1_000), (1,)),
    "unix_micros": (partial(_unix, "unix_micros", 1), (1,)),
    "timestamp_seconds": (partial(_from_unix, "timestamp_seconds", SECOND), (1,)),
    "timestamp_millis": (partial(_from_unix, "timestamp_millis", 1_000), (1,)),
    "timestamp_micros": (partial(_from_unix, "timestamp_micros", 1), (1,)),
    "from_utc_timestamp": (_from_utc, (2,)),
    "to_utc_timestamp": (_to_utc, (2,)),
    "convert_timezone": (_convert, (2, 3)),
}  # fmt: skip
