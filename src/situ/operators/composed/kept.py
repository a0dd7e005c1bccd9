"""What is kept of partitions: situations, the rows of patterns, and matches of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from situ.operators.composed.spans import Spans
from situ.operators.rowpattern.kept import KeptRows
from situ.operators.situations.known import Known
from situ.rows.prepared import Positions


class ComposedKept(NamedTuple):
    """Of K slots; `rows` and `spans` have one part for each symbol that is a row pattern."""

    known: Known  # without situations of these symbols
    rows: tuple[KeptRows, ...]
    spans: tuple[Spans, ...]

    @property
    def n_slots(self) -> int:
        """K."""
        return self.known.n_slots

    @property
    def n_entries(self) -> int:
        """How many situations, rows and matches are kept."""
        return (
            self.known.n_entries
            + sum(one.n_entries for one in self.rows)
            + sum(one.size for one in self.spans)
        )

    @property
    def n_held(self) -> int:
        """Rows of events are never held back."""
        return 0

    @property
    def horizon(self) -> Positions:
        """How far each slot has come."""
        return self.known.horizon

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        of_patterns = sum(one.nbytes for one in self.rows) + sum(one.nbytes for one in self.spans)
        return self.known.nbytes + of_patterns

    def select(self, slots: Positions) -> ComposedKept:
        """Some of the partitions, in this order."""
        if len(slots) == self.n_slots and bool((slots == np.arange(len(slots))).all()):
            return self
        return ComposedKept(
            self.known.select(slots),
            tuple(one.select(slots) for one in self.rows),
            tuple(one.select(slots, self.n_slots) for one in self.spans),
        )

    def cut(self, borders: Positions) -> list[ComposedKept]:
        """The partitions between each two borders, group by group."""
        rows = zip(*(one.cut(borders) for one in self.rows), strict=True)
        spans = zip(*(one.cut(borders) for one in self.spans), strict=True)
        return list(map(ComposedKept, self.known.cut(borders), rows, spans))

    def followed_by(self, others: Sequence[ComposedKept]) -> ComposedKept:
        """These partitions, and behind them those of others."""
        every = (self, *others)
        shifts = np.cumsum([0, *(one.n_slots for one in every[:-1])]).tolist()
        return ComposedKept(
            self.known.followed_by([one.known for one in others]),
            tuple(first.followed_by(more) for first, *more in zip(*(one.rows for one in every), strict=True)),
            tuple(Spans.concat(parts, shifts) for parts in zip(*(one.spans for one in every), strict=True)),
        )
