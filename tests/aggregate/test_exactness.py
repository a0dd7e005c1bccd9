"""Where naive arithmetic goes wrong: large offsets, cancellation, totals beyond 64 and 128 bits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregate import oracle
from aggregate.samples import requests, spec_of
from situ.aggregate import AggregateOverflowError
from situ.aggregate.arrays import frozen
from situ.aggregate.kernels.exact import divide_half_up

pytestmark = pytest.mark.nojit


def _cuts(n: int, size: int) -> list[tuple[int, int, int]]:
    return [(first, min(first + size, n) - 1, -1) for first in range(0, n, size)]


@pytest.mark.parametrize("size", [1, 7, 300, 2000])
def test_deviation_of_large_values_close_together(size: int) -> None:
    rng = np.random.default_rng(5)
    values = 1e9 + rng.choice([-1.0, 1.0], 2000) + rng.normal(0, 0.1, 2000)
    spec = spec_of([("stddev", "x"), ("avg", "x")], {"x": "double"})
    pieces = spec.fold(spec.rows({"x": pa.array(values)}), spec.empty(), *requests(*_cuts(2000, size)))
    whole = spec.fold(pieces, spec.empty(), *requests((0, len(pieces) - 1, -1)))
    assert spec.item(0, whole)[0].as_py() == pytest.approx(oracle.deviation(values.tolist()), rel=1e-12)
    assert spec.item(1, whole)[0].as_py() == pytest.approx(math.fsum(values) / 2000, rel=1e-15)


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_sums_survive_cancellation_whatever_the_cuts(size: int) -> None:
    values = [1e16, 0.1, -1e16, 0.3, 1e20, -7.25, -1e20] * 100
    spec = spec_of([("sum", "x")], {"x": "double"})
    n = len(values)
    pieces = spec.fold(spec.rows({"x": pa.array(values)}), spec.empty(), *requests(*_cuts(n, size)))
    whole = spec.fold(pieces, spec.empty(), *requests((0, len(pieces) - 1, -1)))
    assert spec.item(0, whole)[0].as_py() == pytest.approx(math.fsum(values), rel=1e-12)


def test_averages_of_bigints_are_exact_beyond_64_bits() -> None:
    spec = spec_of([("avg", "x")], {"x": "bigint"})
    rows = spec.rows({"x": pa.array([2**63 - 1, 2**63 - 1, 3, -(2**63 - 1), -(2**63 - 1)])})
    states = spec.fold(rows, spec.empty(), *requests((0, 1, -1), (0, 4, -1)))
    assert spec.item(0, states).to_pylist() == [float(2**63 - 1), 0.6]


def test_a_bigint_total_is_judged_by_its_end_not_by_its_way() -> None:
    # Spark refuses this where the order of its additions passes 2**63; ours must not depend on cuts.
    spec = spec_of([("sum", "x")], {"x": "bigint"})
    rows = spec.rows({"x": pa.array([2**63 - 1, 1, -5])})
    whole = spec.fold(rows, spec.empty(), *requests((0, 2, -1)))
    assert spec.item(0, whole).to_pylist() == [2**63 - 5]
    so_far = spec.fold(rows, spec.empty(), *requests((0, 0, -1), (0, 1, -1)))
    with pytest.raises(AggregateOverflowError) as caught:
        spec.item(0, so_far)
    assert "sum(A.x) of a situation does not fit its type bigint" in caught.value.message
    assert "9223372036854775808" in caught.value.message
    assert "ansi=False" in str(caught.value)


def test_a_null_state_does_not_overflow() -> None:
    spec = spec_of([("sum", "x"), ("avg", "x")], {"x": "decimal(38,0)"})
    rows = spec.rows({"x": pa.array([None], pa.decimal128(38, 0))})
    states = spec.fold(rows, spec.empty(), *requests((0, 0, -1), (1, 0, -1)))
    assert [spec.item(index, states).to_pylist() for index in (0, 1)] == [[None, None], [None, None]]


@given(
    total=st.one_of(st.integers(-(10**38), 10**38), st.integers(-(2**40), 2**40)),
    n=st.one_of(st.integers(1, 2**46), st.integers(1, 20)),
    factor=st.sampled_from([1, 10, 10**4]),
)
def test_long_division_rounds_half_away_from_zero(total: int, n: int, factor: int) -> None:
    widths = [4] if abs(total) >= 2**90 else [2, 4]
    exact = abs(Fraction(total * factor, n))
    expected = math.floor(exact + Fraction(1, 2)) * (-1 if total < 0 else 1)
    for width in widths:
        limbs = [(total >> (32 * level)) & 0xFFFFFFFF for level in range(width - 1)] + [
            total >> (32 * (width - 1))
        ]
        quotient = divide_half_up(frozen(np.array([limbs])), frozen(np.array([n])), np.array([True]), factor)[
            0
        ]
        assert sum(int(limb) << (32 * level) for level, limb in enumerate(quotient)) == expected
        assert all(0 <= limb < 2**32 for limb in quotient[:-1].tolist())
