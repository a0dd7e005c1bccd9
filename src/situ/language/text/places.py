"""Where something was written: what errors point at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from situ.errors import QueryError, Span
from situ.language.text.tokens import Source, Token


class Place(NamedTuple):
    """Where something was written."""

    source: Source
    span: Span

    @property
    def text(self) -> str:
        return " ".join(self.source.text[self.span.start : self.span.end].split())

    def error(self, kind: type[QueryError], message: str, *, hint: str | None = None) -> QueryError:
        return self.source.error(kind, message, self.span, hint=hint)


class Phrase(NamedTuple):
    """The tokens of a condition as they were written."""

    source: Source
    tokens: Sequence[Token]
