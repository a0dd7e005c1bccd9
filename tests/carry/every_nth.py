"""A toy operator kind, complete: every n-th event of each partition, with one of its columns."""

from dataclasses import dataclass

import numpy as np

from situ.carry.contract import Stepped, TableEmitted
from situ.carry.simple import SimpleKind, SlotNumbers
from situ.rows.needs import Needs
from situ.rows.order import arrange
from situ.rows.schema import from_ticks


@dataclass(frozen=True)
class Counted(SlotNumbers):
    n_seen: np.ndarray


@dataclass(frozen=True)
class EveryNth(SimpleKind):
    n: int = 2
    column: str = "v"
    kept = Counted

    def needed(self, columns):
        return Needs(columns["t"], partition=(columns["k"],), attributes=(columns[self.column],))

    def emits(self):
        return {"t": "t", self.column: self.column}

    def step(self, kept, rows, complete, *, at_end=False):
        late = np.zeros(rows.n_rows, bool) if complete is not None else rows.time <= kept.horizon[rows.codes]
        rows = rows.select(~late)
        order, offset = arrange(rows, kept.n_slots, self.needs)
        rows = rows if order is None else rows.take(order)
        number = np.arange(rows.n_rows) - offset[rows.codes] + kept.n_seen[rows.codes] + 1
        chosen = np.flatnonzero(number % self.n == 0)
        time = from_ticks(rows.time[chosen], self.schema.field("t").type)
        found = TableEmitted(rows.codes[chosen], [time, rows.attributes[self.column].take(chosen)])
        horizon = kept.horizon.copy()
        np.maximum.at(horizon, rows.codes, rows.time)
        after = Counted(horizon, kept.n_seen + np.diff(offset))
        return Stepped(after, [found], late if late.any() else None)
