"""Every case of tests/cases through every runner."""

from __future__ import annotations

import pytest

import situ
from conformance.cases import Case, load_all
from conformance.checking import check
from conformance.runners import RUNNERS, Runner

CASES = load_all()
# The clauses that say something about the result of a batch query. Those about streams are tested in
# test_streams.py, 5.5 in test_situations.py, 4.6 by every case that has no WITHIN.
CLAUSES = (
    "1.1 1.2 1.3 1.4 1.5 2.1 2.2 2.3 2.4 2.5 3.1 3.2 3.3 3.4 3.5 "
    "4.1 4.2 4.3 4.4 4.5 5.1 5.2 5.3 5.4 6.1 6.2 6.3 6.4 7 8.4 8.5"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_case(runner: Runner, case: Case) -> None:
    check(case, runner.run)


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=lambda case: case.name)
def test_columns(case: Case) -> None:
    """SEM 5.1: partition columns, RETURN columns, match_time."""
    assert tuple(situ.match(case.table, situ.query(case.query), **case.options).column_names) == case.columns


def test_every_clause_has_a_case() -> None:
    assert set(CLAUSES.split()) - {clause for case in CASES for clause in case.clauses} == set()
