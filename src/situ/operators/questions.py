"""From what a user passes as a query to the question that carriers take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from situ.carry.contract import Question
from situ.errors import QueryError
from situ.language import query as parse
from situ.language.situations.ast import Query
from situ.operators.situations.question import Deriving, Matching


def matching(query: Any) -> Question:
    """`situ.match`: of one query, or of several by name."""
    return _question(query, Matching)


def deriving(query: Any) -> Question:
    """`situ.situations`: of one query, or of several by name."""
    return _question(query, Deriving)


def _question(query: Any, of: Any) -> Question:
    if isinstance(query, Mapping):
        from situ.operators.several.question import Several

        return Several.of({name: of(checked(one)) for name, one in query.items()})
    single: Question = of(checked(query))
    return single


def checked(query: Any) -> Query:
    """A single query, given or as text, or an error that says how to make one."""
    if isinstance(query, str):
        return parse(query)
    if not isinstance(query, Query):
        raise QueryError(
            f"the argument `query` must be a query, not a {type(query).__name__}",
            hint="give its text, or what situ.query(text) makes of it",
        )
    return query
