"""Times that are numbers of a unit, such as seconds since 1970: microseconds, and back (SEM 1.1).

A number stands for the microsecond nearest to it, and only if that microsecond, given back as a number of the
same type, is the number again. So 0.1 seconds is 100,000 microseconds although no double is 0.1, results
show the very numbers of the input, and nothing is ever rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.errors import DataError
from situ.language.text.types import MICROSECONDS
from situ.rows.kernels.numbers import LONG_AGO

Ticks = npt.NDArray[np.int64]
_BEYOND = 2.0**63  # the first double that is no int64


def from_unit(column: pa.Array, name: str, unit: str, *, rounded: bool = False) -> Ticks:
    """Numbers without nulls as microseconds; where `rounded`, what is none is the nearest, or LONG_AGO."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type):
        return _from_integers(column, name, unit, rounded)
    values = column.to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        nearest = np.rint(values.astype(np.float64) * MICROSECONDS[unit])
        fits = np.abs(nearest) < _BEYOND  # not so NaN
        ticks = np.where(fits, nearest, 0).astype(np.int64)
        is_whole = fits & (to_unit(ticks, column.type, unit) == values)
    if rounded:
        return np.where(fits, ticks, LONG_AGO)
    if not is_whole.all():
        raise _refused(values[~is_whole], name, unit)
    return ticks


def _from_integers(column: pa.Array, name: str, unit: str, rounded: bool) -> Ticks:
    values = column.to_numpy(zero_copy_only=False).astype(np.int64)
    most = np.iinfo(np.int64).max // MICROSECONDS[unit]
    fits = (values <= most) & (values >= -most)
    if rounded:
        return np.where(fits, values * MICROSECONDS[unit], LONG_AGO)
    if not fits.all():
        raise _refused(values[~fits], name, unit)
    ticks: Ticks = values * MICROSECONDS[unit]
    return ticks


def to_unit(ticks: Ticks, kind: pa.DataType, unit: str) -> npt.NDArray[Any]:
    """Microseconds that came from numbers of this type as those numbers."""
    if pa.types.is_integer(kind):
        return (ticks // MICROSECONDS[unit]).astype(kind.to_pandas_dtype())
    return (ticks / MICROSECONDS[unit]).astype(kind.to_pandas_dtype())


def _refused(values: npt.NDArray[Any], name: str, unit: str) -> DataError:
    n = len(values)
    return DataError(
        f"time column {name} holds {n} value{'s' if n > 1 else ''} that as {unit} "
        f"{'are' if n > 1 else 'is'} no whole number of microseconds in 64 bits, for example {values[0]!s}",
        hint="round the column first, leave such rows out with WHERE, or give the unit that it counts; situ "
        "never rounds time by itself",
    )
