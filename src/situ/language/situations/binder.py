"""A query meets a schema: names resolve, types fit, durations become ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import sqlglot.expressions as exp

from situ.errors import (
    AggregateTypeError,
    AmbiguousColumnError,
    BindError,
    ConditionTypeError,
    DurationTypeError,
    OptionError,
    QueryError,
    TimeColumnError,
    UnknownColumnError,
)
from situ.language.situations.ast import Item, Query, Symbol
from situ.language.situations.define import check_no_length, refuse_length, split_bounds
from situ.language.situations.having import WHAT as HAVING
from situ.language.situations.lengths import check_lengths
from situ.language.situations.printer import having_text, written_pattern
from situ.language.situations.silence import SILENCE
from situ.language.text.durations import duration_text
from situ.language.text.foreign import sort_hint
from situ.language.text.nodes import Duration, Expression
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
    normal_type,
    type_kind,
)

_TIMESTAMPS = ("timestamp", "timestamp_ntz")
_TIMES = (*_TIMESTAMPS, "date")
_ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


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


class Binder:
    """Resolves a query, or the part of one that is about one of its sources: errors show `whole`."""

    def __init__(
        self, query: Query, schema: Schema, time_unit: str | None, whole: Query | None = None
    ) -> None:
        schema = tuple(Column(column.name, normal_type(column.type)) for column in schema)
        self.query = query
        self.whole = whole
        self.time_unit = time_unit
        self.schema = schema
        self.by_name: dict[str, list[Column]] = {}
        for column in schema:
            self.by_name.setdefault(column.name.lower(), []).append(column)

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

    def column(self, name: str, where: str) -> Column:
        found = self.by_name.get(name.lower(), [])
        if len(found) > 1:
            spellings = ", ".join(column.name for column in found)
            raise self.error(
                AmbiguousColumnError,
                f"{name} in {where} can be any of the columns {spellings}, whose names differ only in case",
                name,
                hint="rename one of them in the DataFrame first",
            )
        if not found:
            raise self.unknown(name, where)
        return found[0]

    def _misspelt_silence(self, name: str) -> str | None:
        """For a condition that is nothing but a word like SILENCE."""
        alone = any(symbol.condition and symbol.condition.sql == name for symbol in self.query.symbols)
        return did_you_mean(name, [SILENCE]) if alone else None

    def unknown(self, name: str, where: str) -> QueryError:
        names = [column.name for column in self.schema]
        if name in self.query.symbol_names and where != "RETURN":
            hint = f"{name} is a symbol: a condition sees the columns of one row, not other situations"
        elif where == "ORDER BY" and name.lower() in (item.name.lower() for item in self.query.returns):
            hint = sort_hint()
        else:
            listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            hint = (
                did_you_mean(name, names)
                or self._misspelt_silence(name)
                or f"the columns are {listed}; the FROM name is {self.query.source}"
            )
        return self.error(
            UnknownColumnError, f'there is no column "{name}", which {where} uses', name, hint=hint
        )

    def error(
        self, kind: type[BindError], message: str, name: str | None, *, hint: str | None = None
    ) -> QueryError:
        """An error with its caret under `name` in the canonical text: the bound query has no other."""
        source = Source.of(str(self.whole or self.query))
        token = next((token for token in source.tokens if token.is_name and token.value == name), None)
        return source.error(kind, message, token, hint=hint) if token else kind(message, hint=hint)

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
        candidates = [column for column in self.schema if column.type in _TIMESTAMPS]
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

    def checked_time(self, column: Column) -> Column:
        is_float = column.type in ("float", "double")
        if self.time_unit is not None:
            if is_float or column.type in INTEGERS:
                return replace(column, unit=self.time_unit)
            raise OptionError(
                f"time_unit={self.time_unit!r} says what a column of numbers counts, and the time column "
                f"{column.name} is a {column.type}",
                hint="leave it out" if column.type in _TIMES else "convert the column to a timestamp first",
            )
        if column.type in _TIMES or column.type in INTEGERS:
            return column
        if is_float:
            raise self.error(
                TimeColumnError,
                f"the time column {column.name} is a {column.type}, and it is not said what it counts",
                column.name,
                hint='say it with the option time_unit="seconds" (or days, hours, minutes, milliseconds, '
                "microseconds), which takes it where whole ticks, microseconds, result",
            )
        raise self.error(
            TimeColumnError,
            f"the time column {column.name} is a {column.type}; time is a timestamp, a date or an integer",
            column.name,
            hint=f"convert it first, as in to_timestamp({column.name})"
            if type_kind(column.type) is Kind.STRING
            else "convert it to a timestamp or to whole ticks in the DataFrame first",
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

    def ticks(self, time: Column, duration: Duration | None) -> int | None:
        if duration is None:
            return None
        is_integer = time.counts_ticks
        if is_integer and duration.has_unit:
            raise DurationTypeError(
                f"the time column {time.name} counts ticks of unknown length ({time.type}), "
                f"so {duration_text(duration)} cannot be converted",
                hint="write a plain number of ticks, as in WITHIN 300, use a timestamp column, or say what "
                'it counts: the option time_unit="seconds"',
            )
        if not is_integer and not duration.has_unit:
            raise DurationTypeError(
                f"{duration.value} has no unit, and the time column {time.name} is a {time.type}",
                hint=f"say of what, as in {duration.value} seconds",
            )
        return duration.value

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
        self.check_kind(symbol.condition, what)
        return symbol

    def check_where(self, where: Expression) -> None:
        what = "the condition of WHERE"
        self.check_names(where, what)
        source = Source.of(where.sql)
        refuse_length(source, source.tokens[:-1], self.column_kind)
        self.check_kind(where, what)

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

    def check_names(self, condition: Expression, what: str) -> None:
        for name in condition.columns:
            self.column(name, what)

    def check_kind(self, condition: Expression, what: str) -> None:
        kind = kind_of(condition.tree, self.column_kind)
        if kind not in (Kind.BOOLEAN, Kind.UNKNOWN, Kind.NULL):
            column = condition.columns[0] if condition.columns else None
            raise self.error(
                ConditionTypeError,
                f"{what} must be true or false, but {condition.sql} is a {kind.value}",
                column,
                hint=_comparison_hint(condition, kind),
            )

        for node in condition.tree.find_all(*_ORDERINGS):
            self.check_ordering(node, what)

    def check_ordering(self, node: exp.Expr, what: str) -> None:
        """A boolean has no order that a number could have a place in: neither here nor on Spark."""
        sides = [node.args.get(name) for name in ("this", "expression", "low", "high")]
        kinds = [kind_of(side, self.column_kind) for side in sides if side is not None]
        if Kind.BOOLEAN in kinds and Kind.NUMBER in kinds:
            names = [column.name for column in node.find_all(exp.Column)]
            raise self.error(
                ConditionTypeError,
                f"{what} compares a boolean with a number, and a boolean has no order",
                names[0] if names else None,
                hint="a boolean is a condition by itself: write it alone, or NOT before it; "
                "how long it holds is said behind it, as in AT LEAST 5 seconds",
            )

    def column_kind(self, column: exp.Column) -> Kind:
        first, *fields = [part.name for part in column.parts]
        kind = field_type(self.column(first, "a condition").type, fields)
        return Kind.UNKNOWN if kind is None else type_kind(kind)

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


def _comparison_hint(condition: Expression, kind: Kind) -> str:
    if isinstance(condition.tree, exp.DPipe):
        return "|| joins strings; write OR"
    return f"compare it, as in {condition.sql} > 0" if kind is Kind.NUMBER else "compare it with a value"


def _numeric_result(function: str, type_name: str) -> str:
    """Spark's result type of sum, avg, stddev and percentiles over a numeric column."""
    decimal = decimal_of(type_name)
    if function in ("stddev", "median", "percentile") or (
        decimal is None and (function == "avg" or type_name in ("float", "double"))
    ):
        return "double"
    if decimal is None:
        return "bigint"
    precision, scale = decimal
    wider = (precision + 10, scale) if function == "sum" else (precision + 4, scale + 4)
    return f"decimal({min(wider[0], 38)},{min(wider[1], 38)})"
