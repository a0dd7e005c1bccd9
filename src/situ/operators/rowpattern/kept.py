"""What is kept of partitions between steps: the rows that a match may still begin with or read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.prepared import Flags, Positions
from situ.saved.checks import check_masks, require
from situ.saved.codec import Reader, Writer

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True)
class PerSlot:
    """Numbers of K slots."""

    horizon: Positions  # the largest instant of its rows so far
    told: Positions  # matches with an instant up to here have been reported
    start: Positions  # which of its rows kept is the first start that is not decided
    number: Positions  # matches before it
    begun: Flags  # were there rows of this history before the first that is kept

    @classmethod
    def nothing(cls, n_slots: int) -> PerSlot:
        """Of slots never seen."""
        ago, zero = np.full(n_slots, LONG_AGO), np.zeros(n_slots, np.int64)
        return cls(ago, ago, zero, zero, np.zeros(n_slots, bool))

    @property
    def arrays(self) -> list[Any]:
        """All of them."""
        return [getattr(self, field.name) for field in fields(self)]

    def select(self, slots: Positions) -> PerSlot:
        """Some of the slots."""
        return PerSlot(*(array[slots] for array in self.arrays))


@dataclass(frozen=True)
class KeptRows:
    """Rows of K slots, by slot and in order."""

    slots: PerSlot
    offset: Positions  # K + 1
    time: Positions
    mask: npt.NDArray[Any]
    columns: dict[str, pa.Array]

    @classmethod
    def nothing(cls, n_slots: int, mask_type: npt.DTypeLike, carried: Mapping[str, pa.DataType]) -> KeptRows:
        """No rows."""
        none = np.empty(0, np.int64)
        columns = {name: pa.array([], kind) for name, kind in carried.items()}
        offset = np.zeros(n_slots + 1, np.int64)
        return cls(PerSlot.nothing(n_slots), offset, none, np.empty(0, mask_type), columns)

    @property
    def n_slots(self) -> int:
        """K."""
        return len(self.offset) - 1

    @property
    def n_entries(self) -> int:
        """How many rows are kept."""
        return len(self.time)

    @property
    def n_held(self) -> int:
        """No row waits to be read."""
        return 0

    @property
    def horizon(self) -> Positions:
        """The largest instant of each slot's rows so far."""
        return self.slots.horizon

    @property
    def nbytes(self) -> int:
        """Memory of it."""
        own = (self.offset, self.time, self.mask, *self.slots.arrays, *self.columns.values())
        return sum(int(array.nbytes) for array in own)

    def select(self, slots: Positions) -> Self:
        """Some of the slots, in this order."""
        n_rows = np.diff(self.offset)[slots]
        offset = np.append(0, np.cumsum(n_rows))
        rows = np.arange(offset[-1]) + np.repeat(self.offset[slots] - offset[:-1], n_rows)
        return type(self)(self.slots.select(slots), offset, *self._taken(rows))

    def _taken(self, rows: Positions) -> tuple[Positions, npt.NDArray[Any], dict[str, pa.Array]]:
        if not len(rows):
            return self.time[:0], self.mask[:0], {name: one.slice(0, 0) for name, one in self.columns.items()}
        chosen = pa.array(rows)
        columns = {name: column.take(chosen) for name, column in self.columns.items()}
        return self.time[rows], self.mask[rows], columns

    def cut(self, borders: Positions) -> list[Self]:
        """The slots between each two borders."""
        return [self.select(np.arange(begin, end)) for begin, end in pairwise(borders)]

    def followed_by(self, others: Sequence[Self]) -> Self:
        """These slots, and behind them those of others."""
        every = (self, *others)
        sizes = np.concatenate([np.diff(one.offset) for one in every])
        slots = PerSlot(*map(np.concatenate, zip(*(one.slots.arrays for one in every), strict=True)))
        return type(self)(
            slots,
            np.append(0, np.cumsum(sizes)),
            np.concatenate([one.time for one in every]),
            np.concatenate([one.mask for one in every]),
            {name: pa.concat_arrays([one.columns[name] for one in every]) for name in self.columns},
        )

    def write(self, writer: Writer) -> None:
        """Add it to saved state."""
        for array in (*self.slots.arrays, self.offset, self.time, self.mask):
            writer.array(array)
        writer.columns(list(self.columns.values()))

    @classmethod
    def read(
        cls,
        reader: Reader,
        n_slots: int,
        mask_type: npt.DTypeLike,
        carried: Mapping[str, pa.DataType],
        n_conditions: int,
    ) -> KeptRows:
        """What `write` wrote of so many slots, checked."""
        horizon, told, start, number = (reader.array(np.int64, (n_slots,)) for _ in range(4))
        slots = PerSlot(horizon, told, start, number, reader.array(np.bool_, (n_slots,)))
        offset = reader.array(np.int64, (n_slots + 1,))
        time = reader.array(np.int64, (None,))
        mask = reader.array(mask_type, (len(time),))
        columns = reader.columns(list(carried.values()), len(time))
        kept = cls(slots, offset, time, mask, dict(zip(carried, columns, strict=True)))
        _check(kept, n_conditions)
        return kept


def _check(kept: KeptRows, n_conditions: int) -> None:
    offset, slots = kept.offset, kept.slots
    sizes = np.diff(offset)
    require(offset[0] == 0 and offset[-1] == len(kept.time) and (sizes >= 0).all(), "rows of no partition")
    require(((slots.start >= 0) & (slots.start <= sizes)).all(), "a start is no row")
    require((slots.number >= 0).all(), "matches were counted wrongly")
    check_masks(kept.mask, n_conditions)
    if len(kept.time):
        inner = np.ones(len(kept.time), bool)
        inner[offset[:-1][sizes > 0]] = False
        require((np.diff(kept.time)[inner[1:]] >= 0).all(), "rows are not in order")
        last = kept.time[offset[1:][sizes > 0] - 1]
        require((last <= slots.horizon[sizes > 0]).all(), "a row is later than its partition has come")
        require(kept.time.min() > LONG_AGO, "a row has no time")
