"""Text in Arrow columns read as times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.cli.time_format import MONTHS, TimePattern

Ints = np.ndarray[Any, Any]
_SECOND_US = 1_000_000
_DAY_US = 86_400 * _SECOND_US


def read_times(texts: Any, pattern: TimePattern, time_zone: str) -> tuple[Any, bool]:
    """The times that are written so, null where nothing is; and whether all of them name their zone.

    Those without are of `time_zone`, in which all are shown.
    """
    read = [_read(chunk, pattern, time_zone) for chunk in texts.chunks]
    times = pa.chunked_array([times for times, _ in read], pa.timestamp("us", time_zone))
    return times, all(has_zones for _, has_zones in read)


def _read(texts: Any, pattern: TimePattern, time_zone: str) -> tuple[Any, bool]:
    n = len(texts)
    found = pc.extract_regex(texts, pattern.regex)
    part = {name: pc.struct_field(found, name) for name in pattern.fields}
    is_time, local_us = _microseconds(part, n)
    is_time &= np.asarray(found.is_valid())
    offset_us, has_zone = _offsets(part, n)
    zoned = _times(local_us - offset_us, is_time & has_zone, "UTC").cast(pa.timestamp("us", time_zone))
    local = in_zone(_times(local_us, is_time & ~has_zone, None), time_zone)
    return pc.coalesce(zoned, local), bool(has_zone[is_time].all())


def in_zone(times: Any, time_zone: str) -> Any:
    """Times without a zone as those of this one, as Spark takes them where clocks change."""
    return pc.assume_timezone(times, time_zone, ambiguous="earliest", nonexistent="latest")


def _microseconds(part: dict[str, Any], n: int) -> tuple[Ints, Ints]:
    """Whether a date exists, and the microseconds to it since 1970, as if it were in UTC."""
    day = _number(part, "day", n)
    months = (_year(part, n) - 1970) * 12 + _month(part, n) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    following = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    hour, minute, second = _hour(part, n), _number(part, "minute", n), _number(part, "second", n)
    exists = (day >= 1) & (day <= following - first) & (months >= -1970 * 12)
    exists &= (_month(part, n) >= 1) & (_month(part, n) <= 12) & (hour < 24) & (minute < 60) & (second < 60)
    seconds = hour * 3600 + minute * 60 + second
    return exists, (first + day - 1) * _DAY_US + seconds * _SECOND_US + _fraction(part, n)


def _year(part: dict[str, Any], n: int) -> Ints:
    if "year" in part:
        return _number(part, "year", n)
    short = _number(part, "short_year", n)
    return short + np.where(short < 69, 2000, 1900)


def _month(part: dict[str, Any], n: int) -> Ints:
    if "month" in part:
        return _number(part, "month", n)
    begins = pc.utf8_lower(pc.utf8_slice_codeunits(part["month_name"], 0, 3))
    place = pc.index_in(begins, value_set=pa.array(MONTHS))
    months: Ints = np.asarray(pc.fill_null(place, -1)).astype(np.int64) + 1
    return months


def _hour(part: dict[str, Any], n: int) -> Ints:
    if "half_hour" not in part:
        return _number(part, "hour", n)
    is_pm = np.asarray(pc.fill_null(pc.equal(pc.utf8_lower(part["half"]), "pm"), False))
    hours: Ints = _number(part, "half_hour", n) % 12 + 12 * is_pm
    return hours


def _fraction(part: dict[str, Any], n: int) -> Ints:
    if "fraction" not in part:
        return np.zeros(n, np.int64)
    six = pc.utf8_slice_codeunits(pc.utf8_rpad(part["fraction"], 6, "0"), 0, 6)
    return _numbers(six)


def _offsets(part: dict[str, Any], n: int) -> tuple[Ints, Ints]:
    """How far the clocks of the zone that is named are ahead of UTC, and whether one is."""
    if "zone" not in part:
        return np.zeros(n, np.int64), np.zeros(n, bool)
    zone = pc.fill_null(part["zone"], "")
    digits = pc.replace_substring_regex(zone, r"[^\d]", "")
    minutes = _numbers(pc.utf8_slice_codeunits(digits, 0, 2)) * 60 + _numbers(
        pc.utf8_slice_codeunits(digits, 2, 4)
    )
    sign = np.where(np.asarray(pc.starts_with(zone, "-")), -1, 1)
    return sign * minutes * 60 * _SECOND_US, np.asarray(pc.not_equal(zone, ""))


def _number(part: dict[str, Any], name: str, n: int) -> Ints:
    return _numbers(part[name]) if name in part else np.zeros(n, np.int64)


def _numbers(digits: Any) -> Ints:
    """Numbers of text; zero where there is none."""
    digits = pc.fill_null(digits, "0")
    return np.asarray(pc.if_else(pc.equal(digits, ""), "0", digits).cast(pa.int64()))


def _times(us: Ints, is_there: Ints, zone: str | None) -> Any:
    return pa.array(us, mask=~is_there).cast(pa.timestamp("us", zone))
