"""What every component of a state offers, and the requests it is folded by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields

import numpy as np

from situ.aggregate.arrays import Numbers, frozen
from situ.aggregate.columns import ColumnView
from situ.aggregate.kernels.edges import edge_sources
from situ.aggregate.states import Part
from situ.aggregate.types import ValueType

NO_COUNTS: Numbers = frozen(np.empty(0, np.int64))
NO_FLOATS: Numbers = frozen(np.empty(0, np.float64))


class Fold:
    """The requests of one fold. `rows_n`, `carry_n`: events of each entry; size 0 when none is without."""

    __slots__ = ("_first", "_last", "carry_idx", "carry_n", "n_rows", "row_from", "row_to", "rows_n")

    def __init__(self, row_from: Numbers, row_to: Numbers, carry_idx: Numbers, n_rows: int) -> None:
        self.row_from = row_from
        self.row_to = row_to
        self.carry_idx = carry_idx
        self.n_rows = n_rows
        self.rows_n = NO_COUNTS
        self.carry_n = NO_COUNTS
        self._first: Numbers | None = None
        self._last: Numbers | None = None

    def edges(self, last: bool) -> Numbers:
        """The entry with the first (last) event of each request: the same for every attribute."""
        known = self._last if last else self._first
        if known is None:
            known = edge_sources(
                self.rows_n, self.carry_n, self.n_rows, last, self.row_from, self.row_to, self.carry_idx
            )
            if last:
                self._last = known
            else:
                self._first = known
        return known


@dataclass(frozen=True)
class Component(ABC):
    """One thing remembered about one attribute (None: about the events themselves)."""

    attribute: str | None
    type: ValueType

    @property
    def signature(self) -> str:
        """Class, attribute, type and flags as text: states with equal signatures have one layout."""
        values = (getattr(self, field.name) for field in fields(self))
        told = (value.spark if isinstance(value, ValueType) else repr(value) for value in values)
        return f"{type(self).__name__}({', '.join(told)})"

    @abstractmethod
    def view(self, column: ColumnView) -> Part:
        """Each raw event as an entry."""

    @abstractmethod
    def fold(self, rows: Part, carry: Part, by: Fold) -> Part:
        """Combine carry and rows for each request; `carry` is not raw."""

    @abstractmethod
    def empty(self) -> Part:
        """No entries, not raw."""

    @abstractmethod
    def condense(self, part: Part, length: int) -> Part:
        """The same entries, not raw."""
