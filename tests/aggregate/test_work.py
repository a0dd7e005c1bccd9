"""How much is done: counted, since timings are noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from aggregate.samples import TYPES, requests, spec_of
from situ.aggregate import States
from situ.aggregate.arrays import frozen
from situ.aggregate.kernels import counts, edges, exact, extremes, floats, lists


class _Counted(np.ndarray):
    """An array that counts how many single entries are read."""

    reads = 0

    def __getitem__(self, key: Any) -> Any:
        type(self).reads += 1
        return super().__getitem__(key)


def _plain(kernel: Any) -> Any:
    return getattr(kernel, "py_func", kernel)


def test_requests_with_one_start_are_answered_in_one_sweep() -> None:
    n = 200
    _Counted.reads = 0
    ends = [(0, end, -1) for end in range(n)] + [(50, end, -1) for end in range(50, n)]
    nothing = np.empty(0)
    _, totals, _ = _plain(floats.sum_values)(
        np.ones(n).view(_Counted), np.empty(0, bool), *requests(*ends), np.empty(0, int), nothing, nothing
    )
    assert totals.tolist() == [*range(1, n + 1), *range(1, n - 49)]
    assert _Counted.reads == n + (n - 50)


def test_values_so_far_are_stored_once() -> None:
    """At every instant of a run of n values: n values and n lengths, not n * n / 2 values."""
    n = 1000
    spec = spec_of([("median", "x"), ("collect_list", "x")], {"x": "double"})
    rows = spec.rows({"x": pa.array(np.arange(n, dtype=float))})
    before = spec.fold(rows, spec.empty(), *requests((0, 9, -1)))
    for carry, n_carried in ((spec.empty(), 0), (before, 10)):
        carry_idx = len(carry) - 1
        so_far = spec.fold(rows, carry, *requests(*((0, end, carry_idx) for end in range(n))))
        (part,) = so_far.parts
        assert len(part.arrays[0].pool) == n + n_carried
        assert so_far.nbytes <= 8 * (3 * n + n_carried)
        assert spec.item(1, so_far.take(np.array([0, n - 1])))[1].as_py()[n_carried:] == [*range(n)]


def test_a_list_is_sorted_once_whatever_shows_it() -> None:
    """And one that grew by a few values is not sorted anew."""
    n, sorts = 100, []
    keys = np.arange(n)[::-1].copy()

    def sort(array: Any) -> Any:
        sorts.append(len(array))
        return np.sort(array)

    plain = _plain(lists.middle_keys)
    function = type(plain)(plain.__code__, plain.__globals__ | {"np": _NumPy(sort)})
    lengths = np.arange(1, n + 1)
    low, high = function(keys, np.zeros(n, np.int64), lengths, np.zeros(n, np.int64), lengths - 1)
    assert (low == n - lengths).all()
    assert (high == n - 1).all()
    assert sorts == [1]


class _NumPy:
    """NumPy with another sort."""

    def __init__(self, sort: Any) -> None:
        self.sort = sort

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def test_what_is_forgotten_leaves_the_pool() -> None:
    spec = spec_of([("collect_list", "x")], {"x": "bigint"})
    rows = spec.rows({"x": pa.array(range(10_000))})
    ranges = [(i, i + 99, -1) for i in range(0, 10_000, 100)]
    states = spec.fold(rows, spec.empty(), *requests(*ranges))
    few = states.take(np.array([7, 3]))
    assert len(few.parts[0].arrays[0].pool) == 200
    assert [one[0] for one in spec.item(0, few).to_pylist()] == [700, 300]
    most = states.take(np.arange(60))
    assert most.parts[0].arrays[0].pool is states.parts[0].arrays[0].pool


def test_first_and_last_of_raw_events_do_not_read_the_rows() -> None:
    each_has_one = frozen(np.empty(0, np.int64))
    source = edges.edge_sources(
        each_has_one, each_has_one, 10**12, True, *requests((5, 10**11, -1), (7, 6, 0))
    )
    assert source.tolist() == [10**11, 10**12]


@pytest.mark.skipif(not hasattr(floats.sum_values, "py_func"), reason="Numba is switched off")
def test_kernels_are_compiled_once_for_all_column_types() -> None:
    """One compiled form each (two for numbers that are ordered): first calls stay short."""
    for spark_type, (arrow, _, functions) in TYPES.items():
        items = [(function, "x") for function in functions] + [("count", None)]
        spec = spec_of(items, {"x": spark_type}, ansi=False)
        for values in ([], [None], [None, None]):
            rows = spec.rows({"x": pa.array(values, arrow)})
            last = len(values) - 1
            once = spec.fold(rows, spec.empty(), *requests((0, last, -1), (0, last, -1)))
            twice = spec.fold(once, spec.from_buffers(spec.to_buffers(once)), *requests((0, 1, 1), (0, 0, 0)))
            again = spec.fold(
                rows, States.concat([once, rows, twice]).take(np.array([0, 1])), *requests((0, last, 1))
            )
            for index in range(len(items)):
                spec.item(index, again)
    compiled = {
        name: len(function.signatures)
        for module in (counts, edges, exact, extremes, floats, lists)
        for name, function in vars(module).items()
        if getattr(function, "py_func", None) is not None
    }
    twice_compiled = {name for name, n_forms in compiled.items() if n_forms > 1}
    assert compiled["sum_values"] == compiled["pick"] == compiled["add_limbs"] == 1
    assert twice_compiled <= {"extreme_values", "exceeds"}
