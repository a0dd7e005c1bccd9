"""Tests that read a row and its neighbours, evaluated of many rows at once.

Rows of a history lie side by side, so the column that a neighbour is read of is a slice of the same column.
Only rows at the edges of histories are gathered one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from situ.carry.contract import Setting
from situ.errors import ExpressionError
from situ.expressions import Compiled, compile_condition, compile_expression
from situ.language.text.nodes import Expression
from situ.operators.rowpattern.kernels.edges import edges
from situ.operators.rowpattern.kernels.layout import FAILED, Bytes
from situ.operators.rowpattern.reads import OfRow
from situ.rows.columns import truths
from situ.rows.prepared import Flags, Positions

Columns = Mapping[str, pa.Array]


class Bounds(NamedTuple):
    """Of each history its first row, and one more than its last; each begins where the one before ends."""

    low: Positions
    high: Positions

    @property
    def n_rows(self) -> int:
        """Of all of them."""
        return int(self.high[-1]) if len(self.high) else 0

    def of_rows(self, rows: Positions) -> tuple[Positions, Positions]:
        """The borders of the histories of these rows."""
        history = np.searchsorted(self.low, rows, side="right") - 1
        return self.low[history], self.high[history]


class _Neighbour(NamedTuple):
    name: str
    value: Compiled
    shift: int


class VectorTest:
    """A condition over columns of the tested row and `_read_<i>`, values of rows around it."""

    def __init__(
        self, condition: Expression, reads: Sequence[OfRow], schema: pa.Schema, what: str, setting: Setting
    ) -> None:
        ansi, zone = setting.ansi, setting.time_zone
        values = [compile_expression(read.expression, schema, ansi=ansi, time_zone=zone) for read in reads]
        self._neighbours = [
            _Neighbour(f"_read_{i}", value, read.shift)
            for i, (read, value) in enumerate(zip(reads, values, strict=True))
        ]
        read_types = [(name, value.type) for name, value, _ in self._neighbours]
        seen = pa.schema([*schema, *(pa.field(*one) for one in read_types)])
        self.condition = compile_condition(condition, seen, what, ansi=ansi, time_zone=zone)
        self.can_fail = self.condition.can_fail or any(one.value.can_fail for one in self._neighbours)
        self._own = [name for name in self.condition.columns if name in schema.names]
        self._back = max([0, *(-one.shift for one in self._neighbours)])
        self._ahead = max([0, *(one.shift for one in self._neighbours)])

    def __call__(self, columns: Columns, bounds: Bounds) -> Bytes:
        """Of each row FALSE, TRUE or FAILED."""
        n = bounds.n_rows
        try:
            return self._of_all(columns, bounds, n)
        except ExpressionError:
            return self._of_those_that_can(columns, bounds, np.arange(n))

    def of_row(self, columns: Columns, bounds: Bounds, row: int) -> None:
        """Evaluate it of one row, for the error that it raises."""
        self._of(columns, bounds, np.array([row]))

    def _of_all(self, columns: Columns, bounds: Bounds, n: int) -> Bytes:
        if not self._neighbours:
            return truths(self.condition({name: columns[name] for name in self._own}, n))
        back, ahead = self._back, self._ahead
        inside = max(0, n - back - ahead)
        seen = {name: columns[name].slice(back, inside) for name in self._own}
        for name, value, shift in self._neighbours:
            seen[name] = value(columns, n).slice(back + shift, inside)
        found = np.zeros(n, np.uint8)
        if inside:
            found[back : back + inside] = truths(self.condition(seen, inside))
        outer = edges(bounds.low, bounds.high, back, ahead)
        if len(outer):
            found[outer] = self._of(columns, bounds, outer)
        return found

    def _of(self, columns: Columns, bounds: Bounds, rows: Positions) -> Bytes:
        """Of some rows, each value taken from where it is, null where there is no such row."""
        at = pa.array(rows)
        low, high = bounds.of_rows(rows)
        seen = {name: columns[name].take(at) for name in self._own}
        for name, value, shift in self._neighbours:
            place = rows + shift
            is_none = (place < low) | (place >= high)
            seen[name] = _values_at(value, columns, place, is_none)
        return truths(self.condition(seen, len(rows)))

    def _of_those_that_can(self, columns: Columns, bounds: Bounds, rows: Positions) -> Bytes:
        """Of all rows, halved until those stand alone that raise."""
        try:
            return self._of(columns, bounds, rows)
        except ExpressionError:
            if len(rows) == 1:
                return np.array([FAILED], np.uint8)
        half = len(rows) // 2
        parts = [self._of_those_that_can(columns, bounds, part) for part in (rows[:half], rows[half:])]
        return np.concatenate(parts)


def _values_at(value: Compiled, columns: Columns, place: Positions, is_none: Flags) -> pa.Array:
    """An expression of the rows at these places; of no other, for one of them might raise."""
    there = place[~is_none]
    at = pa.array(there)
    values = value({name: columns[name].take(at) for name in value.columns}, len(there))
    if len(there) == len(place):
        return values
    where = np.cumsum(~is_none) - 1
    return values.take(pa.array(where, mask=is_none))
