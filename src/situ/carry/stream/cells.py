"""Which cell of a bucket a key lives in: linear hashing, so that a cell holds few keys however many come.

A bucket's state is cut into cells, each one value in the state store. A micro-batch reads and writes the
cells of its own keys only. Cells are split one by one as keys are added, and joined as they are forgotten:
with n cells and L the largest power of two up to n, a key goes by its hash modulo 2L, or modulo L where
that cell does not exist yet; the cell made next takes keys from one other alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.int64]  # not negative

KEYS_PER_CELL = 256  # a cell costs a call to the state store: enough keys to share it, few to read in vain
_EMPTIEST = KEYS_PER_CELL // 4


def cells_of(hashes: Hashes, n_cells: int) -> npt.NDArray[np.int64]:
    """The cell of each key.

    >>> cells_of(np.array([0, 1, 2, 3, 4]), 3).tolist()
    [0, 1, 2, 1, 0]
    """
    low = _power_up_to(n_cells)
    cells = hashes & (2 * low - 1)
    return np.where(cells < n_cells, cells, hashes & (low - 1))


def wanted_cells(n_cells: int, n_keys: int) -> int:
    """How many cells a bucket should have for its keys, given how many it has."""
    if n_keys > KEYS_PER_CELL * n_cells or n_keys < _EMPTIEST * n_cells:
        return max(1, -(-n_keys // KEYS_PER_CELL))
    return n_cells


def affected(n_before: int, n_after: int) -> set[int]:
    """The existing cells whose keys may have to move when the number of cells changes."""
    if n_after >= n_before:
        return {cell for cell in _ancestors(n_before, n_after) if cell < n_before}
    return _ancestors(n_after, n_before) | set(range(n_after, n_before))


def _ancestors(low: int, high: int) -> set[int]:
    """For the cells low .. high - 1, those below `low` that they are split from."""
    found = set()
    for cell in range(low, high):
        while cell >= low:
            cell -= _power_up_to(cell)
        found.add(cell)
    return found


def _power_up_to(n: int) -> int:
    return 1 << (n.bit_length() - 1)
