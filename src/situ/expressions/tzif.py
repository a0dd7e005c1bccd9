"""The changes of a time zone's offset, read from the system's time zone database or the tzdata package."""

from __future__ import annotations

import re
import struct
import zoneinfo
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct(">4s1s15x6l")
_DAY: Final = 86_400
_CYCLE_YEARS: Final = 400  # after which the calendar repeats, weekdays included
_NAME = r"(?:<[^>]+>|[A-Za-z]+)"
_CLOCK = r"[+-]?[0-9]+(?::[0-9]+){0,2}"
_DATE = rf"M[0-9]+\.[0-9]+\.[0-9]+(?:/{_CLOCK})?"
_FOOTER: Final = re.compile(
    rf"{_NAME}(?P<standard>{_CLOCK})(?:{_NAME}(?P<summer>{_CLOCK})?,(?P<begin>{_DATE}),(?P<end>{_DATE}))?"
)


class Changes(NamedTuple):
    """`offsets[i]` seconds hold before the instant `instants[i]`, `offsets[-1]` after the last one.
    `repeats`: in the last 400 years of the table stands what holds for ever after."""

    instants: list[int]
    offsets: list[int]
    repeats: bool


def read_changes(key: str) -> Changes:
    """The changes of a zone that `zoneinfo` knows."""
    instants, offsets, footer = _parse(_load(key))
    rule = _FOOTER.fullmatch(footer)
    if rule is None or rule["begin"] is None:
        return _merged(instants, offsets, repeats=False)
    after = instants[-1] if instants else -(1 << 62)
    first = _year_of(instants[-1]) if instants else 1970
    for year in range(first, first + _CYCLE_YEARS + 2):
        for instant, offset in _changes_of(year, rule):
            if instant > after:
                instants.append(instant)
                offsets.append(offset)
    return _merged(instants, offsets, repeats=True)


def _load(key: str) -> bytes:
    for folder in zoneinfo.TZPATH:
        file = Path(folder, *key.split("/"))
        if file.is_file():
            return file.read_bytes()
    *packages, name = key.split("/")
    return resources.files(".".join(["tzdata.zoneinfo", *packages])).joinpath(name).read_bytes()


def _parse(data: bytes) -> tuple[list[int], list[int], str]:
    """RFC 8536: a block of 32-bit times, skipped, one of 64-bit times, and the rule for later years."""
    start, n_leaps, n_times, n_types, n_letters = _sizes(data, 0)
    start, n_leaps, n_times, n_types, n_letters = _sizes(
        data, start + n_times * 5 + n_types * 6 + n_letters + n_leaps
    )
    instants = list(struct.unpack_from(f">{n_times}q", data, start))
    start += 8 * n_times
    kinds = struct.unpack_from(f">{n_times}B", data, start)
    start += n_times
    by_kind = [struct.unpack_from(">lBB", data, start + 6 * i)[0] for i in range(n_types)]
    start += n_types * 6 + n_letters + n_leaps
    footer = data[start:].decode("ascii").strip("\n")
    return instants, [by_kind[0], *(by_kind[kind] for kind in kinds)], footer


def _sizes(data: bytes, start: int) -> tuple[int, int, int, int, int]:
    magic, _, n_utc, n_standard, n_leaps, n_times, n_types, n_letters = _HEADER.unpack_from(data, start)
    assert magic == b"TZif", "not a time zone file"
    width = 12 if start else 8
    return start + _HEADER.size, n_leaps * width + n_utc + n_standard, n_times, n_types, n_letters


def _changes_of(year: int, rule: re.Match[str]) -> list[tuple[int, int]]:
    standard = -_seconds(rule["standard"])
    summer = -_seconds(rule["summer"]) if rule["summer"] else standard + 3600
    begin = _local(year, rule["begin"]) - standard
    end = _local(year, rule["end"]) - summer
    return sorted([(begin, summer), (end, standard)])


def _local(year: int, written: str) -> int:
    """`Mmonth.week.weekday/clock` of a year, in seconds since 1970; week 5 is the last one."""
    day, _, clock = written.partition("/")
    month, week, weekday = map(int, day[1:].split("."))
    first = date(year, month, 1)
    day_of_month = 1 + (weekday - first.isoweekday()) % 7 + 7 * (week - 1)
    following = date(year + month // 12, month % 12 + 1, 1)
    while day_of_month > (following - first).days:
        day_of_month -= 7
    return _days(first.replace(day=day_of_month)) * _DAY + (_seconds(clock) if clock else 7200)


def _seconds(clock: str) -> int:
    hours, *rest = clock.lstrip("+-").split(":")
    seconds = sum(int(part) * unit for part, unit in zip([hours, *rest], (3600, 60, 1), strict=False))
    return -seconds if clock.startswith("-") else seconds


def _days(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()


def _year_of(instant: int) -> int:
    return date.fromordinal(date(1970, 1, 1).toordinal() + instant // _DAY).year


def _merged(instants: list[int], offsets: list[int], *, repeats: bool) -> Changes:
    """Without the entries that change only a zone's abbreviation."""
    kept = [i for i in range(len(instants)) if offsets[i + 1] != offsets[i]]
    return Changes([instants[i] for i in kept], [offsets[0], *(offsets[i + 1] for i in kept)], repeats)
