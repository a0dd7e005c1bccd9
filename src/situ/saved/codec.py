"""State as bytes: compact, versioned, little-endian, no pickle.

    magic 4 | version u16 | identity 16 | CRC-32 of what follows u32 | size of the sections u64 |
    sections, compressed: each a u8 type, a u8 number of dimensions, u64 dimensions, then the array's bytes

Neither Arrow nor kernels look twice at positions read from a file: a damaged one would not fail, it would
crash the process. The checksum tells damage by accident; what is read is checked all the same (`checks`),
because bytes can be forged with a checksum that fits. Arrow columns (partition values, waiting attributes)
are sections of bytes in Arrow's IPC format, without their types; of a dictionary only its values are kept.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.errors import StateError
from situ.saved.checks import require
from situ.saved.ipc import DAMAGE, damaged, read_columns

MAGIC = b"SITU"
VERSION = 5
_HEADER = struct.Struct("<4sH16sI")
_SIZE = struct.Struct("<Q")
_COMPRESSION = pa.Codec("lz4_raw")  # a third of the bytes, for less time than it takes to store the others
_MOST_GROWTH = 255  # bytes that one byte of LZ4 can stand for
_TYPES = tuple(np.dtype(name) for name in ("<i8", "<u8", "<f8", "u1", "?", "<i4", "<u4", "<i2", "<u2", "i1"))


class Writer:
    """Arrays one after the other."""

    def __init__(self, identity: bytes) -> None:
        self._identity = identity
        self._parts: list[bytes] = []

    def array(self, values: npt.ArrayLike) -> None:
        """Add an array of any shape."""
        array = np.ascontiguousarray(values)
        dtype = array.dtype.newbyteorder("<")
        head = struct.pack(f"<BB{array.ndim}Q", _TYPES.index(dtype), array.ndim, *array.shape)
        self._parts += [head, array.astype(dtype, copy=False).tobytes()]

    def columns(self, columns: Sequence[pa.Array]) -> None:
        """Add Arrow columns of one length; their types are not written."""
        if columns:
            columns = [
                column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
                for column in columns
            ]
            batch = pa.RecordBatch.from_arrays(list(columns), names=[str(i) for i in range(len(columns))])
            self.array(np.frombuffer(batch.serialize(), np.uint8))

    def bytes(self) -> bytes:
        """All of it, with its header."""
        return sealed(self._identity, b"".join(self._parts))


def sealed(identity: bytes, sections: bytes) -> bytes:
    """Sections as a `Reader` takes them: compressed, behind the header."""
    body: bytes = _SIZE.pack(len(sections)) + _COMPRESSION.compress(sections, asbytes=True)
    return _HEADER.pack(MAGIC, VERSION, identity, zlib.crc32(body)) + body


class Reader:
    """The arrays a `Writer` wrote, in the same order."""

    def __init__(self, data: bytes, identity: bytes) -> None:
        if len(data) < _HEADER.size:
            raise StateError(f"saved state of {len(data)} bytes is cut off")
        magic, version, found, checksum = _HEADER.unpack_from(data)
        if magic != MAGIC:
            raise StateError("these bytes are not saved state of situ")
        if version != VERSION:
            raise StateError(
                f"saved state has version {version}, this situ reads version {VERSION}",
                hint="restore it with the situ that wrote it, or start from the beginning of the input",
            )
        if found != identity:
            raise StateError(
                "saved state is of another query or another schema",
                hint="restore it with the query and columns it was written with, or start anew",
            )
        body = memoryview(data)[_HEADER.size :]
        if len(body) < _SIZE.size or zlib.crc32(body) != checksum:
            raise StateError(
                f"saved state of {len(data)} bytes is damaged or cut off: its checksum does not fit",
                hint="restore it from another copy, or start from the beginning of the input",
            )
        (size,) = _SIZE.unpack_from(body)
        compressed = body[_SIZE.size :]
        require(
            size <= _MOST_GROWTH * len(compressed), f"its {len(compressed)} bytes cannot stand for {size}"
        )
        try:
            self._data = memoryview(_COMPRESSION.decompress(compressed, size))
        except DAMAGE as error:
            raise damaged(error) from error
        self._at = 0

    def array(
        self, wanted: npt.DTypeLike | None = None, shape: Sequence[int | None] | None = None
    ) -> npt.NDArray[Any]:
        """The next array, a copy of its own; where they are asked for it must have this type and shape.

        None in a shape stands for any length.
        """
        try:
            kind, n_dimensions = struct.unpack_from("<BB", self._data, self._at)
            found = struct.unpack_from(f"<{n_dimensions}Q", self._data, self._at + 2)
            begin = self._at + 2 + 8 * n_dimensions
            dtype = _TYPES[kind]
            values = np.frombuffer(self._data, dtype, math.prod(found), begin).reshape(found)
        except (struct.error, ValueError, IndexError, OverflowError) as error:
            raise StateError(f"saved state is damaged near byte {self._at}: {error}") from error
        self._at = begin + values.nbytes
        native = dtype.newbyteorder("=")
        if wanted is not None and native != wanted:
            require(False, f"an array of {native} where one of {np.dtype(wanted)} belongs")
        if shape is not None and not _fits(found, shape):
            require(False, f"an array of shape {found} where one of {tuple(shape)} belongs")
        return values.astype(native)

    def columns(self, types: Sequence[pa.DataType], n_rows: int | None = None) -> list[pa.Array]:
        """The next Arrow columns, of these types; where it is asked for they must have this length."""
        if not types:
            return []
        plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]
        columns = read_columns(self.array(np.uint8, (None,)).tobytes(), plain)
        require(n_rows is None or len(columns[0]) == n_rows, f"{len(columns[0])} rows instead of {n_rows}")
        return [
            column if column.type == kind else column.cast(kind)
            for column, kind in zip(columns, types, strict=True)
        ]

    def end(self) -> None:
        """There must be nothing left."""
        if self._at != len(self._data):
            raise StateError(f"saved state has {len(self._data) - self._at} bytes too many")


def _fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(n is None or n == m for m, n in zip(shape, wanted, strict=True))
