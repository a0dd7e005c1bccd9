"""Columns of the rows that measures are taken of, gathered as they are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from situ.aggregate.types import value_type
from situ.expressions.types import canonical
from situ.language.rows.ast import CLASSIFIER_COLUMN
from situ.language.rows.bound import BoundRows
from situ.language.text.types import Column
from situ.operators.rowpattern.automaton import Automaton
from situ.operators.rowpattern.found import Found, Ordered
from situ.rows.prepared import Flags, Positions
from situ.rows.schema import TicksWriter, one_column, result_time_type, spark_type, ticks_writer


def taken_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values of a column are computed with, and shown by a measure that is a column."""
    return kind if canonical(kind) is not None else value_type(spark_type(kind)).arrow or kind


def gathered(column: pa.Array, place: Positions) -> pa.Array:
    """The values at these places, null where a place is negative."""
    if len(place) and place.min() < 0:
        return column.take(pa.array(place, mask=place < 0))
    return column.take(pa.array(place))


@dataclass(frozen=True)
class Layout:
    """What rows look like: how columns are read, and what the positions of matches mean."""

    schema: pa.Schema  # of everything that an item's expression may read, in the types it is taken in
    names: pa.Array  # of the variables
    variable: Positions  # of each position
    excluded: Flags  # of each position: ALL ROWS leaves its rows out
    follows: Flags  # of each position: it may take a row that is not the first of its match
    time: Column | None
    write_time: TicksWriter | None

    @classmethod
    def of(cls, bound: BoundRows, automaton: Automaton, schema: pa.Schema) -> Layout:
        """Of an input whose columns have these types."""
        fields, write = [], None
        known = set(schema.names)
        for column in bound.schema:
            if bound.time is not None and column.name == bound.time.name:
                kind = result_time_type(schema.field(column.name).type)
                write = ticks_writer(kind, bound.time.unit)
            elif column.name in known:
                kind = taken_type(schema.field(column.name).type)
            else:
                continue
            fields.append((column.name, kind))
        return cls(
            pa.schema([*fields, (CLASSIFIER_COLUMN, pa.string())]),
            pa.array(automaton.variables, pa.string()),
            np.array(automaton.variable, np.int64),
            np.array(automaton.excluded, np.bool_),
            np.isin(np.arange(automaton.n_positions), [way.to for ways in automaton.follow for way in ways]),
            bound.time,
            write,
        )

    def members(self, names: frozenset[str]) -> Flags:
        """Which positions belong to variables of these names."""
        chosen = np.array([name in names for name in self.names.to_pylist()], np.bool_)
        flags: Flags = chosen[self.variable]
        return flags


class Matched:
    """Matches and the rows they are of."""

    def __init__(self, layout: Layout, found: Found, ordered: Ordered) -> None:
        self.layout = layout
        self.found = found
        self.ordered = ordered
        self.shared: dict[Any, Positions] = {}  # what items of the same rows of output have in common

    def written(self, ticks: Positions, null: Flags | None = None) -> pa.Array:
        """Ticks in the time column's type."""
        assert self.layout.write_time is not None
        return one_column(self.layout.write_time, ticks, null if null is not None and null.any() else None)

    def plain(self, name: str, place: Positions) -> pa.Array:
        """A column of the input at these places, null where a place is negative."""
        if self.layout.time is None or name != self.layout.time.name:
            return gathered(self.ordered.columns[name], place)
        if not len(self.ordered.time):
            return self.written(np.zeros(len(place), np.int64), place < 0)
        return self.written(self.ordered.time[place], place < 0)

    def column(self, name: str, place: Positions) -> pa.Array:
        """The same, of the type in which its values are taken."""
        kind = self.layout.schema.field(name).type
        column = self.plain(name, place)
        return column if column.type == kind else column.cast(kind)

    def classifiers(self, entry: Positions) -> pa.Array:
        """The names of the variables of these entries, null where one is negative."""
        if not len(self.found.position):
            return gathered(self.layout.names, entry)
        variable = self.layout.variable[self.found.position[entry]]
        return gathered(self.layout.names, np.where(entry < 0, -1, variable))

    def columns(self, names: Iterable[str], entry: Positions) -> dict[str, pa.Array]:
        """Columns that an expression reads of these rows of matches."""
        place = self.found.row[entry]
        return {
            name: self.classifiers(entry) if name == CLASSIFIER_COLUMN else self.column(name, place)
            for name in names
        }

    def ends(self, match: Positions) -> tuple[Positions, Positions]:
        """The first and the last row of these matches; the start of an empty one."""
        found = self.found
        is_empty = found.is_empty[match]
        first = last = found.start[match]
        some = match[~is_empty]
        if len(some):
            last = last.copy()
            first[~is_empty] = found.row[found.offset[some]]
            last[~is_empty] = found.row[found.offset[some + 1] - 1]
        return first, last

    @cached_property
    def match_of(self) -> Positions:
        """The match of each entry."""
        return np.repeat(np.arange(self.found.size), np.diff(self.found.offset))
