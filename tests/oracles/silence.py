"""SEM 12: the gaps between the events of one partition, as situations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from oracles.derive import Situation
from oracles.question import Row


def silences(
    events: Sequence[Row], time: str, at_least: int | None = None, at_most: int | None = None
) -> list[Situation]:
    """Each with its only event, the one it begins with; without bounds every gap, however short."""
    instants = [event[time] for event in events]
    found = []
    for event, (ts, te) in zip(events, pairwise([*instants, None]), strict=True):
        is_long = te is None or te - ts >= (at_least or 0)
        is_short = at_most is None or (te is not None and te - ts <= at_most)
        if is_long and is_short:
            admissible = ts + (at_least or 0) if at_most is None else te
            found.append(Situation(ts, te, admissible, ((ts, event),)))
    return found
