"""Navigation: a value of one row of a match, or of its neighbourhood (ROW 3.1 to 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import sqlglot.expressions as exp

from situ.carry.contract import Setting
from situ.expressions import Compiled, compile_expression
from situ.language.rows.ast import CLASSIFIER_COLUMN, Navigation
from situ.language.text.nodes import Expression
from situ.operators.rowpattern.kernels.navigate import entries_at, entries_of
from situ.operators.rowpattern.matched import Layout, Matched, gathered
from situ.operators.rowpattern.shown import Shown
from situ.rows.prepared import Flags, Positions


def bare_column(expression: Expression) -> str | None:
    """The column that an expression is, if it is nothing else."""
    tree = expression.tree.unnest()
    return expression.columns[0] if isinstance(tree, exp.Column) and len(tree.parts) == 1 else None


def furthest(navigation: Navigation) -> tuple[int, int]:
    """How many rows before the first and behind the last row of a match it may read."""
    if navigation.is_first:  # that many rows of the match stand before the one it counts from
        return max(0, -navigation.shift - navigation.offset), max(0, navigation.shift)
    return max(0, -navigation.shift), max(0, navigation.shift - navigation.offset)


class Reached(NamedTuple):
    """Where a navigation leads for each row of output, -1 for nowhere."""

    entry: Positions  # of the row that FIRST or LAST is
    place: Positions  # of the row that is read

    @property
    def is_there(self) -> Flags:
        """Whether there is a row."""
        there: Flags = self.place >= 0
        return there


class Way:
    """From the rows of a match to one row; navigations of one way reach the same rows."""

    def __init__(self, navigation: Navigation, members: Flags, layout: Layout) -> None:
        self._members = members
        self._of = navigation
        self._key = (members.tobytes(), navigation.is_first, navigation.offset, navigation.is_final)
        self._is_leading = not (members & layout.follows).any()  # only the first row can be one of them

    def reached(self, matched: Matched, shown: Shown) -> Reached:
        """The rows it leads to."""
        of, found = self._of, matched.found
        entry = matched.shared.get(self._key)
        if entry is None:
            end = shown.final if of.is_final else shown.end
            if self._is_leading:
                end = np.minimum(end, shown.begin + 1)
            entry = matched.shared[self._key] = entries_of(
                *(shown.begin, end, found.position),
                *(self._members, bool(self._members.all()), of.is_first, of.offset),
            )
        if not len(found.row):
            return Reached(entry, entry)
        place = found.row[entry]
        there = entry >= 0
        if of.shift:
            place += of.shift
            there &= (place >= found.low[shown.match]) & (place < found.high[shown.match])
        return Reached(entry, place if there.all() else np.where(there, place, -1))

    def columns(
        self, names: tuple[str, ...], matched: Matched, shown: Shown, reached: Reached
    ) -> Mapping[str, pa.Array]:
        """Columns of the rows it leads to, null where there is none."""
        columns = {name: matched.column(name, reached.place) for name in names if name != CLASSIFIER_COLUMN}
        if CLASSIFIER_COLUMN in names:
            entry = reached.entry
            if self._of.shift:
                entry = entries_at(reached.place, shown.begin, shown.final, matched.found.row)
            columns[CLASSIFIER_COLUMN] = matched.classifiers(entry)
        return columns


class Navigated:
    """One navigation, evaluated."""

    def __init__(self, navigation: Navigation, members: Flags, layout: Layout, setting: Setting) -> None:
        self._way = Way(navigation, members, layout)
        self._column = bare_column(navigation.expression)
        self._compiled: Compiled | None = None
        if self._column is not None:
            self.type: pa.DataType = layout.schema.field(self._column).type
        else:
            self._compiled = compile_expression(
                navigation.expression, layout.schema, ansi=setting.ansi, time_zone=setting.time_zone
            )
            self.type = self._compiled.type

    @property
    def like(self) -> tuple[str | None, bool]:
        """The column of the input whose type it has, and whether it is a list of those."""
        return (None if self._column == CLASSIFIER_COLUMN else self._column), False

    def __call__(self, matched: Matched, shown: Shown) -> pa.Array:
        """The value for each row of output, null where there is no row to read (ROW 3.1)."""
        reached = self._way.reached(matched, shown)
        if self._compiled is None:
            assert self._column is not None
            return self._way.columns((self._column,), matched, shown, reached)[self._column]
        columns = self._way.columns(self._compiled.columns, matched, shown, reached)
        there = reached.is_there
        if there.all():
            return self._compiled(columns, len(there))
        # of what is not there nothing is computed: the expression might fail, or be no null of nulls
        chosen = pa.array(there)
        known = {name: column.filter(chosen) for name, column in columns.items()}
        values = self._compiled(known, int(there.sum()))
        return gathered(values, np.where(there, np.cumsum(there) - 1, -1))
