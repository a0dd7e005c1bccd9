"""Tables in splits, as files would hold them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from conformance.cases import Case
from conformance.runners import instants_of

EVENTS_ONLY = "FROM INTERVALS"


def in_time_order(case: Case) -> pa.Table:
    """The table with its rows by time; of equal times the input order stays."""
    instants = instants_of(case.table, case.asked, case.options)
    return case.table.take(sorted(range(len(instants)), key=lambda i: instants[i]))


def splits_of(case: Case, n: int) -> list[pa.Table]:
    """About n splits that follow each other in time; rows of one instant stay together."""
    instants = instants_of(case.table, case.asked, case.options)
    if None in instants or len(instants) < 2:
        return [case.table]
    table = in_time_order(case)
    times = np.array(sorted(instants), dtype=object)
    wanted = [len(times) * i // n for i in range(1, n)]
    borders = [0] + [i for i in dict.fromkeys(wanted) if i and times[i - 1] != times[i]] + [len(times)]
    return [table.slice(a, b - a) for a, b in pairwise(borders)]


def halves(table: pa.Table) -> list[pa.Table]:
    """Every other row: splits that interleave."""
    if table.num_rows < 2:
        return [table]
    return [table.take(list(range(start, table.num_rows, 2))) for start in (0, 1)]


def is_given(case: Case) -> bool:
    return EVENTS_ONLY in case.query.upper()


def options_of(case: Case) -> dict[str, Any]:
    return dict(case.options)
