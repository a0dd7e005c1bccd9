"""Matches whose rows are neighbours."""

import numpy as np

from situ.compiled.jit import kernel


@kernel
def rows_of(start, offset):
    """The rows of each match, one behind the other: match m has those from start[m] on. O(rows)."""
    row = np.empty(offset[-1], np.int64)
    for m in range(start.size):
        shift = start[m] - offset[m]
        for i in range(offset[m], offset[m + 1]):
            row[i] = i + shift
    return row
