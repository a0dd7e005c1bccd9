"""The calendar and the clock on whole columns: days, seconds and microseconds since 1970, years to seconds.

The calendar is the proleptic Gregorian one. Days and seconds are int64, so that nothing overflows on the way.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa

from situ.expressions import types as t
from situ.expressions.failures import offending, overflow
from situ.expressions.vectors import Mask, Values

SECOND: Final = 1_000_000  # microseconds
DAY: Final = 86_400 * SECOND
_CYCLE_DAYS: Final = 146_097  # 400 years
_FROM_MARCH_0000: Final = 719_468  # days to 1970-01-01


def split(micros: Values) -> tuple[Any, Any]:
    """Seconds, rounded down, and the microseconds beyond."""
    seconds = np.floor_divide(micros, SECOND)
    return seconds, micros - seconds * SECOND


def join(seconds: Values, micros: Values, valid: Mask | None, type_: pa.DataType) -> Any:
    """Microseconds from seconds and any number of microseconds; fails where they do not fit 64 bits."""
    more, rest = split(micros)
    seconds = seconds + more
    result = seconds * SECOND + rest
    if offending(split(result)[0] != seconds, valid, len(result)) is not None:
        overflow("an instant beyond 64 bits of microseconds", type_)
    return result


def fitting_days(days: Values, valid: Mask | None) -> Any:
    """Days as a column of dates; fails where they do not fit 32 bits."""
    narrow = days.astype(np.int32)
    if (row := offending(narrow != days, valid, len(days))) is not None:
        overflow(f"day {days[row]} since 1970", t.DATE)
    return narrow


def civil(days: Values) -> tuple[Any, Any, Any]:
    """Year, month and day of the month. Years are counted from March, so that leap days come last."""
    shifted = np.asarray(days, np.int64) + _FROM_MARCH_0000
    cycle = shifted // _CYCLE_DAYS
    of_cycle = shifted - cycle * _CYCLE_DAYS
    year = (of_cycle - of_cycle // 1_460 + of_cycle // 36_524 - of_cycle // 146_096) // 365
    of_year = of_cycle - (365 * year + year // 4 - year // 100)
    from_march = (5 * of_year + 2) // 153
    day = of_year - (153 * from_march + 2) // 5 + 1
    month = np.where(from_march < 10, from_march + 3, from_march - 9)
    return year + cycle * 400 + (month <= 2), month, day


def days_of(year: Values, month: Values, day: Values) -> Any:
    """Days since 1970 of a date."""
    year = year - (month <= 2)
    cycle = year // 400
    of_cycle = year - cycle * 400
    of_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5 + day - 1
    return cycle * _CYCLE_DAYS + of_cycle * 365 + of_cycle // 4 - of_cycle // 100 + of_year - _FROM_MARCH_0000


def month_length(year: Values, month: Values) -> Any:
    """The number of days of a month."""
    return days_of(year + month // 12, month % 12 + 1, 1) - days_of(year, month, 1)


def plus_months(days: Values, months: Values) -> Any:
    """The same day of another month, or that month's last one."""
    year, month, day = civil(days)
    count = year * 12 + (month - 1) + np.asarray(months, np.int64)
    year, month = count // 12, count % 12 + 1
    return days_of(year, month, np.minimum(day, month_length(year, month)))
