"""Arrow's boolean bitmaps into the mask."""

import numpy as np

from situ.compiled.jit import kernel


@kernel
def set_where_true(mask, bitmap, valid, skip, bits):
    """Or `bits` into mask[i] where bit `skip + i` of `bitmap` (and of `valid`, unless empty) is set."""
    n = len(mask)
    whole = 0
    if skip == 0:
        whole = n >> 3
        for j in range(whole):
            byte = bitmap[j] & valid[j] if len(valid) else bitmap[j]
            for t in range(8):
                mask[8 * j + t] |= ((byte >> np.uint8(t)) & np.uint8(1)) * bits
    for i in range(8 * whole, n):
        at = skip + i
        byte = bitmap[at >> 3] & valid[at >> 3] if len(valid) else bitmap[at >> 3]
        mask[i] |= ((byte >> np.uint8(at & 7)) & np.uint8(1)) * bits


@kernel
def rearranged(mask, tables, out):
    """The bits of each mask in other places: byte j of it says by tables[j] which bits of `out` are set."""
    for i in range(len(mask)):
        rest = np.uint64(mask[i])
        bits = np.uint64(0)
        for j in range(len(tables)):
            bits |= tables[j, rest & np.uint64(255)]
            rest >>= np.uint64(8)
        out[i] = bits
