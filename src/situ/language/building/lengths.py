"""Lengths of time as Python values: "5 minutes", a timedelta, or a number of ticks."""

from __future__ import annotations

import datetime

from situ.errors import DurationError
from situ.language.text.durations import duration_text, parse_duration
from situ.language.text.nodes import Duration

Length = str | int | datetime.timedelta


def length(given: Length) -> Duration:
    """The duration that a Python value stands for."""
    if isinstance(given, str):
        return parse_duration(given)
    if isinstance(given, datetime.timedelta):
        return parse_duration(f"{given // datetime.timedelta(microseconds=1)} us")
    if not is_length(given):
        raise DurationError(
            f"a {type(given).__name__} is not a duration",
            hint='write "5 minutes", a timedelta, or for an integer time column a number of ticks',
        )
    if given >= 2**63:  # it may have more digits than Python prints
        raise DurationError("this duration is longer than time can be counted")
    return parse_duration(str(given))


def signed(given: Length) -> tuple[bool, Duration]:
    """Whether a distance is negative, and how long it is."""
    nothing = datetime.timedelta(0) if isinstance(given, datetime.timedelta) else 0
    is_negative = not isinstance(given, str) and given < nothing  # type: ignore[operator]  # of one type
    return is_negative, length(-given if is_negative else given)  # type: ignore[operator]


def signed_text(given: Length) -> str:
    """The distance as query text."""
    is_negative, duration = signed(given)
    return "-" * is_negative + duration_text(duration)


def is_length(given: object) -> bool:
    """Whether a value can stand for a duration; True and False cannot."""
    return isinstance(given, str | int | datetime.timedelta) and not isinstance(given, bool)
