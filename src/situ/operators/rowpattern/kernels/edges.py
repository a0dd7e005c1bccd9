"""Rows whose neighbours lie outside of their history."""

import numpy as np

from situ.compiled.jit import kernel


@kernel
def edges(low, high, back, ahead):
    """The rows of which the row `back` before or `ahead` behind is none of their history. O(H + found)."""
    n = 0
    for h in range(low.size):
        n += min(back + ahead, high[h] - low[h])
    found = np.empty(n, np.int64)
    n = 0
    for h in range(low.size):
        inside = min(low[h] + back, high[h])
        for row in range(low[h], inside):
            found[n] = row
            n += 1
        for row in range(max(inside, high[h] - ahead), high[h]):
            found[n] = row
            n += 1
    return found
