"""The tokens of PATTERN, read one after the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from situ.algebra.relations import NAMES, WORDS
from situ.errors import QueryError, Span
from situ.language.text.clauses import Clause
from situ.language.text.durations import leading_duration
from situ.language.text.nodes import Duration
from situ.language.text.places import Place
from situ.language.text.tokens import Kind, Source, Token

END = Token(Kind.END, "", 0, 0)
FIRST_WORDS = {name.partition("-")[0] for name in (*NAMES, *WORDS)} | {"equal"}


class Cursor:
    """Where reading stands in the tokens of a clause."""

    def __init__(self, source: Source, clause: Clause) -> None:
        self.source = source
        self.tokens = clause.tokens
        self.position = 0
        # Known here for the sake of hints only.
        self.defined = {name.value for name, word in pairwise(source.tokens) if word.is_word("AS")}

    def peek(self, ahead: int = 0) -> Token:
        """The token that comes next, or so many after it."""
        position = self.position + ahead
        if position < len(self.tokens):
            return self.tokens[position]
        end = self.tokens[-1].end
        return END._replace(start=end, end=end)

    def next(self) -> Token:
        """Take the next token."""
        token = self.peek()
        self.position += 1
        return token

    @property
    def last(self) -> Token:
        """The token that was taken last."""
        return self.tokens[self.position - 1]

    def since(self, start: int) -> Place:
        """From a place in the text to the end of the last token."""
        return Place(self.source, Span(start, self.last.end))

    def at_word(self) -> bool:
        """Whether a symbol or a relation may stand here."""
        token = self.peek()
        return token.is_name and not token.is_word("AND", "OR")

    def begins_relation(self, ahead: int = 0) -> bool:
        """Whether a token is the first word of a relation."""
        token = self.peek(ahead)
        return token.kind is Kind.WORD and token.value.lower() in FIRST_WORDS

    def duration(self, after: Token) -> Duration:
        """The duration that comes next; `after` is the word that asks for it."""
        end = self.position
        while end < len(self.tokens) and not self._ends_duration(end):
            end += 1
        value, used = leading_duration(self.source, self.tokens[self.position : end], after=after)
        self.position += used
        return value

    def distance(self, after: Token) -> Duration:
        """The duration that comes next, of either sign: INTERVAL '-5' SECOND is negative."""
        at, text = self.position + 1, self.peek(1)
        if not (self.peek().is_word("INTERVAL") and text.value.startswith("'-")):
            return self.duration(after)
        unsigned = text._replace(value=f"'{text.value[2:]}")
        self.tokens = (*self.tokens[:at], unsigned, *self.tokens[at + 1 :])
        value = self.duration(after)
        return replace(value, value=-value.value)

    def _ends_duration(self, position: int) -> bool:
        token = self.tokens[position]
        if position == self.position:
            return token.kind is Kind.END
        # A chain goes on behind a duration: A before B BY AT MOST 10 before C.
        return token.kind is Kind.SIGN or token.is_word("AND", "OR") or token.value.lower() in FIRST_WORDS

    def error(
        self, kind: type[QueryError], message: str, where: Span | Token, hint: str | None = None
    ) -> QueryError:
        """An error with its caret there."""
        return self.source.error(kind, message, where, hint=hint)
