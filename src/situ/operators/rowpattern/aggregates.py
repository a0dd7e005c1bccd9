"""Aggregates over the visible rows of a variable (ROW 3.6)."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.aggregate.arrays import frozen
from situ.aggregate.spec import AggregateSpec
from situ.carry.contract import Setting
from situ.errors import AggregateTypeError, UnsupportedExpressionError
from situ.expressions import Compiled, compile_condition, compile_expression
from situ.language.rows.ast import CLASSIFIER_COLUMN, Aggregate
from situ.language.situations.ast import Item
from situ.language.text.nodes import Expression
from situ.language.text.types import Column, Kind, type_kind
from situ.operators.rowpattern.kernels.navigate import entries_among, ranks
from situ.operators.rowpattern.matched import Layout, Matched
from situ.operators.rowpattern.navigate import bare_column
from situ.operators.rowpattern.shown import Shown
from situ.rows.columns import truths
from situ.rows.keys import encode
from situ.rows.prepared import Flags, Positions
from situ.rows.schema import spark_type

# By the names the language gives them: which of the aggregates of situations each one is.
_FUNCTIONS = {
    **{name: name for name in ("count", "sum", "avg", "min", "max", "stddev", "variance", "median")},
    "percentile": "percentile",
    "array_agg": "collect_list",
    "any": "max",  # false is less than true
    "every": "min",
    "count_if": "count",
    **dict.fromkeys(("first_value", "any_value"), "first"),
    "last_value": "last",
}
_NUMBER = re.compile(r"\d*\.?\d+")
_OF_NUMBERS = ("sum", "avg", "stddev", "variance", "median", "percentile")
_OF_ITS_TYPE = ("min", "max", "first", "last", "collect_list")
_OF_TRUTHS = ("any", "every", "count_if")


class Aggregated:
    """One aggregate, evaluated."""

    def __init__(
        self, aggregate: Aggregate, text: str, members: Flags, layout: Layout, setting: Setting
    ) -> None:
        """`text` is what messages call it."""
        function = _FUNCTIONS.get(aggregate.function)
        if function is None or (function == "percentile") != bool(aggregate.more):
            raise UnsupportedExpressionError(f"the aggregate {text}")
        self._aggregate = aggregate
        self._function = function
        self._members = members
        self._where: Compiled | None = None
        if aggregate.where is not None:
            what = f"FILTER of {text}"
            self._where = compile_condition(
                aggregate.where, layout.schema, what, ansi=setting.ansi, time_zone=setting.time_zone
            )
        self._column = None if aggregate.argument is None else bare_column(aggregate.argument)
        self._argument: Compiled | None = None
        kind = pa.null()
        if aggregate.argument is not None and self._column is None:
            self._argument = _compiled(aggregate.argument, layout, setting)
            kind = self._argument.type
        elif self._column is not None:
            kind = layout.schema.field(self._column).type
        self._is_counted_if = aggregate.function == "count_if"
        self._spec = _spec(aggregate, function, text, kind, setting)
        nothing = np.empty(0, np.int64)
        self.type: pa.DataType = self._folded(pa.array([], kind), nothing, nothing).type

    @property
    def like(self) -> tuple[str | None, bool]:
        """The column of the input whose type it has, and whether it is a list of those."""
        if self._column == CLASSIFIER_COLUMN or self._function not in _OF_ITS_TYPE:
            return None, False
        return self._column, self._function == "collect_list"

    def __call__(self, matched: Matched, shown: Shown) -> pa.Array:
        """The value for each row of output."""
        end = shown.final if self._aggregate.is_final else shown.end
        entries = self._entries(matched, shown, end)
        values = None
        if self._aggregate.argument is not None:
            values = self._values(matched, entries)
            if self._aggregate.is_distinct:
                once = _first_of_each(values, matched.match_of[entries])
                entries, values = entries[once], values.take(pa.array(once))
        if len(entries) == len(matched.found.row):
            return self._folded(values, shown.begin, end)
        return self._folded(values, ranks(entries, shown.begin), ranks(entries, end))

    def _entries(self, matched: Matched, shown: Shown, end: Positions) -> Positions:
        """The rows of matches that it is over, FILTER applied."""
        if self._members.all():
            entries = np.arange(len(matched.found.row))
        else:
            entries = entries_among(matched.found.position, self._members)
        if matched.layout.excluded.any():  # what no row of output sees might fail
            seen = np.zeros(matched.found.size, np.int64)
            seen[shown.match] = end  # of a match's rows the last one sees most
            entries = entries[entries < seen[matched.match_of[entries]]]
        if self._where is None:
            return entries
        columns = matched.columns(self._where.columns, entries)
        held = self._where(columns, len(entries)).cast(pa.bool_())
        return entries[truths(held).view(np.bool_)]

    def _values(self, matched: Matched, entries: Positions) -> pa.Array:
        if self._argument is None:
            assert self._column is not None
            values = matched.columns((self._column,), entries)[self._column]
        else:
            values = self._argument(matched.columns(self._argument.columns, entries), len(entries))
        return pc.if_else(values, values, None) if self._is_counted_if else values

    def _folded(self, values: pa.Array | None, begin: Positions, end: Positions) -> pa.Array:
        """The aggregate of values begin..end - 1 of each request; neighbours of one begin are one sweep."""
        names = self._spec.columns
        n_values = int(end.max(initial=0)) if values is None else len(values)
        rows = self._spec.rows(dict.fromkeys(names, values), n_values)
        nothing = frozen(np.full(len(begin), -1, np.int64))
        states = self._spec.fold(rows, self._spec.empty(), frozen(begin.view()), frozen(end - 1), nothing)
        return self._spec.item(0, states)


def _compiled(argument: Expression, layout: Layout, setting: Setting) -> Compiled:
    return compile_expression(argument, layout.schema, ansi=setting.ansi, time_zone=setting.time_zone)


def _spec(
    aggregate: Aggregate, function: str, text: str, kind: pa.DataType, setting: Setting
) -> AggregateSpec:
    argument = None if aggregate.argument is None else aggregate.argument.sql
    spark = spark_type(kind)
    needed = None
    if argument is not None and function in _OF_NUMBERS and type_kind(spark) is not Kind.NUMBER:
        needed = "a number"
    elif aggregate.function in _OF_TRUTHS and spark != "boolean":
        needed = "a condition"
    if needed is not None:
        raise AggregateTypeError(
            f"{text} needs {needed}, and {argument} is a {spark}",
            hint="count, first, last and array_agg take any type, min and max any that can be ordered; "
            "to add up numbers held as text convert the column first",
        )
    item = Item(function, aggregate.variable or "", argument, _fraction(aggregate, text))
    schema = () if argument is None else (Column(argument, spark),)
    return AggregateSpec({0: item}, schema, ansi=setting.ansi, with_count=False)


def _fraction(aggregate: Aggregate, called: str) -> float | None:
    """Which percentile: one plain number from 0 to 1."""
    if not aggregate.more:
        return None
    text, *others = aggregate.more
    if others or not _NUMBER.fullmatch(text) or float(text) > 1:
        raise UnsupportedExpressionError(
            f"the aggregate {called}", hint="Percentiles here take one plain number from 0 to 1."
        )
    return float(text)


def _first_of_each(values: pa.Array, match: Positions) -> Positions:
    """Where each value comes first in its match: the distinct ones of every prefix of its rows."""
    codes, distinct = encode([values], len(values))
    _, first = np.unique(match * max(1, len(distinct[0])) + codes, return_index=True)
    return np.sort(first)
