"""Matches as the columns that users get (ROW 6), or those that Spark makes them from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from situ.carry.contract import Field, Setting
from situ.errors import UnsupportedExpressionError
from situ.expressions import Compiled, compile_expression
from situ.language.rows.ast import Measure
from situ.language.rows.bound import BoundRows
from situ.language.rows.printer import item_text
from situ.operators.identity import match_ids
from situ.operators.rowpattern.automaton import Automaton
from situ.operators.rowpattern.found import Found, Ordered
from situ.operators.rowpattern.identity import telling_numbers
from situ.operators.rowpattern.items import item_name, taken
from situ.operators.rowpattern.matched import Layout, Matched, gathered
from situ.operators.rowpattern.navigate import bare_column
from situ.operators.rowpattern.shown import Shown, all_rows, one_row
from situ.rows.kernels.numbers import NEVER
from situ.rows.prepared import Positions

MATCH_START, MATCH_END, MATCH_TIME, MATCH_ID = "match_start", "match_end", "match_time", "match_id"
MATCHED = "_matched"  # where Spark evaluates measures: whether a row is one of a match


@dataclass(frozen=True)
class Extras:
    """Columns that options add at the end (ROW 6.6)."""

    match_span: bool = False
    match_time: bool = False
    match_id: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Of these columns, in order."""
        span = (MATCH_START, MATCH_END) * self.match_span
        return (*span, *(MATCH_TIME,) * self.match_time, *(MATCH_ID,) * self.match_id)


NO_EXTRAS = Extras()


def row_columns(bound: BoundRows) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The input columns that ALL ROWS shows before and behind measures, keys left out (ROW 6.2)."""
    if bound.query.rows == "one":
        return (), ()
    keys = [column.name for column in bound.partition]
    first = dict.fromkeys(column.name for column in bound.order if column.name not in keys)
    others = (column.name for column in bound.schema if column.name not in (*keys, *first))
    return tuple(first), tuple(others)


def row_name(column: str) -> str:
    """What a column of the input is emitted as where Spark makes the columns that users see."""
    return f"_row_{column}"


class Measures:
    """Makes columns of matches."""

    def __init__(
        self,
        bound: BoundRows,
        automaton: Automaton,
        items: Sequence[int],
        extras: Extras,
        schema: pa.Schema,
        setting: Setting,
    ) -> None:
        self._bound = bound
        self._extras = extras
        self._layout = Layout.of(bound, automaton, schema)
        self._evaluates = setting.evaluates
        self._items = [taken(i, bound.query.items[i], bound, self._layout, setting) for i in items]
        fields = [field for item in self._items for field in item.fields]
        self._compiled: list[Compiled | str] = []
        if setting.evaluates:
            item_schema = pa.schema([(field.name, field.type) for field in fields])
            fields = []
            for measure in bound.query.measures:
                self._compiled.append(self._compile(measure, item_schema, setting))
                of = self._compiled[-1]
                kind = item_schema.field(of).type if isinstance(of, str) else of.type
                fields.append(Field(measure.name, kind))
        elif bound.query.empty == "unmatched":
            fields.append(Field(MATCHED, pa.bool_()))
        self._first, self._others = row_columns(bound)
        self.output: list[Field] = [
            *(self._row_field(name, schema) for name in self._first),
            *fields,
            *(self._row_field(name, schema) for name in self._others),
            *(self._extra_field(name) for name in extras.names),
        ]

    def _compile(self, measure: Measure, items: pa.Schema, setting: Setting) -> Compiled | str:
        """How a measure is evaluated; the name of an item, where it is nothing else and of any type."""
        bare = bare_column(measure.expression)
        if bare is not None:
            return bare
        for name in measure.expression.columns:
            if pa.types.is_list(items.field(name).type):
                item = next(one for i, one in enumerate(self._bound.query.items) if item_name(i) == name)
                of = item_text(self._bound.query, item)
                raise UnsupportedExpressionError(
                    f"an expression over {of}",
                    hint=f"Make {of} a measure of its own and compute with the column that it becomes.",
                )
        return compile_expression(measure.expression, items, ansi=setting.ansi, time_zone=setting.time_zone)

    def _row_field(self, name: str, schema: pa.Schema) -> Field:
        is_time = self._bound.time is not None and self._bound.time.name == name
        kind = (self._layout.schema if is_time else schema).field(name).type
        return Field(name if self._evaluates else row_name(name), kind, name)

    def _extra_field(self, name: str) -> Field:
        if name == MATCH_ID:
            return Field(name, pa.string())
        assert self._bound.time is not None  # the binder has seen to it
        return Field(name, self._layout.schema.field(self._bound.time.name).type, self._bound.time.name)

    def emitted(self, found: Found, ordered: Ordered) -> MatchedRows:
        """The results of these matches."""
        matched = Matched(self._layout, found, ordered)
        if self._bound.query.rows == "one":
            return MatchedRows(self, matched, one_row(found), found.start, found.slot, None)
        shown = all_rows(found, self._layout.excluded, shows_empty=self._bound.query.empty != "omit")
        row, source = shown.row, None
        if len(found.unmatched):
            begins = np.concatenate([found.start[shown.match], found.unmatched])
            order = np.argsort(begins, kind="stable")
            row = np.concatenate([row, found.unmatched])[order]
            source = np.where(order < len(shown.match), order, -1)
        return MatchedRows(self, matched, shown, row, ordered.slot[row], source)

    def columns(self, rows: MatchedRows, keys: Sequence[pa.Array]) -> list[pa.Array]:
        """All columns behind the keys."""
        matched = rows.matched
        values = rows.spread(self._values(matched, rows.shown))
        if not self._evaluates and self._bound.query.empty == "unmatched":
            values.append(rows.is_matched)
        return [
            *(matched.plain(name, rows.row) for name in self._first),
            *values,
            *(matched.plain(name, rows.row) for name in self._others),
            *rows.spread(self._extra_columns(rows, keys)),
        ]

    def _values(self, matched: Matched, shown: Shown) -> list[pa.Array]:
        """Measures, or what Spark makes them from, of each row of output that is one of a match."""
        columns = [column for item in self._items for column in item(matched, shown)]
        if not self._evaluates:
            return columns
        names = [field.name for item in self._items for field in item.fields]
        items = dict(zip(names, columns, strict=True))
        n = len(shown.match)
        return [items[of] if isinstance(of, str) else of(items, n) for of in self._compiled]

    def _extra_columns(self, rows: MatchedRows, keys: Sequence[pa.Array]) -> list[pa.Array]:
        """What options add, of each row of output that is one of a match."""
        matched, match, columns = rows.matched, rows.shown.match, []
        found = matched.found
        if self._extras.match_span:
            columns += _spans(matched, match)
        if self._extras.match_time:
            columns.append(matched.written(found.instant[match], found.instant[match] == NEVER))
        if self._extras.match_id:
            columns.append(self._ids(rows, keys))
        return columns

    def _ids(self, rows: MatchedRows, keys: Sequence[pa.Array]) -> pa.Array:
        """The id of each row's match, made once for each match."""
        match = rows.shown.match
        is_first = np.ones(len(match), np.bool_)
        is_first[1:] = match[1:] != match[:-1]
        first = np.flatnonzero(is_first)
        place = first if rows.source is None else np.flatnonzero(rows.source >= 0)[first]
        own = [column.take(pa.array(place)) for column in keys]
        ids = match_ids(self._bound.query, own, telling_numbers(self._bound, rows.matched, match[first]))
        return ids.take(pa.array(np.cumsum(is_first) - 1))


def _spans(matched: Matched, match: Positions) -> list[pa.Array]:
    """The times of the first and the last row of these matches, null of an empty one."""
    is_empty = matched.found.is_empty[match]
    return [matched.written(matched.ordered.time[place], is_empty) for place in matched.ends(match)]


@dataclass(frozen=True)
class MatchedRows:
    """Results of a step: rows of output, those of matches by match."""

    measures: Measures
    matched: Matched
    shown: Shown
    row: Positions  # of each row of output the row of the input, unmatched ones among them
    slot: Positions
    source: Positions | None  # which of `shown` each one is, -1 for unmatched ones; None for all in order

    @property
    def is_matched(self) -> pa.Array:
        """Whether each one is of a match."""
        is_unmatched = np.zeros(len(self.row), np.bool_) if self.source is None else self.source < 0
        return pa.array(~is_unmatched)

    def spread(self, columns: Sequence[pa.Array]) -> list[pa.Array]:
        """Columns of matches as columns of all rows of output."""
        return list(columns) if self.source is None else [gathered(one, self.source) for one in columns]

    def table(self, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """As the contract says."""
        return pa.Table.from_arrays([*keys, *self.measures.columns(self, keys)], schema=schema)
