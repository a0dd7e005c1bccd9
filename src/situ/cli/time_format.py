"""How times are written in text: ISO 8601, or as `--time-format` says with the directives of strptime."""

from __future__ import annotations

import re
from typing import NamedTuple

from situ.errors import OptionError

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ZONE = r"Z|[+-](?:0\d|1[0-7]):?[0-5]\d"  # of offsets Spark knows those up to 18 hours
_LONG_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
# What each directive reads, as a field and what it looks like; they mean what they mean in Python.
_DIRECTIVES = {
    "Y": ("year", r"\d{4}"),
    "y": ("short_year", r"\d\d"),
    "m": ("month", r"1[0-2]|0?[1-9]"),
    "b": ("month_name", "|".join(MONTHS)),
    "B": ("month_name", "|".join(_LONG_MONTHS)),
    "d": ("day", r"3[01]|[12]\d|0?[1-9]"),
    "H": ("hour", r"2[0-3]|[01]?\d"),
    "I": ("half_hour", r"1[0-2]|0?[1-9]"),
    "p": ("half", "am|pm"),
    "M": ("minute", r"[0-5]?\d"),
    "S": ("second", r"[0-5]?\d"),
    "f": ("fraction", r"\d{1,6}"),
    "z": ("zone", ZONE),
    "a": (None, "|".join(day[:3] for day in _DAYS.split("|"))),
    "A": (None, _DAYS),
}
_SHORT_FOR = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y"}
_PART = re.compile(r"%(.?)|(\s+)|([^%\s]+)", re.S)
_FIELDS = re.compile(r"\(\?P<(\w+)>")


class TimePattern(NamedTuple):
    """How a time is written: a regular expression whose groups are named after parts of a time."""

    name: str  # as users are told
    regex: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The parts it reads, in the order of its groups."""
        return tuple(_FIELDS.findall(self.regex))

    @property
    def without_names(self) -> str:
        """The expression for Java, which takes no underscores in names of groups."""
        return _FIELDS.sub("(", self.regex)


ISO = TimePattern(
    "ISO 8601",
    r"^(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?"
    rf"(?P<zone>{ZONE})?)?$",
)


def time_pattern(text: str) -> TimePattern:
    """The pattern that `--time-format` stands for.

    >>> time_pattern("%d.%m.%Y %H:%M").fields
    ('day', 'month', 'year', 'hour', 'minute')
    """
    regex, seen = "", set()
    written_out = re.sub("%(.)", lambda part: _SHORT_FOR.get(part[1], part[0]), text)
    for directive, space, literal in (part.groups(default="") for part in _PART.finditer(written_out)):
        if literal or directive == "%":
            regex += re.escape(literal or "%")
        elif space:
            regex += r"\s+"
        else:
            field, looks = _directive(directive, text)
            if field in seen:
                raise _wrong(text, f"it names the {_words(field)} twice")
            seen |= {field} - {None}
            regex += f"(?P<{field}>{looks})" if field else f"(?:{looks})"
    _check(text, seen)
    return TimePattern(text, f"(?i)^{regex}$")


def _directive(letter: str, text: str) -> tuple[str | None, str]:
    if letter not in _DIRECTIVES:
        raise _wrong(text, f"%{letter} is none of its directives")
    return _DIRECTIVES[letter]


def _check(text: str, seen: set[str | None]) -> None:
    for wanted in ({"year", "short_year"}, {"month", "month_name"}, {"day"}):
        if not wanted & seen:
            raise _wrong(text, f"it names no {_words(min(map(str, wanted), key=len))}")
        if wanted <= seen and len(wanted) > 1:
            raise _wrong(text, f"it names the {_words(min(map(str, wanted), key=len))} twice")
    if ("half_hour" in seen) != ("half" in seen):
        raise _wrong(text, "%I and %p go together")
    if {"hour", "half_hour"} <= seen:
        raise _wrong(text, "%H and %I exclude each other")


def _words(field: str | None) -> str:
    return str(field).replace("_", " ")


def _wrong(text: str, said: str) -> OptionError:
    return OptionError(
        f"--time-format {text!r} cannot be used: {said}.",
        hint="write it as Python's strptime does, say '%d.%m.%Y %H:%M:%S'; the directives are "
        f"{', '.join('%' + letter for letter in (*_DIRECTIVES, *_SHORT_FOR))} and %%.",
    )
