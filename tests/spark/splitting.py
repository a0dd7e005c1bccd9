"""Tables in splits, as files would hold them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa

from conformance.cases import Case
from conformance.runners import instants_of

EVENTS_ONLY = "FROM INTERVALS"


def splits_of(case: Case, n: int) -> list[pa.Table]:
    """About n splits that follow each other in time; rows of one instant stay together."""
    return split_in_time(case.table, instants_of(case.table, case.asked, case.options), n)


def split_in_time(table: pa.Table, instants: Sequence[int | None], n: int) -> list[pa.Table]:
    """The same of any table whose rows have these instants; one split where an instant is not known."""
    if None in instants or len(instants) < 2:
        return [table]
    order = sorted(range(len(instants)), key=lambda i: instants[i])  # of equal times the input order stays
    wanted = [len(order) * i // n for i in range(1, n)]
    inner = [i for i in dict.fromkeys(wanted) if i and instants[order[i - 1]] != instants[order[i]]]
    sorted_table = table.take(order)
    return [sorted_table.slice(a, b - a) for a, b in pairwise([0, *inner, len(order)])]


def halves(table: pa.Table) -> list[pa.Table]:
    """Every other row: splits that interleave."""
    if table.num_rows < 2:
        return [table]
    return [table.take(list(range(start, table.num_rows, 2))) for start in (0, 1)]


def is_given(case: Case) -> bool:
    return EVENTS_ONLY in case.query.upper()
