"""Expressions of DEFINE and MEASURES: what they read of a match becomes items (ROW 2.4, 3).

Navigations, aggregates, CLASSIFIER, MATCH_NUMBER and columns are read out of the tokens; what is left is a
Spark SQL expression over columns `_item_<i>`. (sqlglot would drop the offset of `LAST(x, 2)`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from situ.errors import NavigationError, QueryError, QuerySyntaxError
from situ.language.rows.aggregates import aggregate
from situ.language.rows.ast import CLASSIFIER_COLUMN, Item, MatchNumber, Navigation
from situ.language.rows.onerow import (
    LOGICAL,
    NAVIGATIONS,
    PHYSICAL,
    Names,
    OneRow,
    called,
    classified,
    column_token,
    is_reference,
)
from situ.language.rows.refused import check_behind, check_written
from situ.language.text.clauses import split_commas
from situ.language.text.nesting import check_nesting, closing
from situ.language.text.nodes import Expression
from situ.language.text.places import Phrase
from situ.language.text.rowchecks import check_calls, check_numbers, check_order
from situ.language.text.sql import finish, lambda_names, paths
from situ.language.text.tokens import Kind, Source, Token, describe, span_of
from situ.language.text.words import KEYWORDS

_MOST_DIGITS = 9
_CLASSIFIER = Expression(CLASSIFIER_COLUMN, (CLASSIFIER_COLUMN,))


class ItemReader:
    """Reads expressions and collects their items, equal ones once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.items: dict[Item, int] = {}

    def read(self, phrase: Phrase, clause: Literal["DEFINE", "MEASURES"], what: str) -> Expression:
        """An expression over columns `_item_<i>`; `what` names it in errors."""
        source, tokens = phrase
        check_nesting(source, tokens)
        check_written(source, tokens, what)
        replaced = self._replaced(_Reading(self.names, source, clause, what), tokens)
        check_numbers(source, replaced)
        check_calls(source, replaced, what)
        check_order(source, replaced, what)
        return finish(source, tokens, replaced, what)

    def _replaced(self, reading: _Reading, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with a column in place of each item."""
        starts, lambdas = dict(paths(tokens)), lambda_names(tokens)
        result: list[Token] = []
        position = 0
        while position < len(tokens):
            last = starts.get(position, position)
            found = reading.item(tokens, position)
            if found is None and position in starts and is_reference(tokens, position, last, lambdas):
                found = reading.column(tokens, position, last), last
            if found is not None:
                item, last = found
                column = f"_item_{self.items.setdefault(item, len(self.items))}"
                result.append(column_token(column, tokens[position : last + 1]))
            else:
                result.extend(tokens[position : last + 1])
            position = last + 1
        return result


class _Reading:
    """What the items of one expression are."""

    def __init__(self, names: Names, source: Source, clause: str, what: str) -> None:
        self.names, self.source, self.clause, self.what = names, source, clause, what

    def column(self, tokens: Sequence[Token], first: int, last: int) -> Navigation:
        """`x` or `X.x`, which is LAST of it."""
        row = OneRow(self.source, self.names, "LAST", self.what)
        row.check_star(tokens, last)
        expression = row.expression(tokens[first : last + 1])
        return Navigation(expression, row.variable)

    def item(self, tokens: Sequence[Token], position: int) -> tuple[Item, int] | None:
        """The item that is called here and the last of its tokens, None where none is."""
        frame = self._frame(tokens, position)
        begin = position if frame is None else position + 1
        name = called(tokens, begin)
        if frame is not None and name in (None, "classifier", "match_number"):
            raise self._nothing_framed(frame, tokens[begin])
        if name is None:
            return None
        is_final = frame is not None and frame.is_word("FINAL")
        if name in NAVIGATIONS or name in ("classifier", "match_number"):
            last = closing(tokens, begin + 1)
            item = self._read_of_a_row(name, tokens[begin : last + 1], is_final=is_final)
        else:
            row = OneRow(self.source, self.names, name, self.what)
            item, last = aggregate(row, tokens, begin, is_final=is_final, clause=self.clause)
        check_behind(self.source, tokens, last + 1, name)
        return item, last

    def _frame(self, tokens: Sequence[Token], position: int) -> Token | None:
        """RUNNING or FINAL: followed by what it is about, else it is a column of that name."""
        token, after = tokens[position], tokens[position + 1] if position + 1 < len(tokens) else None
        if (
            not token.is_word("RUNNING", "FINAL")
            or after is None
            or not after.is_name
            or after.is_in(KEYWORDS)
        ):
            return None
        if (position and tokens[position - 1].is_sign(".")) or after.is_word("COLLATE"):
            return None
        if token.is_word("FINAL") and self.clause == "DEFINE":
            raise self.source.error(
                NavigationError,
                f"{self.what} uses FINAL, but the match is not finished while a condition is tested",
                token,
                hint="leave FINAL out: conditions see the rows up to the current one",
            )
        return token

    def _nothing_framed(self, frame: Token, found: Token) -> QueryError:
        word, of = frame.value.upper(), "CLASSIFIER()" if found.is_word("CLASSIFIER") else "A.price"
        return self.source.error(
            NavigationError,
            f"{word} stands before FIRST, LAST, PREV, NEXT or an aggregate, found {describe(found)}",
            found,
            hint=f"write {word} LAST({of})",
        )

    # -- navigation

    def _read_of_a_row(self, name: str, tokens: Sequence[Token], *, is_final: bool) -> Item:
        """`tokens` are those of the whole call."""
        if name == "classifier":
            return Navigation(_CLASSIFIER, classified(self.source, self.names, tokens))
        inside = tokens[2:-1]
        if name == "match_number":
            if inside:
                raise self.source.error(QuerySyntaxError, "MATCH_NUMBER takes nothing", span_of(inside))
            return MatchNumber()
        of, *others = split_commas(inside)
        if not of:
            raise self.source.error(
                QuerySyntaxError,
                f"say what {name.upper()} is of",
                span_of(tokens),
                hint=f"write {name.upper()}(A.price)",
            )
        number = self._number(name, tokens, others)
        if name in PHYSICAL:
            shift = (1 if number is None else number) * (-1 if name == "prev" else 1)
            inner = self._logical(of) or self._plain(name, of)
            if is_final and inner.is_final:
                raise self.source.error(QuerySyntaxError, "FINAL is said twice", span_of(tokens))
            return replace(inner, shift=shift, is_final=is_final or inner.is_final)
        plain = self._plain(name, of)
        return replace(plain, is_first=name == "first", offset=number or 0, is_final=is_final)

    def _plain(self, name: str, of: Sequence[Token]) -> Navigation:
        row = OneRow(self.source, self.names, name.upper(), self.what)
        return Navigation(row.expression(of), row.variable)

    def _logical(self, of: Sequence[Token]) -> Navigation | None:
        """FIRST or LAST, where it is all that PREV or NEXT is of."""
        begin = 1 if of[0].is_word("RUNNING", "FINAL") else 0
        if called(of, begin) not in LOGICAL or closing(of, begin + 1) != len(of) - 1:
            return None
        found = self.item(of, 0)
        assert found is not None
        assert isinstance(found[0], Navigation)
        return found[0]

    def _number(self, name: str, tokens: Sequence[Token], others: Sequence[Sequence[Token]]) -> int | None:
        """How many rows: a constant (ROW 3.1, 3.2)."""
        if not others:
            return None
        written = self.source.text[tokens[0].start : tokens[-1].end]
        if len(others) > 1:
            kept = self.source.text[tokens[0].start : others[0][-1].end] if others[0] else written
            value = self.source.text[others[1][0].start : others[1][-1].end] if others[1] else "0"
            raise self.source.error(
                QuerySyntaxError,
                f"{name.upper()} takes an expression and a number of rows, found {len(others) + 1} arguments",
                span_of(others[1] or tokens),
                hint=f"a value for where there is no such row: coalesce({kept}), {value})",
            )
        number = others[0]
        is_number = len(number) == 1 and number[0].kind is Kind.NUMBER and number[0].value.isdecimal()
        if is_number and len(number[0].value) <= _MOST_DIGITS:
            return int(number[0].value)
        is_negative = len(number) == 2 and number[0].is_sign("-")
        other = {"prev": "NEXT", "next": "PREV", "first": "LAST", "last": "FIRST"}[name]
        raise self.source.error(
            QuerySyntaxError,
            f"the number of rows in {name.upper()} is a whole number from 0 on, known before any data",
            span_of(number or tokens),
            hint=f"in the other direction it is {other}"
            if is_negative
            else f"write {name.upper()}(A.price, 2)",
        )
