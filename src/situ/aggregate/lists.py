"""Lists of values, one for each entry, as views into a pool that entries may share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from situ.aggregate.arrays import Numbers, frozen
from situ.errors import StateError

_SLACK = 64  # values that a pool may hold in vain whatever its size


class Lists:
    """Entry i is pool[start[i] : start[i] + length[i]]; no value is null.

    What a situation's values were at several instants is one run of values and several lengths.
    """

    __slots__ = ("length", "pool", "start")

    def __init__(self, start: Numbers, length: Numbers, pool: pa.Array) -> None:
        self.start = start
        self.length = length
        self.pool = pool

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return int(self.start.nbytes + self.length.nbytes + self.pool.nbytes)

    def take(self, idx: Numbers) -> Lists:
        """Some entries; a pool most of which nobody refers to any more is left behind."""
        taken = Lists(frozen(self.start[idx]), frozen(self.length[idx]), self.pool)
        return taken if len(self.pool) <= 2 * int(taken.length.sum()) + _SLACK else taken.packed()

    def followed_by(self, others: Sequence[Lists]) -> Lists:
        """These entries, and behind them those of others."""
        several = [self, *others]
        shifts = np.cumsum([0] + [len(lists.pool) for lists in several])
        starts = [lists.start + shift for lists, shift in zip(several, shifts, strict=False)]
        return Lists(
            frozen(np.concatenate(starts)),
            frozen(np.concatenate([lists.length for lists in several])),
            joined_pools([lists.pool for lists in several]),
        )

    def packed(self) -> Lists:
        """The same entries, one behind the other in a pool of just their values."""
        offset = np.cumsum(self.length) - self.length
        total = int(self.length.sum())
        if total == len(self.pool) and bool((offset == self.start).all()):
            return self
        source = np.arange(total) + np.repeat(self.start - offset, self.length)
        return Lists(frozen(offset), self.length, self.pool.take(pa.array(source)))

    def to_arrow(self) -> pa.LargeListArray:
        """For bytes: an Arrow array of lists. Text is written as what it may be, any bytes."""
        packed = self.packed()
        pool = packed.pool.view(pa.binary()) if pa.types.is_string(packed.pool.type) else packed.pool
        return pa.LargeListArray.from_arrays(pa.array(_offsets(packed.length)), pool)

    def of_arrow(self, array: pa.Array) -> Lists:
        """What `to_arrow` made of such lists as these, from bytes that nobody vouches for."""
        if not pa.types.is_large_list(array.type) or array.null_count or array.values.null_count:
            raise StateError(
                f"saved aggregates are damaged: {array.type} instead of lists without nulls",
                hint="restore them from another copy, or start from the beginning of the input",
            )
        pool = array.values
        if pa.types.is_string(self.pool.type) and pa.types.is_binary(pool.type):
            pool = pool.view(pa.string())
        offsets = array.offsets.to_numpy()
        return Lists(frozen(offsets[:-1].copy()), frozen(np.diff(offsets)), pool)


def joined_pools(pools: Sequence[pa.Array]) -> pa.Array:
    """One behind the other; of an opaque type one may not know its type before its first column."""
    filled = [pool for pool in pools if len(pool)] or [
        pool for pool in pools if not pa.types.is_null(pool.type)
    ]
    if not filled:
        return pools[0]
    return filled[0] if len(filled) == 1 else pa.concat_arrays(filled)


def as_list_array(lists: Lists) -> pa.Array:
    """As Spark and Arrow show lists. The caller has seen to it that the values can be counted in 32 bits."""
    packed = lists.packed()
    return pa.ListArray.from_arrays(pa.array(_offsets(packed.length), pa.int32()), packed.pool)


def _offsets(length: Numbers) -> Numbers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
