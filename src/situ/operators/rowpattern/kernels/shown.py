"""The rows of output of ALL ROWS PER MATCH."""

import numpy as np

from situ.compiled.jit import kernel


@kernel
def rows_of_matches(offset, start, row, position, excluded, shows_empty):
    """Match, first entry, visible end, last end and row of each row of output. O(entries + matches).

    Match m has the entries offset[m]..offset[m + 1] - 1 of row and position; entries at excluded positions
    (bool[positions]) are left out. A match without entries is one row, its start, if `shows_empty`.
    """
    n = 0
    for m in range(start.size):
        if offset[m] == offset[m + 1] and shows_empty:
            n += 1
        for i in range(offset[m], offset[m + 1]):
            n += 0 if excluded[position[i]] else 1
    match = np.empty(n, np.int64)
    begin = np.empty(n, np.int64)
    end = np.empty(n, np.int64)
    final = np.empty(n, np.int64)
    place = np.empty(n, np.int64)
    at = 0
    for m in range(start.size):
        if offset[m] == offset[m + 1] and shows_empty:
            match[at] = m
            begin[at] = offset[m]
            end[at] = offset[m]
            final[at] = offset[m]
            place[at] = start[m]
            at += 1
        for i in range(offset[m], offset[m + 1]):
            if not excluded[position[i]]:
                match[at] = m
                begin[at] = offset[m]
                end[at] = i + 1
                final[at] = offset[m + 1]
                place[at] = row[i]
                at += 1
    return match, begin, end, final, place
