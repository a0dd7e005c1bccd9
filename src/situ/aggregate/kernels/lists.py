"""Lists of values: which values each request is a list of, and which stand in the middle of them."""

import numpy as np

from situ.aggregate.kernels.requests import goes_on
from situ.compiled.jit import kernel

_FEW = 32  # values that are cheaper to put into their places one by one than to sort all anew


@kernel
def list_sources(
    valid, row_start, row_length, n_row_values, carry_start, carry_length, row_from, row_to, carry_idx
):
    """Start and length of each request in a new pool, and where the values of that pool come from.

    Sources below n_row_values are values of the rows, those from there on of the carry. row_start,
    row_length: int64[rows], or size 0 where row i is the value i, if valid[i] (bool, size 0: all are).
    Requests that go on share their run's values. O(rows swept + values + m).
    """
    start = np.empty(row_from.size, np.int64)
    length = np.empty(row_from.size, np.int64)
    begin = 0
    n = 0
    at = 0
    for j in range(row_from.size):
        if not goes_on(row_from, row_to, carry_idx, j):
            begin += n
            n = carry_length[carry_idx[j]] if carry_idx[j] >= 0 else 0
            at = row_from[j]
        if row_length.size == 0 and valid.size == 0:
            n += max(row_to[j] + 1 - at, 0)
        else:
            for i in range(at, row_to[j] + 1):
                n += row_length[i] if row_length.size else (1 if valid[i] else 0)
        at = max(at, row_to[j] + 1)
        start[j] = begin
        length[j] = n
    source = np.empty(begin + n, np.int64)
    to = 0
    for j in range(row_from.size):
        if not goes_on(row_from, row_to, carry_idx, j):
            at = row_from[j]
            if carry_idx[j] >= 0:
                first = n_row_values + carry_start[carry_idx[j]]
                for k in range(carry_length[carry_idx[j]]):
                    source[to] = first + k
                    to += 1
        for i in range(at, row_to[j] + 1):
            if row_length.size:
                for k in range(row_length[i]):
                    source[to] = row_start[i] + k
                    to += 1
            elif valid.size == 0 or valid[i]:
                source[to] = i
                to += 1
        at = max(at, row_to[j] + 1)
    return start, length, source


@kernel
def middle_keys(keys, start, length, lower, higher):
    """The keys at places `lower` and `higher` of each list, sorted; 0 of an empty list.

    keys: int64, ordered as the values are. A list that begins where the one before it does, and is longer,
    goes on with what is sorted. O(values log values) at most for each list.
    """
    low = np.zeros(start.size, np.int64)
    high = np.zeros(start.size, np.int64)
    ordered = np.empty(length.max() if length.size else 0, np.int64)
    n = 0
    for j in range(start.size):
        if length[j] == 0:
            n = 0
            continue
        begin = start[j]
        goes_on_here = n > 0 and start[j - 1] == begin and length[j] >= n and length[j] - n <= _FEW
        if goes_on_here:
            for i in range(n, length[j]):
                key = keys[begin + i]
                place = np.searchsorted(ordered[:i], key)
                for k in range(i, place, -1):
                    ordered[k] = ordered[k - 1]
                ordered[place] = key
        else:
            ordered[: length[j]] = np.sort(keys[begin : begin + length[j]])
        n = length[j]
        low[j] = ordered[lower[j]]
        high[j] = ordered[higher[j]]
    return low, high
