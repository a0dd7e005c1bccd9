"""What is remembered of partitions between two steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.aggregate import AggregateSpec, States
from situ.operators.situations.earlier import Earlier
from situ.operators.situations.kernels.layout import Entries, Slots, Spec
from situ.rows.kernels.look import ranges
from situ.rows.kernels.numbers import LONG_AGO

Positions = npt.NDArray[np.int64]


class Known(NamedTuple):
    """K partitions: their slots, the situations kept of them, and those situations' aggregates.

    `state` and `kept` hold the rows of `Slots` and `Entries`, contiguous, as kernels take them.
    `carry[i]` holds one aggregate state for each entry of symbol i, in the order of the entries.
    """

    state: Positions  # int64[2 + R, K]
    kept: Positions  # int64[4 + P, E]
    offset: Positions  # int64[K + 1]
    carry: tuple[States, ...]
    earlier: Earlier | None = None  # of queries that look back (SEM 15)

    @classmethod
    def of(cls, slots: Slots, entries: Entries, carry: tuple[States, ...]) -> Known:
        """From arrays of their own."""
        state = np.concatenate([[slots.horizon, slots.mask.view(np.int64)], slots.raw_end])
        rows = [entries.symbol, entries.ts, entries.te, entries.admissible]
        return cls(state, np.concatenate([rows, entries.verdict]), entries.offset, carry)

    @classmethod
    def nothing(cls, n_slots: int, spec: Spec, aggregates: Sequence[AggregateSpec]) -> Known:
        """Partitions never seen before."""
        state = np.full((2 + len(spec.ending), n_slots), LONG_AGO)
        state[1] = 0  # no condition held
        kept = np.empty((4 + len(spec.followed), 0), np.int64)
        return cls(state, kept, np.zeros(n_slots + 1, np.int64), tuple(own.empty() for own in aggregates))

    @property
    def n_slots(self) -> int:
        """K."""
        return len(self.offset) - 1

    @property
    def n_entries(self) -> int:
        """E."""
        return int(self.kept.shape[1])

    @property
    def n_held(self) -> int:
        """Rows of events are never held back."""
        return 0

    @property
    def horizon(self) -> Positions:
        """How far each slot has come."""
        horizon: Positions = self.state[0]
        return horizon

    @property
    def keeps_values(self) -> npt.NDArray[np.bool_]:
        """Which slots have values that conditions may look back at."""
        if self.earlier is None:
            return np.zeros(self.n_slots, bool)
        keeps: npt.NDArray[np.bool_] = np.diff(self.earlier.offset) > 0
        return keeps

    @property
    def slots(self) -> Slots:
        """The rows of `state` by their names."""
        return Slots(self.state[0], self.state[1].view(np.uint64), self.state[2:])

    @property
    def entries(self) -> Entries:
        """The rows of `kept` by their names."""
        kept = self.kept
        return Entries(kept[0], kept[1], kept[2], kept[3], kept[4:], self.offset)

    def select(self, chosen: Positions) -> Known:
        """The partitions at these positions, in this order."""
        if len(chosen) == self.n_slots and (
            len(chosen) == 1 or bool((chosen == np.arange(self.n_slots)).all())
        ):
            return self
        positions, offset = ranges(self.offset, chosen)
        return Known(
            self.state.take(chosen, 1),
            self.kept.take(positions, 1),
            offset,
            self._carry_at(positions),
            None if self.earlier is None else self.earlier.select(chosen),
        )

    def cut(self, borders: Positions) -> list[Known]:
        """The partitions between each two borders, group by group."""
        at, symbol = self.offset[borders], self.kept[0]
        places = [  # of the groups' first entries in `carry`
            np.concatenate([[0], np.cumsum(symbol == i)])[at] if states.components else at
            for i, states in enumerate(self.carry)
        ]
        n_groups = len(borders) - 1
        earlier = [None] * n_groups if self.earlier is None else self.earlier.cut(borders)
        return [
            Known(
                np.ascontiguousarray(self.state[:, begin:end]),
                np.ascontiguousarray(self.kept[:, at[n] : at[n + 1]]),
                self.offset[begin : end + 1] - at[n],
                tuple(
                    states.take(np.arange(of[n], of[n + 1])) if states.components else states
                    for states, of in zip(self.carry, places, strict=True)
                ),
                earlier[n],
            )
            for n, (begin, end) in enumerate(pairwise(borders))
        ]

    def keep_entries(self, keep: npt.NDArray[np.bool_]) -> Known:
        """The same partitions with only these of their entries."""
        positions = np.flatnonzero(keep)
        offset = np.concatenate([[0], np.cumsum(keep)])[self.offset]
        kept = self.kept.take(positions, 1)
        return Known(self.state, kept, offset, self._carry_at(positions), self.earlier)

    def _carry_at(self, positions: Positions) -> tuple[States, ...]:
        symbols = self.kept[0, positions]
        return tuple(
            states if not states.components else states.take(self.ordinals(i)[positions[symbols == i]])
            for i, states in enumerate(self.carry)
        )

    def ordinals(self, symbol: int) -> Positions:
        """For each entry: how many entries of `symbol` stand before it, which is its place in `carry`."""
        own = self.kept[0] == symbol
        before: Positions = np.cumsum(own) - own
        return before

    def followed_by(self, others: Sequence[Known]) -> Known:
        """These partitions, and behind them those of others."""
        return Known.concat([self, *others])

    @staticmethod
    def concat(several: Sequence[Known]) -> Known:
        """The partitions of several, one after the other."""
        if len(several) == 1:
            return several[0]
        shifts = np.cumsum([0] + [known.n_entries for known in several])
        earlier = [known.earlier for known in several]
        offsets = [known.offset[:-1] + shift for known, shift in zip(several, shifts, strict=False)]
        return Known(
            np.concatenate([known.state for known in several], axis=1),
            np.concatenate([known.kept for known in several], axis=1),
            np.concatenate([*offsets, shifts[-1:]]),
            tuple(States.concat(states) for states in zip(*(known.carry for known in several), strict=True)),
            None if None in earlier else Earlier.concat([one for one in earlier if one is not None]),
        )

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        own = self.state.nbytes + self.kept.nbytes + self.offset.nbytes + sum(s.nbytes for s in self.carry)
        return own + (0 if self.earlier is None else self.earlier.nbytes)
