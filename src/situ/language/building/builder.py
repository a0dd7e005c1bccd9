"""Queries without text: `events("cars").define(A, col("speed") > 70).pattern(A.overlaps(B)).query()`.

Every part ends in the same readers and checks as query text, so the result equals the parsed query.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from situ.errors import (
    DurationBoundsError,
    IntervalQueryError,
    QuerySyntaxError,
    SourceError,
)
from situ.language.building.constraints import Constraint, no
from situ.language.building.lengths import Length, length
from situ.language.building.symbols import SymbolName, symbols
from situ.language.building.texts import Condition, condition_of, place_of, source_text, text_of
from situ.language.building.values import Value, call, check_name, col, sql
from situ.language.situations.ast import Gaps, IntervalSource, Query
from situ.language.situations.checks import assemble
from situ.language.situations.define import defined
from situ.language.situations.draft import Definition, Draft, Pattern, ReturnText
from situ.language.situations.gaps import checked_gaps
from situ.language.situations.having import having_phrase
from situ.language.situations.pattern import pattern as read_pattern
from situ.language.situations.sources import Named, Origins, place_sources
from situ.language.text.clauses import Clause
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration
from situ.language.text.places import Phrase
from situ.language.text.rowchecks import check_durations
from situ.language.text.sql import Scope
from situ.language.text.tokens import Kind, Source, Token
from situ.language.text.words import quote

__all__ = ["Builder", "call", "col", "events", "intervals", "no", "sql", "symbols"]

Columns = str | Mapping[str, str]  # one name for all sources, or a name for each by what it is called


class _Definition(NamedTuple):
    name: str
    condition: str
    at_least: Duration | None
    at_most: Duration | None
    ignoring: Gaps | None
    on: str | None


@dataclass(frozen=True)
class Builder:
    """An unfinished query; every method returns a new one, `query()` checks and finishes it."""

    _source: str
    _intervals: IntervalSource | None = None
    _where: str | None = None
    _order_by: tuple[Columns, ...] = ()
    _partition_by: tuple[Columns, ...] = ()
    _definitions: tuple[_Definition, ...] = ()
    _pattern: tuple[str, ...] = ()
    _within: Duration | None = None
    _emit: Literal["EARLY", "FINAL"] = "EARLY"
    _returns: tuple[tuple[str, str], ...] = field(default=())
    _having: str | None = None
    _sources: tuple[Named, ...] = ()

    def where(self, condition: Condition) -> Builder:
        """Only rows that satisfy the condition are events at all."""
        return replace(self, _where=text_of(condition))

    def order_by(self, time: Columns, *ties: Columns) -> Builder:
        """The time column, and columns that decide between rows of equal time.

        Where sources call it differently: `order_by({"w": "observed", "f": "departed"})`.
        """
        return replace(self, _order_by=tuple(map(_checked_columns, (time, *ties))))

    def partition_by(self, *columns: Columns) -> Builder:
        """Match within each combination of values of these columns; names by source as in `order_by`."""
        return replace(self, _partition_by=tuple(map(_checked_columns, columns)))

    def define(
        self,
        symbol: str | SymbolName,
        condition: Condition,
        *,
        at_least: Length | None = None,
        at_most: Length | None = None,
        ignoring_gaps: Length | None = None,
        on: str | None = None,
    ) -> Builder:
        """A symbol stands for every maximal run of rows that satisfy the condition and last this long.

        `ignoring_gaps` is how long an interruption may be that does not end it, or "3 events". The condition
        "SILENCE" stands for the time without any row. `on` names the symbol's source where there are several
        and its columns do not tell.
        """
        low, high = _length(at_least), _length(at_most)
        if low and high and low.has_unit == high.has_unit and low.value > high.value:
            raise DurationBoundsError(
                f"the bounds are the wrong way round: {duration_text(low)} is longer than "
                f"{duration_text(high)}"
            )
        entry = _Definition(str(symbol), text_of(condition), low, high, _gaps(ignoring_gaps), on)
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
        listed = tuple((name, text_of(item)) for name, item in items.items())
        return replace(self, _returns=(*self._returns, *listed))

    def having(self, condition: Condition) -> Builder:
        """Report only matches for which this is true: `having(A.first("x") == B.first("x"))`."""
        return replace(self, _having=text_of(condition))

    def query(self) -> Query:
        """Check everything and make the query, equal to the one its text would make."""
        place = place_of(self._source)
        origins = Origins(self._sources) if self._sources else None
        if origins is None:
            parts = tuple(token.value.lower() for token in place.source.tokens[:-1:2])
            scope = Scope(frozenset(parts[start:] for start in range(len(parts))))
        else:
            scope = origins.scope
            origins.with_columns(*_clause("ORDER BY", self._order_by))
            origins.with_columns(*_clause("PARTITION BY", self._partition_by))
        draft = Draft(
            place=place,
            source=self._source,
            scope=scope,
            is_intervals=self._intervals is not None,
            intervals=self._intervals,
            where=None if self._where is None else condition_of(self._where, scope, "the condition of WHERE"),
            where_written=None if self._where is None else _phrase(self._where),
            order_by=() if origins else _names(self._order_by),
            partition_by=() if origins else _names(self._partition_by),
            definitions=[_definition(entry, scope) for entry in self._definitions],
            pattern=_read_pattern(self._pattern),
            within=self._within,
            within_place=None if self._within is None else place_of(f"WITHIN {duration_text(self._within)}"),
            emit=self._emit,
            returns=[_return_text(name, text) for name, text in self._returns] or None,
            having=None if self._having is None else _having(self._having),
        )
        if draft.intervals is not None and draft.intervals.symbol_by is not None and draft.definitions:
            raise IntervalQueryError("symbols come either from the column of symbol_by or from define()")
        place_sources(draft, origins)
        return assemble(draft)


def events(*sources: str, **named: str) -> Builder:
    """Begin a query over a table or stream of events, or over several: `events(w="weather", f="flights")`."""
    entries = [_named(source, None) for source in sources]
    entries += [_named(source, alias) for alias, source in named.items()]
    if not entries:
        raise QuerySyntaxError("the name of the events is missing", hint='write events("cars")')
    if len(entries) == 1 and not named:
        return Builder(entries[0].text)
    if len(entries) == 1:
        raise SourceError(
            "another name is for one of several sources", hint=f'write events("{entries[0].text}")'
        )
    return Builder(", ".join(entry.text for entry in entries), _sources=tuple(entries))


def intervals(
    source: str, *, starting: str, ending: str, symbol_by: str | None = None, id_by: str | None = None
) -> Builder:
    """Begin a query over a table or stream whose rows are whole intervals (SEM 6)."""
    return Builder(source_text(source), IntervalSource(starting, ending, symbol_by, id_by))


def _named(source: str, alias: str | None) -> Named:
    text = source_text(source)
    parts = tuple(token.value for token in Source.of(text).tokens[:-1:2])
    return Named(text, parts, alias, place_of(text if alias is None else f"{text} AS {quote(alias)}"))


def _checked_columns(given: Columns) -> Columns:
    if isinstance(given, Mapping):
        return {check_name(alias): check_name(name) for alias, name in given.items()}
    return check_name(given)


def _names(columns: Sequence[Columns]) -> tuple[str, ...]:
    """The columns of a query with one source."""
    for column in columns:
        if not isinstance(column, str):
            raise SourceError("columns by source are for several sources", hint="give the name alone")
    return tuple(map(str, columns))


def _clause(name: str, columns: Sequence[Columns]) -> tuple[Source, Clause | None]:
    """The columns of several sources as the text of a clause."""
    entries = [
        quote(column)
        if isinstance(column, str)
        else " = ".join(f"{quote(alias)}.{quote(own)}" for alias, own in column.items())
        for column in columns
    ]
    source = Source.of(", ".join(entries))
    keyword = Token(Kind.WORD, name, 0, 0)
    return source, Clause(name, keyword, source.tokens[:-1]) if entries else None


def _length(given: Length | None) -> Duration | None:
    return None if given is None else length(given)


def _phrase(text: str) -> Phrase:
    source = Source.of(text)
    return Phrase(source, source.tokens[:-1])


def _definition(entry: _Definition, scope: Scope) -> Definition:
    source = Source.of(entry.condition)
    tokens: Sequence[Token] = source.tokens[:-1]
    check_durations(source, tokens)
    given = (entry.at_least, entry.at_most)
    symbol, condition = defined(source, entry.name, tokens, scope, after=source.tokens[-1], given=given)
    symbol = replace(symbol, on=entry.on)
    if entry.ignoring is not None:
        symbol = replace(symbol, ignoring=entry.ignoring)
    place = place_of(f"{quote(entry.name)} AS {entry.condition}")
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
    whole = Pattern(place_of(" AND ".join(texts)))
    for text in texts:
        source = Source.of(text)
        part = read_pattern(source, Clause("PATTERN", Token(Kind.WORD, "PATTERN", 0, 0), source.tokens[:-1]))
        whole.add(part)
        whole.groups += part.groups
    return whole


def _return_text(name: str, text: str) -> ReturnText:
    source = Source.of(text)
    return ReturnText(source, source.tokens[:-1], name, place_of(f"{text} AS {quote(name)}"))
