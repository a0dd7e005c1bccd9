"""Floating aggregates that decide whether something matches: rounded once, on every path (WIN 5.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import Numbers
from situ.aggregate.columns import ColumnView
from situ.aggregate.lists import Lists
from situ.aggregate.results import number_array
from situ.aggregate.types import ValueType


def decides_by_values(function: str, kind: ValueType) -> bool:
    """Whether a summary of fixed size would be rounded by the order in which it was made."""
    return function == "stddev" or (function in ("sum", "avg") and kind.family == "floats")


def exactly(lists: Lists, kind: ValueType, function: str) -> pa.Array:
    """The sum, average or deviation of each list; null where SQL says so."""
    values = ColumnView("", lists.pool, kind).floats
    of = _OF[function]
    # Many matches may show one list.
    span = int(lists.length.max(initial=0)) + 1
    distinct, which = np.unique(lists.start * span + lists.length, return_inverse=True)
    start, length = np.divmod(distinct, span)
    least = 2 if function == "stddev" else 1
    results = np.zeros(len(distinct))
    for j in np.flatnonzero(length >= least):
        results[j] = of(values[start[j] : start[j] + length[j]])
    return number_array(results[which], (length >= least)[which], pa.float64())


def real_sum(values: Numbers) -> float:
    """The real sum rounded once to float64; NaN for a NaN or both infinities."""
    try:
        return math.fsum(values)
    except ValueError:  # both infinities
        return math.nan
    except OverflowError:  # on the way: the sum itself may still have a place
        total = sum(map(Fraction, values.tolist()), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def _average(values: Numbers) -> float:
    return real_sum(values) / len(values)


def _deviation(values: Numbers) -> float:
    with np.errstate(all="ignore"):
        apart = values - _average(values)
        squares = apart * apart
    return math.sqrt(real_sum(squares) / (len(values) - 1))


_OF: dict[str, Callable[[Numbers], float]] = {"sum": real_sum, "avg": _average, "stddev": _deviation}
