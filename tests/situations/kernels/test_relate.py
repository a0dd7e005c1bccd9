"""Certainty against the algebra, and index ranges against brute force: no candidate is ever lost."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.algebra import relations as r
from situ.algebra.certainty import earliest
from situ.operators.situations.kernels.relate import bounds_of, certain_at, narrow
from situ.rows.kernels.numbers import NEVER, OPEN

pytestmark = pytest.mark.nojit

ENDS = st.integers(0, 6)
SETS = st.integers(1, r.ALL)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[int, int]:
    ts = draw(st.integers(0, 6))
    return ts, draw(st.just(int(OPEN)) | st.integers(ts + 1, 8))


@given(SETS, intervals(), intervals())
def test_certain_at_agrees_with_the_algebra(allowed: int, a: tuple[int, int], b: tuple[int, int]) -> None:
    """Where `before` and `after` are whole, followed-by plays no part (SEM 4.2)."""
    for whole in (r.BEFORE, r.AFTER):
        if allowed & whole:
            allowed |= whole
    for follows in (False, True):
        assert certain_at(allowed, *a, *b, follows, follows) == earliest(allowed, *a, *b)


def test_followed_by_is_told_apart_from_before() -> None:
    only, any_before = 1 << r.FOLLOWED_BY, r.BEFORE
    assert certain_at(only, 0, 2, 5, OPEN, True, False) == 5
    assert certain_at(only, 0, 2, 5, OPEN, False, False) == NEVER
    assert certain_at(any_before & ~only, 0, 2, 5, OPEN, False, False) == 5
    assert certain_at(any_before & ~only, 0, 2, 5, OPEN, True, False) == NEVER
    assert certain_at(1 << r.FOLLOWS, 5, OPEN, 0, 2, False, True) == 5
    assert certain_at(only, 0, 5, 5, OPEN, True, False) == NEVER  # it meets


def test_all_pairs_of_short_intervals_with_every_single_relation() -> None:
    spans = [(ts, te) for ts in range(4) for te in [*range(ts + 1, 5), int(OPEN)]]
    for name, bits in r.NAMES.items():
        if name not in ("followed-by", "follows"):
            for a, b in product(spans, spans):
                assert certain_at(bits, *a, *b, False, False) == earliest(bits, *a, *b), (name, a, b)


@st.composite
def sorted_lists(draw: st.DrawFn, overlapping: bool) -> list[tuple[int, int]]:
    """Situations sorted by ts: disjoint ones, or any."""
    if overlapping:
        return sorted(draw(st.lists(intervals(), max_size=8)))
    points = sorted(draw(st.sets(st.integers(0, 14), max_size=10)))
    pairs = list(zip(points[::2], points[1::2], strict=False))
    return pairs + ([(points[-1], int(OPEN))] if len(points) % 2 else [])


@given(SETS, intervals(), st.booleans().flatmap(sorted_lists), st.integers(0, 9))
def test_a_range_holds_every_candidate_that_fits(
    allowed: int, b: tuple[int, int], candidates: list[tuple[int, int]], near: int
) -> None:
    """The hull of what the members of a set allow; the search may begin anywhere."""
    allowed &= ~(1 << r.FOLLOWED_BY | 1 << r.FOLLOWS)  # these two look at neighbours, see below
    if not allowed:
        return
    ts = np.array([[c[0] for c in candidates]], np.int64)
    latest_te = np.maximum.accumulate(np.array([[c[1] for c in candidates]], np.int64), axis=1)
    low, high = narrow(ts, latest_te, 0, 0, len(candidates), *b, *bounds_of(allowed), near)
    for i, candidate in enumerate(candidates):
        if certain_at(allowed, *b, *candidate, False, False) != NEVER:
            assert low <= i < high, (r.names_of(allowed), b, candidate)


@given(SETS, intervals(), sorted_lists(overlapping=False))
def test_a_range_of_a_single_group_holds_nothing_else(
    allowed: int, b: tuple[int, int], candidates: list[tuple[int, int]]
) -> None:
    """Two searches are exact where the set is one row of the table: everything in range fits the group."""
    groups = [
        (1 << r.MEETS, lambda c: c[0] == b[1]),
        (1 << r.STARTS | 1 << r.EQUALS | 1 << r.STARTED_BY, lambda c: c[0] == b[0]),
        (1 << r.OVERLAPS | 1 << r.FINISHED_BY | 1 << r.CONTAINS, lambda c: b[0] < c[0] < b[1]),
        (1 << r.DURING | 1 << r.FINISHES | 1 << r.OVERLAPPED_BY, lambda c: c[0] < b[0] < c[1]),
        (r.BEFORE, lambda c: b[1] < c[0]),
    ]
    ts = np.array([[c[0] for c in candidates]], np.int64)
    te = np.array([[c[1] for c in candidates]], np.int64)
    for bits, fits in groups:
        low, high = narrow(ts, te, 0, 0, len(candidates), *b, *bounds_of(bits), 0)
        assert [i for i, c in enumerate(candidates) if fits(c)] == list(range(low, high))


def test_only_the_nearest_can_follow() -> None:
    # b      [4--6)
    # s  [0-2)      [7-8)  [9-
    ts, te = np.array([[0, 7, 9]]), np.array([[2, 8, OPEN]])
    assert narrow(ts, te, 0, 0, 3, 4, 6, *bounds_of(1 << r.FOLLOWED_BY), 0) == (1, 2)
    assert narrow(ts, te, 0, 0, 3, 4, 6, *bounds_of(1 << r.FOLLOWS), 0) == (0, 1)
    assert narrow(ts, te, 0, 0, 3, 9, OPEN, *bounds_of(1 << r.FOLLOWS), 0) == (1, 2)
