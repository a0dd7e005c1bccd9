"""SEM 5.2, 5.4: what a match returns about one of its situations."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from oracles.derive import Situation


def item(function: str, situation: Situation, attribute: str | None, match_time: int) -> Any:
    """The value of one RETURN item at `match_time` (SEM 4.4: only what has occurred by then)."""
    te = situation.te_told_at(match_time)
    if function == "ts":
        return situation.ts
    if function == "te":
        return te
    if function == "duration":
        return None if te is None else te - situation.ts
    rows = [row for instant, row in situation.events if instant <= match_time]
    if situation.is_given:  # SEM 6.2: one event, with the attributes of its latest row
        rows = rows[-1:]
    if attribute is None:
        return len(rows)
    return aggregate(function, [row[attribute] for row in rows])


def aggregate(function: str, values: Sequence[Any]) -> Any:
    """One SQL aggregate of the values in event order; nulls skipped except by first and last.

    `percentile 0.95` is the function with its fraction.
    """
    if function in ("first", "value"):
        return values[0]
    if function == "last":
        return values[-1]
    present = [value for value in values if value is not None]
    if function == "count":
        return len(present)
    if function == "collect_list":
        return present
    if function == "stddev":
        return statistics.stdev(present) if len(present) > 1 else None
    if not present:
        return None
    if function == "sum":
        return sum(present)
    if function == "avg":
        return sum(present) / len(present)
    by_size = sorted(present, key=lambda value: (isinstance(value, float) and math.isnan(value), value))
    if function == "median" or function.startswith("percentile"):
        return _between(by_size, float(function.partition(" ")[2] or 0.5))
    return {"min": by_size[0], "max": by_size[-1]}[function]


def _between(by_size: Sequence[Any], fraction: float) -> float:
    """The value so far on the way from the least to the greatest, interpolated between two neighbours."""
    position = (len(by_size) - 1) * fraction
    lower = math.floor(position)
    higher = math.ceil(position)
    low, high = float(by_size[lower]), float(by_size[higher])
    return low if low == high else low + (position - lower) * (high - low)
