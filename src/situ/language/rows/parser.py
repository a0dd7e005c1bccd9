"""The text of a row pattern becomes a checked `RowQuery` (ROW 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from situ.errors import QuerySyntaxError
from situ.language.rows.ast import OrderColumn, RowQuery, Skip
from situ.language.rows.checks import assemble
from situ.language.rows.clauses import (
    MODE,
    ROWS_PER_MATCH,
    clause_hint,
    expected_columns,
    split_clauses,
    told_clause,
)
from situ.language.rows.draft import Draft, PatternText
from situ.language.rows.entries import definition_text, measure_text, subset_text
from situ.language.rows.header import read_header
from situ.language.rows.names import variable_name
from situ.language.rows.pattern import read_pattern
from situ.language.text.clauses import Clause, split_commas
from situ.language.text.columns import column_name, column_names
from situ.language.text.durations import duration
from situ.language.text.places import Place
from situ.language.text.sql import Scope
from situ.language.text.tokens import Kind, Source, Token, describe, span_of


def row_query(source: Source) -> RowQuery:
    """The row pattern that a text with MATCH_RECOGNIZE writes."""
    return assemble(read_clauses(source))


def read_clauses(source: Source) -> Draft:
    """Look inside each clause; whether the clauses fit each other is for `assemble` to say."""
    header = read_header(source)
    clauses = split_clauses(source, header.inside, header.keyword)
    partition_by = _partition_columns(source, clauses.get("PARTITION BY"), header.scope)
    order_by = _order_columns(source, clauses.get("ORDER BY"), header.scope)
    pattern = _pattern(source, clauses, header.keyword)
    if not order_by:
        raise source.error(
            QuerySyntaxError,
            "ORDER BY is missing: without it no row follows another",
            header.keyword,
            hint="name the time column, ORDER BY ts, behind PARTITION BY and before all other clauses",
        )
    draft = Draft(
        place=Place(source, header.keyword.span),
        source=header.name,
        scope=header.scope,
        where=header.where,
        alias=header.alias,
        order_by=order_by,
        pattern=pattern,
        partition_by=partition_by,
    )
    if (clause := clauses.get("MEASURES")) is not None:
        draft.measures = [measure_text(source, entry, clause) for entry in split_commas(clause.tokens)]
    if (clause := clauses.get(ROWS_PER_MATCH)) is not None:
        draft.rows, draft.empty = _rows_per_match(source, clause)
        draft.rows_place = _place(source, clause)
    _read_matching(source, clauses, draft)
    return draft


def pattern_inside(source: Source, inside: Sequence[Token], keyword: Token, scope: Scope) -> RowQuery:
    """The row pattern of a query that has rows, partition and order of its own (SEM 17.1)."""
    clauses = split_clauses(source, inside, keyword)
    for name, hint in _OF_THE_QUERY.items():
        if name in clauses:
            raise source.error(
                QuerySyntaxError,
                f"{told_clause(name)} does not stand inside a row pattern that is a symbol",
                clauses[name].keyword,
                hint=hint,
            )
    pattern = _pattern(source, clauses, keyword)
    draft = Draft(Place(source, keyword.span), source="", scope=scope, order_by=(), pattern=pattern)
    _read_matching(source, clauses, draft)
    return assemble(draft)


_OF_THE_QUERY = {
    "PARTITION BY": "the query's own PARTITION BY holds for all symbols",
    "ORDER BY": "the query's own ORDER BY holds for all symbols",
    "MEASURES": "say what is wanted of its rows in RETURN, as in first(dip.price)",
    ROWS_PER_MATCH: "leave it out: a match is one situation",
}


def _read_matching(source: Source, clauses: dict[str, Clause], draft: Draft) -> None:
    """The clauses that say which rows match."""
    if (clause := clauses.get("DEFINE")) is not None:
        draft.definitions = [definition_text(source, entry, clause) for entry in split_commas(clause.tokens)]
    if (clause := clauses.get("SUBSET")) is not None:
        draft.subsets = [subset_text(source, entry, clause) for entry in split_commas(clause.tokens)]
    if (clause := clauses.get("AFTER MATCH")) is not None:
        draft.skip = _skip(source, clause)
        draft.skip_place = _place(source, clause)
    if (clause := clauses.get("STRATEGY")) is not None:
        draft.strategy = _strategy(source, clause)
        draft.strategy_place = _place(source, clause)
    if (clause := clauses.get(MODE)) is not None:
        _check_words(source, clause, ("MATCH",))
        draft.mode = "maximal" if clause.keyword.is_word("MAXIMAL") else "incremental"
        draft.mode_place = _place(source, clause)
    if (clause := clauses.get("WITHIN")) is not None:
        draft.within = duration(source, clause.tokens, after=clause.keyword)
        draft.within_place = _place(source, clause)


def _pattern(source: Source, clauses: dict[str, Clause], keyword: Token) -> PatternText:
    """PATTERN, which has to be there."""
    if "PATTERN" not in clauses:
        raise source.error(
            QuerySyntaxError,
            "PATTERN is missing",
            keyword,
            hint="say which rows follow each other, as in PATTERN (A B+ C)",
        )
    return read_pattern(source, clauses["PATTERN"].tokens, clauses["PATTERN"].keyword)


def _place(source: Source, clause: Clause) -> Place:
    return Place(source, span_of((clause.keyword, *clause.tokens)))


def _partition_columns(source: Source, clause: Clause | None, scope: Scope) -> tuple[str, ...]:
    if clause is None:
        return ()
    for entry in split_commas(clause.tokens):
        _check_column(source, entry, clause)
    return column_names(source, clause, scope)


def _order_columns(source: Source, clause: Clause | None, scope: Scope) -> tuple[OrderColumn, ...]:
    """ORDER BY column [ASC | DESC] [NULLS FIRST | NULLS LAST], ..."""
    found: list[OrderColumn] = []
    for entry in [] if clause is None else split_commas(clause.tokens):
        assert clause is not None
        rest = list(entry)
        nulls_last = None
        if len(rest) > 2 and rest[-2].is_word("NULLS") and rest[-1].is_word("FIRST", "LAST"):
            nulls_last = rest[-1].is_word("LAST")
            rest = rest[:-2]
        is_descending = len(rest) > 1 and rest[-1].is_word("DESC")
        if len(rest) > 1 and rest[-1].is_word("ASC", "DESC"):
            rest.pop()
        _check_column(source, rest, clause)
        name = column_name(source, rest, clause, scope)
        if name.lower() in (one.name.lower() for one in found):
            raise source.error(QuerySyntaxError, f"ORDER BY has {name} twice", span_of(entry))
        nulls_last = is_descending if nulls_last is None else nulls_last
        found.append(OrderColumn(name, is_descending, nulls_last))
    return tuple(found)


def _check_column(source: Source, tokens: Sequence[Token], clause: Clause) -> None:
    """A name alone, with dots in it."""
    for place, token in enumerate(tokens):
        if place and not (token.is_sign(".") if place % 2 else token.is_name):
            raise expected_columns(source, clause, token)


def _rows_per_match(
    source: Source, clause: Clause
) -> tuple[Literal["one", "all"], Literal["show", "omit", "unmatched"]]:
    if clause.keyword.is_word("ONE"):
        _check_words(source, clause, ("ROW", "PER", "MATCH"))
        return "one", "show"
    behind = [token.value.upper() for token in clause.tokens[3:4]]
    if behind == ["OMIT"]:
        _check_words(source, clause, ("ROWS", "PER", "MATCH", "OMIT", "EMPTY", "MATCHES"))
        return "all", "omit"
    if behind == ["WITH"]:
        _check_words(source, clause, ("ROWS", "PER", "MATCH", "WITH", "UNMATCHED", "ROWS"))
        return "all", "unmatched"
    shown = ("SHOW", "EMPTY", "MATCHES") if behind else ()
    _check_words(source, clause, ("ROWS", "PER", "MATCH", *shown))
    return "all", "show"


def _skip(source: Source, clause: Clause) -> Skip:
    words = [token.value.upper() if token.kind is Kind.WORD else "" for token in clause.tokens]
    match words:
        case ["MATCH", "SKIP", "PAST", *_]:
            _check_words(source, clause, ("MATCH", "SKIP", "PAST", "LAST", "ROW"))
            return Skip("past last row")
        case ["MATCH", "SKIP", "TO", "NEXT", *_]:
            _check_words(source, clause, ("MATCH", "SKIP", "TO", "NEXT", "ROW"))
            return Skip("next row")
        case ["MATCH", "SKIP", "TO", "FIRST" | "LAST", _] if clause.tokens[4].is_name:
            return Skip("first" if words[3] == "FIRST" else "last", variable_name(clause.tokens[4]))
        case ["MATCH", "SKIP", "TO", _] if clause.tokens[3].is_name:
            return Skip("last", variable_name(clause.tokens[3]))
        case _:
            raise source.error(
                QuerySyntaxError,
                "AFTER MATCH is followed by SKIP and where to go on",
                span_of((clause.keyword, *clause.tokens)),
                hint="write AFTER MATCH SKIP PAST LAST ROW, SKIP TO NEXT ROW, SKIP TO FIRST A "
                "or SKIP TO LAST A",
            )


def _strategy(source: Source, clause: Clause) -> Literal["contiguous", "next", "any"]:
    words = [token.value.upper() for token in clause.tokens]
    if words == ["CONTIGUOUS"]:
        return "contiguous"
    if words == ["SKIP", "TILL", "NEXT"]:
        return "next"
    if words == ["SKIP", "TILL", "ANY"]:
        return "any"
    raise source.error(
        QuerySyntaxError,
        "STRATEGY is followed by CONTIGUOUS, SKIP TILL NEXT or SKIP TILL ANY",
        span_of(clause.tokens) if clause.tokens else clause.keyword,
        hint="CONTIGUOUS takes every row from the first to the last; the others leave out rows in between",
    )


def _check_words(source: Source, clause: Clause, words: Sequence[str]) -> None:
    """The clause is made of these words."""
    whole = f"{clause.keyword.value.upper()} {' '.join(words)}"
    for place, word in enumerate(words):
        if place >= len(clause.tokens) or not clause.tokens[place].is_word(word):
            found = clause.tokens[place] if place < len(clause.tokens) else None
            raise source.error(
                QuerySyntaxError,
                f"expected {word}" + (f", found {describe(found)}" if found else f" in {whole}"),
                found or (clause.tokens or (clause.keyword,))[-1],
                hint=f"write {whole}",
            )
    if len(clause.tokens) > len(words):
        found = clause.tokens[len(words)]
        raise source.error(
            QuerySyntaxError,
            f"{whole} ends before {describe(found)}",
            found,
            hint=clause_hint(found.value) if found.is_name else None,
        )
