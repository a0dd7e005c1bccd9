"""Time zones for whole columns agree with Python's, which know one time at a time."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.expressions import tzif
from situ.expressions.zones import zone

EPOCH = datetime(1970, 1, 1)
NAMES = [
    "America/New_York", "Europe/London", "Europe/Dublin", "Asia/Kolkata", "Australia/Lord_Howe",
    "Pacific/Apia", "Africa/Casablanca", "America/Sao_Paulo", "Asia/Jerusalem", "America/Nuuk",
    "Antarctica/Troll", "Asia/Tokyo",
]  # fmt: skip
times = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)).map(lambda time: time.replace(microsecond=0))


def _seconds(time: datetime) -> int:
    return (time.replace(tzinfo=None) - EPOCH) // timedelta(seconds=1)


@given(name=st.sampled_from(NAMES), some=st.lists(times, max_size=30))
def test_offsets_are_python_s(name: str, some: list[datetime]) -> None:
    expected = [
        round(time.replace(tzinfo=UTC).astimezone(ZoneInfo(name)).utcoffset().total_seconds())  # type: ignore[union-attr]
        for time in some
    ]
    seconds = np.array([_seconds(time) for time in some], np.int64)
    assert np.broadcast_to(zone(name).offset(seconds), len(some)).tolist() == expected


@given(name=st.sampled_from(NAMES), some=st.lists(times, max_size=30))
def test_local_times_are_python_s(name: str, some: list[datetime]) -> None:
    expected = [_seconds(time.replace(tzinfo=ZoneInfo(name)).astimezone(UTC)) for time in some]
    seconds = np.array([_seconds(time) for time in some], np.int64)
    assert zone(name).instant(seconds).tolist() == expected


@pytest.mark.parametrize("name", NAMES)
def test_around_every_change_of_a_zone(name: str) -> None:
    changes, _, _ = tzif.read_changes(name)
    near = sorted({change + step for change in changes for step in (-1, 0, 1, 1800, -1800, 5400)})
    near = [
        second for second in near if _seconds(datetime(1, 1, 3)) < second < _seconds(datetime(2600, 1, 1))
    ]
    seconds = np.array(near, np.int64)
    moments = [EPOCH + timedelta(seconds=second) for second in near]
    shown = [time.replace(tzinfo=UTC).astimezone(ZoneInfo(name)) for time in moments]
    assert (seconds + zone(name).offset(seconds)).tolist() == [_seconds(time) for time in shown]
    meant = [_seconds(time.replace(tzinfo=ZoneInfo(name)).astimezone(UTC)) for time in moments]
    assert zone(name).instant(seconds).tolist() == meant


def test_what_holds_today_holds_in_any_year() -> None:
    cycle = 146_097 * 86_400
    seconds = np.arange(2_000_000_000, 2_040_000_000, 3_000_000, dtype=np.int64)
    for name in NAMES:
        assert np.array_equal(
            np.broadcast_to(zone(name).offset(seconds + 300 * cycle), len(seconds)),
            np.broadcast_to(zone(name).offset(seconds + 300 * cycle + 7 * cycle), len(seconds)),
        )


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("UTC", 0),
        ("+05:30", 19_800),
        ("-0330", -12_600),
        ("UTC+5", 18_000),
        ("GMT-3:30", -12_600),
        ("EST", -18_000),
        ("+01:02:03", 3_723),
        ("PST", -28_800),
    ],
)
def test_names_java_knows(name: str, offset: int) -> None:
    assert np.broadcast_to(zone(name).offset(np.array([0], np.int64)), 1).tolist() == [offset]


def test_the_tzdata_package_stands_in_for_a_system_without_a_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = tzif.read_changes("Asia/Kolkata")
    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    assert tzif.read_changes("Asia/Kolkata") == expected
