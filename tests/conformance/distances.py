"""Endpoint comparisons and BY to differences, by a reader that shares nothing with situ (SEM 9.1, 9.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from conformance.lengths import BOUNDS, DURATION, bounds, ticks
from oracles.question import Difference, Endpoint

SYMBOL = r"[A-Za-z_]\w*|`[^`]+`"
TERM = rf"(?P<sign>[-+]?)\s*(?:(?P<symbol>{SYMBOL})\s*\.\s*(?P<end>ts|te)\b|(?P<length>{DURATION}))"
SIGNS = r"<=|>=|<|>|="
Side = tuple[list[tuple[int, Endpoint]], int]  # signed endpoints, and the offset


def comparisons(conjunct: str) -> list[tuple[Side, str, Side]]:
    """`x < y + 5 < z` as its adjacent comparisons; BETWEEN as two."""
    ranged = re.fullmatch(rf"(.*?)\s{BOUNDS['both']}\s*", conjunct, re.I | re.S)
    if ranged:
        middle, low, high = side(ranged[1]), side(ranged[2]), side(ranged[3])
        return [(middle, ">=", low), (middle, "<=", high)]
    sides = [side(text) for text in re.split(SIGNS, conjunct)]
    signs = re.findall(SIGNS, conjunct)
    return [(left, sign, right) for (left, right), sign in zip(pairwise(sides), signs, strict=True)]


def side(text: str) -> Side:
    endpoints, offset = [], 0
    for found in re.finditer(TERM, text, re.I):
        sign = -1 if found["sign"] == "-" else 1
        if found["symbol"]:
            endpoints.append((sign, (found["symbol"].strip("`"), found["end"].lower())))
        else:
            offset += sign * ticks(found["length"])
    return endpoints, offset


def plain(left: Side, right: Side) -> tuple[Endpoint, Endpoint] | None:
    """The two endpoints of a comparison without an offset, which stands for relations (SEM 3.3)."""
    if left[1] or right[1] or len(left[0]) != 1 or len(right[0]) != 1:
        return None
    return left[0][0][1], right[0][0][1]


def differences(left: Side, sign: str, right: Side) -> list[Difference]:
    """One, or two for `=`."""
    terms = [*left[0], *((-sign_of, endpoint) for sign_of, endpoint in right[0])]
    (x,) = [endpoint for sign_of, endpoint in terms if sign_of > 0]
    (y,) = [endpoint for sign_of, endpoint in terms if sign_of < 0]
    distance = right[1] - left[1]  # x - y compared with it
    found = []
    if sign in ("<", "<=", "="):
        found.append(Difference(x, y, distance, sign == "<"))
    if sign in (">", ">=", "="):
        found.append(Difference(y, x, -distance, sign == ">"))
    return found


def by(length: str, left: str, atoms: set[str], right: str) -> list[Difference]:
    """The table of SEM 9.2; differences within one symbol are its own length."""
    least, most = bounds(length)

    def of(x: Endpoint, y: Endpoint) -> list[Difference]:
        lower = [] if least is None else [Difference(y, x, -least)]
        return lower if most is None else [*lower, Difference(x, y, most)]

    if atoms <= {"before-only", "followed-by", "meets"}:
        return of((right, "ts"), (left, "te"))
    if atoms <= {"after-only", "follows", "met-by"}:
        return of((left, "ts"), (right, "te"))
    if atoms == {"overlaps"}:
        return of((left, "te"), (right, "ts"))
    if atoms == {"overlapped-by"}:
        return of((right, "te"), (left, "ts"))
    return [found for a in (left, right) for b in (left, right) for found in of((a, "te"), (b, "ts"))]


def tightest(found: Iterable[Difference]) -> tuple[Difference, ...]:
    """SEM 9.4: of several on the same two endpoints the tightest counts."""
    kept: dict[tuple[Endpoint, Endpoint], Difference] = {}
    for one in found:
        known = kept.setdefault((one.left, one.right), one)
        kept[one.left, one.right] = min(known, one, key=lambda d: (d.bound, not d.is_strict))
    return tuple(kept.values())
