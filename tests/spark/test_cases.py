"""Every case through the tasks of every strategy, without a session (see tasks.py)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.cases import Case, load_all
from conformance.checking import check
from spark.splitting import is_given, splits_of
from spark.tasks import rows_of, run_given, run_map_side, run_shuffle, run_slices

CASES = load_all()
EVENTS = [case for case in CASES if not is_given(case)]
GIVEN = [case for case in CASES if is_given(case)]
SLICED = [
    case
    for case in EVENTS
    if not case.asked.partition_by and case.asked.within is not None and not case.error
]


@pytest.mark.parametrize("limit", [1, 1 << 20])
@pytest.mark.parametrize("case", EVENTS, ids=lambda case: case.name)
def test_shuffle(case: Case, limit: int) -> None:
    def run(table: pa.Table, text: str, options: dict[str, Any]) -> Any:
        return rows_of(run_shuffle(splits_of(case, 3), text, options, limit=limit), text)

    check(case, run)


@pytest.mark.parametrize("n_splits", [1, 2, 5])
@pytest.mark.parametrize("case", EVENTS, ids=lambda case: case.name)
def test_map_side(case: Case, n_splits: int) -> None:
    def run(table: pa.Table, text: str, options: dict[str, Any]) -> Any:
        return rows_of(run_map_side(splits_of(case, n_splits), text, options), text)

    check(case, run)


@pytest.mark.parametrize("n_slices", range(1, 9))
@pytest.mark.parametrize("case", SLICED, ids=lambda case: case.name)
def test_slices(case: Case, n_slices: int) -> None:
    def run(table: pa.Table, text: str, options: dict[str, Any]) -> Any:
        return rows_of(run_slices(splits_of(case, 2), text, options, n_slices), text)

    check(case, run)


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case.name)
def test_given_intervals(case: Case) -> None:
    def run(table: pa.Table, text: str, options: dict[str, Any]) -> Any:
        return rows_of(run_given([table], text, options), text)

    check(case, run)
