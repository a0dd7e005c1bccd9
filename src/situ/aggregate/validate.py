"""Aggregates read from bytes: what the kernels and results behind them take for granted.

Counts are those that `kernels.exact` can divide by; limbs are carried over; a sum is no larger than its
count of the largest values; a value fits its type. Only then does every result have a value of its type.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import Numbers
from situ.aggregate.components import (
    ArrowEdges,
    ArrowExtremes,
    Component,
    ExactSums,
    NumberEdges,
    NumberExtremes,
    Values,
)
from situ.aggregate.kernels.exact import LIMB
from situ.aggregate.states import Part
from situ.aggregate.types import ValueType
from situ.errors import StateError

_MOST_EVENTS = 1 << 47
_EXACT_DIGITS = 11  # of decimals whose averages are made of doubles: the bound must be exact there


def check_part(component: Component, part: Part, opaque: Mapping[str, pa.DataType]) -> None:
    """Refuse what no events can have given; `opaque` tells the types of columns without one of their own."""
    if isinstance(component, ArrowEdges | ArrowExtremes):
        _check_type(component, part.arrays[0], opaque)
    elif isinstance(component, Values):
        _check_type(component, part.arrays[0].pool, opaque)
    elif isinstance(component, NumberEdges | NumberExtremes):
        _check_values(component.type, *part.arrays)
    else:
        n = part.arrays[0]
        _require(not n.size or (n.min() >= 0 and n.max() < _MOST_EVENTS), "a count is impossible")
        if isinstance(component, ExactSums):
            _check_sums(component.type, n, part.arrays[1])


def _check_type(component: Component, array: pa.Array, opaque: Mapping[str, pa.DataType]) -> None:
    wanted = component.type.arrow
    if wanted is None:
        if not len(array):  # no column was seen yet
            return
        wanted = opaque.get(str(component.attribute))
    _require(wanted is None or array.type == wanted, f"values of type {array.type} instead of {wanted}")


def _check_values(kind: ValueType, values: Numbers, valid: Numbers) -> None:
    if kind.family == "floats" or not values.size:
        return
    assert kind.arrow is not None, "numbers have an Arrow type"
    if kind.is_decimal:
        most = 10**kind.precision - 1
    elif kind.arrow.bit_width == 64:
        return
    else:
        most = 2 ** (max(8, kind.arrow.bit_width) - 1) - 1
    is_wrong = (values > most) | (values < -most - 1)
    _require(not (is_wrong & valid if valid.size else is_wrong).any(), f"a value is no {kind.spark}")


def _check_sums(kind: ValueType, n: Numbers, limbs: Numbers) -> None:
    carried = limbs[:, :-1]
    _require(((carried >= 0) & (carried <= LIMB)).all(), "a sum is not carried over")
    most = 2.0**63 * (1 + 1e-9)
    if kind.is_decimal:
        most = 10.0**kind.precision * (1 + 1e-9)
        if kind.precision <= _EXACT_DIGITS:
            most = 10.0**kind.precision - 0.5
    total = np.zeros(len(limbs))
    for i in reversed(range(limbs.shape[1])):  # from the top, where of a negative sum nearly all cancels out
        total = total * 2.0**32 + limbs[:, i]
    _require((np.abs(total) <= n * most).all(), "a sum is larger than its values can be")


def _require(holds: bool | np.bool_, fault: str) -> None:
    if not holds:
        raise StateError(
            f"saved aggregates are damaged: {fault}",
            hint="restore them from another copy, or start from the beginning of the input",
        )
