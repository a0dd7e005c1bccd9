"""A row pattern meets a schema: names resolve, types fit, WITHIN becomes ticks."""

from __future__ import annotations

from dataclasses import replace

import sqlglot.expressions as exp

from situ.errors import (
    AggregateTypeError,
    BindError,
    DuplicateNameError,
    DurationTypeError,
    OptionError,
    TimeColumnError,
)
from situ.language.rows.ast import CLASSIFIER_COLUMN, Aggregate, Item, Navigation, RowQuery
from situ.language.rows.bound import BoundRows
from situ.language.rows.checks import items_of
from situ.language.rows.names import variable_name, variable_text
from situ.language.rows.printer import expression_text, more_expressions
from situ.language.rows.spelled import renamed, row_expressions, with_items
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Expression
from situ.language.text.resolver import TIMES, Resolver
from situ.language.text.sql import paths
from situ.language.text.tokens import did_you_mean, tokenize
from situ.language.text.types import INTEGERS, Column, Kind, Schema, kind_of

_DAY = 86_400_000_000
_NUMERIC = ("sum", "avg", "stddev", "variance")
_COUNTS = ("count", "count_if", "approx_count_distinct")
_BOOLEAN = ("any", "every")
_NO_ORDER = ("map<", "variant", "void")


def bind(
    query: RowQuery, schema: Schema, *, time: str | None = None, time_unit: str | None = None
) -> BoundRows:
    """Resolve a query against a schema; `time_unit` says what the numbers of the time column count.

    `time` may name the time column, which ORDER BY has to name anyway.
    """
    return _Binder(query, schema, time_unit).bound(time)


class _Binder(Resolver):
    def __init__(self, query: RowQuery, schema: Schema, time_unit: str | None) -> None:
        super().__init__(schema, time_unit, query, query.source)
        self.query = query
        self.variables = [*query.variables, *(subset.name for subset in query.subsets)]

    def bound(self, option: str | None) -> BoundRows:
        """The query in the schema's spelling, and what its names stand for."""
        query = self.query
        partition = tuple(self.column(name, "PARTITION BY") for name in query.partition_by)
        order = tuple(self._orderable(self.column(one.name, "ORDER BY")) for one in query.order_by)
        time = self._time(order[0], option)
        where = query.where
        if where is not None:
            self.check_names(where, "the condition of WHERE")
            self.check_condition(where, "the condition of WHERE")
        self._check_expressions()
        self._check_output_names()
        spelled = with_items(
            query,
            [self._spelled_item(item) for item in query.items],
            partition_by=tuple(column.name for column in partition),
            order_by=tuple(
                replace(one, name=column.name) for one, column in zip(query.order_by, order, strict=True)
            ),
            where=None if where is None else self._spelled(where),
        )
        if time is not None:
            order = (time, *order[1:])
        return BoundRows(spelled, self.schema, partition, order, time, self._within(time))

    # -- names

    def unknown_hint(self, name: str, where: str) -> str:
        """A variable alone is no column, and what stands before a dot may have been meant as a variable."""
        if self._is_qualifier(name):
            listed = ", ".join(map(variable_text, self.variables))
            return did_you_mean(name, self.variables) or self.close(name) or f"the variables are {listed}"
        written = next((token for token in tokenize(str(self.query)) if token.value == name), None)
        if written is not None and (variable := variable_name(written)) in self.variables:
            told = variable_text(variable)
            counted = f"count({told}.*) counts its rows"
            return f"{told} is a variable: name a column of it, as in {told}.price; {counted}"
        return super().unknown_hint(name, where)

    def _is_qualifier(self, name: str) -> bool:
        return any(
            tokens[first].value == name and last > first
            for item in self.query.items
            for one in row_expressions(item)
            for tokens in [tokenize(one.sql)]
            for first, last in paths(tokens)
        )

    def _spelled_item(self, item: Item) -> Item:
        if isinstance(item, Navigation):
            return replace(item, expression=self._spelled(item.expression))
        if not isinstance(item, Aggregate):
            return item
        return replace(
            item,
            argument=None if item.argument is None else self._spelled(item.argument),
            where=None if item.where is None else self._spelled(item.where),
            more=tuple(self._spelled(one).sql for one in more_expressions(item)),
        )

    def _spelled(self, of: Expression) -> Expression:
        names = {name: self.column(name, "").name for name in of.columns if name.lower() != CLASSIFIER_COLUMN}
        return renamed(of, names)

    # -- time

    def _orderable(self, column: Column) -> Column:
        if column.type.startswith(_NO_ORDER):
            raise self.error(
                BindError,
                f"ORDER BY needs values that have an order, and {column.name} is a {column.type}",
                column.name,
            )
        return column

    def _time(self, first: Column, option: str | None) -> Column | None:
        """The time column, where the first of ORDER BY is one and ascends (ROW 1.5)."""
        if option is not None and option.lower() != first.name.lower():
            raise OptionError(
                f"time={option!r} contradicts ORDER BY {first.name}",
                hint="leave the option out: the query names its time column in ORDER BY",
            )
        is_needed = self.query.within is not None or self.time_unit is not None or option is not None
        if self.query.order_by[0].is_descending:
            if self.query.within is None:
                return None
            raise self.error(
                TimeColumnError,
                f"WITHIN needs rows in ascending order of time, and ORDER BY {first.name} is DESC",
                first.name,
                hint="leave DESC out and turn the pattern round, or leave WITHIN out",
            )
        return self.checked_time(first) if is_needed or first.type in (*TIMES, *INTEGERS) else None

    def _within(self, time: Column | None) -> int | None:
        """In ticks of the time, whole days of dates."""
        window = self.query.within
        if window is None or time is None:
            return None
        if time.type == "date" and window.has_unit and window.value % _DAY:
            raise self.error(
                DurationTypeError,
                f"WITHIN {duration_text(window)} is not a number of whole days, and {time.name} is a date",
                "WITHIN",
                hint="write it in days, as in WITHIN 2 days",
            )
        return self.ticks(time, window)

    # -- expressions

    def _check_expressions(self) -> None:
        users = [
            (f"the condition of {variable_text(one.variable)}", one.condition)
            for one in self.query.definitions
        ]
        users += [(f"the measure {one.name}", one.expression) for one in self.query.measures]
        for what, expression in users:
            for item in items_of(self.query, expression):
                self._check_item(item, what)
        for definition in self.query.definitions:
            condition, what = definition.condition, f"the condition of {variable_text(definition.variable)}"
            written = expression_text(self.query, condition)
            self.check_boolean(condition.tree, written, what, self._item_kind, definition.variable)

    def _check_item(self, item: Item, what: str) -> None:
        for one in row_expressions(item):
            for name in one.columns:
                if name != CLASSIFIER_COLUMN:
                    self.column(name, what)
        if not isinstance(item, Aggregate):
            return
        if item.where is not None:
            what = "the condition of FILTER"
            self.check_boolean(item.where.tree, item.where.sql, what, self._row_kind, "FILTER")
        if item.argument is None:
            return
        kind = kind_of(item.argument.tree, self._row_kind)
        needed = {**dict.fromkeys(_NUMERIC, "a number"), **dict.fromkeys(_BOOLEAN, "a condition")}
        refused = (Kind.STRING, Kind.TIME, Kind.BOOLEAN if item.function in _NUMERIC else Kind.NUMBER)
        if item.function in needed and kind in refused:
            at = item.argument.columns[0] if item.argument.columns else None
            raise self.error(
                AggregateTypeError,
                f"{item.function} needs {needed[item.function]}, and {item.argument.sql} is a {kind.value}",
                at,
                hint="count, array_agg, min and max take other types; convert the column first",
            )

    def _row_kind(self, column: exp.Column) -> Kind:
        return Kind.STRING if column.name == CLASSIFIER_COLUMN else self.column_kind(column)

    def _item_kind(self, column: exp.Column) -> Kind:
        """The kind of what stands for `_item_<i>`."""
        if len(column.parts) > 1:
            return Kind.UNKNOWN
        item = self.query.items[int(column.name.removeprefix("_item_"))]
        if isinstance(item, Navigation):
            return kind_of(item.expression.tree, self._row_kind)
        if not isinstance(item, Aggregate) or item.function in (*_COUNTS, *_NUMERIC):
            return Kind.NUMBER
        if item.function in ("min", "max") and item.argument is not None:
            return kind_of(item.argument.tree, self._row_kind)
        return Kind.BOOLEAN if item.function in _BOOLEAN else Kind.UNKNOWN

    def _check_output_names(self) -> None:
        """ALL ROWS PER MATCH has all columns of the rows beside the measures (ROW 6.5)."""
        if self.query.rows == "one":
            return
        for measure in self.query.measures:
            if measure.name.lower() in self.by_name:
                raise DuplicateNameError(
                    f'two output columns are called "{measure.name}" (case does not matter): '
                    "ALL ROWS PER MATCH has the column of the rows too",
                    hint="choose another name for the measure",
                )
