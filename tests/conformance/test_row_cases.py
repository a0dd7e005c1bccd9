"""Every case of row patterns, and every table of ROW 13, through every runner."""

from __future__ import annotations

import pytest

import situ
from conformance.cases import Case, load_rows
from conformance.checking import check
from conformance.row_runners import PUSHED, ROW_RUNNERS, is_pushable
from conformance.row_tables import cases_of_tables
from conformance.runners import Runner

ALL = [*load_rows(), *cases_of_tables()]
CASES = [case for case in ALL if not case.is_refused]
STREAMS = [case for case in CASES if is_pushable(case.table, case.query)]
REFUSED = [case for case in ALL if case.is_refused]
# The clauses that say something about the result of a query; streams: test_row_streams.py.
CLAUSES = (
    "1.1 1.2 1.3 1.4 1.5 2.1 2.2 2.3 2.4 2.5 3.1 3.2 3.3 3.4 3.5 3.6 3.7 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 "
    "5.1 5.2 5.3 6.1 6.2 6.3 6.4 6.5 6.6 8.3 8.4 8.6 9.1 9.2 9.3 9.4 9.5 9.6 9.7 10.3 13.1 13.2 13.4 13.6"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("runner", ROW_RUNNERS, ids=lambda runner: runner.name)
def test_case(runner: Runner, case: Case) -> None:
    check(case, runner.run)


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.name)
@pytest.mark.parametrize("runner", PUSHED, ids=lambda runner: runner.name)
def test_pushed(runner: Runner, case: Case) -> None:
    check(case, runner.run)


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=lambda case: case.name)
def test_columns(case: Case) -> None:
    """ROW 6.1, 6.2, 6.6."""
    assert tuple(situ.match(case.table, situ.query(case.query), **case.options).column_names) == case.columns


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_refused(case: Case) -> None:
    """The oracle takes well-formed queries only, so these are for situ alone."""
    with pytest.raises(situ.errors.SituError) as caught:
        situ.match(case.table, situ.query(case.query), **case.options)
    assert case.error in [kind.__name__ for kind in type(caught.value).__mro__], caught.value


def test_every_clause_has_a_case() -> None:
    about = {clause for case in ALL for clause in case.clauses}
    assert set(CLAUSES.split()) - about == set()
