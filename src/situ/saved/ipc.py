"""Arrow columns from bytes that nobody vouches for: everything in them is checked before it is used.

Arrow checks the form of a message as it reads it, and the values of arrays when it is asked to. What it
does not do is to bound the memory a compressed message claims to need; we write none, so none is read.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa

from situ.errors import StateError

# what reading bytes that are not what they should be can raise, in Arrow, NumPy and Python
DAMAGE = (
    pa.ArrowException,
    OSError,
    EOFError,
    ValueError,
    IndexError,
    KeyError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    StopIteration,
    struct.error,
)

# places of fields in the tables of Arrow's Message.fbs
_HEADER_OF_MESSAGE, _BATCH_OF_DICTIONARY, _COMPRESSION_OF_BATCH = 2, 1, 3


def read_columns(data: bytes, types: Sequence[pa.DataType]) -> list[pa.Array]:
    """The columns of one batch without a schema, which are of these types."""
    try:
        message = pa.ipc.read_message(pa.py_buffer(data))
        _refuse_compressed(message)
        batch = pa.ipc.read_record_batch(message, pa.schema([(str(i), kind) for i, kind in enumerate(types)]))
        _check(batch)
    except DAMAGE as error:
        raise damaged(error) from error
    return list(batch.columns)


def read_stream(data: pa.Buffer) -> pa.RecordBatch:
    """The only batch of a stream."""
    try:
        for message in pa.ipc.MessageReader.open_stream(data):
            _refuse_compressed(message)
        with pa.ipc.open_stream(data) as reader:
            batch = reader.read_next_batch()
        _check(batch)
    except DAMAGE as error:
        raise damaged(error) from error
    return batch


def _check(batch: pa.RecordBatch) -> None:
    """Offsets, lengths and values; but text may be any bytes, as it may be in what was saved."""
    batch.validate()
    for column in batch.columns:
        as_bytes = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}.get(column.type)
        (column if as_bytes is None else column.view(as_bytes)).validate(full=True)


def damaged(error: BaseException) -> StateError:
    """What to say of saved state that cannot be read because of `error`."""
    said = str(error).partition("\n")[0] or type(error).__name__
    return StateError(
        f"saved state is damaged: {said}",
        hint="restore it from another copy, or start from the beginning of the input",
    )


def _refuse_compressed(message: pa.Message) -> None:
    if message.type not in ("record batch", "dictionary"):
        return
    tables = memoryview(message.metadata)
    (root,) = struct.unpack_from("<I", tables)
    batch = _table_in(tables, root, _HEADER_OF_MESSAGE)
    if batch is not None and message.type == "dictionary":
        batch = _table_in(tables, batch, _BATCH_OF_DICTIONARY)
    if batch is None or _table_in(tables, batch, _COMPRESSION_OF_BATCH) is not None:
        raise StateError("saved state is damaged: it holds a compressed batch of Arrow's")


def _table_in(tables: memoryview, table: int, field: int) -> int | None:
    """Where the table is that a field of another one refers to (FlatBuffers); None where it is left out."""
    (to_fields,) = struct.unpack_from("<i", tables, table)
    (n_bytes,) = struct.unpack_from("<H", tables, table - to_fields)
    place = 4 + 2 * field
    if place >= n_bytes:
        return None
    (offset,) = struct.unpack_from("<H", tables, table - to_fields + place)
    if not offset:
        return None
    (forward,) = struct.unpack_from("<I", tables, table + offset)
    return int(table + offset + forward)
