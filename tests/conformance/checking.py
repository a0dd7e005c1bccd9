"""What it means that a runner agrees with a case, or with the oracles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from conformance.cases import Case
from conformance.rows import ResultRow, differences

if TYPE_CHECKING:
    from conformance.runners import Run

STANDS_FOR = {"BadInput": "DataError", "SkipError": "MatchError"}  # the oracles have their own


def check(case: Case, run: Run) -> None:
    """The runner gives exactly the rows of the case, or its error."""
    if case.error is not None:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class is compared by name below
            run(case.table, case.query, case.options)
        raised = [STANDS_FOR.get(kind.__name__, kind.__name__) for kind in type(caught.value).__mro__]
        assert case.error in raised, f"{case.name}: {caught.value!r} is no {case.error}"
        return
    actual = run(case.table, case.query, case.options)
    problems = differences(actual, case.expected)
    assert not problems, f"{case.name}\n" + "\n".join(problems)


def agree(actual: Sequence[ResultRow], expected: Sequence[ResultRow], example: object) -> None:
    """Both are the same multiset of rows (SEM 5.3); `example` is shown when they are not."""
    problems = differences(actual, expected)
    assert not problems, "\n".join([*problems, str(example)])
