"""Where a search came by whose tests read its path: states compared in full, none taken for another."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import COUNTED, FIRST_ROW, LAST_ROW, WHOLE
from situ.operators.rowpattern.kernels.reach import mix


@kernel
def forget(memory):
    """A new search begins."""
    memory.now[0] += 1
    memory.now[1] = 0


@kernel
def nth(count, group, depth, wanted):
    """The depth at which the `wanted`-th row of a group was taken, from 1 on."""
    low, high = 0, depth
    while low < high:
        middle = (low + high) >> 1
        if count[group, middle] >= wanted:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _register(memory, path, read, depth):
    """What a test to come may read of the path: a row, -1 for none, or a value's bits."""
    kind, of, offset = memory.reads[read, 0], memory.reads[read, 1], memory.reads[read, 2]
    if kind in (LAST_ROW, FIRST_ROW):
        there = path.count[of, depth]
        if offset >= there:
            return np.int64(-1)
        wanted = there - offset if kind == LAST_ROW else offset + 1
        return path.row[nth(path.count, of, depth, wanted)]
    if kind == COUNTED:
        return path.count[of, depth]
    if kind == WHOLE:
        return path.whole[of, depth]
    return path.real[of, depth : depth + 1].view(np.int64)[0]


@kernel
def is_new(memory, path, depth, state):
    """Whether this search has not been here before; it has from now on, as long as there is room."""
    n, width = memory.key.shape
    key = np.empty(width, np.int64)
    key[0], key[1] = state, path.row[depth]
    for read in range(width - 2):
        key[2 + read] = _register(memory, path, read, depth)
    mixed = np.int64(0)
    for one in key:
        mixed = mix(mix(mixed, one & 0x7FFFFFFF), (one >> 31) & 0x7FFFFFFF)
    at = mixed & (n - 1)
    while memory.search[at] == memory.now[0]:
        same = True
        for i in range(width):
            same &= memory.key[at, i] == key[i]
        if same:
            return False
        at = (at + 1) & (n - 1)
    if 2 * memory.now[1] < n:
        memory.search[at] = memory.now[0]
        memory.now[1] += 1
        for i in range(width):
            memory.key[at, i] = key[i]
    return True
