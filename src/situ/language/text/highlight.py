"""Query text as HTML with its keywords, strings, numbers and comments in colour, for notebooks."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from situ.language.text.tokens import Kind, Token, tokenize
from situ.language.text.words import CLAUSE_WORDS, CLAUSES_WITH_BY, KEYWORDS

# Of middle brightness, and so readable on white and on black: a notebook does not say which it has.
STYLES = {
    "keyword": "color:#3b82c4;font-weight:bold",
    "string": "color:#2e8b57",
    "number": "color:#c2703d",
    "comment": "color:#808080;font-style:italic",
}
_STYLE_OF = {Kind.STRING: "string", Kind.NUMBER: "number"}
# Words that mean something beside each other only: a column may be called `id`, a function `least`.
_PAIRS = {(word, "BY") for word in CLAUSES_WITH_BY} | {
    ("AT", "LEAST"),
    ("AT", "MOST"),
    ("EMIT", "EARLY"),
    ("EMIT", "FINAL"),
    ("FROM", "INTERVALS"),
    ("AS", "SILENCE"),
    ("IGNORING", "GAPS"),
    ("UP", "TO"),
    ("AND", "NO"),
    ("PATTERN", "NO"),
}
# The same of row patterns, all of them words that stand in a row.
_PHRASES = (
    "ONE ROW PER MATCH",
    "ALL ROWS PER MATCH",
    "SHOW EMPTY MATCHES",
    "OMIT EMPTY MATCHES",
    "WITH UNMATCHED ROWS",
    "AFTER MATCH SKIP PAST LAST ROW",
    "SKIP TO NEXT ROW",
    "TO FIRST",
    "TO LAST",
    "STRATEGY CONTIGUOUS",
    "STRATEGY SKIP TILL NEXT",
    "TILL ANY",
    "MAXIMAL MATCH",
    "INCREMENTAL MATCH",
    "NULLS FIRST",
    "NULLS LAST",
)
_PAIRS |= {pair for phrase in _PHRASES for pair in pairwise(phrase.split())}
_CALLED = frozenset(
    {"MATCH_RECOGNIZE", "PERMUTE", "FIRST", "LAST", "PREV", "NEXT", "CLASSIFIER", "MATCH_NUMBER"}
)
_BEFORE_CALLS = frozenset({"RUNNING", "FINAL"})
_ROW_CLAUSES = frozenset({"MEASURES", "SUBSET"})
_NOTHING = Token(Kind.SIGN, "", 0, 0)


def highlighted(text: str) -> str:
    """The text of a query as an HTML element; everything in it is escaped."""
    tokens = [_NOTHING, *tokenize(text)]
    is_row_pattern = any(token.is_word("MATCH_RECOGNIZE") for token in tokens)
    parts = []
    for i, (before, token) in enumerate(pairwise(tokens), 1):
        parts.append(_between(text[before.end : token.start]))
        after = tokens[min(i + 1, len(tokens) - 1)]
        is_keyword = _is_keyword(before, token, after) or (
            is_row_pattern and _is_of_rows(before, token, after)
        )
        style = "keyword" if is_keyword else _STYLE_OF.get(token.kind)
        parts.append(_span(style, text[token.start : token.end]))
    return f'<pre style="line-height:1.4;margin:0">{"".join(parts)}</pre>'


def _is_keyword(before: Token, token: Token, after: Token) -> bool:
    if token.kind is not Kind.WORD:
        return False
    words = [one.value.upper() if one.kind is Kind.WORD else "" for one in (before, token, after)]
    beside = (words[0], words[1]) in _PAIRS or (words[1], words[2]) in _PAIRS
    return beside or (words[1] in CLAUSE_WORDS | KEYWORDS and not before.is_sign("."))


def _is_of_rows(before: Token, token: Token, after: Token) -> bool:
    """Whether it is a word of row patterns alone."""
    if token.is_in(_CALLED):
        return after.is_sign("(")
    if token.is_in(_BEFORE_CALLS):
        return after.kind is Kind.WORD and not after.is_in(KEYWORDS)
    return token.is_in(_ROW_CLAUSES) and not before.is_sign(".") and after.is_name


def _between(text: str) -> str:
    """What no token covers: spaces, and comments."""
    comment = text.strip()
    before, _, after = text.partition(comment) if comment else (text, "", "")
    return before + _span("comment", comment) + after


def _span(style: str | None, text: str) -> str:
    if not text or style is None:
        return escape(text)
    return f'<span style="{STYLES[style]}">{escape(text)}</span>'
