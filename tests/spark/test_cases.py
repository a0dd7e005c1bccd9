"""Every case through tasks that hold few rows at a time and see many splits (see tasks.py).

test_session.py runs every case on a session; this is what a session would need large tables for.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.cases import Case, load_all
from conformance.checking import check
from spark.splitting import halves, is_given, splits_of
from spark.tasks import rows_of, run_map_side, run_shuffle

CASES = load_all()
EVENTS = [case for case in CASES if not is_given(case)]
GIVEN = [case for case in CASES if is_given(case)]


@pytest.mark.parametrize("case", EVENTS, ids=lambda case: case.name)
def test_shuffle(case: Case) -> None:
    def run(table: pa.Table, text: str, options: dict[str, Any]) -> Any:
        return rows_of(run_shuffle(splits_of(case, 3), text, options, limit=1), text)

    check(case, run)


@pytest.mark.parametrize("n_splits", [1, 5])
@pytest.mark.parametrize("case", EVENTS, ids=lambda case: case.name)
def test_map_side(case: Case, n_splits: int) -> None:
    def run(table: pa.Table, text: str, options: dict[str, Any]) -> Any:
        return rows_of(run_map_side(splits_of(case, n_splits), text, options), text)

    check(case, run)


@pytest.mark.parametrize("case", GIVEN, ids=lambda case: case.name)
def test_given_intervals(case: Case) -> None:
    def run(table: pa.Table, text: str, options: dict[str, Any]) -> Any:
        return rows_of(run_shuffle(halves(table), text, options, limit=1), text)

    check(case, run)
