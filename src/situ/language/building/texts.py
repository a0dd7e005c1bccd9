"""What users give as names and conditions, as text with its place."""

from __future__ import annotations

import re

from situ.errors import QueryError, QuerySyntaxError, Span
from situ.language.building.values import Value, check_name
from situ.language.text.nodes import Expression
from situ.language.text.places import Place
from situ.language.text.sql import Scope, expression
from situ.language.text.tokens import Source
from situ.language.text.words import quote

Condition = str | Value

_DOTTED = re.compile(r"(?:[^\W\d]\w*|`[^`]+`)(?:\.(?:[^\W\d]\w*|`[^`]+`))*")


def source_text(source: str) -> str:
    """A dotted name as in text (`db.cars`), or any other string as one name."""
    if not check_name(source):
        raise QuerySyntaxError("the name of the events is empty", hint='write events("cars")')
    if not _DOTTED.fullmatch(source):
        return quote(source)
    return ".".join(quote(token.value) for token in Source.of(source).tokens[:-1:2])


def text_of(given: Condition) -> str:
    """An expression as text."""
    if isinstance(given, Value):
        return given.sql
    if isinstance(given, str):
        return given
    raise QueryError(
        f"a {type(given).__name__} is not an expression",
        hint='write it as a string, "speed > 70", or with col: col("speed") > 70',
    )


def place_of(text: str) -> Place:
    """All of a text."""
    return Place(Source.of(text), Span(0, len(text)))


def condition_of(text: str, scope: Scope, what: str) -> Expression:
    """The condition over a row that a text writes."""
    source = Source.of(text)
    return expression(source, source.tokens[:-1], scope, what=what, after=source.tokens[-1])
