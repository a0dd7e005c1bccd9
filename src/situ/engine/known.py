"""What is remembered of partitions between two steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.engine.aggregate import AggregateSpec, States
from situ.engine.kernels.layout import Entries, Slots, Spec
from situ.engine.kernels.look import ranges
from situ.engine.kernels.numbers import LONG_AGO

Positions = npt.NDArray[np.int64]


class Known(NamedTuple):
    """K partitions: their slots, the situations kept of them, and those situations' aggregates.

    `carry[i]` holds one state for each entry of symbol i, in the order of the entries.
    """

    slots: Slots
    entries: Entries
    carry: tuple[States, ...]

    @classmethod
    def nothing(cls, n_slots: int, spec: Spec, aggregates: Sequence[AggregateSpec]) -> Known:
        """Partitions never seen before."""
        none = np.empty(0, np.int64)
        return cls(
            Slots(
                np.full(n_slots, LONG_AGO, np.int64),
                np.zeros(n_slots, np.uint64),
                np.full((len(spec.ending), n_slots), LONG_AGO, np.int64),
            ),
            Entries(
                none,
                none,
                none,
                none,
                np.empty((len(spec.followed), 0), np.int64),
                np.zeros(n_slots + 1, np.int64),
            ),
            tuple(own.empty() for own in aggregates),
        )

    @property
    def n_slots(self) -> int:
        """K."""
        return len(self.slots.horizon)

    def select(self, chosen: Positions) -> Known:
        """The partitions at these positions, in this order."""
        slots, entries = self.slots, self.entries
        if len(chosen) == self.n_slots and (
            len(chosen) == 1 or bool((chosen == np.arange(self.n_slots)).all())
        ):
            return self
        positions, offset = ranges(entries.offset, chosen)
        return Known(
            Slots(slots.horizon[chosen], slots.mask[chosen], slots.raw_end[:, chosen]),
            _entries_at(entries, positions, offset),
            self._carry_at(positions),
        )

    def cut(self, borders: Positions) -> list[Known]:
        """The partitions between each two borders, group by group."""
        slots, entries = self.slots, self.entries
        at = entries.offset[borders]
        places = [  # of the groups' first entries in `carry`
            np.concatenate([[0], np.cumsum(entries.symbol == i)])[at] if states.components else at
            for i, states in enumerate(self.carry)
        ]
        groups = []
        for n, (begin, end) in enumerate(pairwise(borders)):
            own, mine = slice(begin, end), slice(at[n], at[n + 1])
            groups.append(
                Known(
                    Slots(slots.horizon[own], slots.mask[own], slots.raw_end[:, own]),
                    _entries_at(entries, mine, entries.offset[begin : end + 1] - at[n]),
                    tuple(
                        states.take(np.arange(of[n], of[n + 1])) if states.components else states
                        for states, of in zip(self.carry, places, strict=True)
                    ),
                )
            )
        return groups

    def keep_entries(self, keep: npt.NDArray[np.bool_]) -> Known:
        """The same partitions with only these of their entries."""
        entries = self.entries
        positions = np.flatnonzero(keep)
        return Known(
            self.slots,
            _entries_at(entries, positions, np.concatenate([[0], np.cumsum(keep)])[entries.offset]),
            self._carry_at(positions),
        )

    def _carry_at(self, positions: Positions) -> tuple[States, ...]:
        symbols = self.entries.symbol[positions]
        return tuple(
            states if not states.components else states.take(self.ordinals(i)[positions[symbols == i]])
            for i, states in enumerate(self.carry)
        )

    def ordinals(self, symbol: int) -> Positions:
        """For each entry: how many entries of `symbol` stand before it, which is its place in `carry`."""
        own = self.entries.symbol == symbol
        before: Positions = np.cumsum(own) - own
        return before

    @staticmethod
    def concat(several: Sequence[Known]) -> Known:
        """The partitions of several, one after the other."""
        if len(several) == 1:
            return several[0]
        slots = [known.slots for known in several]
        entries = [known.entries for known in several]
        shifts = np.cumsum([0] + [len(e.ts) for e in entries])
        offset = [e.offset[:-1] + shift for e, shift in zip(entries, shifts, strict=False)] + [shifts[-1:]]
        return Known(
            Slots(
                np.concatenate([s.horizon for s in slots]),
                np.concatenate([s.mask for s in slots]),
                np.concatenate([s.raw_end for s in slots], axis=1),
            ),
            Entries(
                np.concatenate([e.symbol for e in entries]),
                np.concatenate([e.ts for e in entries]),
                np.concatenate([e.te for e in entries]),
                np.concatenate([e.admissible for e in entries]),
                np.concatenate([e.verdict for e in entries], axis=1),
                np.concatenate(offset),
            ),
            tuple(States.concat(states) for states in zip(*(known.carry for known in several), strict=True)),
        )

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        arrays = (*self.slots, *self.entries)
        return sum(a.nbytes for a in arrays) + sum(s.nbytes for s in self.carry)


def _entries_at(entries: Entries, which: Positions | slice, offset: Positions) -> Entries:
    """Some of the entries, as those of partitions that begin at `offset`."""
    return Entries(
        entries.symbol[which],
        entries.ts[which],
        entries.te[which],
        entries.admissible[which],
        entries.verdict[:, which],
        offset,
    )
