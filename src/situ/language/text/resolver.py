"""Names, times and conditions of a query meet the columns of an input."""

from __future__ import annotations

from dataclasses import replace

import sqlglot.expressions as exp

from situ.errors import (
    AmbiguousColumnError,
    BindError,
    ConditionTypeError,
    DurationTypeError,
    OptionError,
    QueryError,
    TimeColumnError,
    UnknownColumnError,
)
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration, Expression
from situ.language.text.tokens import Source, did_you_mean
from situ.language.text.types import (
    INTEGERS,
    Column,
    Kind,
    Lookup,
    Schema,
    field_type,
    kind_of,
    normal_type,
    type_kind,
)

TIMESTAMPS = ("timestamp", "timestamp_ntz")
TIMES = (*TIMESTAMPS, "date")
_ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


class Resolver:
    """Resolves what a query says of columns; errors show the text of `shown`."""

    of_booleans = ""  # what else there is to say of them

    def __init__(self, schema: Schema, time_unit: str | None, shown: object, source: str) -> None:
        self.schema = tuple(Column(column.name, normal_type(column.type)) for column in schema)
        self.time_unit = time_unit
        self.shown, self.source = shown, source
        self.by_name: dict[str, list[Column]] = {}
        for column in self.schema:
            self.by_name.setdefault(column.name.lower(), []).append(column)

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
            raise self.error(
                UnknownColumnError,
                f'there is no column "{name}", which {where} uses',
                name,
                hint=self.unknown_hint(name, where),
            )
        return found[0]

    def unknown_hint(self, name: str, where: str) -> str:
        """What to do about a column that is not there."""
        names = [column.name for column in self.schema]
        listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        return self.close(name) or f"the columns are {listed}; the FROM name is {self.source}"

    def close(self, name: str) -> str | None:
        """Did you mean some column?"""
        return did_you_mean(name, [column.name for column in self.schema])

    def error(
        self, kind: type[BindError], message: str, name: str | None, *, hint: str | None = None
    ) -> QueryError:
        """An error with its caret under `name` in the canonical text: the bound query has no other."""
        source = Source.of(str(self.shown))
        named = [token for token in source.tokens if token.is_name and name is not None]
        named = [token for token in named if token.value.lower() == str(name).lower()]
        token = next((token for token in named if token.value == name), named[0] if named else None)
        return source.error(kind, message, token, hint=hint) if token else kind(message, hint=hint)

    # -- time

    def checked_time(self, column: Column) -> Column:
        is_float = column.type in ("float", "double")
        if self.time_unit is not None:
            if is_float or column.type in INTEGERS:
                return replace(column, unit=self.time_unit)
            raise OptionError(
                f"time_unit={self.time_unit!r} says what a column of numbers counts, and the time column "
                f"{column.name} is a {column.type}",
                hint="leave it out" if column.type in TIMES else "convert the column to a timestamp first",
            )
        if column.type in TIMES or column.type in INTEGERS:
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

    # -- conditions

    def check_names(self, condition: Expression, what: str) -> None:
        for name in condition.columns:
            self.column(name, what)

    def check_condition(self, condition: Expression, what: str) -> None:
        """A condition over the columns of a row is boolean, where that can be seen."""
        at = condition.columns[0] if condition.columns else None
        self.check_boolean(condition.tree, condition.sql, what, self.column_kind, at)

    def check_boolean(
        self, tree: exp.Expression, written: str, what: str, lookup: Lookup, at: str | None
    ) -> None:
        """`written` is the text of the tree, and `at` a name to point at."""
        kind = kind_of(tree, lookup)
        if kind not in (Kind.BOOLEAN, Kind.UNKNOWN, Kind.NULL):
            raise self.error(
                ConditionTypeError,
                f"{what} must be true or false, but {written} is a {kind.value}",
                at,
                hint=_comparison_hint(tree, written, kind),
            )
        for node in tree.find_all(*_ORDERINGS):
            self._check_ordering(node, what, lookup, at)

    def _check_ordering(self, node: exp.Expr, what: str, lookup: Lookup, at: str | None) -> None:
        """A boolean has no order that a number could have a place in: neither here nor on Spark."""
        sides = [node.args.get(name) for name in ("this", "expression", "low", "high")]
        kinds = [kind_of(side, lookup) for side in sides if side is not None]
        if Kind.BOOLEAN in kinds and Kind.NUMBER in kinds:
            names = [column.name for column in node.find_all(exp.Column)]
            is_shown = bool(names) and names[0].lower() in self.by_name
            raise self.error(
                ConditionTypeError,
                f"{what} compares a boolean with a number, and a boolean has no order",
                names[0] if is_shown else at,
                hint="a boolean is a condition by itself: write it alone, or NOT before it"
                + self.of_booleans,
            )

    def column_kind(self, column: exp.Column) -> Kind:
        first, *fields = [part.name for part in column.parts]
        kind = field_type(self.column(first, "a condition").type, fields)
        return Kind.UNKNOWN if kind is None else type_kind(kind)


def _comparison_hint(tree: exp.Expression, written: str, kind: Kind) -> str:
    if isinstance(tree, exp.DPipe):
        return "|| joins strings; write OR"
    return f"compare it, as in {written} > 0" if kind is Kind.NUMBER else "compare it with a value"
