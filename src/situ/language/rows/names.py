"""What variables are called: an unquoted name stands for its upper case (ROW 2.1)."""

from __future__ import annotations

from situ.language.text.tokens import Kind, Token
from situ.language.text.words import quote

# Words that mean something else where a variable may stand.
_SPECIAL = frozenset({
    "AFTER", "ALL", "CLASSIFIER", "DEFINE", "FINAL", "FIRST", "INCREMENTAL", "INITIAL", "LAST", "MATCH",
    "MATCH_NUMBER", "MAXIMAL", "MEASURES", "NEXT", "ONE", "ORDER", "PARTITION", "PAST", "PATTERN", "PERMUTE",
    "PREV", "RUNNING", "SEEK", "STRATEGY", "SUBSET", "TO", "WITHIN",
})  # fmt: skip


def variable_name(token: Token) -> str:
    """The variable that a token names."""
    return token.value if token.kind is Kind.QUOTED else token.value.upper()


def variable_text(name: str) -> str:
    """The name as it must be written.

    >>> variable_text("UP"), variable_text("up"), variable_text("LAST")
    ('UP', '`up`', '`LAST`')
    """
    if name == name.upper() and name not in _SPECIAL and quote(name) == name:
        return name
    return "`" + name.replace("`", "``") + "`"
