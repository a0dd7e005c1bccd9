"""Sums and central moments of float64 values.

`float()` around loads keeps the functions free of NumPy warnings where Numba is switched off.
"""

import numpy as np

from situ.aggregate.kernels.requests import goes_on
from situ.compiled.jit import kernel


@kernel
def two_sum(a, b):
    """a + b and what rounding took from it (Knuth): their sum is exact while nothing overflows."""
    total = a + b
    grown = total - a
    return total, (a - (total - grown)) + (b - grown)


@kernel
def sum_values(values, valid, row_from, row_to, carry_idx, carry_n, carry_total, carry_rest):
    """Count, running total and collected rounding errors of float64 `values` for each request.

    valid: bool[rows], or size 0 when no value is null. The total is the one plain addition gives; the
    errors run beside it, off the critical path, so they cost next to nothing. O(rows swept + m).
    """
    m = row_from.size
    out_n = np.empty(m, np.int64)
    out_total = np.empty(m, np.float64)
    out_rest = np.empty(m, np.float64)
    n = 0
    total = 0.0
    rest = 0.0
    at = 0
    for j in range(m):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            k = carry_idx[j]
            n = carry_n[k] if k >= 0 else 0
            total = float(carry_total[k]) if k >= 0 else 0.0
            rest = float(carry_rest[k]) if k >= 0 else 0.0
        stop = row_to[j] + 1
        if valid.size == 0:
            for i in range(at, stop):
                total, error = two_sum(total, float(values[i]))
                rest += error
            n += max(stop - at, 0)
        else:
            for i in range(at, stop):
                if valid[i]:
                    total, error = two_sum(total, float(values[i]))
                    rest += error
                    n += 1
        at = max(at, stop)
        out_n[j] = n
        out_total[j] = total
        out_rest[j] = rest
    return out_n, out_total, out_rest


@kernel
def add_sums(rows_n, rows_total, rows_rest, row_from, row_to, carry_idx, carry_n, carry_total, carry_rest):
    """`sum_values` where each row is a sum already. O(rows swept + m)."""
    m = row_from.size
    out_n = np.empty(m, np.int64)
    out_total = np.empty(m, np.float64)
    out_rest = np.empty(m, np.float64)
    n = 0
    total = 0.0
    rest = 0.0
    at = 0
    for j in range(m):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            k = carry_idx[j]
            n = carry_n[k] if k >= 0 else 0
            total = float(carry_total[k]) if k >= 0 else 0.0
            rest = float(carry_rest[k]) if k >= 0 else 0.0
        for i in range(at, row_to[j] + 1):
            total, error = two_sum(total, float(rows_total[i]))
            rest += error + float(rows_rest[i])
            n += rows_n[i]
        at = max(at, row_to[j] + 1)
        out_n[j] = n
        out_total[j] = total
        out_rest[j] = rest
    return out_n, out_total, out_rest


@kernel
def moments_of_values(
    values, valid, row_from, row_to, carry_idx, carry_n, carry_anchor, carry_offset, carry_m2
):
    """Count, mean and sum of squared deviations (Welford) of float64 `values` for each request.

    The mean is anchor + offset with the first value as anchor, so that 1e9 + 1 and 1e9 - 1 lose nothing:
    rounding is relative to the spread of the values, not to their size. valid: bool[rows], or size 0 when
    no value is null. O(rows swept + m).
    """
    m = row_from.size
    out_n = np.empty(m, np.int64)
    out_anchor = np.empty(m, np.float64)
    out_offset = np.empty(m, np.float64)
    out_m2 = np.empty(m, np.float64)
    n = 0
    anchor = 0.0
    offset = 0.0
    m2 = 0.0
    at = 0
    for j in range(m):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            k = carry_idx[j]
            n = carry_n[k] if k >= 0 else 0
            anchor = float(carry_anchor[k]) if k >= 0 else 0.0
            offset = float(carry_offset[k]) if k >= 0 else 0.0
            m2 = float(carry_m2[k]) if k >= 0 else 0.0
        for i in range(at, row_to[j] + 1):
            if valid.size == 0 or valid[i]:
                if n == 0:
                    anchor = float(values[i])
                n += 1
                x = float(values[i]) - anchor
                delta = x - offset
                offset += delta / float(n)
                m2 += delta * (x - offset)
        at = max(at, row_to[j] + 1)
        out_n[j] = n
        out_anchor[j] = anchor
        out_offset[j] = offset
        out_m2[j] = m2
    return out_n, out_anchor, out_offset, out_m2


@kernel
def merge_moments(
    rows_n,
    rows_anchor,
    rows_offset,
    rows_m2,
    row_from,
    row_to,
    carry_idx,
    carry_n,
    carry_anchor,
    carry_offset,
    carry_m2,
):
    """`moments_of_values` where each row has moments already (Chan's merge). O(rows swept + m)."""
    m = row_from.size
    out_n = np.empty(m, np.int64)
    out_anchor = np.empty(m, np.float64)
    out_offset = np.empty(m, np.float64)
    out_m2 = np.empty(m, np.float64)
    n = 0
    anchor = 0.0
    offset = 0.0
    m2 = 0.0
    at = 0
    for j in range(m):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            k = carry_idx[j]
            n = carry_n[k] if k >= 0 else 0
            anchor = float(carry_anchor[k]) if k >= 0 else 0.0
            offset = float(carry_offset[k]) if k >= 0 else 0.0
            m2 = float(carry_m2[k]) if k >= 0 else 0.0
        for i in range(at, row_to[j] + 1):
            if rows_n[i] == 0:
                continue
            if n == 0:
                anchor = float(rows_anchor[i])
            share = float(rows_n[i]) / float(n + rows_n[i])
            delta = (float(rows_anchor[i]) - anchor) + (float(rows_offset[i]) - offset)
            offset += delta * share
            # delta - delta: NaN where a value was infinite, as Welford's step gives, else 0
            m2 += float(rows_m2[i]) + delta * (delta * (float(n) * share)) + (delta - delta)
            n += rows_n[i]
        at = max(at, row_to[j] + 1)
        out_n[j] = n
        out_anchor[j] = anchor
        out_offset[j] = offset
        out_m2[j] = m2
    return out_n, out_anchor, out_offset, out_m2
