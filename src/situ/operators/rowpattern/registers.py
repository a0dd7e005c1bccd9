"""What tells two ways to one state apart where tests read the path: all that one to come may read of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from situ.operators.rowpattern.kernels import aggregates
from situ.operators.rowpattern.kernels.layout import COUNTED, FIRST_ROW, LAST_ROW, REAL, WHOLE, Ints
from situ.operators.rowpattern.reads import OfPath, OfRow, Read, is_classifier


def registers_of(reads: Iterable[Read], groups: Sequence[tuple[str, ...]], aggregate: Ints) -> Ints | None:
    """As `Memory.reads` has them; None where it would be too much: exact sums, variables of earlier rows."""
    found: dict[tuple[int, int, int], None] = {}
    for read in reads:
        if is_classifier(read) and not isinstance(read, OfRow):
            return None
        if isinstance(read, OfPath):  # rows behind the front or before the back move there with what is taken
            kind, group = FIRST_ROW if read.is_first else LAST_ROW, groups.index(read.group)
            found |= {(kind, group, offset): None for offset in range(read.offset + 1)}
    for one in aggregate.tolist():
        function, held = one[aggregates.FUNCTION], one[aggregates.HELD]
        if aggregates.SUM_FLOAT <= function <= aggregates.DEVIATION:
            return None
        if function == aggregates.ROWS:
            found[COUNTED, one[aggregates.GROUP], 0] = None
            continue
        found[WHOLE, one[aggregates.COUNTED], 0] = None
        if function in (aggregates.SUM_INT, aggregates.AVERAGE_INT):
            found |= {(WHOLE, held, 0): None, (WHOLE, held + 1, 0): None}
        elif function in (aggregates.LEAST_INT, aggregates.GREATEST_INT):
            found[WHOLE, held, 0] = None
        elif function != aggregates.COUNT:
            found[REAL, held, 0] = None
    return np.array(list(found), np.int64).reshape(-1, 3)
