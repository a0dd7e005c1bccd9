"""`dip AS MATCH_RECOGNIZE ( ... )`: a symbol whose situations are matches of a row pattern (SEM 17)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import AbsenceError, IntervalQueryError, QuerySyntaxError
from situ.language.rows.ast import RowQuery
from situ.language.rows.parser import pattern_inside
from situ.language.rows.printer import inside_text
from situ.language.situations.ast import Symbol
from situ.language.situations.draft import Definition, Pattern
from situ.language.text.nesting import bracket_depths, closing
from situ.language.text.sql import Scope
from situ.language.text.tokens import Source, Token, describe
from situ.language.text.words import quote

_KEYWORD = "MATCH_RECOGNIZE"


def is_row_pattern(tokens: Sequence[Token]) -> bool:
    """Whether a definition is a row pattern; a function of that name there is not."""
    return len(tokens) > 1 and tokens[0].is_word(_KEYWORD) and tokens[1].is_sign("(")


def row_pattern(
    source: Source, tokens: Sequence[Token], scope: Scope
) -> tuple[RowQuery, tuple[Token, Sequence[Token]]]:
    """The pattern; its keyword, and the tokens behind it, in which only a length may stand."""
    bracket_depths(source)  # a text of its own, without a query around it, has not been looked at
    end = closing(tokens, 1)
    return pattern_inside(source, tokens[2:end], tokens[0], scope), (tokens[0], tokens[end + 1 :])


def check_behind(source: Source, tokens: Sequence[Token]) -> None:
    """Refuse what is left behind a row pattern once its length has been read."""
    if tokens:
        raise source.error(
            QuerySyntaxError,
            f"a row pattern ends before {describe(tokens[0])}",
            tokens[0],
            hint="behind it only a length may stand, as in AT LEAST 5 minutes; conditions go inside",
        )


def row_pattern_text(rows: RowQuery, source: str) -> str:
    """How it is written in a query over `source`, a line for each clause."""
    return f"{_KEYWORD} (\n{inside_text(rows, source)})"


def check_row_patterns(definitions: Sequence[Definition], *, is_intervals: bool) -> None:
    """Refuse row patterns where they mean nothing (SEM 17.6)."""
    for symbol, place, _ in definitions:
        if symbol.rows is None:
            continue
        if is_intervals:
            raise place.error(
                IntervalQueryError,
                f"{_KEYWORD} asks for rows that follow each other, and intervals have none",
                hint="match the events themselves: FROM without INTERVALS",
            )
        if symbol.ignoring is not None:
            raise place.error(
                QuerySyntaxError,
                f"{symbol.name} is a row pattern, and IGNORING GAPS is for conditions",
                hint="say in PATTERN which rows may lie between",
            )


def check_present(symbols: Sequence[Symbol], pattern: Pattern, absent: Sequence[str]) -> None:
    """Refuse NO groups of row patterns (SEM 17.6)."""
    patterns = {symbol.name for symbol in symbols if symbol.rows is not None}
    for name, group in zip(absent, pattern.groups, strict=True):
        if name in patterns:
            raise group.place.error(
                AbsenceError,
                f"{name} is a row pattern, and cannot be asked to be absent",
                hint=f"define {quote(name)} by a condition, or match its rows in a query of its own",
            )
