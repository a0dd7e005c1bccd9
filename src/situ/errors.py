"""Everything situ raises on purpose: one root, one class per mistake, found / expected / what to do."""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple


class Span(NamedTuple):
    """Characters `start` up to, not including, `end` of the query text."""

    start: int
    end: int


class SituError(Exception):
    """Root of every error situ raises on purpose; anything else escaping situ is a bug of ours."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\nHint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers send errors back pickled; the default would call __init__ with the finished text.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[SituError], args: tuple[Any, ...], state: dict[str, Any]) -> SituError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class OptionError(SituError):
    """An option is unknown, does not apply here, or has a value it cannot have."""


class DataError(SituError):
    """The data breaks a rule of the semantics (null time, ties refused, interleaving splits...)."""


class ExpressionError(DataError):
    """A value broke an expression under ANSI rules: division by zero, overflow, a cast that does not fit."""


class MissingExtraError(SituError, ImportError):
    """A call needs a library that an extra of situ brings, such as `situ[spark]`, and it is not installed."""


class OutputError(SituError):
    """A result cannot be written: no such place, no permission, or no room."""


class TiesWarning(UserWarning):
    """Rows were left out because a later row of their partition has the same time (SEM 1.3)."""


class TooManyMatchesError(SituError):
    """A query has more matches at once than there is memory for."""


class MatchError(DataError):
    """A row pattern cannot be decided: a condition fails, a skip leads nowhere, a search takes too long."""

    def __init__(self, message: str, *, hint: str | None = None, slot: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.slot = slot  # of the partition, until a carrier has named it

    def in_partition(self, values: tuple[Any, ...]) -> MatchError:
        """The same, with the values of the partition."""
        if not values:
            return MatchError(self.message, hint=self.hint)
        return MatchError(f"in partition {values}: {self.message}", hint=self.hint)


class StateError(SituError):
    """Saved state cannot be restored: damaged, of another version, or of another query."""


class UnsupportedExpressionError(SituError):
    """An expression cannot be evaluated in process with exactly Spark's answer, so it is refused by name."""

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        on_spark = "Run the query on a Spark DataFrame: there Spark evaluates it, and every function works."
        super().__init__(
            f"{what} cannot be evaluated in process", hint=on_spark if hint is None else f"{hint} {on_spark}"
        )


class UnsupportedConditionError(UnsupportedExpressionError):
    """A condition of a row pattern computes something of several rows that no engine of ours can."""

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        SituError.__init__(
            self,
            f"{what} cannot be evaluated in DEFINE",
            hint=hint or "compute it as a column of the input first, and compare that",
        )


class QueryError(SituError):
    """Something is wrong with the query itself; `text` and `span` say where, when that is known."""

    def __init__(
        self, message: str, *, hint: str | None = None, text: str | None = None, span: Span | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.text = text
        self.span = span

    def __str__(self) -> str:
        lines = [self.message]
        if self.text is not None and self.span is not None:
            lines += caret_lines(self.text, self.span)
        if self.hint is not None:
            lines.append(f"Hint: {self.hint}")
        return "\n".join(lines)


class QuerySyntaxError(QueryError):
    """The text is not in the form of a query: a word is missing, misplaced or not understood."""


class ParameterError(QueryError):
    """A parameter of a query has no value, or one that cannot be written; or a value has no parameter."""


class NestingError(QueryError):
    """Parentheses, CASE, NOT and the like are nested deeper than 200 levels."""


class TooManySymbolsError(QueryError):
    """A query defines more than 64 symbols."""


class NumberUnitError(QueryError):
    """A number in a condition carries a unit, as in `8m/s2` or `70 mph`."""


class UnknownSymbolError(QueryError):
    """PATTERN or RETURN mentions a symbol that DEFINE does not define."""


class UnknownRelationError(QueryError):
    """PATTERN uses a word that is not the name of a relation between two situations."""


class UnknownEndpointError(QueryError):
    """Something other than `ts` and `te` of a symbol is compared in PATTERN."""


class UnknownAggregateError(QueryError):
    """RETURN calls an aggregate that situ does not have."""


class UnknownDurationUnitError(QueryError):
    """A duration is written in a unit that situ does not know."""


class DurationError(QueryError):
    """A duration is missing, negative, too large, not whole ticks, or not a duration at all."""


class DurationBoundsError(DurationError):
    """BETWEEN has its larger duration first."""


class MixedDurationsError(DurationError):
    """Some durations of the query have a unit and others are plain ticks: no time column fits both."""


class WindowTooShortError(QueryError):
    """What must happen in a match does not fit in its window, so nothing could ever match."""


class DuplicateSymbolError(QueryError):
    """Two DEFINE entries have the same symbol."""


class UnusedSymbolError(QueryError):
    """A symbol is defined but PATTERN does not mention it."""


class DisconnectedPatternError(QueryError):
    """The constraints of PATTERN leave symbols unrelated to the others: a cross product."""


class InconsistentPatternError(QueryError):
    """The constraints of PATTERN and the lengths of DEFINE exclude each other: nothing could ever match."""


class SelfRelationError(QueryError):
    """A symbol is related to itself."""


class AlternativesError(QueryError):
    """Alternatives separated by `;` are about different pairs of symbols, or have distances of their own."""


class DistanceError(QueryError):
    """BY stands behind relations that have no distance it could bound."""


class AbsenceError(QueryError):
    """A NO group is not about one symbol that is absent, or could never be certain."""


class DuplicateNameError(QueryError):
    """Two output columns have the same name, ignoring case."""


class ReturnItemError(QueryError):
    """A RETURN item has no name, or is not made of aggregates and endpoints of situations."""


class EndpointInConditionError(QueryError):
    """A condition mentions the start or end of a situation, which PATTERN or AT LEAST must do."""


class AggregateInConditionError(QueryError):
    """A condition uses an aggregate, but conditions see one row at a time."""


class ForbiddenExpressionError(QueryError):
    """An expression is not a deterministic expression over one row (SEM 1.5)."""


class IntervalQueryError(QueryError):
    """FROM INTERVALS lacks a clause it needs, or uses one that only events can have (SEM 6)."""


class RowPatternError(QueryError):
    """PATTERN is not one that rows can be matched with, or clauses of a row pattern exclude each other."""


class UnknownVariableError(QueryError):
    """A clause of a row pattern names a variable that PATTERN does not have."""


class NavigationError(QueryError):
    """FIRST, LAST, PREV, NEXT, RUNNING, FINAL or an aggregate reads rows of a match as it cannot (ROW 3)."""


class ForeignClauseError(QuerySyntaxError):
    """A clause belongs to another kind of query, or to SQL around it."""


class SourceError(QueryError):
    """Of several sources it is not said which one is meant, or two are meant where there can be one."""


class BindError(QueryError):
    """The query does not fit the schema it is bound to."""


class UnknownColumnError(BindError):
    """The schema has no column of that name."""


class AmbiguousColumnError(BindError):
    """The schema has several columns whose names differ only in case."""


class ConditionTypeError(BindError):
    """A condition is not boolean, or compares a boolean with a number."""


def no_condition(what: str, sql: str, kind: str) -> ConditionTypeError:
    """The error to raise where an expression of another type stands for a condition; `what` it is.

    >>> print(no_condition("the condition of A", "HOUR(ts)", "int").message)
    the condition of A must be true or false, but HOUR(ts) is an int
    """
    article = "an" if kind[0] in "aeiou" else "a"
    said = f"{what} must be true or false, but {sql} is {article} {kind}"
    return ConditionTypeError(said, hint="compare it with a value")


class TimeColumnError(BindError):
    """No time column can be determined, or its type cannot be a time."""


class DurationTypeError(BindError):
    """Durations with a unit meet an integer time column, or plain ticks meet a timestamp column."""


class AggregateTypeError(BindError):
    """An aggregate cannot take a column of that type, such as `sum` of a string."""


_LINE_WIDTH = 100


def caret_lines(text: str, span: Span) -> list[str]:
    """The line of `text` that holds `span`, numbered, and a line of carets under it."""
    start = min(max(span.start, 0), len(text))
    number = text.count("\n", 0, start) + 1
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    last = len(text) if last < 0 else last
    end = min(max(span.end, start + 1), max(last, start + 1))
    # A very long line is cut to a window around the caret, marked by dots.
    low = first if last - first <= _LINE_WIDTH else max(first, start - _LINE_WIDTH // 2)
    high = min(last, low + _LINE_WIDTH)
    end = min(end, max(high, start + 1))
    prefix = f"  line {number}: " + ("..." if low > first else "")
    shown = text[low:high].replace("\t", " ").replace("\r", " ")
    carets = "^" * max(1, _width(text[start:end]))
    return [
        prefix + shown + ("..." if high < last else ""),
        " " * (len(prefix) + _width(text[low:start])) + carets,
    ]


def _width(text: str) -> int:
    """How many terminal columns the text takes."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
