"""The words of a query text, with where they stand: linear time, comments skipped, Spark's lexical rules."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from difflib import get_close_matches
from enum import Enum
from typing import NamedTuple

from situ.errors import QueryError, QuerySyntaxError, Span


class Kind(Enum):
    """What a token is."""

    WORD = "word"
    QUOTED = "back-quoted name"
    STRING = "string"
    NUMBER = "number"
    SIGN = "sign"
    END = "end of the text"


class Token(NamedTuple):
    """One token; `value` is the name without back-quotes, else what was written."""

    kind: Kind
    value: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these keywords (given in capitals); a back-quoted name never is."""
        return self.kind is Kind.WORD and self.value.upper() in words

    def is_in(self, words: Container[str]) -> bool:
        """`is_word` for a set of keywords."""
        return self.kind is Kind.WORD and self.value.upper() in words

    def is_sign(self, *signs: str) -> bool:
        return self.kind is Kind.SIGN and self.value in signs

    @property
    def is_name(self) -> bool:
        return self.kind is Kind.WORD or self.kind is Kind.QUOTED


_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[^\W\d]\w*")
_SIGNS = re.compile(r"<=>|->|=>|::|<=|>=|<>|!=|==|\|\||<<|>>>|>>|\S", re.DOTALL)
_STRINGS = {
    "'": re.compile(r"'(?:[^'\\]|\\.|'')*+'", re.DOTALL),
    '"': re.compile(r'"(?:[^"\\]|\\.|"")*+"', re.DOTALL),
}
_RAW_STRING = re.compile(r"[rR](?:'[^']*'|\"[^\"]*\")")
_HEX_STRING = re.compile(r"[xX]'[^']*'")
_QUOTED = re.compile(r"`((?:[^`]|``)*+)`", re.DOTALL)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_LOOKALIKES = {
    **dict.fromkeys("\u2018\u2019\u201c\u201d\u00b4", "'"),
    **dict.fromkeys("\u2212\u2013", "-"),
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "<>",
    "\u00d7": "*",
    "\uff1b": ";",
    "\uff0c": ",",
}


def tokenize(text: str) -> list[Token]:
    """All tokens of the text, ending with one of kind END.

    >>> [token.value for token in tokenize("A.ts < `my col` -- why")]
    ['A', '.', 'ts', '<', 'my col', '']
    """
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        char = text[position]
        if space := _SPACE.match(text, position):
            position = space.end()
        elif text.startswith("--", position):
            newline = text.find("\n", position)
            position = len(text) if newline < 0 else newline
        elif text.startswith("/*", position):
            position = _comment_end(text, position)
        else:
            token = _token(text, position, char, tokens)
            tokens.append(token)
            position = token.end
    tokens.append(Token(Kind.END, "", len(text), len(text)))
    return tokens


def _token(text: str, position: int, char: str, before: list[Token]) -> Token:
    if char in _STRINGS:
        return _delimited(text, position, _STRINGS[char], Kind.STRING, "string", char)
    if char == "`":
        return _delimited(text, position, _QUOTED, Kind.QUOTED, "back-quoted name", char)
    if char in "rRxX" and (match := (_RAW_STRING.match(text, position) or _HEX_STRING.match(text, position))):
        return Token(Kind.STRING, match.group(), position, match.end())
    # After a name a dot leads to a field: `s.5` is no name and a number.
    if (match := _NUMBER.match(text, position)) and not (
        char == "." and before and before[-1].end == position
    ):
        return Token(Kind.NUMBER, match.group(), position, match.end())
    if match := _WORD.match(text, position):
        return Token(Kind.WORD, match.group(), position, match.end())
    match = _SIGNS.match(text, position)
    assert match is not None, "spaces are skipped, so something must match"
    if char in _LOOKALIKES:
        raise QuerySyntaxError(
            f"the character {char} is not part of the language",
            text=text,
            span=Span(position, position + 1),
            hint=f"type {_LOOKALIKES[char]} instead; it often comes from text copied out of a document",
        )
    return Token(Kind.SIGN, match.group(), position, match.end())


def _delimited(
    text: str, position: int, pattern: re.Pattern[str], kind: Kind, what: str, quote: str
) -> Token:
    match = pattern.match(text, position)
    if match is None:
        raise QuerySyntaxError(
            f"this {what} has no end",
            text=text,
            span=Span(position, position + 1),
            hint=f"close it with {quote}",
        )
    value = match.group(1).replace("``", "`") if kind is Kind.QUOTED else match.group()
    if kind is Kind.QUOTED and not value:
        raise QuerySyntaxError("a name cannot be empty", text=text, span=Span(position, match.end()))
    return Token(kind, value, position, match.end())


def _comment_end(text: str, start: int) -> int:
    """Bracketed comments nest, as in Spark."""
    depth, position = 0, start
    while edge := _COMMENT_EDGE.search(text, position):
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
        if depth == 0:
            return position
    raise QuerySyntaxError(
        "this comment has no end", text=text, span=Span(start, start + 2), hint="close it with */"
    )


class Source(NamedTuple):
    """A text and its tokens; every error about the text is made here, so that it gets its caret."""

    text: str
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, text: str) -> Source:
        return cls(text, tuple(tokenize(text)))

    def error(
        self, kind: type[QueryError], message: str, span: Span | Token, *, hint: str | None = None
    ) -> QueryError:
        where = span.span if isinstance(span, Token) else span
        return kind(message, hint=hint, text=self.text, span=where)

    def expected(self, what: str, found: Token, *, hint: str | None = None) -> QueryError:
        """The error "expected this, found that"."""
        return self.error(QuerySyntaxError, f"expected {what}, found {describe(found)}", found, hint=hint)


def describe(token: Token) -> str:
    """A token as error messages name it."""
    if token.kind is Kind.END:
        return "the end of the query"
    return f"`{token.value}`" if "`" not in token.value else repr(token.value)


def span_of(tokens: Iterable[Token]) -> Span:
    """From the first to the last of some tokens."""
    listed = list(tokens)
    return Span(listed[0].start, listed[-1].end)


def did_you_mean(found: str, choices: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """`did you mean "x"?` for the closest choice (case ignored), or None when nothing is close."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = get_close_matches(found.lower()[:100], by_lower, n=1, cutoff=cutoff)
    return f'did you mean "{by_lower[close[0]]}"?' if close else None
