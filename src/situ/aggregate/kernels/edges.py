"""First and last events: where each request finds its own."""

import numpy as np

from situ.aggregate.kernels.requests import goes_on
from situ.compiled.jit import kernel


@kernel
def edge_sources(rows_n, carry_n, n_rows, last, row_from, row_to, carry_idx):
    """Entry that holds the first (or last) event of each request, -1 if it has none. O(rows swept + m).

    Rows come first, carry k is entry n_rows + k. rows_n, carry_n: events per entry (int64); size 0 when
    every entry has one, and then the rows are not looked at.
    """
    out = np.empty(row_from.size, np.int64)
    first_row = -1
    last_row = -1
    at = 0
    for j in range(row_from.size):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            first_row = -1
            last_row = -1
        if rows_n.size == 0:
            if row_to[j] >= row_from[j]:
                first_row = row_from[j]
                last_row = row_to[j]
        else:
            for i in range(at, row_to[j] + 1):
                if rows_n[i] > 0:
                    if first_row < 0:
                        first_row = i
                    last_row = i
            at = max(at, row_to[j] + 1)
        k = carry_idx[j]
        carried = k >= 0 and (carry_n.size == 0 or carry_n[k] > 0)
        if last:
            out[j] = last_row if last_row >= 0 else (n_rows + k if carried else -1)
        else:
            out[j] = n_rows + k if carried else first_row
    return out


@kernel
def pick(values, valid, carry_values, carry_valid, source):
    """Value and validity of the entries `source` (see edge_sources); -1 gives an invalid 0. O(m).

    values: int64, or the bits of float64; valid: bool, size 0 when all are valid; so too for the carry.
    """
    out = np.zeros(source.size, np.int64)
    out_valid = np.zeros(source.size, np.bool_)
    n_rows = values.size
    for j in range(source.size):
        i = source[j]
        if i >= n_rows:
            out[j] = carry_values[i - n_rows]
            out_valid[j] = carry_valid.size == 0 or carry_valid[i - n_rows]
        elif i >= 0:
            out[j] = values[i]
            out_valid[j] = valid.size == 0 or valid[i]
    return out, out_valid
