"""What the joins were seen to do: moving averages of buffer sizes and of selectivities.

The dissertation (5.5.4, Adaptivity) averages once per matcher call. Here one call may cover one event
or a million, so the weight of an observation grows with the evidence behind it: events for sizes,
pairs looked at for selectivities. Then it does not matter how the input was cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from situ.plan.cost import INITIAL_SIZE, CostModel, Floats

# What so few say is chance as likely as change: situations in a window, and pairs of those remembered.
_TELLABLE_SIZE, _TELLABLE_PAIRS = 10.0, 10


@dataclass(frozen=True)
class Snapshot:
    """The statistics a plan was made from."""

    sizes: tuple[float, ...]
    selectivities: tuple[tuple[float, ...], ...]


class Statistics:
    """Situations per window of each symbol, and the share of pairs each constraint lets through."""

    def __init__(self, model: CostModel, *, memory_events: int = 1024, memory_pairs: int = 1000) -> None:
        self._is_constrained = model.is_constrained
        self._memory_events = memory_events
        self._memory_pairs = memory_pairs
        self._is_first = True
        self.sizes: Floats = np.full(model.n, INITIAL_SIZE)
        self.selectivities: Floats = model.initial_selectivities.copy()

    def observe(self, sizes: npt.ArrayLike, candidates: Floats, survivors: Floats, n_events: int) -> None:
        """Take in what `n_events` events showed; see `Planner.observe` for the arguments.

        The first sizes replace the guess; later ones are averaged in.
        """
        fresh = 1.0 if self._is_first else 1.0 - math.exp(-n_events / self._memory_events)
        self._is_first = False
        self.sizes = self.sizes + fresh * (np.asarray(sizes, dtype=np.float64) - self.sizes)
        looked_at, let_through = candidates + candidates.T, survivors + survivors.T
        share = np.minimum(let_through / np.maximum(looked_at, 1.0), 1.0)
        weight = np.where(self._is_constrained, 1.0 - np.exp(-looked_at / self._memory_pairs), 0.0)
        self.selectivities = self.selectivities + weight * (share - self.selectivities)

    def snapshot(self) -> Snapshot:
        """The present values, as they will not change."""
        return Snapshot(tuple(self.sizes.tolist()), tuple(tuple(row) for row in self.selectivities.tolist()))

    def drift(self, since: Snapshot) -> float:
        """The largest relative change of any value since a snapshot; 1.0 is twice or half as much."""
        sizes = _ratio(self.sizes + _TELLABLE_SIZE, np.array(since.sizes) + _TELLABLE_SIZE)
        chance = _TELLABLE_PAIRS / self._memory_pairs
        passing = _ratio(self.selectivities + chance, np.array(since.selectivities) + chance)
        return float(max(sizes.max(initial=1.0), passing.max(initial=1.0))) - 1.0


def _ratio(now: Floats, then: Floats) -> Floats:
    return np.maximum(now / then, then / now)
