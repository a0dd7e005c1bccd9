"""Every case of tests/cases through every runner."""

from __future__ import annotations

import pytest

import situ
from conformance.cases import Case, load_all, load_composed, load_refused
from conformance.checking import check
from conformance.runners import RUNNERS, Runner

CASES = [*load_all(), *load_all(several_sources=True), *load_composed()]
# The clauses that say something about the result of a batch query. Those about streams are tested in
# test_streams.py, 5.5 in test_situations.py, 4.6 by every case that has no WITHIN.
CLAUSES = (
    "1.1 1.2 1.3 1.4 1.5 2.1 2.2 2.3 2.4 2.5 3.1 3.2 3.3 3.4 3.5 "
    "4.1 4.2 4.3 4.4 4.5 5.1 5.2 5.3 5.4 6.1 6.2 6.3 6.4 7 8.4 8.5 "
    "9.1 9.2 9.3 9.4 9.5 9.6 10.1 11.1 11.2 11.3 11.4 11.5 11.6 11.8 11.9 11.10 12.1 12.2 12.3 12.4 12.5 "
    "13.1 13.2 13.3 13.4 13.5 13.6 14.1 14.2 14.3 14.4 15.1 15.2 17.1 17.2 17.3 17.4 17.6"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_case(runner: Runner, case: Case) -> None:
    check(case, runner.run)


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=lambda case: case.name)
def test_columns(case: Case) -> None:
    """SEM 5.1: partition columns, RETURN columns, match_time."""
    assert tuple(situ.match(case.table, situ.query(case.query), **case.options).column_names) == case.columns


@pytest.mark.parametrize("case", load_refused(), ids=lambda case: case.name)
def test_refused(case: Case) -> None:
    """The oracles take well-formed queries only, so these are for situ alone."""
    with pytest.raises(situ.errors.SituError) as caught:
        situ.match(case.table, situ.query(case.query), **case.options)
    assert case.error in [kind.__name__ for kind in type(caught.value).__mro__], caught.value


def test_every_clause_has_a_case() -> None:
    about = {clause for case in [*CASES, *load_refused()] for clause in case.clauses}
    assert set(CLAUSES.split()) - about == set()
