"""What stands around MATCH_RECOGNIZE ( ... ): the source, and the alias of the result (ROW 1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from situ.errors import ForeignClauseError, NavigationError, QueryError, QuerySyntaxError
from situ.language.rows.onerow import called
from situ.language.text.columns import dotted
from situ.language.text.nesting import bracket_depths, closing
from situ.language.text.nodes import Expression
from situ.language.text.render import ends_operand
from situ.language.text.sql import Scope, expression
from situ.language.text.tokens import Source, Token, describe, did_you_mean, span_of
from situ.language.text.words import CLAUSE_WORDS, CLAUSES_WITH_BY, quote

_SQL = "around row patterns other SQL is for situ.sql"
_FILTER = "FROM (SELECT * FROM t WHERE x > 5) MATCH_RECOGNIZE ( ... )"
_JOINS = ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL")
_SELECT_CLAUSES = (
    "WHERE",
    "GROUP",
    "ORDER",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "QUALIFY",
)


class Header(NamedTuple):
    """The source and the alias, and the tokens of the clauses between them."""

    name: str
    scope: Scope
    where: Expression | None
    keyword: Token
    inside: Sequence[Token]
    alias: str | None


def keyword_position(tokens: Sequence[Token]) -> int | None:
    """Where MATCH_RECOGNIZE makes the text a row pattern: behind a source, so not behind AS."""
    for position in range(1, len(tokens) - 1):
        before, token, after = tokens[position - 1 : position + 2]
        if not token.is_word("MATCH_RECOGNIZE") or before.is_word("AS"):
            continue
        if after.is_sign("(") or ends_operand(before):
            return position
    return None


def check_no_row_pattern(source: Source) -> None:
    """Refuse MATCH_RECOGNIZE misspelt, and row patterns in the WINDOW clause, which do without (ROW 7.5)."""
    tokens = source.tokens
    is_select = tokens[0].is_word("SELECT", "WITH")
    for position, token in enumerate(tokens[:-1]):
        if not token.is_name or not tokens[position + 1].is_sign("(") or position == 0:
            continue
        if token.value.upper().startswith("MATCH") and not token.is_word("MATCH_RECOGNIZE"):
            hint = did_you_mean(token.value, ["MATCH_RECOGNIZE"], cutoff=0.8)
            if hint is not None:
                raise source.expected("a clause", token, hint=hint)
        if is_select and token.is_word("PATTERN"):
            raise source.error(
                ForeignClauseError,
                "row patterns in the WINDOW clause (R020) are not supported",
                token,
                hint="write FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES ... PATTERN ( ... ) DEFINE ...)",
            )


def read_header(source: Source) -> Header:
    """Take the text apart at MATCH_RECOGNIZE."""
    tokens = source.tokens
    depths = bracket_depths(source)
    at = keyword_position(tokens)
    assert at is not None
    if depths[at]:
        raise source.error(
            ForeignClauseError,
            "MATCH_RECOGNIZE stands inside of parentheses",
            tokens[at],
            hint=f"a query is FROM source MATCH_RECOGNIZE ( ... ); {_SQL}",
        )
    if not tokens[at + 1].is_sign("("):
        raise source.expected(
            "( behind MATCH_RECOGNIZE",
            tokens[at + 1],
            hint="all clauses stand in parentheses: MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B+) ...)",
        )
    end = closing(tokens, at + 1)
    name, scope, where = _source(source, _behind_from(source, tokens[:at]), tokens[at])
    alias = _alias_behind(source, tokens[end + 1 : -1])
    return Header(name, scope, where, tokens[at], tokens[at + 2 : end], alias)


def _behind_from(source: Source, tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens of the source, without [SELECT *] FROM."""
    if not tokens[0].is_word("SELECT", "FROM"):
        raise source.error(
            QuerySyntaxError,
            f"a row pattern begins with FROM, found {describe(tokens[0])}",
            tokens[0],
            hint="write FROM cars MATCH_RECOGNIZE ( ... )",
        )
    if tokens[0].is_word("SELECT"):
        if len(tokens) < 3 or not tokens[1].is_sign("*") or not tokens[2].is_word("FROM"):
            raise source.error(
                ForeignClauseError,
                f"SELECT is followed by * and FROM here, found {describe(tokens[min(1, len(tokens) - 1)])}",
                tokens[min(1, len(tokens) - 1)],
                hint=f"list the output columns in MEASURES, as in MEASURES LAST(B.price) AS price; {_SQL}",
            )
        tokens = tokens[2:]
    return tokens


def _source(source: Source, tokens: Sequence[Token], keyword: Token) -> tuple[str, Scope, Expression | None]:
    """The name, what columns may be qualified with, and WHERE; the first of the tokens is FROM."""
    if len(tokens) == 1:
        raise source.error(QuerySyntaxError, "the name of the events is missing after FROM", tokens[0])
    if not tokens[1].is_sign("("):
        name, qualifiers = _named(source, tokens[1:], "MATCH_RECOGNIZE")
        return name, Scope(qualifiers), None
    end = closing(tokens, 1)
    inside = tokens[2:end]
    if len(inside) < 4 or not (
        inside[0].is_word("SELECT") and inside[1].is_sign("*") and inside[2].is_word("FROM")
    ):
        raise source.error(
            ForeignClauseError,
            "the source in parentheses is SELECT * FROM a name, and WHERE",
            span_of(tokens[1 : end + 1]),
            hint=f"write {_FILTER}; {_SQL}",
        )
    at = next((place for place, token in enumerate(inside) if token.is_word("WHERE")), len(inside))
    name, qualifiers = _named(source, inside[3:at], "WHERE")
    where = None
    if at < len(inside):
        where = where_condition(source, inside[at + 1 :], Scope(qualifiers), after=inside[at])
    if tokens[end + 1 :]:
        qualifiers |= {(_alias(source, tokens[end + 1 :], "MATCH_RECOGNIZE").value.lower(),)}
    return name, Scope(qualifiers), where


def where_condition(source: Source, tokens: Sequence[Token], scope: Scope, *, after: Token) -> Expression:
    """The condition of WHERE, which sees one row and no match."""
    what = "the condition of WHERE"
    for position, token in enumerate(tokens):
        if called(tokens, position) is not None:
            raise source.error(
                NavigationError,
                f"{what} calls {token.value}, but it chooses rows before they are matched",
                token,
                hint="say it in DEFINE, whose conditions see the other rows",
            )
    return expression(source, tokens, scope, what=what, after=after)


def _named(source: Source, tokens: Sequence[Token], clause: str) -> tuple[str, frozenset[tuple[str, ...]]]:
    """A name with its alias, as text and as what columns may be qualified with."""
    parts, rest = dotted(source, tokens)
    qualifiers = {tuple(part.lower() for part in parts[start:]) for start in range(len(parts))}
    if rest:
        qualifiers.add((_alias(source, rest, clause).value.lower(),))
    return ".".join(map(quote, parts)), frozenset(qualifiers)


def _alias(source: Source, tokens: Sequence[Token], clause: str) -> Token:
    found = tokens[0]
    if found.is_sign(",") or found.is_word(*_JOINS):
        raise source.error(
            ForeignClauseError,
            f"a row pattern has one source, found {describe(found)}",
            found,
            hint=f"join the tables before they are matched; {_SQL}",
        )
    _check_situations(source, tokens)
    if found.is_word("WHERE"):
        raise source.error(
            ForeignClauseError,
            "WHERE stands in parentheses with the source",
            found,
            hint=f"write {_FILTER}; {_SQL}",
        )
    given = tokens[1:] if found.is_word("AS") else tokens
    if not given or not given[0].is_name:
        raise source.expected(f"{clause} after the name of the events", given[0] if given else found)
    if len(given) > 1:
        _check_situations(source, given[1:])
        raise source.expected(f"{clause} after the name of the events", given[1])
    return given[0]


def _check_situations(source: Source, tokens: Sequence[Token]) -> None:
    """A clause of situations beside MATCH_RECOGNIZE."""
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        is_by = after is not None and after.is_word("BY") and token.is_in(CLAUSES_WITH_BY)
        if (token.is_in(CLAUSE_WORDS) and not token.is_word("WHERE", "HAVING")) or is_by:
            word = f"{token.value.upper()} BY" if is_by else token.value.upper()
            raise two_kinds(source, token, word)


def two_kinds(source: Source, token: Token, word: str) -> QueryError:
    """The error for a clause of situations in a row pattern."""
    return source.error(
        ForeignClauseError,
        f"{word} outside of MATCH_RECOGNIZE ( ... ) is a clause of situations, "
        "and MATCH_RECOGNIZE makes this a row pattern",
        token,
        hint="all clauses of a row pattern but FROM stand in its parentheses; "
        "without MATCH_RECOGNIZE a query with DEFINE is one of situations",
    )


def _alias_behind(source: Source, tokens: Sequence[Token]) -> str | None:
    """The alias of the result: what stands behind the closing parenthesis."""
    if tokens and tokens[-1].is_sign(";"):
        tokens = tokens[:-1]
    if not tokens:
        return None
    given = tokens[1:] if tokens[0].is_word("AS") else tokens
    for token in (tokens[0], *tokens[1:2], *tokens[2:3]):
        if token.is_sign(",") or token.is_word(*_JOINS, *_SELECT_CLAUSES):
            raise _foreign_behind(source, token)
    _check_situations(source, tokens)
    if not given or not given[0].is_name or len(given) > 1:
        found = given[1] if len(given) > 1 else (given or tokens)[0]
        raise source.expected("the end of the query", found, hint="one name may stand behind: ) AS matches")
    return given[0].value


def _foreign_behind(source: Source, token: Token) -> QueryError:
    hints = {
        "WHERE": f"choose rows before they are matched: {_FILTER}; of the matches, filter the table that "
        "situ.match gives",
        "ORDER": "sort the table that situ.match gives",
        "GROUP": "PARTITION BY matches within each value of some columns",
        "LIMIT": "take the first rows of the table that situ.match gives",
    }
    hint = hints.get(token.value.upper(), "join the table that situ.match gives")
    return source.error(
        ForeignClauseError,
        f"a query ends behind MATCH_RECOGNIZE ( ... ), found {describe(token)}",
        token,
        hint=f"{hint}; {_SQL}",
    )
