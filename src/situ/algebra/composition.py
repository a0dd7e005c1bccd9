"""Composition: from how A stands to B and B to C, how A can stand to C.

The table is enumerated, not typed in: three intervals have six endpoints, so every arrangement shows
on six ticks. Composition sees thirteen relations; `followed-by` counts as `before` (SEM 3.4), and a
`before` in the result always stands for both halves.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from situ.algebra.relations import AFTER_ONLY, BEFORE_ONLY, FOLLOWED_BY, FOLLOWS, N_ALLEN, relation

IntArray = npt.NDArray[np.int32]
Bits = TypeVar("Bits", int, IntArray)  # one set, or an array of sets

_ALLEN_MASK = (1 << N_ALLEN) - 1
_LOW_BITS = 7  # sets are looked up in two halves: 7 + 6 bits keep the four tables in the cache
_LOW_MASK = (1 << _LOW_BITS) - 1


@cache
def allen_table() -> tuple[tuple[int, ...], ...]:
    """`table[r][s]`: the set (13 bits) of relations A can have to C when A r B and B s C."""
    intervals = [(ts, te) for ts in range(6) for te in range(ts + 1, 6)]
    between = [[relation(*a, *b) for b in intervals] for a in intervals]
    table = [[0] * N_ALLEN for _ in range(N_ALLEN)]
    for a_to in between:
        for b, a_to_b in enumerate(a_to):
            row = table[a_to_b]
            for c, b_to_c in enumerate(between[b]):
                row[b_to_c] |= 1 << a_to[c]
    return tuple(tuple(row) for row in table)


def to_allen(bits: Bits) -> Bits:
    """The set as Allen's thirteen bits: followed-by becomes before, follows becomes after."""
    return bits & _ALLEN_MASK | (bits >> FOLLOWED_BY & 1) << BEFORE_ONLY | (bits >> FOLLOWS & 1) << AFTER_ONLY


def from_allen(bits: Bits) -> Bits:
    """Thirteen bits as fifteen: before and after stand for both their halves."""
    return bits | (bits >> BEFORE_ONLY & 1) << FOLLOWED_BY | (bits >> AFTER_ONLY & 1) << FOLLOWS


def compose(left: int, right: int) -> int:
    """The relations possible from A to C when `left` holds from A to B and `right` from B to C.

    >>> from situ.algebra.relations import NAMES, names_of
    >>> names_of(compose(NAMES["during"], NAMES["before"]))
    ('before',)
    """
    a, b = to_allen(left), to_allen(right)
    low_low, low_high, high_low, high_high = _half_tables()
    a_low, a_high, b_low, b_high = a & _LOW_MASK, a >> _LOW_BITS, b & _LOW_MASK, b >> _LOW_BITS
    return from_allen(
        int(
            low_low[a_low, b_low]
            | low_high[a_low, b_high]
            | high_low[a_high, b_low]
            | high_high[a_high, b_high]
        )
    )


def compose_allen_arrays(left: IntArray, right: IntArray) -> IntArray:
    """Element-wise composition of arrays of 13-bit sets, with NumPy's broadcasting."""
    low_low, low_high, high_low, high_high = _half_tables()
    a_low, a_high, b_low, b_high = left & _LOW_MASK, left >> _LOW_BITS, right & _LOW_MASK, right >> _LOW_BITS
    result: IntArray = low_low[a_low, b_low]
    result |= low_high[a_low, b_high]
    result |= high_low[a_high, b_low]
    result |= high_high[a_high, b_high]
    return result


@cache
def _half_tables() -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Composition of (low, low), (low, high), (high, low) and (high, high) halves of two sets."""
    atoms = np.array(allen_table(), dtype=np.int32)
    low, high = atoms[:_LOW_BITS], atoms[_LOW_BITS:]
    return (
        _union_table(low[:, :_LOW_BITS]),
        _union_table(low[:, _LOW_BITS:]),
        _union_table(high[:, :_LOW_BITS]),
        _union_table(high[:, _LOW_BITS:]),
    )


def _union_table(atoms: IntArray) -> IntArray:
    """From a table over atoms the table over all sets of these atoms, by OR-ing one atom at a time."""
    return _union_rows(_union_rows(atoms).T).T.copy()


def _union_rows(rows: IntArray) -> IntArray:
    result = np.zeros((1 << len(rows), rows.shape[1]), dtype=np.int32)
    for i, row in enumerate(rows):
        result[1 << i : 2 << i] = result[: 1 << i] | row
    return result
