"""An operator's state as bytes: compact, versioned, little-endian, no pickle.

    magic 4 | version u16 | identity 16 | CRC-32 of what follows u32 | size of the sections u64 |
    sections, compressed: each a u8 type, a u8 number of dimensions, u64 dimensions, then the array's bytes

The checksum comes first because neither Arrow nor kernels look twice at positions read from a file:
a damaged one would not fail, it would crash the process. Arrow columns (partition values,
waiting attributes) are sections of bytes in Arrow's IPC format.
"""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.engine.aggregate import AggregateSpec
from situ.engine.identity import fingerprint
from situ.engine.kernels.layout import Entries, Slots
from situ.engine.known import Known
from situ.engine.prepare import Prepared
from situ.errors import StateError
from situ.language.binder import BoundQuery

MAGIC = b"SITU"
VERSION = 3
_HEADER = struct.Struct("<4sH16sI")
_SIZE = struct.Struct("<Q")
_COMPRESSION = pa.Codec("lz4_raw")  # a third of the bytes, for less time than it takes to store the others
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
        self._data = memoryview(_COMPRESSION.decompress(body[_SIZE.size :], size))
        self._at = 0

    def array(self) -> npt.NDArray[Any]:
        """The next array, a copy of its own."""
        try:
            kind, n_dimensions = struct.unpack_from("<BB", self._data, self._at)
            shape = struct.unpack_from(f"<{n_dimensions}Q", self._data, self._at + 2)
            begin = self._at + 2 + 8 * n_dimensions
            dtype = _TYPES[kind]
            size = math.prod(shape)
            values = np.frombuffer(self._data, dtype, size, begin).reshape(shape)
        except (struct.error, ValueError, IndexError, OverflowError) as error:
            raise StateError(f"saved state is damaged near byte {self._at}: {error}") from error
        self._at = begin + values.nbytes
        return values.astype(dtype.newbyteorder("="))

    def columns(self, types: Sequence[pa.DataType]) -> list[pa.Array]:
        """The next Arrow columns, of these types."""
        if not types:
            return []
        schema = pa.schema([(str(i), kind) for i, kind in enumerate(types)])
        try:
            return list(pa.ipc.read_record_batch(pa.py_buffer(self.array().tobytes()), schema).columns)
        except (pa.ArrowInvalid, OSError) as error:
            raise StateError(f"saved state is damaged: {error}") from error

    def end(self) -> None:
        """There must be nothing left."""
        if self._at != len(self._data):
            raise StateError(f"saved state has {len(self._data) - self._at} bytes too many")


def write_known(writer: Writer, known: Known, specs: Sequence[AggregateSpec]) -> None:
    """Add what is known of some partitions."""
    for array in (*known.slots, *known.entries):
        writer.array(array)
    for spec, states in zip(specs, known.carry, strict=True):
        buffers = spec.to_buffers(states) if spec else []
        writer.array(np.array([len(buffers)]))
        for buffer in buffers:
            writer.array(np.frombuffer(buffer, np.uint8))


def read_known(reader: Reader, specs: Sequence[AggregateSpec]) -> Known:
    """What `write_known` wrote."""
    slots = Slots(*(reader.array() for _ in Slots._fields))
    entries = Entries(*(reader.array() for _ in Entries._fields))
    carry = []
    for spec in specs:
        buffers = [reader.array().tobytes() for _ in range(int(reader.array()[0]))]
        carry.append(spec.from_buffers(buffers) if spec else spec.empty())
    return Known.of(slots, entries, tuple(carry))


def write_rows(writer: Writer, rows: Prepared) -> None:
    """Add rows that wait."""
    for array in (rows.codes, rows.time, rows.mask):
        writer.array(array)
    writer.columns([*rows.attributes.values(), *rows.ties])


def read_rows(reader: Reader, attributes: Mapping[str, pa.DataType], ties: Sequence[pa.DataType]) -> Prepared:
    """What `write_rows` wrote."""
    codes, time, mask = (reader.array() for _ in range(3))
    columns = reader.columns([*attributes.values(), *ties])
    own = dict(zip(attributes, columns, strict=False))
    return Prepared(codes, [], time, mask, own, columns[len(attributes) :])


def identity(bound: BoundQuery, schema: pa.Schema) -> bytes:
    """What saved state belongs to: the query and the types of the columns it keeps values of."""
    columns = [bound.time, *bound.partition, *bound.attributes, *bound.ties]
    types = "|".join(f"{column.name}:{schema.field(column.name).type}" for column in columns)
    return hashlib.blake2b(fingerprint(bound.query) + types.encode(), digest_size=16).digest()
