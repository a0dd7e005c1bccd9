"""Which relations an endpoint comparison such as `A.ts < B.te` stands for (SEM 3.3)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Literal

from situ.algebra.relations import AFTER, AFTER_ONLY, BEFORE, BEFORE_ONLY, relation

End = Literal["ts", "te"]
Comparison = Literal["<", "<=", "=", ">=", ">"]

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}

# Two intervals have four endpoints, so all their orders show on four ticks.
_INTERVALS = tuple((ts, te) for ts in range(4) for te in range(ts + 1, 4))

# A comparison cannot tell followed-by from before: it means both halves or neither.
_BITS = [1 << atom for atom in range(13)]
_BITS[BEFORE_ONLY], _BITS[AFTER_ONLY] = BEFORE, AFTER


@cache
def from_endpoints(left_end: End, op: Comparison, right_end: End) -> int:
    """The relations from the left to the right symbol under which `left.left_end op right.right_end` holds.

    >>> from situ.algebra.relations import names_of
    >>> names_of(from_endpoints("te", "<=", "ts"))
    ('before', 'meets')
    """
    holds = _COMPARE[op]
    left, right = ("ts", "te").index(left_end), ("ts", "te").index(right_end)
    bits = 0
    for a in _INTERVALS:
        for b in _INTERVALS:
            if holds(a[left], b[right]):
                bits |= _BITS[relation(*a, *b)]
    return bits
