"""Where a time axis has its marks, and what they say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from situ.expressions.zones import zone_of
from situ.plotting.scene import Clock

_S, _DAY = 1_000_000, 86_400_000_000
_SECONDS = (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800)
_STEPS = (*(round(s * _S) for s in _SECONDS), *(round(d * _DAY) for d in (0.25, 0.5, 1, 2, 7, 30, 90, 365)))
_MOST_MARKS = 8
_FORMATS = ((28 * _DAY, "%b"), (_DAY, "%b %d"), (60 * _S, "%H:%M"), (_S, "%H:%M:%S"), (0, "%S.%f"))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Marks(NamedTuple):
    """Marks of a time axis, and the days beneath it."""

    ticks: list[int]
    labels: list[str]
    beneath: str


def moment(tick: int, clock: Clock) -> datetime:
    """A tick as a time in the clock's zone."""
    return (_EPOCH + timedelta(microseconds=tick)).astimezone(zone_of(clock.zone or "UTC"))


def time_marks(left: int, right: int, clock: Clock) -> Marks:
    """At most eight or so marks between two ticks, at round times of the clock's zone.

    Where days change between them, the first mark of each day has its date.

    >>> time_marks(0, 90 * _S, Clock(True)).labels
    ['00:00:00', '00:00:15', '00:00:30', '00:00:45', '00:01:00', '00:01:15', '00:01:30']
    """
    step = next(
        (step for step in _STEPS if right - left <= _MOST_MARKS * step), (right - left) // _MOST_MARKS
    )
    if step >= 28 * _DAY:
        ticks = _month_starts(left, right, clock, every=round(step / (30 * _DAY)))
    else:
        shift = (moment(left, clock).utcoffset() or timedelta()) // timedelta(microseconds=1)
        ticks = list(range(-(-(left + shift) // step) * step - shift, right + 1, step))
    text = next(text for least, text in _FORMATS if step >= least)
    days = dict.fromkeys(
        moment(at, clock).strftime("%Y" if step >= _DAY else "%Y-%m-%d") for at in (left, right)
    )
    labels = [moment(tick, clock).strftime(text) for tick in ticks]
    if step < _DAY and len(days) > 1:
        dates = [moment(tick, clock).strftime("%b %d") for tick in ticks]
        is_first = [i == 0 or date != dates[i - 1] for i, date in enumerate(dates)]
        labels = [
            f"{label}\n{date}" if first else label
            for label, date, first in zip(labels, dates, is_first, strict=True)
        ]
    return Marks(ticks, labels, ", ".join(filter(None, [" to ".join(days), clock.zone])))


def _month_starts(left: int, right: int, clock: Clock, every: int) -> list[int]:
    """The first of every n-th month."""
    first = moment(left, clock).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    starts = []
    month = (first.year * 12 + first.month - 1) // every * every
    while (tick := _tick(first.replace(year=month // 12, month=month % 12 + 1))) <= right:
        starts += [tick] if tick >= left else []
        month += every
    return starts


def _tick(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def clock_text(tick: int, clock: Clock) -> str:
    """A moment of the day, or the integer.

    >>> clock_text(90_000_000, Clock(True)), clock_text(7, Clock(False))
    ('00:01:30', '7')
    """
    if not clock.is_time:
        return str(tick)
    text = moment(tick, clock).strftime("%H:%M:%S.%f")
    return text[:-7] if text.endswith(".000000") else text.rstrip("0")
