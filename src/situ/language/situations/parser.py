"""The text of a query of situations becomes a checked `Query`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from situ.errors import IntervalQueryError, QuerySyntaxError, Span
from situ.language.situations.ast import IntervalSource, Query
from situ.language.situations.checks import assemble
from situ.language.situations.define import definitions, refuse_length
from situ.language.situations.draft import Draft
from situ.language.situations.having import having_phrase
from situ.language.situations.pattern import pattern
from situ.language.situations.returns import return_texts
from situ.language.situations.sources import Named, Origins, place_sources
from situ.language.text.clauses import Clause, clause_hint, split_clauses, split_commas
from situ.language.text.columns import column_names, dotted
from situ.language.text.durations import duration
from situ.language.text.foreign import sort_hint
from situ.language.text.nodes import Expression
from situ.language.text.places import Phrase, Place
from situ.language.text.sql import Scope, expression
from situ.language.text.tokens import Source, Token, describe, span_of
from situ.language.text.words import quote


def situations_query(source: Source) -> Query:
    """The query of situations that a text writes."""
    return assemble(read_clauses(source, split_clauses(source)))


def read_clauses(source: Source, clauses: dict[str, Clause]) -> Draft:
    """Look inside each clause; whether the clauses fit each other is for `assemble` to say."""
    draft, origins = _from(source, clauses["FROM"])
    if "WHERE" in clauses:
        draft.where = _where(source, clauses["WHERE"], draft.scope)
        draft.where_written = Phrase(source, clauses["WHERE"].tokens)
    order_by = _ascending(source, clauses.get("ORDER BY"))
    if origins is None:
        draft.order_by = column_names(source, order_by, draft.scope)
        draft.partition_by = column_names(source, clauses.get("PARTITION BY"), draft.scope)
    else:
        origins.with_columns(source, order_by)
        origins.with_columns(source, clauses.get("PARTITION BY"))
    draft.intervals = _intervals(source, clauses, draft)
    if "DEFINE" in clauses:
        draft.definitions = definitions(source, clauses["DEFINE"], draft.scope)
    place_sources(draft, origins)
    if "PATTERN" in clauses:
        draft.pattern = pattern(source, clauses["PATTERN"])
    if "WITHIN" in clauses:
        clause = clauses["WITHIN"]
        draft.within = duration(source, clause.tokens, after=clause.keyword)
        draft.within_place = Place(source, span_of((clause.keyword, *clause.tokens)))
    if "EMIT" in clauses:
        draft.emit = _emit(source, clauses["EMIT"])
    if "RETURN" in clauses:
        draft.returns = return_texts(source, clauses["RETURN"])
    if "HAVING" in clauses:
        draft.having = having_phrase(source, clauses["HAVING"])
    return draft


def _from(source: Source, clause: Clause) -> tuple[Draft, Origins | None]:
    tokens = clause.tokens
    if not tokens:
        raise source.error(QuerySyntaxError, "the name of the events is missing after FROM", clause.keyword)
    place = Place(source, span_of((clause.keyword, *tokens)))
    entries = split_commas(tokens)
    if len(entries) > 1:
        origins = Origins([_one_of_several(source, entry, clause) for entry in entries])
        names = ", ".join(table.name for table in origins.tables)
        return Draft(place, names, origins.scope, sources=origins.tables), origins
    # A table may be called intervals: then no name follows.
    is_intervals = len(tokens) > 1 and tokens[0].is_word("INTERVALS") and tokens[1].is_name
    is_intervals = is_intervals and not tokens[1].is_word("AS")
    name, rest = dotted(source, tokens[1:] if is_intervals else tokens)
    alias = _alias(source, rest)
    qualifiers = {tuple(part.lower() for part in name[start:]) for start in range(len(name))}
    if alias is not None:
        qualifiers.add((alias.value.lower(),))
    text = ".".join(quote(part) for part in name)
    return Draft(place, text, Scope(frozenset(qualifiers)), is_intervals=is_intervals), None


def _one_of_several(source: Source, tokens: Sequence[Token], clause: Clause) -> Named:
    """One entry of FROM (SEM 13.2)."""
    if not tokens:
        raise source.error(
            QuerySyntaxError,
            "the name of a source is missing in FROM",
            clause.keyword,
            hint="sources are separated by commas: FROM weather AS w, flights AS f",
        )
    if tokens[0].is_word("INTERVALS") and len(tokens) > 1 and not tokens[1].is_word("AS"):
        raise source.error(
            IntervalQueryError,
            "given intervals do not mix with other sources",
            tokens[0],
            hint="match the intervals in a query of their own, or give the rows as events",
        )
    name, rest = dotted(source, tokens)
    alias = _alias(source, rest)
    text = ".".join(quote(part) for part in name)
    return Named(text, tuple(name), None if alias is None else alias.value, Place(source, span_of(tokens)))


def _alias(source: Source, tokens: Sequence[Token]) -> Token | None:
    if not tokens:
        return None
    if tokens[0].is_word("JOIN", "INNER", "LEFT", "CROSS"):
        raise source.expected(
            "sources separated by commas",
            tokens[0],
            hint="sources are not joined, situations of all of them are matched: "
            "FROM weather AS w, flights AS f",
        )
    for word, clause in (("GROUP", "PARTITION BY"), ("PARTITION", "PARTITION BY"), ("ORDER", "ORDER BY")):
        if tokens[0].is_word(word) and len(tokens) > 1:
            raise source.expected(
                "a clause such as DEFINE", tokens[0], hint=f"write {clause} and the columns"
            )
    given = tokens[1:] if tokens[0].is_word("AS") else tokens
    if not given or not given[0].is_name:
        found = given[0] if given else tokens[0]
        raise source.expected("a clause such as DEFINE after the name of the events", found)
    if len(given) > 1:
        # `FROM cars DEFNE A AS ...`: the misspelt clause was taken for an alias.
        raise source.expected(
            "a clause such as DEFINE",
            given[0] if clause_hint(given[0].value) else given[1],
            hint=clause_hint(given[0].value) or clause_hint(given[1].value),
        )
    return given[0]


def _where(source: Source, clause: Clause, scope: Scope) -> Expression:
    refuse_length(source, clause.tokens)
    return expression(source, clause.tokens, scope, what="the condition of WHERE", after=clause.keyword)


def _ascending(source: Source, clause: Clause | None) -> Clause | None:
    """ORDER BY without the ASC that means nothing."""
    if clause is None:
        return None
    kept: list[Token] = []
    for token in clause.tokens:
        if token.is_word("DESC", "NULLS"):
            raise source.error(
                QuerySyntaxError,
                "events are always taken in ascending time order",
                token,
                hint=f"leave {token.value} out; {sort_hint()}",
            )
        if not (token.is_word("ASC") and kept and kept[-1].is_name):
            kept.append(token)
    return Clause(clause.name, clause.keyword, tuple(kept))


def _emit(source: Source, clause: Clause) -> Literal["EARLY", "FINAL"]:
    if len(clause.tokens) == 1 and clause.tokens[0].is_word("EARLY"):
        return "EARLY"
    if len(clause.tokens) == 1 and clause.tokens[0].is_word("FINAL"):
        return "FINAL"
    is_known = bool(clause.tokens) and clause.tokens[0].is_word("EARLY", "FINAL")
    found = clause.tokens[is_known] if clause.tokens else clause.keyword
    raise source.error(
        QuerySyntaxError,
        "EMIT is followed by EARLY or FINAL"
        + (f" and nothing else, found {describe(found)}" if is_known else f", found {describe(found)}"),
        found,
        hint="EARLY reports a match as soon as it is certain, FINAL when all its situations have ended",
    )


_INTERVAL_CLAUSES = ("SYMBOL BY", "STARTING", "ENDING", "ID BY")


def _intervals(source: Source, clauses: dict[str, Clause], draft: Draft) -> IntervalSource | None:
    given = [name for name in _INTERVAL_CLAUSES if name in clauses]
    if not draft.is_intervals:
        if given:
            raise source.error(
                IntervalQueryError,
                f"{given[0]} belongs to intervals, but FROM reads events",
                clauses[given[0]].keyword,
                hint=f"write FROM INTERVALS {draft.source} if each row is a whole interval",
            )
        return None
    place = draft.place
    for name in ("STARTING", "ENDING"):
        if name not in clauses:
            raise place.error(
                IntervalQueryError,
                f"FROM INTERVALS needs {name} and a column",
                hint="write FROM INTERVALS t STARTING ts ENDING te; a table of events that "
                "is called intervals "
                "is written in back-quotes",
            )
    if "ORDER BY" in clauses:
        raise source.error(
            IntervalQueryError,
            "intervals are ordered by their own start and end, so there is no ORDER BY",
            clauses["ORDER BY"].keyword,
            hint="leave ORDER BY out",
        )
    if "SYMBOL BY" in clauses and "DEFINE" in clauses:
        raise source.error(
            IntervalQueryError,
            "symbols come either from the column of SYMBOL BY or from DEFINE",
            clauses["DEFINE"].keyword,
            hint="use DEFINE for all of them, as in A AS kind = 'A'",
        )
    columns = {name: _single(source, clauses.get(name), draft.scope) for name in _INTERVAL_CLAUSES}
    starting, ending = columns["STARTING"], columns["ENDING"]
    assert starting is not None
    assert ending is not None
    if starting.lower() == ending.lower():
        raise source.error(
            IntervalQueryError, "STARTING and ENDING are the same column", clauses["ENDING"].tokens[0]
        )
    return IntervalSource(starting, ending, columns["SYMBOL BY"], columns["ID BY"])


def _single(source: Source, clause: Clause | None, scope: Scope) -> str | None:
    if clause is None:
        return None
    columns = column_names(source, clause, scope)
    if len(columns) > 1:
        span = Span(clause.tokens[0].start, clause.tokens[-1].end)
        raise source.error(QuerySyntaxError, f"{clause.name} takes one column", span)
    return columns[0]
