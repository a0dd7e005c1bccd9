"""An operator's state as bytes: compact, versioned, little-endian, no pickle.

    magic 4 | version u16 | identity 16 | CRC-32 of what follows u32 | size of the sections u64 |
    sections, compressed: each a u8 type, a u8 number of dimensions, u64 dimensions, then the array's bytes

Neither Arrow nor kernels look twice at positions read from a file: a damaged one would not fail, it would
crash the process. The checksum tells damage by accident; what is read is checked all the same (`validate`),
because bytes can be forged with a checksum that fits. Arrow columns (partition values, waiting attributes)
are sections of bytes in Arrow's IPC format, without their types; of a dictionary only its values are kept.
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

from situ.aggregate import AggregateSpec
from situ.carry.validate import check_known, require
from situ.errors import StateError
from situ.language.situations.binder import BoundQuery
from situ.operators.situations.engine import Engine
from situ.operators.situations.identity import fingerprint
from situ.operators.situations.kernels.layout import Entries, Slots
from situ.operators.situations.known import Known
from situ.rows.prepare import Prepared
from situ.saved.ipc import DAMAGE, damaged, read_columns

MAGIC = b"SITU"
VERSION = 3
_HEADER = struct.Struct("<4sH16sI")
_SIZE = struct.Struct("<Q")
_COMPRESSION = pa.Codec("lz4_raw")  # a third of the bytes, for less time than it takes to store the others
_MOST_GROWTH = 255  # bytes that one byte of LZ4 can stand for
_MOST_BUFFERS = 1 << 16  # of one symbol's aggregates
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


def write_known(writer: Writer, known: Known, specs: Sequence[AggregateSpec]) -> None:
    """Add what is known of some partitions."""
    for array in (*known.slots, *known.entries):
        writer.array(array)
    for spec, states in zip(specs, known.carry, strict=True):
        buffers = spec.to_buffers(states) if spec else []
        writer.array(np.array([len(buffers)]))
        for buffer in buffers:
            writer.array(np.frombuffer(buffer, np.uint8))


def read_known(reader: Reader, engine: Engine, n_slots: int, opaque: Mapping[str, pa.DataType]) -> Known:
    """What `write_known` wrote of so many partitions; `opaque` as in `AggregateSpec.from_buffers`."""
    spec = engine.spec
    slots = Slots(
        reader.array(np.int64, (n_slots,)),
        reader.array(np.uint64, (n_slots,)),
        reader.array(np.int64, (len(spec.ending), n_slots)),
    )
    symbol = reader.array(np.int64, (None,))
    size = len(symbol)
    ts, te, admissible = (reader.array(np.int64, (size,)) for _ in range(3))
    verdict = reader.array(np.int64, (len(spec.followed), size))
    entries = Entries(symbol, ts, te, admissible, verdict, reader.array(np.int64, (n_slots + 1,)))
    carry = []
    for own in engine.aggregates:
        (n_buffers,) = reader.array(np.int64, (1,)).tolist()
        require(0 <= n_buffers <= _MOST_BUFFERS and (n_buffers > 0) == bool(own), "aggregates are missing")
        buffers = [reader.array(np.uint8, (None,)).tobytes() for _ in range(n_buffers)]
        carry.append(own.from_buffers(buffers, opaque) if own else own.empty())
    known = Known.of(slots, entries, tuple(carry))
    check_known(known, spec)
    return known


def write_rows(writer: Writer, rows: Prepared) -> None:
    """Add rows that wait."""
    for array in (rows.codes, rows.time, rows.mask):
        writer.array(array)
    writer.columns([*rows.attributes.values(), *rows.ties])


def read_rows(
    reader: Reader,
    mask_type: npt.DTypeLike,
    attributes: Mapping[str, pa.DataType],
    ties: Sequence[pa.DataType],
) -> Prepared:
    """What `write_rows` wrote; to be checked against the partitions they are of (`validate`)."""
    codes = reader.array(np.int64, (None,))
    time, mask = reader.array(np.int64, (len(codes),)), reader.array(mask_type, (len(codes),))
    columns = reader.columns([*attributes.values(), *ties], len(codes))
    own = dict(zip(attributes, columns, strict=False))
    return Prepared(codes, [], time, mask, own, columns[len(attributes) :])


def _fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(n is None or n == m for m, n in zip(shape, wanted, strict=True))


def identity(bound: BoundQuery, schema: pa.Schema) -> bytes:
    """What saved state belongs to: the query and the types of the columns it keeps values of."""
    columns = [bound.time, *bound.partition, *bound.attributes, *bound.ties]
    types = "|".join(f"{column.name}:{schema.field(column.name).type}" for column in columns)
    return hashlib.blake2b(fingerprint(bound.query) + types.encode(), digest_size=16).digest()
