"""Values of the last instants of partitions, kept for conditions that look back (SEM 15.2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from situ.rows.kernels.look import ranges
from situ.rows.prepared import Positions


class Earlier(NamedTuple):
    """The last values of K slots, oldest first, of every column that is looked back at."""

    offset: Positions  # int64[K + 1]
    columns: tuple[pa.Array, ...]

    def select(self, slots: Positions) -> Earlier:
        """Some of the slots, in this order."""
        positions, offset = ranges(self.offset, slots)
        taken = pa.array(positions)
        return Earlier(offset, tuple(column.take(taken) for column in self.columns))

    def cut(self, borders: Positions) -> list[Earlier]:
        """The slots between each two borders."""
        at = self.offset[borders]
        return [
            Earlier(
                self.offset[begin : end + 1] - at[n],
                tuple(column.slice(at[n], at[n + 1] - at[n]) for column in self.columns),
            )
            for n, (begin, end) in enumerate(pairwise(borders))
        ]

    @staticmethod
    def concat(several: Sequence[Earlier]) -> Earlier:
        """The slots of several, one after the other."""
        counts = np.concatenate([np.diff(one.offset) for one in several])
        columns = zip(*(one.columns for one in several), strict=True)
        return Earlier(
            np.concatenate([[0], np.cumsum(counts)]), tuple(pa.concat_arrays(list(own)) for own in columns)
        )

    @property
    def nbytes(self) -> int:
        """Memory of it."""
        return self.offset.nbytes + sum(int(column.nbytes) for column in self.columns)
