"""Exact sums of integers and unscaled decimals as limbs of 32 bits.

A number is k int64 limbs, least first: value = sum(limb[l] * 2**(32 * l)); all but the last are in
[0, 2**32), the last carries the sign. Adding limbs without carrying cannot overflow for 2**30 rows, so
the loops only add, and carry once per piece.
"""

import numpy as np

from situ.aggregate.kernels.requests import goes_on
from situ.compiled.jit import kernel

LIMB = 0xFFFFFFFF
PIECE = 1 << 30


@kernel
def carry_over(limbs):
    """Bring every limb but the last into [0, 2**32)."""
    for level in range(limbs.size - 1):
        limbs[level + 1] += limbs[level] >> 32
        limbs[level] &= LIMB


@kernel
def sum_integers(values, valid, row_from, row_to, carry_idx, carry_n, carry_limbs):
    """Count and two-limb sum of int64 `values` for each request. O(rows swept + m).

    valid: bool[rows], or size 0 when no value is null. carry_limbs: int64[carries, 2].
    """
    m = row_from.size
    out_n = np.empty(m, np.int64)
    out_limbs = np.empty((m, 2), np.int64)
    n = 0
    low = 0
    high = 0
    at = 0
    for j in range(m):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            k = carry_idx[j]
            n = carry_n[k] if k >= 0 else 0
            low = carry_limbs[k, 0] if k >= 0 else 0
            high = carry_limbs[k, 1] if k >= 0 else 0
        while at <= row_to[j]:
            stop = min(row_to[j] + 1, at + PIECE)
            if valid.size == 0:
                for i in range(at, stop):
                    low += values[i] & LIMB
                    high += values[i] >> 32
                n += stop - at
            else:
                for i in range(at, stop):
                    if valid[i]:
                        low += values[i] & LIMB
                        high += values[i] >> 32
                        n += 1
            high += low >> 32
            low &= LIMB
            at = stop
        out_n[j] = n
        out_limbs[j, 0] = low
        out_limbs[j, 1] = high
    return out_n, out_limbs


@kernel
def add_limbs(rows_n, rows_limbs, row_from, row_to, carry_idx, carry_n, carry_limbs):
    """Count and k-limb sum where each row is such a sum already; limbs: int64[rows, k]. O(k (rows + m))."""
    m = row_from.size
    width = rows_limbs.shape[1]
    out_n = np.empty(m, np.int64)
    out_limbs = np.empty((m, width), np.int64)
    total = np.zeros(width, np.int64)
    n = 0
    at = 0
    for j in range(m):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            k = carry_idx[j]
            n = carry_n[k] if k >= 0 else 0
            for level in range(width):
                total[level] = carry_limbs[k, level] if k >= 0 else 0
        while at <= row_to[j]:
            stop = min(row_to[j] + 1, at + PIECE)
            for i in range(at, stop):
                n += rows_n[i]
                for level in range(width):
                    total[level] += rows_limbs[i, level]
            carry_over(total)
            at = stop
        out_n[j] = n
        for level in range(width):
            out_limbs[j, level] = total[level]
    return out_n, out_limbs


@kernel
def divide_half_up(limbs, n, wanted, factor):
    """limbs[j] * factor / n[j], rounded half away from zero, as four limbs; zero where not wanted[j].

    Long division with digits of 16 bits, so n < 2**47. limbs: int64[m, k], factor <= 10**4.
    """
    m, width = limbs.shape
    out = np.zeros((m, 4), np.int64)
    digits = np.zeros(2 * width + 3, np.int64)
    for j in range(m):
        if not wanted[j]:
            continue
        negative = limbs[j, width - 1] < 0
        left = 0
        for level in range(width):  # the magnitude times factor, as digits of 16 bits
            limb = -limbs[j, level] if negative else limbs[j, level]
            if level < width - 1:
                left += (limb & 0xFFFF) * factor
                digits[2 * level] = left & 0xFFFF
                left = (left >> 16) + (limb >> 16) * factor
                digits[2 * level + 1] = left & 0xFFFF
                left = left >> 16
            else:
                for position in range(2 * level, digits.size):
                    left += (limb & 0xFFFF) * factor
                    digits[position] = left & 0xFFFF
                    left = left >> 16
                    limb = limb >> 16
        remainder = 0
        for position in range(digits.size - 1, -1, -1):
            part = (remainder << 16) | digits[position]
            digits[position] = part // n[j]
            remainder = part % n[j]
        up = 1 if 2 * remainder >= n[j] else 0
        for level in range(4):
            limb = up if level == 0 else 0
            for position in range(2 * level, digits.size if level == 3 else min(2 * level + 2, digits.size)):
                limb += digits[position] << (16 * (position - 2 * level))
            out[j, level] = -limb if negative else limb
        carry_over(out[j])
    return out
