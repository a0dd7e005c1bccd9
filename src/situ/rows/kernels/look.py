"""Look-ups that results need: which row an instant is, which entries some slots hold."""

import numpy as np

from situ.compiled.jit import kernel


@kernel
def rows_at(time, offset, slot, instant):
    """For each (slot, instant): the last row of the slot that is not later; offset[slot] - 1 for none."""
    result = np.empty(len(slot), np.int64)
    for i in range(len(slot)):
        low, high = offset[slot[i]], offset[slot[i] + 1]
        while low < high:
            middle = (low + high) >> 1
            if time[middle] <= instant[i]:
                low = middle + 1
            else:
                high = middle
        result[i] = low - 1
    return result


@kernel
def ranges(offset, chosen):
    """All positions of the chosen ranges of a CSR layout, one after the other, and their new offsets."""
    new_offset = np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        new_offset[i + 1] = new_offset[i] + offset[chosen[i] + 1] - offset[chosen[i]]
    positions = np.empty(new_offset[-1], np.int64)
    for i in range(len(chosen)):
        for j in range(new_offset[i + 1] - new_offset[i]):
            positions[new_offset[i] + j] = offset[chosen[i]] + j
    return positions, new_offset
