"""States as bytes: fixed little-endian layout, Arrow IPC for what has no fixed width, never pickle.

Buffer 0 is the header: version, number of entries and fingerprint of the components, each int64. Then
come the arrays of each component in order, and last, where any is an Arrow array, all of those together as
one IPC stream (so that its schema is written once).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import ALL_VALID, AnyArray, Numbers, frozen
from situ.aggregate.lists import Lists
from situ.aggregate.states import Part, States
from situ.aggregate.validate import check_part
from situ.errors import StateError
from situ.saved.ipc import read_stream

if TYPE_CHECKING:
    from situ.aggregate.components import Component

_VERSION = 1
_BytesLike: TypeAlias = Any  # bytes, bytearray, memoryview or pa.Buffer


def to_buffers(states: States) -> list[bytes]:
    """The states as a list of byte strings, as many as the components need."""
    condensed = states.condensed()
    arrays = [array for part in condensed.parts for array in part.arrays]
    numbers = [_number_bytes(array) for array in arrays if isinstance(array, np.ndarray)]
    header = np.array([_VERSION, states.length, _fingerprint(states.components)], "<i8").tobytes()
    others = [
        array.to_arrow() if isinstance(array, Lists) else array
        for array in arrays
        if not isinstance(array, np.ndarray)
    ]
    return [header, *numbers, *([_ipc_bytes(others)] if others else [])]


def from_buffers(
    components: tuple[Component, ...],
    buffers: Sequence[_BytesLike],
    opaque: Mapping[str, pa.DataType] = MappingProxyType({}),
) -> States:
    """The states `to_buffers` wrote for the same components; see `validate` for `opaque`."""
    header = _read_header(components, buffers)
    length = int(header[1])
    templates = [component.empty() for component in components]
    flat = [array for part in templates for array in part.arrays]
    n_others = sum(not isinstance(array, np.ndarray) for array in flat)
    expected = 1 + len(flat) - n_others + bool(n_others)
    if len(buffers) != expected:
        raise StateError(f"saved aggregates have {len(buffers)} buffers, expected {expected}")
    numbers = iter(buffers[1:])
    others = iter(_read_ipc(buffers[-1], n_others, length) if n_others else ())
    parts = tuple(
        Part(False, tuple(_read(template.arrays, numbers, others, length))) for template in templates
    )
    for component, part in zip(components, parts, strict=True):
        check_part(component, part, opaque)
    return States(components, parts, length)


def _fingerprint(components: tuple[Component, ...]) -> int:
    """Equal for equal components, on every machine and in every process."""
    return zlib.crc32(";".join(component.signature for component in components).encode())


def _number_bytes(array: Numbers) -> bytes:
    if array.dtype == np.bool_:
        return np.packbits(array, bitorder="little").tobytes()
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()


def _ipc_bytes(arrays: list[pa.Array]) -> bytes:
    batch = pa.record_batch(arrays, [str(position) for position in range(len(arrays))])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _read_header(components: tuple[Component, ...], buffers: Sequence[_BytesLike]) -> Numbers:
    if not buffers or len(buffers[0]) != 24:
        raise StateError("saved aggregates are damaged: they do not begin with a header of 24 bytes")
    header = np.frombuffer(buffers[0], "<i8")
    if header[0] != _VERSION:
        raise StateError(
            f"saved aggregates have format {header[0]}, this version of situ reads format {_VERSION}",
            hint="restore with the version of situ that saved the state, or start anew",
        )
    if header[2] != _fingerprint(components):
        raise StateError(
            "saved aggregates belong to other RETURN items or to other column types",
            hint="restore with the query and schema that saved the state, or start anew",
        )
    return header


def _read(
    templates: tuple[AnyArray, ...], numbers: Iterator[_BytesLike], others: Iterator[pa.Array], length: int
) -> Iterator[AnyArray]:
    for template in templates:
        if isinstance(template, np.ndarray):
            yield _read_numbers(next(numbers), template, length)
        else:
            yield template.of_arrow(next(others)) if isinstance(template, Lists) else next(others)


def _read_numbers(buffer: _BytesLike, template: Numbers, length: int) -> Numbers:
    if template.dtype == np.bool_:
        if len(buffer) == 0:
            return ALL_VALID
        _check_size(len(buffer), (length + 7) // 8)
        bits = np.frombuffer(buffer, np.uint8)
        return frozen(np.unpackbits(bits, count=length, bitorder="little").view(np.bool_))
    shape = (length, *template.shape[1:])
    _check_size(len(buffer), 8 * math.prod(shape))
    stored: np.ndarray[Any, Any] = np.frombuffer(buffer, template.dtype.newbyteorder("<")).reshape(shape)
    # Numba compiles anew for memory that is not aligned, as a piece of a larger message may be.
    return frozen(stored.astype(template.dtype, copy=not stored.flags.aligned))


def _check_size(found: int, expected: int) -> None:
    if found != expected:
        raise StateError(f"saved aggregates are damaged: a buffer has {found} bytes, expected {expected}")


def _read_ipc(buffer: _BytesLike, n_arrays: int, length: int) -> list[pa.Array]:
    batch = read_stream(pa.py_buffer(buffer))
    if batch.num_columns != n_arrays or batch.num_rows != length:
        raise StateError(
            f"saved aggregates are damaged: {batch.num_columns} columns of {batch.num_rows} values, "
            f"expected {n_arrays} of {length}"
        )
    columns: list[pa.Array] = batch.columns
    return columns
