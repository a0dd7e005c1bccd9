"""A batch's columns read in Arrow's own memory, by address (Arrow's C data interface).

A batch is one struct with one more for each column; what stands where in them is part of the interface.
"""

import ctypes

import numpy as np

from situ.compiled.jit import kernel, kernel_compiled_from
from situ.rows.kernels.bits import set_where_true

_LENGTH, _OFFSET, _N_CHILDREN, _BUFFERS, _CHILDREN = 0, 2, 4, 5, 6  # fields of a struct, of eight bytes each
_N_FIELDS, _N_BUFFERS = np.int64(10), np.int64(2)


def _viewed_as(kind):
    """The function that Numba compiles for a view of memory: an address becomes a pointer."""

    def compiled():
        from numba import carray, types
        from numba.extending import intrinsic

        @intrinsic
        def pointer(_, address):
            def cast(context, builder, signature, arguments):
                return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

            return types.CPointer(getattr(types, kind))(address), cast

        def view(address, size):
            return carray(pointer(address), (size,))

        return view

    return compiled


@kernel_compiled_from(_viewed_as("int64"))
def words_at(address, size):
    """`size` int64 in memory."""
    return np.frombuffer((ctypes.c_int64 * int(size)).from_address(int(address)), np.int64)


@kernel_compiled_from(_viewed_as("uint8"))
def bytes_at(address, size):
    """`size` bytes in memory."""
    return np.frombuffer((ctypes.c_uint8 * int(size)).from_address(int(address)), np.uint8)


@kernel
def read_batch(address, time_at, condition_at, bits):
    """Instants, and a mask of the boolean columns that are conditions; the last value: no time is null.

    `time_at` and `condition_at` are places of columns; where condition i is true, `bits[i]` are set.
    """
    batch = words_at(address, _N_FIELDS)
    size, skipped = batch[_LENGTH], batch[_OFFSET]
    children = words_at(batch[_CHILDREN], batch[_N_CHILDREN])
    time = np.empty(size, np.int64)
    mask = np.zeros(size, bits.dtype)
    values, valid, first = column_at(children[time_at], skipped)
    if values == 0:
        return time, mask, False
    if valid != 0:
        bitmap = bytes_at(valid, (first + size + 7) >> 3)
        for at in range(first, first + size):
            if not (bitmap[at >> 3] >> np.uint8(at & 7)) & np.uint8(1):
                return time, mask, False
    ticks = words_at(values + 8 * first, size)
    for row in range(size):
        time[row] = ticks[row]
    for i in range(len(condition_at)):
        values, valid, first = column_at(children[condition_at[i]], skipped)
        if values == 0:
            continue  # nothing but nulls
        n_bytes = ((first & 7) + size + 7) >> 3
        bitmap = bytes_at(values + (first >> 3), n_bytes)
        both = bytes_at(valid + (first >> 3), n_bytes if valid != 0 else 0)
        set_where_true(mask, bitmap, both, first & 7, bits[i])
    return time, mask, True


@kernel
def column_at(address, skipped):
    """Where a column's values and validity bits are, 0 for none, and its first row in them."""
    column = words_at(address, _N_FIELDS)
    buffers = words_at(column[_BUFFERS], _N_BUFFERS)
    return buffers[1], buffers[0], column[_OFFSET] + skipped
