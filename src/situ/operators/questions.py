"""From what a user passes as a query to the question that carriers take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from situ.carry.contract import Question
from situ.errors import QueryError
from situ.language import query as parse
from situ.language.rows.ast import RowQuery
from situ.language.situations.ast import Query
from situ.operators.composed.question import composed
from situ.operators.rowpattern.question import RowMatching
from situ.operators.situations.question import Deriving, Matching


def matching(query: Any) -> Question:
    """`situ.match`: of one query, or of several by name."""
    return _question(query, _matching)


def _matching(query: Query | RowQuery) -> Question:
    return RowMatching(query) if isinstance(query, RowQuery) else composed(query, Matching)


def deriving(query: Any) -> Question:
    """`situ.situations`: of one query, or of several by name."""
    return _question(query, _deriving)


def _deriving(query: Query | RowQuery) -> Question:
    if isinstance(query, RowQuery):
        raise QueryError("MATCH_RECOGNIZE has no situations", hint="ask for situ.match")
    return composed(query, Deriving)


def _question(query: Any, of: Any) -> Question:
    if isinstance(query, Mapping):
        from situ.operators.several.question import Several

        return Several.of({name: of(checked(one)) for name, one in query.items()})
    single: Question = of(checked(query))
    return single


def refuse_row_patterns(question: Question) -> None:
    """Refuse what Spark does not carry yet."""
    for one in getattr(question, "questions", (question,)):
        if isinstance(one, RowMatching):
            not_a_row_pattern(one.query)


def not_a_row_pattern(query: Query | RowQuery) -> Query:
    """The query, which Spark is to answer."""
    if isinstance(query, RowQuery):
        raise QueryError(
            "row patterns run in process and in push operators, not yet on Spark",
            hint="match what fits into memory as a table, such as df.toArrow()",
        )
    return query


def checked(query: Any) -> Query | RowQuery:
    """A single query, given or as text, or an error that says how to make one."""
    query = parse(query) if isinstance(query, str) else query
    if not isinstance(query, Query | RowQuery):
        raise QueryError(
            f"the argument `query` must be a query, not a {type(query).__name__}",
            hint="give its text, or what situ.query(text) makes of it",
        )
    return query
