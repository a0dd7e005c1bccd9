"""Durations in query text, by a reader that shares nothing with situ (SEM 7)."""

from __future__ import annotations

import re

MICROSECONDS = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
UNITS = {"mic": "us", "mil": "ms", "sec": "s", "min": "m", "hou": "h", "day": "d"}
UNIT = rf"(?:(?:{'|'.join(UNITS)})\w*|{'|'.join(MICROSECONDS)})\b"
DURATION = rf"(?:INTERVAL\s+)?'?\d[\d.]*'?\s*(?:{UNIT})?"
# Each with one group, or two for `both`.
BOUNDS = {
    "least": rf"AT\s+LEAST\s+({DURATION})",
    "most": rf"AT\s+MOST\s+({DURATION})",
    "both": rf"BETWEEN\s+({DURATION})\s+AND\s+({DURATION})",
}


def ticks(text: str) -> int:
    """A plain number of ticks, or a number and a unit in microseconds."""
    number, unit = re.fullmatch(r"(?:INTERVAL\s+)?'?([\d.]+)'?\s*([a-z]*)", text.strip(), re.I).groups()
    if not unit:
        return int(number)
    unit = unit.lower()
    return round(float(number) * MICROSECONDS[UNITS.get(unit[:3], unit)])


def bounds(text: str) -> tuple[int | None, int | None]:
    """`AT LEAST d` and the like as (at least, at most)."""
    for kind, bound in BOUNDS.items():
        if found := re.fullmatch(bound, text.strip(), re.I):
            least = None if kind == "most" else ticks(found[1])
            return least, None if kind == "least" else ticks(found[found.lastindex])
    raise ValueError(f"not a length: {text}")
