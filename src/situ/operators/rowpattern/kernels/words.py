"""Which positions the rows of a word stand at: those of its most preferred derivation (ROW 9.1)."""

import numpy as np

from situ.compiled.jit import kernel

END = -1


@kernel
def derive(shape, offset, position):
    """Replace positions that only say which variable a row has; each word is one of the pattern."""
    m = len(shape.variable)
    longest = 0
    for k in range(len(offset) - 1):
        longest = max(longest, offset[k + 1] - offset[k])
    seen = np.full((longest + 1) * m, -1, np.int64)
    at, place = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    for k in range(len(offset) - 1):
        begin, n = offset[k], offset[k + 1] - offset[k]
        depth = 0
        at[0], place[0] = m, shape.follow[m]
        is_found = False
        while not is_found:
            if place[depth] == shape.follow[at[depth] + 1]:
                depth -= 1
                continue
            r = shape.to[place[depth]]
            place[depth] += 1
            if r == END:
                is_found = depth == n
            elif depth < n and shape.variable[r] == shape.variable[position[begin + depth]]:
                state = depth * m + r
                if seen[state] == k:  # from here the rest of the word has failed
                    continue
                seen[state] = k
                depth += 1
                at[depth], place[depth] = r, shape.follow[r]
        for i in range(n):
            position[begin + i] = at[i + 1]
