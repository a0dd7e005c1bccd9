"""When a constraint becomes certain, and so which endpoints can complete a match (SEM 4.2, 4.3).

While two situations are both open only the order of their starts is known. The three relations that
agree on it form a prefix group; a set that contains a whole group is certain as soon as both have
started, any other set only once the first of the two has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from situ.algebra.composition import IntArray, compose_allen_arrays, from_allen, to_allen
from situ.algebra.network import propagate
from situ.algebra.relations import (
    AFTER,
    ALL,
    BEFORE,
    CONTAINS,
    DURING,
    EQUALS,
    FINISHED_BY,
    FINISHES,
    MEETS,
    MET_BY,
    OVERLAPPED_BY,
    OVERLAPS,
    STARTED_BY,
    STARTS,
    converse,
    names_of,
    relation,
)

OPEN: Final = (1 << 63) - 1
"""The end of a situation that is still open, and the earliest instant of what is not (yet) certain."""

STARTS_EARLIER: Final = 1 << OVERLAPS | 1 << FINISHED_BY | 1 << CONTAINS
STARTS_TOGETHER: Final = 1 << STARTS | 1 << EQUALS | 1 << STARTED_BY
STARTS_LATER: Final = 1 << DURING | 1 << FINISHES | 1 << OVERLAPPED_BY
PREFIX_GROUPS: Final = (STARTS_EARLIER, STARTS_TOGETHER, STARTS_LATER)

_DISJOINT: Final = BEFORE | 1 << MEETS | 1 << MET_BY | AFTER
# From X to Y: where X.te is no later than, or exactly, the instant that decides.
_ENDS_EARLIER: Final = 1 << OVERLAPS | 1 << STARTS | 1 << DURING
_ENDS_TOGETHER: Final = 1 << FINISHED_BY | 1 << EQUALS | 1 << FINISHES
_ENDS_LATER: Final = 1 << CONTAINS | 1 << STARTED_BY | 1 << OVERLAPPED_BY | 1 << MET_BY | AFTER


def certain_at_start(relations: int) -> int:
    """The part of a set that is certain at the later of the two starts; the rest is at the earlier end."""
    certain = relations & _DISJOINT
    for group in PREFIX_GROUPS:
        if relations & group == group:
            certain |= group
    return certain


def earliest(relations: int, a_ts: int, a_te: int, b_ts: int, b_te: int) -> int:
    """The first instant at which `relations` is certain to hold from A to B (SEM 4.2).

    An open situation has te = OPEN; the answer is OPEN while nothing is decided and when the set does
    not hold. Any half of `before` will do here: whether B follows A is for the caller to know.

    >>> from situ.algebra.relations import NAMES
    >>> earliest(NAMES["overlaps"], 0, 5, 3, OPEN), earliest(STARTS_EARLIER, 0, OPEN, 3, OPEN)
    (5, 3)
    """
    later_start = max(a_ts, b_ts)
    if a_te == OPEN and b_te == OPEN:
        group = PREFIX_GROUPS[(a_ts >= b_ts) + (a_ts > b_ts)]
        return later_start if relations & group == group else OPEN
    bits = from_allen(1 << relation(a_ts, a_te, b_ts, b_te))
    if not relations & bits:
        return OPEN
    return later_start if certain_at_start(relations) & bits else min(a_te, b_te)


def describe_certainty(relations: int) -> str:
    """In words, when a set of relations between two symbols becomes certain.

    >>> from situ.algebra.relations import NAMES
    >>> describe_certainty(NAMES["meets"] | NAMES["overlaps"])
    'at the later start (meets) or at the earlier end (overlaps)'
    """
    start = certain_at_start(relations)
    end = relations & ~start
    if not end:
        return "at the later start"
    if not start:
        return "at the earlier end"
    at_start, at_end = ", ".join(names_of(start)), ", ".join(names_of(end))
    return f"at the later start ({at_start}) or at the earlier end ({at_end})"


class Admissible(Enum):
    """When a situation may first be used (SEM 2.4, 6.3): at ts, somewhere in [ts, te], or at te."""

    AT_START = "at its start"
    DELAYED = "once it has lasted long enough"
    AT_END = "at its end"


def admission(
    at_least: int | None, at_most: int | None, *, is_given: bool = False, is_announced: bool = False
) -> Admissible:
    """When situations with these bounds on their length may first be used.

    `is_given`: they are rows of FROM INTERVALS, which have no events that could tell that one lasts.
    `is_announced`: a row may say that one has begun (ID BY); else it is known from its end on.
    """
    if at_most is not None or (is_given and (at_least or not is_announced)):
        return Admissible.AT_END
    return Admissible.DELAYED if at_least or is_given else Admissible.AT_START


class Trigger(NamedTuple):
    """Which instants of one symbol's situations can be the instant a match is reported at."""

    ts: bool
    admissible: bool
    te: bool


@dataclass(frozen=True)
class _Pattern:
    """A path-consistent pattern; `around[x][y]` are the relations from x to y where something is asked."""

    matrix: IntArray
    around: tuple[dict[int, int], ...]
    kinds: tuple[Admissible, ...]

    @classmethod
    def of(cls, matrix: npt.ArrayLike, kinds: Sequence[Admissible] | None) -> _Pattern:
        written = np.asarray(matrix, dtype=np.int32)
        asked = (written != ALL) | (written.T != ALL)
        np.fill_diagonal(asked, False)
        reduced = propagate(written).matrix
        return cls(
            to_allen(reduced),
            tuple(
                {int(y): int(reduced[x, y]) for y in np.flatnonzero(asked[x])} for x in range(len(written))
            ),
            tuple(kinds or [Admissible.AT_START] * len(written)),
        )

    def ended(self, y: int, relations: int) -> int:
        """`relations`, those under which y has ended, if y may not be used before; else ALL."""
        return relations if self.kinds[y] is Admissible.AT_END else ALL

    def possible(self, x: int, narrowed: dict[int, int]) -> bool:
        """Whether narrowing x to these relations contradicts no pair of the symbols around it."""
        if not all(narrowed.values()):
            return False
        ys = list(narrowed)
        from_x = to_allen(np.array(list(narrowed.values()), dtype=np.int32))
        to_x = to_allen(np.array([converse(bits) for bits in narrowed.values()], dtype=np.int32))
        via_x = compose_allen_arrays(to_x[:, None], from_x[None, :])
        return bool((via_x & self.matrix[np.ix_(ys, ys)]).all())


def trigger_endpoints(
    matrix: npt.ArrayLike, *, admissible: Sequence[Admissible] | None = None, final: bool = False
) -> tuple[Trigger, ...]:
    """Per symbol, which of its instants can be the instant a match is reported at (SEM 4.3 - 4.5).

    `matrix[i][j]` are the relations from symbol i to j, ALL where nothing is asked. Every match is
    reported at an instant marked here of one of its situations; what is not marked never is that instant
    without a marked one coinciding. With `final` only ends count, and `admissible` plays no part.
    """
    pattern = _Pattern.of(matrix, admissible)
    if final:
        return tuple(Trigger(False, False, _can_end_last(pattern, x)) for x in range(len(pattern.around)))
    return tuple(_early_trigger(pattern, x, kind) for x, kind in enumerate(pattern.kinds))


def pair_triggers(
    relations: int, left: Admissible = Admissible.AT_START, right: Admissible = Admissible.AT_START
) -> tuple[Trigger, ...]:
    """Which instants can be the first at which a constraint is certain and both its situations may be used.

    >>> from situ.algebra.relations import NAMES
    >>> pair_triggers(NAMES["before"], Admissible.AT_END, Admissible.AT_END)[1]
    Trigger(ts=False, admissible=False, te=True)
    """
    pair = [[1 << EQUALS, relations], [converse(relations), 1 << EQUALS]]
    return trigger_endpoints(pair, admissible=(left, right))


def _early_trigger(pattern: _Pattern, x: int, kind: Admissible) -> Trigger:
    around = pattern.around[x]
    if not around:  # a query of one symbol: it is reported when it may be used (SEM 3.2)
        return Trigger(kind is Admissible.AT_START, kind is Admissible.DELAYED, kind is Admissible.AT_END)
    te = _decides_at_end(pattern, x) or (kind is Admissible.AT_END and _all_decided_by_end(pattern, x))
    return Trigger(
        ts=kind is not Admissible.AT_END and _decides_at_start(pattern, x),
        admissible=kind is Admissible.DELAYED and _may_be_last_to_be_admitted(pattern, x),
        te=te,
    )


def _decides_at_start(pattern: _Pattern, x: int) -> bool:
    """x.ts can be td: no constraint on x is decided before x starts, so all must be decided just then."""
    x_starts_last = AFTER | 1 << MET_BY | STARTS_LATER | STARTS_TOGETHER
    by_then = {}
    for y, bits in pattern.around[x].items():
        by_then[y] = certain_at_start(bits) & x_starts_last & pattern.ended(y, 1 << MET_BY | AFTER)
    return pattern.possible(x, by_then)


def _decides_at_end(pattern: _Pattern, x: int) -> bool:
    """x.te can be td: it decides one constraint, and none of the others waits for something later."""
    by_then = _known_by_end(pattern, x)
    for y, bits in pattern.around[x].items():
        decides = by_then[y] & ~certain_at_start(bits) & (_ENDS_EARLIER | _ENDS_TOGETHER)
        if decides and pattern.possible(x, by_then | {y: decides}):
            return True
    return False


def _known_by_end(pattern: _Pattern, x: int) -> dict[int, int]:
    """The relations under which y has started, and may be used, when x ends."""
    return {
        y: bits & ~BEFORE & pattern.ended(y, _ENDS_LATER | _ENDS_TOGETHER)
        for y, bits in pattern.around[x].items()
    }


def _all_decided_by_end(pattern: _Pattern, x: int) -> bool:
    """Nothing forces td beyond x.te: only what x lies before starts later than x ends."""
    return pattern.possible(x, _known_by_end(pattern, x))


def _may_be_last_to_be_admitted(pattern: _Pattern, x: int) -> bool:
    """The admissible instant, some c <= x.te, can be td; c = x.te is left to x.te where that decides."""
    before_end = {}
    for y, bits in pattern.around[x].items():
        start = certain_at_start(bits)
        before_end[y] = start & ~(BEFORE | 1 << MEETS) | bits & ~start & _ENDS_LATER
        before_end[y] &= pattern.ended(y, _ENDS_LATER)
    return pattern.possible(x, before_end)


def _can_end_last(pattern: _Pattern, x: int) -> bool:
    return pattern.possible(
        x, {y: bits & (_ENDS_LATER | _ENDS_TOGETHER) for y, bits in pattern.around[x].items()}
    )
