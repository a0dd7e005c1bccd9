"""Smallest and largest values: of numbers, and of byte strings."""

import numpy as np

from situ.aggregate.kernels.requests import goes_on
from situ.compiled.jit import kernel


@kernel
def exceeds(x, y):
    """x > y in Spark's order of numbers: NaN equals itself and is above all others."""
    return x > y or (x != x and y == y)


@kernel
def extreme_values(values, valid, largest, row_from, row_to, carry_idx, carry_values, carry_valid):
    """The largest (or smallest) valid value of each request and whether there is one. O(rows swept + m).

    values: int64 or float64; valid: bool[rows], size 0 when all are valid; so too for the carry.
    """
    m = row_from.size
    out = np.empty(m, values.dtype)
    out_valid = np.empty(m, np.bool_)
    best = values.dtype.type(0)
    found = False
    at = 0
    for j in range(m):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            k = carry_idx[j]
            best = values.dtype.type(0)
            found = False
            if k >= 0 and (carry_valid.size == 0 or carry_valid[k]):
                best = carry_values[k]
                found = True
        for i in range(at, row_to[j] + 1):
            if valid.size == 0 or valid[i]:
                x = values[i]
                if not found or (exceeds(x, best) if largest else exceeds(best, x)):
                    best = x
                    found = True
        at = max(at, row_to[j] + 1)
        out[j] = best
        out_valid[j] = found
    return out, out_valid


@kernel
def bytes_exceed(data, offsets, a, b):
    """Entry a > entry b as strings of unsigned bytes, a prefix being the smaller."""
    length_a = offsets[a + 1] - offsets[a]
    length_b = offsets[b + 1] - offsets[b]
    for position in range(min(length_a, length_b)):
        byte_a = data[offsets[a] + position]
        byte_b = data[offsets[b] + position]
        if byte_a != byte_b:
            return byte_a > byte_b
    return length_a > length_b


@kernel
def extreme_bytes(data, offsets, valid, n_rows, largest, row_from, row_to, carry_idx):
    """Index of the largest (or smallest) valid entry of each request, -1 if none. O(bytes swept + m).

    Entry i is data[offsets[i]:offsets[i + 1]]; rows come first, carry k is entry n_rows + k.
    """
    out = np.empty(row_from.size, np.int64)
    best = -1
    at = 0
    for j in range(row_from.size):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            best = -1
            if carry_idx[j] >= 0 and (valid.size == 0 or valid[n_rows + carry_idx[j]]):
                best = n_rows + carry_idx[j]
        for i in range(at, row_to[j] + 1):
            if valid.size > 0 and not valid[i]:
                continue
            high, low = (i, best) if largest else (best, i)
            if best < 0 or bytes_exceed(data, offsets, high, low):
                best = i
        at = max(at, row_to[j] + 1)
        out[j] = best
    return out
