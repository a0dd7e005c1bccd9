"""Partition values to dense codes and back. A null is a value of its own (SEM 1.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import DataError

Codes = npt.NDArray[np.int64]
_ZEROS = np.zeros(1 << 14, np.int64)  # codes of small batches without partitions; nobody writes to codes


def encode(columns: Sequence[pa.Array], n_rows: int) -> tuple[Codes, list[pa.Array]]:
    """Each row's code, and per column the value of each code, codes in order of first appearance.

    >>> codes, (values,) = encode([pa.array(["x", None, "x"])], 3)
    >>> codes.tolist(), values.to_pylist()
    ([0, 1, 0], ['x', None])
    """
    if not columns:
        return (_ZEROS[:n_rows] if n_rows <= len(_ZEROS) else np.zeros(n_rows, np.int64)), []
    encoded = [_dictionary(column) for column in columns]
    codes = _indices(encoded[0])
    if len(encoded) == 1:
        return codes, [encoded[0].dictionary]
    chosen = [np.arange(len(encoded[0].dictionary))]  # per column, which of its values each code has
    for one in encoded[1:]:
        # dense again after every column, so that the product of sizes cannot overflow
        size = max(1, len(one.dictionary))
        both = pa.array(codes * size + _indices(one)).dictionary_encode()
        codes = _indices(both)
        earlier, own = np.divmod(both.dictionary.to_numpy(), size)
        chosen = [which[earlier] for which in chosen] + [own]
    return codes, [one.dictionary.take(pa.array(which)) for one, which in zip(encoded, chosen, strict=True)]


def _indices(encoded: pa.DictionaryArray) -> Codes:
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _dictionary(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 and 0.0 are one value
        column = pc.if_else(pc.is_nan(column), pa.scalar(math.nan, column.type), column)  # all NaN are one
    try:
        return column.dictionary_encode(null_encoding="encode")
    except pa.ArrowNotImplementedError as error:
        raise DataError(
            f"cannot partition by a column of type {column.type}",
            hint="partition by its fields, or by a string or number made from it",
        ) from error


def shown(value: pa.Scalar) -> Any:
    """A value as messages show it; a string that is not UTF-8 as its bytes."""
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes()


def _values(column: pa.Array) -> list[Any]:
    """What Python makes of values; a string that is not UTF-8, which Spark takes too, is its bytes."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError:
        return [shown(value) for value in column]


def hashable(values: Sequence[pa.Array]) -> list[tuple[Any, ...]]:
    """The values of each code as a tuple that equals another exactly when Spark would group them."""
    columns = [_values(column) for column in values]
    for i, column in enumerate(values):
        if pa.types.is_floating(column.type):
            columns[i] = ["NaN" if value != value else value for value in columns[i]]
    return list(zip(*columns, strict=True)) if columns else [()]
