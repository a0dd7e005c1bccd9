"""Columns while they are computed: plain values beside a mask of the rows that are not null.

A vector is `(values, valid)`. `values` is a numpy array (decimals: unscaled integers, int64 where they
fit, Python integers where not; dates: days; timestamps and intervals: microseconds) or, for strings, a
pyarrow array. `valid` is None where no row is null. Values under a null are arbitrary. A constant's
values are one scalar, which numpy and pyarrow broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from situ.errors import DataError
from situ.expressions import types as t

Mask: TypeAlias = npt.NDArray[np.bool_]
Positions: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = Any
Vector: TypeAlias = tuple[Values, Mask | None]
Loader: TypeAlias = Callable[[pa.Array], Vector]

_INT64_LIMIT = 1 << 63


class Frame:
    """The rows an expression is evaluated on; columns are read when first asked for."""

    __slots__ = ("_arrays", "_loaded", "_loaders", "_parent", "_rows", "_shared", "n")

    def __init__(self, arrays: Sequence[pa.Array], loaders: Sequence[Loader], n: int) -> None:
        self.n = n
        self._arrays = arrays
        self._loaders = loaders
        self._loaded: list[Vector | None] = [None] * len(loaders)
        self._parent: Frame | None = None
        self._rows: Positions | None = None
        self._shared: dict[object, Vector] = {}

    def column(self, index: int) -> Vector:
        vector = self._loaded[index]
        if vector is None:
            if self._parent is None:
                vector = self._loaders[index](self._arrays[index])
            else:
                assert self._rows is not None
                vector = take(self._parent.column(index), self._rows)
            self._loaded[index] = vector
        return vector

    def shared(self, key: object, run: Callable[[Frame], Vector]) -> Vector:
        """What `run` gives for these rows, computed once and on all rows of the outermost frame."""
        vector = self._shared.get(key)
        if vector is None:
            if self._parent is None:
                vector = run(self)
            else:
                assert self._rows is not None
                vector = take(self._parent.shared(key, run), self._rows)
            self._shared[key] = vector
        return vector

    def only(self, rows: Positions) -> Frame:
        """The frame of just these rows."""
        frame = Frame(self._arrays, self._loaders, len(rows))
        frame._parent = self
        frame._rows = rows
        return frame


def both(left: Mask | None, right: Mask | None) -> Mask | None:
    """Rows valid on both sides."""
    if left is None:
        return right
    return left if right is None else left & right


def is_scalar(values: Values) -> bool:
    return not isinstance(values, (np.ndarray, pa.Array))


def spread(vector: Vector, n: int) -> Vector:
    """The vector with a constant repeated for each of `n` rows."""
    values, valid = vector
    if isinstance(values, pa.Scalar):
        return pa.repeat(values, n), valid
    if is_scalar(values):
        wide = isinstance(values, int)
        return np.full(n, values, dtype=integer_dtype(values) if wide else None), valid
    return vector


def integer_dtype(value: int) -> npt.DTypeLike:
    """int64 where the integer fits, else Python objects."""
    return np.int64 if -_INT64_LIMIT <= value < _INT64_LIMIT else np.object_


def take(vector: Vector, rows: Positions) -> Vector:
    values, valid = vector
    if isinstance(values, pa.Array):
        values = values.take(pa.array(rows))
    elif isinstance(values, np.ndarray):
        values = values[rows]
    return values, None if valid is None else valid[rows]


def nulls(type_: pa.DataType, n: int) -> Vector:
    """A vector of nothing but nulls."""
    if type_ in (t.STRING, t.BINARY):
        return pa.nulls(n, type_), np.zeros(n, np.bool_)
    dtype = np.bool_ if type_ == t.NULL else t.dtype_of(type_)
    return np.zeros(n, dtype), np.zeros(n, np.bool_)


def validity(array: pa.Array) -> Mask | None:
    """The rows of an Arrow array that are not null; None when all are."""
    if array.null_count == 0:
        return None
    bitmap = array.buffers()[0]
    if bitmap is None:  # an array of type null
        return np.zeros(len(array), np.bool_)
    return _unpack(bitmap, array.offset, len(array))


def _unpack(buffer: pa.Buffer, offset: int, n: int) -> Mask:
    first = offset >> 3
    packed = np.frombuffer(buffer, np.uint8, ((offset + n + 7) >> 3) - first, first)
    bits = np.unpackbits(packed, bitorder="little")
    start = offset & 7
    return bits[start : start + n].view(np.bool_)


def loader(type_: pa.DataType) -> Loader:
    """How a column of this Arrow type becomes a vector."""
    target = t.canonical(type_)
    assert target is not None
    read = _reader(target)
    convert = type_ != target and not (pat.is_timestamp(type_) and type_.unit == "us")

    def load(array: pa.Array) -> Vector:
        if array.type != type_:
            raise DataError(f"a column was announced as {type_} but came as {array.type}")
        return read(_convert(array, target) if convert else array)

    return load


def _convert(array: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return pc.cast(array, target)
    except pa.ArrowInvalid as error:
        raise DataError(f"values of type {array.type} do not fit {t.name_of(target)}: {error}") from None


def _reader(type_: pa.DataType) -> Loader:
    if type_ == t.BOOLEAN:
        return read_boolean
    if t.is_decimal(type_):
        return _read_narrow if type_.precision <= t.NARROW_DIGITS else _read_wide
    if type_ in (t.STRING, t.BINARY):
        return lambda array: (array, validity(array))
    if type_ == t.NULL:
        return lambda array: nulls(type_, len(array))
    dtype = t.dtype_of(type_)
    width = dtype.itemsize

    def read(array: pa.Array) -> Vector:
        n = len(array)
        if n == 0:
            return np.empty(0, dtype), None
        return np.frombuffer(array.buffers()[1], dtype, n, array.offset * width), validity(array)

    return read


def read_boolean(array: pa.Array) -> Vector:
    """An Arrow array of booleans as a vector."""
    n = len(array)
    if n == 0:
        return np.empty(0, np.bool_), None
    return _unpack(array.buffers()[1], array.offset, n), validity(array)


def _halves(array: pa.Array) -> npt.NDArray[np.int64]:
    n = len(array)
    if n == 0:
        return np.empty((0, 2), np.int64)
    return np.frombuffer(array.buffers()[1], np.int64, 2 * n, array.offset * 16).reshape(n, 2)


def _read_narrow(array: pa.Array) -> Vector:
    return np.ascontiguousarray(_halves(array)[:, 0]), validity(array)


def _read_wide(array: pa.Array) -> Vector:
    halves, valid = _halves(array), validity(array)
    low, high = halves[:, 0], halves[:, 1]
    fits = high == (low >> 63)
    if valid is not None:
        fits |= ~valid
    if fits.all():
        return np.ascontiguousarray(low), valid
    return high.astype(np.object_) * (1 << 64) + low.view(np.uint64).astype(np.object_), valid


def to_arrow(vector: Vector, type_: pa.DataType, n: int) -> pa.Array:
    """The vector as an Arrow array of `n` rows."""
    values, valid = spread(vector, n)
    if type_ == t.NULL:
        return pa.nulls(n)
    if isinstance(values, pa.Array):
        if valid is None or values.null_count == n - int(np.count_nonzero(valid)):
            return values
        return pc.if_else(pa.array(valid), values, pa.scalar(None, values.type))
    bitmap = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    data: npt.NDArray[Any]
    if type_ == t.BOOLEAN:
        data = np.packbits(values, bitorder="little")
    elif t.is_decimal(type_):
        data = _join(values, valid)
    else:
        data = np.ascontiguousarray(values)
    return pa.Array.from_buffers(type_, n, [bitmap, pa.py_buffer(data)])


def _join(values: Values, valid: Mask | None) -> npt.NDArray[np.int64]:
    """Unscaled integers as the sixteen bytes of a decimal128."""
    halves = np.empty((len(values), 2), np.int64)
    if values.dtype == np.object_:
        if valid is not None:
            values = np.where(valid, values, 0)
        halves[:, 0] = (values & ((1 << 64) - 1)).astype(np.uint64).view(np.int64)
        halves[:, 1] = (values >> 64).astype(np.int64)
    else:
        halves[:, 0] = values
        halves[:, 1] = values >> 63
    return halves
