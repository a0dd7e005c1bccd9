"""Instants as int64: the two reserved values, arithmetic that saturates, and bit positions."""

import numpy as np

from situ.compiled.jit import kernel

OPEN = np.int64(2**63 - 1)  # te of an open situation; also "not yet" for an admissible instant
NEVER = OPEN
LONG_AGO = np.int64(-(2**63))  # before every instant: "no such end yet", "everything is new"
UNBOUNDED = np.int64(-1)  # a window, an upper duration bound or a gap that is not asked for

_ONE = np.uint64(1)
_WIDTHS = (32, 16, 8, 4, 2, 1)


@kernel
def plus(instant, duration):
    """`instant + duration` for a duration >= 0, OPEN at the most."""
    if instant > OPEN - duration:
        return OPEN
    return instant + duration


@kernel
def minus(instant, duration):
    """`instant - duration` for a duration >= 0, LONG_AGO at the least."""
    if instant < LONG_AGO + duration:
        return LONG_AGO
    return instant - duration


@kernel
def shifted(instant, by):
    """`instant + by`, of either sign, within LONG_AGO and OPEN."""
    return plus(instant, by) if by >= 0 else minus(instant, -by)


@kernel
def lowest_bit(bits):
    """The lowest set bit of a uint64 that is not 0, as a uint64 with that bit alone."""
    return bits & (~bits + _ONE)


@kernel
def bit_position(bit):
    """Position of the only set bit of a uint64."""
    position = 0
    for width in _WIDTHS:
        if bit >> np.uint64(width):
            bit = bit >> np.uint64(width)
            position += width
    return position


@kernel
def first_at_least(values, row, low, high, wanted, near):
    """First index in [low, high) with values[row, index] >= wanted, else high.

    values[row] ascend there. Gallops from `near`: O(log distance), for callers that move on in order.
    """
    if low >= high:
        return high
    near = min(max(near, low), high - 1)
    reach = 1
    if values[row, near] < wanted:
        low = near + 1
        while low + reach < high and values[row, low + reach] < wanted:
            low += reach + 1
            reach *= 2
        high = min(high, low + reach)
    else:
        high = near
        while high - reach > low and values[row, high - reach] >= wanted:
            high -= reach
            reach *= 2
        low = max(low, high - reach)
    while low < high:
        middle = (low + high) >> 1
        if values[row, middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def first_above(values, row, low, high, wanted, near):
    """First index in [low, high) with values[row, index] > wanted, else high (see first_at_least)."""
    if wanted == OPEN:
        return high
    return first_at_least(values, row, low, high, wanted + 1, near)
