"""Queries without text: `events("cars").define(A, col("speed") > 70).pattern(A.overlaps(B)).query()`.

Every part ends in the same readers and checks as query text, so the result equals the parsed query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from situ.errors import (
    DurationBoundsError,
    IntervalQueryError,
    QueryError,
    QuerySyntaxError,
    Span,
)
from situ.language.building.constraints import Constraint, no
from situ.language.building.lengths import Length, length
from situ.language.building.symbols import SymbolName, symbols
from situ.language.building.values import Value, call, check_name, col, sql
from situ.language.situations.ast import Gaps, IntervalSource, Query
from situ.language.situations.checks import assemble
from situ.language.situations.define import defined
from situ.language.situations.draft import (
    Definition,
    Draft,
    Pattern,
    Phrase,
    Place,
    ReturnText,
)
from situ.language.situations.gaps import checked_gaps
from situ.language.situations.having import having_phrase
from situ.language.situations.pattern import pattern as read_pattern
from situ.language.text.clauses import Clause
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration, Expression
from situ.language.text.rowchecks import check_durations
from situ.language.text.sql import Scope, expression
from situ.language.text.tokens import Kind, Source, Token
from situ.language.text.words import quote

__all__ = ["Builder", "call", "col", "events", "intervals", "no", "sql", "symbols"]

Condition = str | Value


class _Definition(NamedTuple):
    name: str
    condition: str
    at_least: Duration | None
    at_most: Duration | None
    ignoring: Gaps | None


@dataclass(frozen=True)
class Builder:
    """An unfinished query; every method returns a new one, `query()` checks and finishes it."""

    _source: str
    _intervals: IntervalSource | None = None
    _where: str | None = None
    _order_by: tuple[str, ...] = ()
    _partition_by: tuple[str, ...] = ()
    _definitions: tuple[_Definition, ...] = ()
    _pattern: tuple[str, ...] = ()
    _within: Duration | None = None
    _emit: Literal["EARLY", "FINAL"] = "EARLY"
    _returns: tuple[tuple[str, str], ...] = field(default=())
    _having: str | None = None

    def where(self, condition: Condition) -> Builder:
        """Only rows that satisfy the condition are events at all."""
        return replace(self, _where=_text(condition))

    def order_by(self, time: str, *ties: str) -> Builder:
        """The time column, and columns that decide between rows of equal time."""
        return replace(self, _order_by=tuple(map(check_name, (time, *ties))))

    def partition_by(self, *columns: str) -> Builder:
        """Match within each combination of values of these columns."""
        return replace(self, _partition_by=tuple(map(check_name, columns)))

    def define(
        self,
        symbol: str | SymbolName,
        condition: Condition,
        *,
        at_least: Length | None = None,
        at_most: Length | None = None,
        ignoring_gaps: Length | None = None,
    ) -> Builder:
        """A symbol stands for every maximal run of rows that satisfy the condition and last this long.

        `ignoring_gaps` is how long an interruption may be that does not end it, or "3 events". The condition
        "SILENCE" stands for the time without any row.
        """
        low, high = _length(at_least), _length(at_most)
        if low and high and low.has_unit == high.has_unit and low.value > high.value:
            raise DurationBoundsError(
                f"the bounds are the wrong way round: {duration_text(low)} is longer than "
                f"{duration_text(high)}"
            )
        entry = _Definition(str(symbol), _text(condition), low, high, _gaps(ignoring_gaps))
        return replace(self, _definitions=(*self._definitions, entry))

    def pattern(self, *constraints: str | Constraint) -> Builder:
        """All of these must hold; each is `A.meets(B) | A.overlaps(B)`, `no(C.during(B))`, or text."""
        return replace(self, _pattern=(*self._pattern, *(str(constraint) for constraint in constraints)))

    def within(self, window: Length) -> Builder:
        """How long a match may take, from its first start."""
        return replace(self, _within=_length(window))

    def emit(self, when: Literal["EARLY", "FINAL"]) -> Builder:
        """EARLY: report a match as soon as it is certain; FINAL: when all its situations have ended."""
        if when not in ("EARLY", "FINAL"):
            raise QuerySyntaxError(f"EMIT is EARLY or FINAL, not {when!r}")
        return replace(self, _emit=when)

    def returns(self, **items: str | Value) -> Builder:
        """Output columns by name: `returns(top=B.max("speed"), ratio="avg(A.x) / avg(B.x)")`."""
        listed = tuple((name, _text(item)) for name, item in items.items())
        return replace(self, _returns=(*self._returns, *listed))

    def having(self, condition: Condition) -> Builder:
        """Report only matches for which this is true: `having(A.first("x") == B.first("x"))`."""
        return replace(self, _having=_text(condition))

    def query(self) -> Query:
        """Check everything and make the query, equal to the one its text would make."""
        place = _place(self._source)
        parts = tuple(token.value.lower() for token in place.source.tokens[:-1:2])
        scope = Scope(frozenset(parts[start:] for start in range(len(parts))))
        draft = Draft(
            place=place,
            source=self._source,
            scope=scope,
            is_intervals=self._intervals is not None,
            intervals=self._intervals,
            where=None if self._where is None else _condition(self._where, scope, "the condition of WHERE"),
            where_written=None if self._where is None else _phrase(self._where),
            order_by=self._order_by,
            partition_by=self._partition_by,
            definitions=[_definition(entry, scope) for entry in self._definitions],
            pattern=_read_pattern(self._pattern),
            within=self._within,
            within_place=None if self._within is None else _place(f"WITHIN {duration_text(self._within)}"),
            emit=self._emit,
            returns=[_return_text(name, text) for name, text in self._returns] or None,
            having=None if self._having is None else _having(self._having),
        )
        if draft.intervals is not None and draft.intervals.symbol_by is not None and draft.definitions:
            raise IntervalQueryError("symbols come either from the column of symbol_by or from define()")
        return assemble(draft)


def events(source: str) -> Builder:
    """Begin a query over a table or stream of events."""
    return Builder(_source_text(source))


def intervals(
    source: str, *, starting: str, ending: str, symbol_by: str | None = None, id_by: str | None = None
) -> Builder:
    """Begin a query over a table or stream whose rows are whole intervals (SEM 6)."""
    return Builder(_source_text(source), IntervalSource(starting, ending, symbol_by, id_by))


_DOTTED = re.compile(r"(?:[^\W\d]\w*|`[^`]+`)(?:\.(?:[^\W\d]\w*|`[^`]+`))*")


def _source_text(source: str) -> str:
    """A dotted name as in text (`db.cars`), or any other string as one name."""
    if not check_name(source):
        raise QuerySyntaxError("the name of the events is empty", hint='write events("cars")')
    if not _DOTTED.fullmatch(source):
        return quote(source)
    return ".".join(quote(token.value) for token in Source.of(source).tokens[:-1:2])


def _text(given: Condition) -> str:
    if isinstance(given, Value):
        return given.sql
    if isinstance(given, str):
        return given
    raise QueryError(
        f"a {type(given).__name__} is not an expression",
        hint='write it as a string, "speed > 70", or with col: col("speed") > 70',
    )


def _length(given: Length | None) -> Duration | None:
    return None if given is None else length(given)


def _place(text: str) -> Place:
    return Place(Source.of(text), Span(0, len(text)))


def _phrase(text: str) -> Phrase:
    source = Source.of(text)
    return Phrase(source, source.tokens[:-1])


def _condition(text: str, scope: Scope, what: str) -> Expression:
    source = Source.of(text)
    return expression(source, source.tokens[:-1], scope, what=what, after=source.tokens[-1])


def _definition(entry: _Definition, scope: Scope) -> Definition:
    source = Source.of(entry.condition)
    tokens: Sequence[Token] = source.tokens[:-1]
    check_durations(source, tokens)
    given = (entry.at_least, entry.at_most)
    symbol, condition = defined(source, entry.name, tokens, scope, after=source.tokens[-1], given=given)
    if entry.ignoring is not None:
        symbol = replace(symbol, ignoring=entry.ignoring)
    place = _place(f"{quote(entry.name)} AS {entry.condition}")
    return Definition(symbol, place, Phrase(source, condition))


def _having(text: str) -> Phrase:
    source = Source.of(text)
    return having_phrase(source, Clause("HAVING", Token(Kind.WORD, "HAVING", 0, 0), source.tokens[:-1]))


def _gaps(given: Length | None) -> Gaps | None:
    """A length, or a number of events as text: "3 events"."""
    if given is None:
        return None
    counted = _EVENTS.fullmatch(given.strip()) if isinstance(given, str) else None
    length = int(counted[1]) if counted is not None else _length(given)
    assert length is not None
    return checked_gaps(length)


_EVENTS = re.compile(r"([0-9]{1,9})\s*events?", re.IGNORECASE)


def _read_pattern(texts: tuple[str, ...]) -> Pattern | None:
    if not texts:
        return None
    whole = Pattern(_place(" AND ".join(texts)))
    for text in texts:
        source = Source.of(text)
        part = read_pattern(source, Clause("PATTERN", Token(Kind.WORD, "PATTERN", 0, 0), source.tokens[:-1]))
        whole.add(part)
        whole.groups += part.groups
    return whole


def _return_text(name: str, text: str) -> ReturnText:
    source = Source.of(text)
    return ReturnText(source, source.tokens[:-1], name, _place(f"{text} AS {quote(name)}"))
