"""A query meets a schema: names resolve, types fit, durations become ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import sqlglot.expressions as exp

from situ.errors import (
    AggregateTypeError,
    BindError,
    ConditionTypeError,
    OptionError,
    QueryError,
    TimeColumnError,
)
from situ.language.situations.ast import Item, Query, Symbol
from situ.language.situations.define import check_no_length, refuse_length, split_bounds
from situ.language.situations.having import WHAT as HAVING
from situ.language.situations.lengths import check_lengths
from situ.language.situations.printer import having_text, written_pattern
from situ.language.situations.silence import SILENCE
from situ.language.text.foreign import sort_hint
from situ.language.text.nodes import Expression
from situ.language.text.resolver import TIMESTAMPS, Resolver
from situ.language.text.sql import Scope, expression
from situ.language.text.tokens import Source, did_you_mean
from situ.language.text.types import (
    INTEGERS,
    Column,
    Kind,
    Schema,
    Schemas,
    decimal_of,
    field_type,
    kind_of,
    type_kind,
)


@dataclass(frozen=True)
class BoundQuery:
    """A query and what its names and durations stand for in one schema, in the schema's spelling."""

    query: Query
    schema: Schema
    time: Column
    partition: tuple[Column, ...]
    ties: tuple[Column, ...]
    attributes: tuple[Column, ...]
    within: int | None
    at_least: tuple[int | None, ...]
    at_most: tuple[int | None, ...]
    item_types: tuple[str, ...]
    sources: tuple[BoundSource, ...] = ()  # of a query that has several

    def column(self, name: str) -> Column:
        """A column by a name that binding has resolved, in the schema's spelling."""
        return next(column for column in self.schema if column.name.lower() == name.lower())

    def names_for(self, symbol: str) -> Mapping[str, str]:
        """What columns that a symbol reads are called in `schema`, by their own names in lower case."""
        return next((dict(one.names) for one in self.sources if symbol in one.bound.query.symbol_names), {})

    def column_of(self, item: Item) -> Column:
        """The column that an item reads."""
        assert item.attribute is not None
        own = item.attribute.lower()
        return self.column(self.names_for(item.symbol).get(own, own))


@dataclass(frozen=True)
class BoundSource:
    """One of several sources (SEM 13): the part of the query that is about it, bound to its own columns."""

    name: str  # of its table
    alias: str
    bound: BoundQuery
    names: tuple[tuple[str, str], ...]  # each column in lower case, and its name among those of all sources


def bind(
    query: Query, schema: Schema | Schemas, *, time: str | None = None, time_unit: str | None = None
) -> BoundQuery:
    """Resolve a query against a schema; `time` names the time column where ORDER BY does not.

    `time_unit` says what the numbers of the time column count.
    """
    if query.sources or isinstance(schema, Mapping):
        from situ.language.situations.bound_sources import bind_sources  # which is made of what is here

        return bind_sources(query, schema, time=time, time_unit=time_unit)
    return Binder(query, schema, time_unit).bound(time)


class Binder(Resolver):
    """Resolves a query, or the part of one that is about one of its sources: errors show `whole`."""

    of_booleans = "; how long it holds is said behind it, as in AT LEAST 5 seconds"

    def __init__(
        self, query: Query, schema: Schema, time_unit: str | None, whole: Query | None = None
    ) -> None:
        super().__init__(schema, time_unit, whole or query, query.source)
        self.query = query

    def bound(self, option: str | None) -> BoundQuery:
        """The query and what its names stand for; `option` is the time column where ORDER BY has none."""
        query = self.query
        time, ties = self.time(option), tuple(self.column(name, "ORDER BY") for name in query.order_by[1:])
        partition = tuple(self.column(name, "PARTITION BY") for name in query.partition_by)
        self.interval_columns(time)
        if query.where is not None:
            self.check_where(query.where)
        query = self.query = self.with_lengths()
        attributes = {
            self.column(item.attribute, "RETURN"): None for item in query.items if item.attribute is not None
        }
        item_types = tuple(self.item_type(item, time) for item in query.items)
        if query.having is not None:
            self.check_having(query.having, item_types)
        self.check_distances(time)
        ticks = partial(self.ticks, time)
        for symbol in query.symbols:
            ticks(None if symbol.ignoring is None else symbol.ignoring.duration)
        return BoundQuery(
            query=query,
            schema=self.schema,
            time=time,
            partition=partition,
            ties=ties,
            attributes=tuple(attributes),
            within=ticks(query.within),
            at_least=tuple(ticks(symbol.at_least) for symbol in query.symbols),
            at_most=tuple(ticks(symbol.at_most) for symbol in query.symbols),
            item_types=item_types,
        )

    # -- names

    def _misspelt_silence(self, name: str) -> str | None:
        """For a condition that is nothing but a word like SILENCE."""
        alone = any(symbol.condition and symbol.condition.sql == name for symbol in self.query.symbols)
        return did_you_mean(name, [SILENCE]) if alone else None

    def unknown_hint(self, name: str, where: str) -> str:
        if name in self.query.symbol_names and where != "RETURN":
            return f"{name} is a symbol: a condition sees the columns of one row, not other situations"
        if where == "ORDER BY" and name.lower() in (item.name.lower() for item in self.query.returns):
            return sort_hint()
        return self.close(name) or self._misspelt_silence(name) or super().unknown_hint(name, where)

    # -- time

    def time(self, option: str | None) -> Column:
        query = self.query
        if query.intervals is not None:
            named, where = query.intervals.starting, "STARTING"
        elif query.order_by:
            named, where = query.order_by[0], "ORDER BY"
        else:
            return (
                self.checked_time(self.column(option, "time="))
                if option is not None
                else self.only_timestamp()
            )
        if option is not None and option.lower() != named.lower():
            raise OptionError(
                f"time={option!r} contradicts {where} {named}",
                hint=f"leave the option out: the query names its time column in {where}",
            )
        return self.checked_time(self.column(named, where))

    def only_timestamp(self) -> Column:
        candidates = [column for column in self.schema if column.type in TIMESTAMPS]
        if len(candidates) == 1:
            return self.checked_time(candidates[0])
        if candidates:
            names = ", ".join(column.name for column in candidates)
            raise TimeColumnError(
                f"several columns could be the time: {names}",
                hint=f"say which: ORDER BY {candidates[0].name} in the query, or time={candidates[0].name!r}",
            )
        possible = [column.name for column in self.schema if column.type in (*INTEGERS, "date")]
        raise TimeColumnError(
            "no time column is named and no column is a timestamp",
            hint="name it with ORDER BY in the query or with time=; it can be a timestamp, "
            "a date or an integer" + (f", here {', '.join(possible[:20])}" if possible else ""),
        )

    def interval_columns(self, time: Column) -> None:
        intervals = self.query.intervals
        if intervals is None:
            return
        ending = self.column(intervals.ending, "ENDING")
        if ending.type != time.type:
            raise self.error(
                TimeColumnError,
                f"STARTING {time.name} is a {time.type} and ENDING {ending.name} a {ending.type}; "
                "both must have the same type",
                ending.name,
            )
        if intervals.symbol_by is not None:
            symbol = self.column(intervals.symbol_by, "SYMBOL BY")
            if type_kind(symbol.type) is not Kind.STRING:
                raise self.error(
                    BindError,
                    f"SYMBOL BY needs a string column, and {symbol.name} is a {symbol.type}",
                    symbol.name,
                    hint=f"use DEFINE instead, as in A AS {symbol.name} = 1",
                )
        if intervals.id_by is not None:
            self.column(intervals.id_by, "ID BY")

    def check_distances(self, time: Column) -> None:
        """The distances of PATTERN are such as this time has."""
        query = self.query
        for differences in (query.differences, *(absence.differences for absence in query.absences)):
            for difference in differences:
                self.ticks(time, difference.bound)

    # -- conditions

    def with_lengths(self) -> Query:
        """The query, each BETWEEN behind a boolean read as the length it is (SEM 7)."""
        query = replace(self.query, symbols=tuple(map(self.defined, self.query.symbols)))
        if query.symbols != self.query.symbols:
            check_lengths(query, written_pattern(query), None, {})
        return query

    def defined(self, symbol: Symbol) -> Symbol:
        if symbol.condition is None:
            return symbol
        what = f"the condition of {symbol.name}"
        self.check_names(symbol.condition, what)
        source = Source.of(symbol.condition.sql)
        if symbol.at_least is not None or symbol.at_most is not None:
            check_no_length(source, source.tokens[:-1], self.column_kind)
        else:
            tokens, bounds = split_bounds(source, source.tokens[:-1], self.column_kind)
            if bounds != (None, None):
                condition = expression(source, tokens, Scope(), what=what)
                symbol = replace(symbol, condition=condition, at_least=bounds[0], at_most=bounds[1])
        assert symbol.condition is not None
        self.check_condition(symbol.condition, what)
        return replace(symbol, is_typed=True)

    def check_where(self, where: Expression) -> None:
        what = "the condition of WHERE"
        self.check_names(where, what)
        source = Source.of(where.sql)
        refuse_length(source, source.tokens[:-1], self.column_kind)
        self.check_condition(where, what)

    def check_having(self, having: Expression, item_types: Sequence[str]) -> None:
        """HAVING keeps or rejects a match, so it is true or false."""

        def item_kind(column: exp.Column) -> Kind:
            kind = item_types[int(column.parts[0].name.removeprefix("_item_"))]
            field = field_type(kind, [part.name for part in column.parts[1:]])
            return Kind.UNKNOWN if field is None else type_kind(field)

        kind = kind_of(having.tree, item_kind)
        if kind not in (Kind.BOOLEAN, Kind.UNKNOWN, Kind.NULL):
            raise self.error(
                ConditionTypeError,
                f"{HAVING} must be true or false, but {having_text(self.query)} is a {kind.value}",
                "HAVING",
                hint="compare it with a value, as in HAVING avg(A.speed) > 70",
            )

    # -- what the items yield

    def item_type(self, item: Item, time: Column) -> str:
        if item.function in ("ts", "te"):
            return time.type
        if item.function == "duration":
            return "bigint" if time.counts_ticks else "interval day to second"
        if item.function == "count":
            return "bigint"
        assert item.attribute is not None
        column = self.column(item.attribute, "RETURN")
        if item.function in ("first", "last", "value"):
            return column.type
        if item.function in ("min", "max"):
            if column.type.startswith(("map<", "variant")):
                raise self.aggregate_error(item, column, "a type whose values can be ordered")
            return column.type
        if item.function == "collect_list":
            return f"array<{column.type}>"
        if type_kind(column.type) is not Kind.NUMBER:
            raise self.aggregate_error(item, column, "a number")
        return _numeric_result(item.function, column.type)

    def aggregate_error(self, item: Item, column: Column, needed: str) -> QueryError:
        return self.error(
            AggregateTypeError,
            f"{item.function}({item.symbol}.{column.name}) needs {needed}, and "
            f"{column.name} is a {column.type}",
            column.name,
            hint="count, first, last and collect_list take any type, min and max any that can be ordered; "
            "to add up numbers held as text convert the column first",
        )


def _numeric_result(function: str, type_name: str) -> str:
    """Spark's result type of sum, avg, stddev and percentiles over a numeric column."""
    decimal = decimal_of(type_name)
    if function in ("stddev", "variance", "median", "percentile") or (
        decimal is None and (function == "avg" or type_name in ("float", "double"))
    ):
        return "double"
    if decimal is None:
        return "bigint"
    precision, scale = decimal
    wider = (precision + 10, scale) if function == "sum" else (precision + 4, scale + 4)
    return f"decimal({min(wider[0], 38)},{min(wider[1], 38)})"
