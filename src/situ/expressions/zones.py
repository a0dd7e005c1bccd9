"""Time zones for whole columns, by java.time's rules: seconds since 1970 there and back.

A local time that a clock change skips is moved on by the length of the gap; of one that occurs twice the
first is meant.
"""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt

from situ.errors import OptionError
from situ.expressions.tzif import read_changes

Seconds: TypeAlias = npt.NDArray[np.int64]

DAY_SECONDS: Final = 86_400
_CYCLE: Final = 146_097 * DAY_SECONDS  # 400 years, after which the calendar repeats
_OFFSET = re.compile(
    r"(?:UTC|GMT|UT)?(?P<sign>[+-])"
    r"(?:(?P<h>[0-9]{1,2})(?::(?P<m>[0-9]{2})(?::(?P<s>[0-9]{2}))?)?|(?P<hh>[0-9]{2})(?P<mm>[0-9]{2}))"
)
_LONGEST_OFFSET: Final = 18 * 3600  # java.time's limit
_FIXED: Final = {
    **dict.fromkeys(("UTC", "Z", "GMT", "UT", "UCT", "Zulu", "Etc/UTC", "Etc/GMT", "Etc/UCT"), 0),
    "EST": -5 * 3600,
    "MST": -7 * 3600,
    "HST": -10 * 3600,
}
# java.time.ZoneId.SHORT_IDS
_SHORT_NAMES: Final = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}  # fmt: skip
_UNKNOWN_TO_JAVA: Final = ("localtime", "Factory", "posixrules", "posix/", "right/")


class Zone:
    """The offsets of one time zone; every method takes and gives whole columns of seconds since 1970."""

    def __init__(self, instants: list[int], offsets: list[int], *, repeats: bool = False) -> None:
        self._instants = np.array(instants, np.int64)
        self._offsets = np.array(offsets, np.int64)
        before, after = self._offsets[:-1], self._offsets[1:]
        # Local times from `_starts` to `_ends` are skipped or come twice.
        self._starts = self._instants + np.minimum(before, after)
        self._ends = self._instants + np.maximum(before, after)
        self._repeats_from = instants[-1] if repeats else None
        self.is_fixed = not instants  # one offset for ever
        self.is_utc = self.is_fixed and offsets == [0]

    def offset(self, instants: Seconds) -> Seconds:
        """What to add to instants for the local time; one number where it is the same for all."""
        found: Seconds = self._offsets[_positions(self._instants, self._known(instants))]
        return found

    def instant(self, local: Seconds, preferred: Seconds | None = None) -> Seconds:
        """Instants of local times; of two, the one with the preferred offset, else the first."""
        known = self._known(local)
        change = _positions(self._ends, known)
        offset: Seconds = self._offsets[change]
        if preferred is not None and len(self._instants):
            nearest = np.minimum(change, len(self._instants) - 1)
            later = self._offsets[nearest + 1]
            twice = (change == nearest) & (known >= self._starts[nearest]) & (later < offset)
            offset = np.where(twice & (preferred == later), later, offset)
        return local - offset

    def start_of_day(self, days: Seconds) -> Seconds:
        """The first instants of days; where midnight is skipped, the instant of the clock change."""
        local = days * DAY_SECONDS
        known = self._known(local)
        change = _positions(self._ends, known)
        instant: Seconds = local - self._offsets[change]
        if len(self._instants):
            nearest = np.minimum(change, len(self._instants) - 1)
            skipped = (change == nearest) & (known >= self._starts[nearest])
            skipped &= self._offsets[nearest + 1] > self._offsets[nearest]
            instant = np.where(skipped, self._instants[nearest] + (local - known), instant)
        return instant

    def _known(self, seconds: Seconds) -> Seconds:
        """Times beyond the table moved back by whole cycles of the calendar."""
        # Half a year before the table's end: local times and instants of one change stay together.
        if self._repeats_from is None or len(seconds) == 0:
            return seconds
        beyond = self._repeats_from - DAY_SECONDS * 180
        if seconds.max() <= beyond:
            return seconds
        return seconds - np.where(seconds > beyond, -((beyond - seconds) // _CYCLE) * _CYCLE, 0)


def _positions(changes: Seconds, times: Seconds) -> Any:
    """How many changes are not after each time; one number where they are as many for all."""
    if len(times):
        first, last = np.searchsorted(changes, (times.min(), times.max()), "right")
        if first == last:
            return first
    return np.searchsorted(changes, times, "right")


def zone_name(time_zone: str) -> str | int:
    """The time zone of an option or a literal: an offset in seconds or a name the database has."""
    if time_zone in _FIXED:
        return _FIXED[time_zone]
    match = _OFFSET.fullmatch(time_zone)
    if match is not None:
        hours, minutes = int(match["h"] or match["hh"]), int(match["m"] or match["mm"] or 0)
        offset = hours * 3600 + minutes * 60 + int(match["s"] or 0)
        if minutes < 60 and int(match["s"] or 0) < 60 and offset <= _LONGEST_OFFSET:
            return -offset if match["sign"] == "-" else offset
        raise _unknown(time_zone)
    key = _SHORT_NAMES.get(time_zone, time_zone)
    if key.startswith(_UNKNOWN_TO_JAVA):
        raise _unknown(time_zone)
    try:
        ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _unknown(time_zone) from None
    return key


def _unknown(time_zone: str) -> OptionError:
    return OptionError(
        f"time_zone={time_zone!r} is not a time zone",
        hint="Name one such as 'Europe/Berlin' or '+02:00'.",
    )


@lru_cache(maxsize=64)
def zone(time_zone: str) -> Zone:
    """The zone of an option or a literal, for whole columns."""
    name = zone_name(time_zone)
    if isinstance(name, int):
        return Zone([], [name])
    instants, offsets, repeats = read_changes(name)
    return Zone(instants, offsets, repeats=repeats)


def zone_of(time_zone: str) -> tzinfo:
    """The zone of an option or a literal, for single datetimes."""
    name = zone_name(time_zone)
    if isinstance(name, str):
        return ZoneInfo(name)
    return UTC if name == 0 else timezone(timedelta(seconds=name))
