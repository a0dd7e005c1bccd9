"""Exact sums against fractions: whatever is added and taken away, rounded once (WIN 5.5)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from situ.operators.rowpattern.kernels.exact import ADDED, WORDS, add, clear, rounded

any_double = st.floats()
near = st.floats(-1e3, 1e3) | st.sampled_from([1e16, 1.0, -1.0, 2.0**53, 0.1])
edge = st.sampled_from(
    [
        *(5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308),
        *(-1.7976931348623157e308, 8.98846567431158e307, 9.9792015476736e291, -9.9792015476736e291),
        *(0.0, -0.0),
    ]
)


def real_sum(values: list[float]) -> float:
    if any(math.isnan(value) for value in values) or {math.inf, -math.inf} <= set(values):
        return math.nan
    infinite = [value for value in values if math.isinf(value)]
    if infinite:
        return infinite[0]
    total = sum(map(Fraction, values), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def same(left: float, right: float) -> bool:
    return left == right or (math.isnan(left) and math.isnan(right))


@given(st.lists(any_double | near | edge, max_size=30))
@example([1.7976931348623157e308, 9.9792015476736e291])
@example([1.7976931348623157e308, 9.9792015476735e291])
@example([1.0, 2.0**-53, 2.0**-1074])
@example([1.0, 2.0**-53])
@example([1.0 + 2.0**-52, 2.0**-53])
@example([-(2.0**1000), 2.0**1000, 5e-324])
def test_sums_are_rounded_once(values):
    words = np.zeros(WORDS, np.int64)
    for value in values:
        add(words, value, 1)
    assert same(rounded(words), real_sum(values))
    assert same(rounded(words), real_sum(values)), "asking changes nothing"


@given(st.lists(st.tuples(any_double | near | edge, st.booleans()), max_size=30))
def test_what_is_taken_away_leaves_nothing(changes):
    words = np.zeros(WORDS, np.int64)
    there: list[float] = []
    for value, is_new in changes:
        if is_new or not there:
            there.append(value)
            add(words, value, 1)
        else:
            add(words, there.pop(), -1)
        assert same(rounded(words), real_sum(there))


def test_clearing():
    words = np.zeros(WORDS, np.int64)
    for value in (math.nan, math.inf, 1e300, -3.0):
        add(words, value, 1)
    clear(words)
    assert not words.any()
    add(words, 0.5, 1)
    assert rounded(words) == 0.5


def test_many_additions_are_carried_in_time():
    words = np.zeros(WORDS, np.int64)
    add(words, 2.0**60, 1)
    words[ADDED] = (1 << 30) - 1  # as if so many had been added
    add(words, -1.0, 1)
    assert words[ADDED] == 0
    assert rounded(words) == 2.0**60
