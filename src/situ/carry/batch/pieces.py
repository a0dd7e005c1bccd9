"""A piece of the input on its way through a shuffle: rows by partition, as one compact binary value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.contract import Condensed, Condenses
from situ.rows.narrow import read_times, write_times
from situ.rows.prepared import Positions
from situ.saved.codec import Reader, Writer

SHUFFLED = pa.schema([("bucket", pa.int32()), ("data", pa.binary())])
_IDENTITY = b"situ piece 0002."


class Piece(NamedTuple):
    """Whole rows of K partitions, by partition."""

    keys: list[pa.Array]
    offset: Positions  # int64[K + 1]
    time: npt.NDArray[np.int64]
    mask: npt.NDArray[np.unsignedinteger]
    columns: list[pa.Array]

    @property
    def n_slots(self) -> int:
        """K."""
        return len(self.offset) - 1

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        per_row = 8 + self.mask.dtype.itemsize + 16  # time, mask, and order with code
        return len(self.time) * per_row + sum(int(column.nbytes) for column in self.columns)


def shuffled(label: int, data: bytes) -> pa.RecordBatch:
    """A piece as a row of its own."""
    return pa.RecordBatch.from_arrays(
        [pa.array([label], pa.int32()), pa.array([data], pa.binary())], schema=SHUFFLED
    )


def values(batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """The packed pieces of a task's rows."""
    for batch in batches:
        column = batch.column(1)
        for i in range(len(column)):
            yield column[i].as_buffer().to_pybytes()


def pack_rows(
    keys: Sequence[pa.Array],
    offset: Positions,
    time: Positions,
    mask: npt.NDArray[np.unsignedinteger],
    columns: Sequence[pa.Array],
) -> bytes:
    """Whole rows, grouped by partition."""
    writer = Writer(_IDENTITY)
    write_times(writer, time)
    writer.array(offset)
    writer.array(mask)
    _write_columns(writer, keys)
    _write_columns(writer, columns)
    return writer.bytes()


def unpack_rows(data: bytes) -> Piece:
    """What `pack_rows` wrote."""
    reader = Reader(data, _IDENTITY)
    time, offset, mask = read_times(reader), reader.array(), reader.array()
    piece = Piece(_read_columns(reader), offset, time, mask, _read_columns(reader))
    reader.end()
    return piece


def pack_condensed(keys: Sequence[pa.Array], condensed: Condensed) -> bytes:
    """Condensed rows, a slot for each key."""
    writer = Writer(_IDENTITY)
    _write_columns(writer, keys)
    condensed.write(writer)
    return writer.bytes()


def unpack_condensed(operator: Condenses, data: bytes) -> tuple[list[pa.Array], Any]:
    """What `pack_condensed` wrote: keys, and condensed rows."""
    reader = Reader(data, _IDENTITY)
    keys = _read_columns(reader)
    condensed = operator.read_condensed(reader)
    reader.end()
    return keys, condensed


def _write_columns(writer: Writer, columns: Sequence[pa.Array]) -> None:
    """Arrow columns with their types, as an IPC stream of one batch."""
    if not columns:
        writer.array(np.empty(0, np.uint8))
        return
    batch = pa.RecordBatch.from_arrays(list(columns), names=[str(i) for i in range(len(columns))])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    writer.array(np.frombuffer(sink.getvalue(), np.uint8))


def _read_columns(reader: Reader) -> list[pa.Array]:
    data = reader.array()
    if not len(data):
        return []
    with pa.ipc.open_stream(pa.py_buffer(data)) as stream:
        return list(stream.read_next_batch().columns)
