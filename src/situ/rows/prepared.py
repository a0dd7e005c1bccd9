"""Rows as operators take them: partition codes, instants, one mask, what they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.rows.keys import Codes
from situ.rows.small import Mask

Positions = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Prepared(NamedTuple):
    """N events in input order; `keys` holds each partition column's value per code."""

    codes: Codes  # int64[N]
    keys: list[pa.Array]
    time: Positions
    mask: Mask
    attributes: dict[str, pa.Array]
    ties: list[pa.Array]

    @classmethod
    def nothing(
        cls, mask_type: npt.DTypeLike, carried: Mapping[str, pa.DataType], ties: Sequence[pa.DataType] = ()
    ) -> Prepared:
        """No rows, of partitions that somebody else has the values of."""
        none = np.empty(0, np.int64)
        columns = {name: pa.array([], kind) for name, kind in carried.items()}
        return cls(none, [], none, np.empty(0, mask_type), columns, [pa.array([], kind) for kind in ties])

    @property
    def n_rows(self) -> int:
        """N."""
        return len(self.time)

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        columns = (*self.attributes.values(), *self.ties)
        return self.codes.nbytes + self.time.nbytes + self.mask.nbytes + sum(int(c.nbytes) for c in columns)

    @property
    def n_slots(self) -> int:
        """How many partitions there are: one, if none are asked for."""
        return len(self.keys[0]) if self.keys else 1

    def select(self, chosen: Flags) -> Prepared:
        """Some of the rows, with the same codes."""
        if chosen.all():
            return self
        keep = pa.array(chosen)
        return Prepared(
            self.codes[chosen],
            self.keys,
            self.time[chosen],
            self.mask[chosen],
            {name: column.filter(keep) for name, column in self.attributes.items()},
            [column.filter(keep) for column in self.ties],
        )

    def take(self, order: Positions) -> Prepared:
        """The rows at these positions, in this order, with the same codes."""
        taken = pa.array(order)
        return Prepared(
            self.codes[order],
            self.keys,
            self.time[order],
            self.mask[order],
            {name: column.take(taken) for name, column in self.attributes.items()},
            [column.take(taken) for column in self.ties],
        )

    def present(self, keys: Sequence[pa.Array], n_slots: int) -> Prepared:
        """With codes and keys of those partitions only that the rows belong to, of `keys`."""
        is_there = np.bincount(self.codes, minlength=n_slots) > 0
        slots, codes = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[self.codes]
        return self._replace(codes=codes, keys=[column.take(pa.array(slots)) for column in keys])


def concat(several: Sequence[Prepared]) -> Prepared:
    """Rows one after the other; their codes must already mean the same."""
    if len(several) == 1:
        return several[0]
    first = several[0]
    return Prepared(
        np.concatenate([one.codes for one in several]),
        first.keys,
        np.concatenate([one.time for one in several]),
        np.concatenate([one.mask for one in several]),
        {name: pa.concat_arrays([one.attributes[name] for one in several]) for name in first.attributes},
        [pa.concat_arrays([one.ties[i] for one in several]) for i in range(len(first.ties))],
    )
