"""A piece of the input on its way through a shuffle: rows by partition, as one compact binary value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.aggregate import AggregateSpec, States
from situ.operators.situations.condense import Condensed, narrowed, widened
from situ.operators.situations.kernels.layout import Rows
from situ.operators.situations.known import Positions
from situ.rows.kernels.look import ranges
from situ.saved.codec import Reader, Writer

SHUFFLED = pa.schema([("bucket", pa.int32()), ("data", pa.binary())])
_IDENTITY = b"situ piece 0001."


class Piece(NamedTuple):
    """Rows of K partitions, by partition. `columns` belong to whole events, `states` to condensed rows."""

    keys: list[pa.Array]
    offset: Positions  # int64[K + 1]
    low: int  # times are low + step * multiples (see condense.narrowed)
    step: int
    multiples: npt.NDArray[np.unsignedinteger]
    mask: npt.NDArray[np.unsignedinteger]
    columns: list[pa.Array]
    states: tuple[States, ...]

    @property
    def n_slots(self) -> int:
        return len(self.offset) - 1

    @property
    def time(self) -> npt.NDArray[np.int64]:
        """Every row's time."""
        return widened(self.low, self.step, self.multiples)

    @property
    def nbytes(self) -> int:
        """Memory of the rows once they are unpacked."""
        per_row = 8 + self.mask.dtype.itemsize + 16  # time, mask, and order with code
        others = sum(column.nbytes for column in self.columns) + sum(states.nbytes for states in self.states)
        return int(len(self.mask) * per_row + others)


def shuffled(label: np.int32, data: bytes) -> pa.RecordBatch:
    """One row for the shuffle."""
    return pa.RecordBatch.from_arrays(
        [pa.array([label], pa.int32()), pa.array([data], pa.binary())], schema=SHUFFLED
    )


def pack_events(
    keys: Sequence[pa.Array],
    offset: Positions,
    time: Positions,
    mask: npt.NDArray[np.unsignedinteger],
    columns: Sequence[pa.Array],
) -> bytes:
    """Whole events, grouped by partition."""
    writer = Writer(_IDENTITY)
    _write_rows(writer, keys, offset, time, mask)
    _write_columns(writer, columns)
    return writer.bytes()


def pack_condensed(keys: Sequence[pa.Array], condensed: Condensed, specs: Sequence[AggregateSpec]) -> bytes:
    """Condensed rows, with the states of those symbols that have aggregates."""
    writer = Writer(_IDENTITY)
    rows = condensed.rows
    _write_rows(writer, keys, rows.offset, rows.time, rows.mask)
    for spec, states in zip(specs, condensed.states, strict=True):
        for buffer in spec.to_buffers(states) if spec else ():
            writer.array(np.frombuffer(buffer, np.uint8))
    return writer.bytes()


def unpack_events(data: bytes) -> Piece:
    """What `pack_events` wrote."""
    reader = Reader(data, _IDENTITY)
    rows = _read_rows(reader)
    columns = _read_columns(reader)
    reader.end()
    return rows._replace(columns=columns)


def unpack_condensed(data: bytes, specs: Sequence[AggregateSpec]) -> Piece:
    """What `pack_condensed` wrote for the same specifications."""
    reader = Reader(data, _IDENTITY)
    rows = _read_rows(reader)
    states = []
    for spec in specs:
        n_buffers = len(spec.to_buffers(spec.empty())) if spec else 0
        buffers = [reader.array().tobytes() for _ in range(n_buffers)]
        states.append(spec.from_buffers(buffers) if spec else spec.empty())
    reader.end()
    return rows._replace(states=tuple(states))


def _write_rows(
    writer: Writer,
    keys: Sequence[pa.Array],
    offset: Positions,
    time: Positions,
    mask: npt.NDArray[np.unsignedinteger],
) -> None:
    low, step, multiples = narrowed(time)
    writer.array(np.array([low, step], np.int64))
    for array in (offset, multiples, mask):
        writer.array(array)
    _write_columns(writer, keys)


def _read_rows(reader: Reader) -> Piece:
    low, step = reader.array().tolist()
    offset, multiples, mask = (cast(Any, reader.array()) for _ in range(3))
    return Piece(_read_columns(reader), offset, low, step, multiples, mask, [], ())


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


def part_of(condensed: Condensed, slots: Positions, specs: Sequence[AggregateSpec]) -> Condensed:
    """Some of the partitions of condensed rows, in this order."""
    rows = condensed.rows
    positions, offset = ranges(rows.offset, slots)
    states = []
    for symbol, (spec, own) in enumerate(zip(specs, condensed.states, strict=True)):
        if not spec:
            states.append(own)
            continue
        is_own = (rows.mask >> rows.mask.dtype.type(symbol) & rows.mask.dtype.type(1)).astype(bool)
        ordinal = np.cumsum(is_own) - 1
        states.append(own.take(ordinal[positions[is_own[positions]]]))
    return Condensed(Rows(rows.time[positions], rows.mask[positions], offset), tuple(states))
