"""Durations as they are written and as they are printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.language.text.durations import duration_text, parse_duration
from situ.language.text.nodes import Duration


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("5 seconds", 5_000_000),
        ("5s", 5_000_000),
        ("5 SEC", 5_000_000),
        ("1 second", 1_000_000),
        ("250 ms", 250_000),
        ("1.5 hours", 5_400_000_000),
        ("0.25s", 250_000),
        (".5 min", 30_000_000),
        ("5m", 300_000_000),
        ("2 days", 172_800_000_000),
        ("1 week", 604_800_000_000),
        ("7 us", 7),
        ("7 \u00b5s", 7),
        ("1e3 ms", 1_000_000),
        ("1 hour 30 minutes", 5_400_000_000),
        ("INTERVAL '5' SECOND", 5_000_000),
        ("interval '1.5' HOURS", 5_400_000_000),
        ("INTERVAL 5 SECONDS", 5_000_000),
        ("INTERVAL '5 seconds'", 5_000_000),
        ("INTERVAL '1 hour 30 minutes'", 5_400_000_000),
        ("0 s", 0),
    ],
)
def test_units(text: str, microseconds: int) -> None:
    assert parse_duration(text) == Duration(microseconds, has_unit=True)


def test_plain_numbers_are_ticks() -> None:
    assert parse_duration("300") == Duration(300, has_unit=False)


@given(st.builds(Duration, st.integers(0, 2**63 - 1), st.booleans()))
def test_printed_durations_read_back(value: Duration) -> None:
    assert parse_duration(duration_text(value)) == value
