"""Row patterns without text: `rows("trades").order_by("ts").pattern(A, B.one_or_more()).query()`.

Every part ends in the same readers and checks as query text, so the result equals the parsed query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from situ.errors import QuerySyntaxError, Span
from situ.language.building.lengths import Length, length
from situ.language.building.parts import Part, VariableName, seq
from situ.language.building.texts import Condition, place_of, source_text, text_of
from situ.language.building.values import check_name
from situ.language.rows.ast import OrderColumn, RowQuery, Skip
from situ.language.rows.checks import assemble
from situ.language.rows.draft import DefinitionText, Draft, MeasureText, Mention, PatternText, SubsetText
from situ.language.rows.header import where_condition
from situ.language.rows.pattern import read_pattern
from situ.language.text.durations import duration_text
from situ.language.text.nesting import bracket_depths
from situ.language.text.nodes import Duration, Expression
from situ.language.text.places import Phrase, Place
from situ.language.text.sql import Scope
from situ.language.text.tokens import Kind, Source, Token
from situ.language.text.words import quote

_STRATEGIES: dict[str, Literal["contiguous", "next", "any"]] = {
    "contiguous": "contiguous",
    "skip till next": "next",
    "skip till any": "any",
}


@dataclass(frozen=True)
class RowBuilder:
    """An unfinished row pattern; every method returns a new one, `query()` checks and finishes it."""

    _source: str
    _where: str | None = None
    _partition_by: tuple[str, ...] = ()
    _order_by: tuple[OrderColumn, ...] = ()
    _measures: tuple[tuple[str, str], ...] = ()
    _rows: Literal["one", "all"] = "one"
    _empty: Literal["show", "omit", "unmatched"] = "show"
    _skip: Skip | None = None
    _strategy: Literal["contiguous", "next", "any"] = "contiguous"
    _mode: Literal["maximal", "incremental"] | None = None
    _pattern: str | None = None
    _within: Duration | None = None
    _subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    _definitions: tuple[tuple[str, str], ...] = ()
    _alias: str | None = None

    def where(self, condition: Condition) -> RowBuilder:
        """Rows for which the condition is not true are no rows at all."""
        return replace(self, _where=text_of(condition))

    def partition_by(self, *columns: str) -> RowBuilder:
        """Match within each combination of values of these columns."""
        return replace(self, _partition_by=tuple(map(check_name, columns)))

    def order_by(self, *columns: str | OrderColumn) -> RowBuilder:
        """The time column, and others; `descending("price")` the other way round."""
        return replace(self, _order_by=tuple(map(_order, columns)))

    def measures(self, **items: Condition) -> RowBuilder:
        """Output columns by name: `measures(bottom=DOWN.last("price"), n="count(*)")`."""
        listed = tuple((name, text_of(item)) for name, item in items.items())
        return replace(self, _measures=(*self._measures, *listed))

    def all_rows(self, empty: Literal["show", "omit"] = "show", *, unmatched: bool = False) -> RowBuilder:
        """ALL ROWS PER MATCH instead of one; with `unmatched` also those that are in no match."""
        if empty not in ("show", "omit") or (unmatched and empty == "omit"):
            raise QuerySyntaxError(
                f"empty matches are shown or omitted, not {empty!r}",
                hint='write all_rows(), all_rows("omit") or all_rows(unmatched=True)',
            )
        return replace(self, _rows="all", _empty="unmatched" if unmatched else empty)

    def skip_past_last_row(self) -> RowBuilder:
        """After a match go on behind its last row, which is the default."""
        return replace(self, _skip=Skip("past last row"))

    def skip_to_next_row(self) -> RowBuilder:
        """After a match go on behind its first row."""
        return replace(self, _skip=Skip("next row"))

    def skip_to_first(self, variable: str | VariableName) -> RowBuilder:
        """After a match go on at the first row of a variable."""
        return replace(self, _skip=Skip("first", _name(variable)))

    def skip_to_last(self, variable: str | VariableName) -> RowBuilder:
        """After a match go on at the last row of a variable."""
        return replace(self, _skip=Skip("last", _name(variable)))

    def strategy(self, name: Literal["contiguous", "skip till next", "skip till any"]) -> RowBuilder:
        """Whether rows between those of a match may be left out, and which."""
        if name not in _STRATEGIES:
            raise QuerySyntaxError(
                f"there is no strategy {name!r}", hint=f"the strategies are {', '.join(_STRATEGIES)}"
            )
        return replace(self, _strategy=_STRATEGIES[name])

    def maximal(self) -> RowBuilder:
        """MAXIMAL MATCH: of each first row the match with the latest last row."""
        return replace(self, _mode="maximal")

    def incremental(self) -> RowBuilder:
        """INCREMENTAL MATCH: of each last row the match with the earliest first row."""
        return replace(self, _mode="incremental")

    def pattern(self, *parts: Part | str) -> RowBuilder:
        """The parts one after the other, or text: `pattern(A, B.one_or_more())`, `pattern("A B+")`."""
        if len(parts) == 1 and isinstance(parts[0], str):
            return replace(self, _pattern=parts[0])
        return replace(self, _pattern=str(seq(*parts)))

    def within(self, window: Length) -> RowBuilder:
        """How long a match may take, from its first row to its last."""
        return replace(self, _within=length(window))

    def subset(self, name: str | VariableName, *members: str | VariableName) -> RowBuilder:
        """A name for the rows of several variables."""
        return replace(self, _subsets=(*self._subsets, (_name(name), tuple(map(_name, members)))))

    def define(self, variable: str | VariableName, condition: Condition) -> RowBuilder:
        """What holds of each row of a variable; nothing need hold of one that is not defined."""
        return replace(self, _definitions=(*self._definitions, (_name(variable), text_of(condition))))

    def as_(self, alias: str) -> RowBuilder:
        """A name for the result."""
        return replace(self, _alias=check_name(alias))

    def query(self) -> RowQuery:
        """Check everything and make the query, equal to the one its text would make."""
        place = place_of(self._source)
        if self._pattern is None:
            raise QuerySyntaxError("pattern() is missing", hint="say which rows follow each other")
        if not self._order_by:
            raise QuerySyntaxError("order_by() is missing", hint="without it no row follows another")
        parts = tuple(token.value.lower() for token in place.source.tokens[:-1:2])
        scope = Scope(frozenset(parts[start:] for start in range(len(parts))))
        return assemble(
            Draft(
                place=place,
                source=self._source,
                scope=scope,
                order_by=self._order_by,
                pattern=_read_pattern(self._pattern),
                partition_by=self._partition_by,
                measures=[_measure(name, text) for name, text in self._measures],
                definitions=[
                    DefinitionText(_mention(name), _phrase(text)) for name, text in self._definitions
                ],
                subsets=[
                    SubsetText(_mention(name), list(map(_mention, members)))
                    for name, members in self._subsets
                ],
                rows=self._rows,
                empty=self._empty,
                skip=self._skip or Skip(),
                skip_place=None if self._skip is None else place_of(f"SKIP TO {self._skip.to.upper()}"),
                strategy=self._strategy,
                mode=self._mode,
                within=self._within,
                within_place=None if self._within is None else place_of(duration_text(self._within)),
                where=None if self._where is None else _where(self._where, scope),
                alias=self._alias,
            )
        )


def rows(source: str) -> RowBuilder:
    """Begin a row pattern over a table or stream."""
    return RowBuilder(source_text(source))


def descending(column: str, *, nulls_first: bool = False) -> OrderColumn:
    """A column of ORDER BY from the largest value to the smallest."""
    return OrderColumn(check_name(column), is_descending=True, nulls_last=not nulls_first)


def ascending(column: str, *, nulls_last: bool = False) -> OrderColumn:
    """A column of ORDER BY from the smallest value to the largest; said for the sake of `nulls_last`."""
    return OrderColumn(check_name(column), nulls_last=nulls_last)


def _order(given: str | OrderColumn) -> OrderColumn:
    return given if isinstance(given, OrderColumn) else ascending(given)


def _name(given: str | VariableName) -> str:
    return given.name if isinstance(given, VariableName) else VariableName(given).name


def _mention(name: str) -> Mention:
    return Mention(name, place_of(quote(name)))


def _phrase(text: str) -> Phrase:
    source = Source.of(text)
    bracket_depths(source)
    tokens: Sequence[Token] = source.tokens[:-1]
    if not tokens:
        raise source.error(QuerySyntaxError, "an expression is missing", Span(0, 0))
    return Phrase(source, tokens)


def _where(text: str, scope: Scope) -> Expression:
    source, tokens = _phrase(text)
    return where_condition(source, tokens, scope, after=tokens[-1])


def _measure(name: str, text: str) -> MeasureText:
    return MeasureText(name, place_of(f"{text} AS {quote(name)}"), _phrase(text))


def _read_pattern(text: str) -> PatternText:
    source = Source.of(f"({text})")
    bracket_depths(source)
    keyword = Token(Kind.WORD, "PATTERN", 0, 0)
    found = read_pattern(source, source.tokens[:-1], keyword)
    found.place = Place(source, Span(0, len(source.text)))
    return found
