"""The arrays a state is made of: frozen NumPy arrays, Arrow arrays for what has no fixed width, and `Lists`.

A bool array is a validity mask, and one of size 0 says that all entries are valid. Everything is frozen:
states are shared views, and Numba compiles a kernel anew for arrays that differ only in being writable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]
AnyArray: TypeAlias = Any  # Numbers, pa.Array or Lists; Arrow tells type checkers nothing


def frozen(array: Numbers) -> Numbers:
    """The same array, made read-only."""
    array.setflags(write=False)
    return array


ALL_VALID: Numbers = frozen(np.empty(0, np.bool_))


def taken(array: AnyArray, idx: Numbers) -> AnyArray:
    """Entries `idx` of an array."""
    if isinstance(array, pa.Array):
        return array.take(pa.array(idx))
    if not isinstance(array, np.ndarray):
        return array.take(idx)
    if array.dtype == np.bool_ and array.size == 0:
        return array
    return frozen(array[idx])


def joined(arrays: Sequence[AnyArray], lengths: Sequence[int]) -> AnyArray:
    """One array after the other; `lengths` tell how many entries each stands for."""
    first = arrays[0]
    if isinstance(first, pa.Array):
        filled = [array for array, length in zip(arrays, lengths, strict=True) if length]
        return pa.concat_arrays(filled) if filled else first
    if not isinstance(first, np.ndarray):
        return first.followed_by(arrays[1:])
    if first.dtype == np.bool_:
        if all(mask.size == 0 for mask in arrays):
            return ALL_VALID
        arrays = [
            mask if mask.size else np.ones(length, np.bool_)
            for mask, length in zip(arrays, lengths, strict=True)
        ]
    return frozen(np.concatenate(arrays))


def expanded(mask: Numbers, length: int) -> Numbers:
    """A validity mask written out."""
    return mask if mask.size else np.ones(length, np.bool_)
