"""Counts: of rows, and of values that are not null."""

import numpy as np

from situ.aggregate.kernels.requests import goes_on
from situ.compiled.jit import kernel


@kernel
def count_rows(row_from, row_to, carry_idx, carry_n):
    """Rows of each request plus what its carry counted. O(m)."""
    out = np.empty(row_from.size, np.int64)
    for j in range(row_from.size):
        n = max(row_to[j] - row_from[j] + 1, 0)
        if carry_idx[j] >= 0:
            n += carry_n[carry_idx[j]]
        out[j] = n
    return out


@kernel
def count_valid(valid, row_from, row_to, carry_idx, carry_n):
    """Rows with `valid` of each request plus its carry. valid: bool[rows]. O(rows swept + m)."""
    out = np.empty(row_from.size, np.int64)
    n = 0
    at = 0
    for j in range(row_from.size):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            n = carry_n[carry_idx[j]] if carry_idx[j] >= 0 else 0
        for i in range(at, row_to[j] + 1):
            n += 1 if valid[i] else 0
        at = max(at, row_to[j] + 1)
        out[j] = n
    return out


@kernel
def add_counts(rows_n, row_from, row_to, carry_idx, carry_n):
    """Sum of the counts `rows_n` (int64[rows]) of each request plus its carry. O(rows swept + m)."""
    out = np.empty(row_from.size, np.int64)
    n = 0
    at = 0
    for j in range(row_from.size):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            n = carry_n[carry_idx[j]] if carry_idx[j] >= 0 else 0
        for i in range(at, row_to[j] + 1):
            n += rows_n[i]
        at = max(at, row_to[j] + 1)
        out[j] = n
    return out
