"""Expression tokens back to text, one way for every way of writing them.

Only spacing, capitals of keywords and function names, needless quotes and three spellings of signs are
changed: token for token the text stays what the user wrote, so it cannot mean something else to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence

from situ.language.text.tokens import Kind, Token
from situ.language.text.words import KEYWORDS, OPERATOR_WORDS, QUANTIFIERS, TYPES_WITH_ARGUMENTS, quote

_SAME_SIGN = {"==": "=", "!=": "<>"}
_ANGLES = {">": 1, ">>": 2, ">>>": 3}


def render(tokens: Sequence[Token]) -> str:
    """The canonical text of an expression.

    >>> from situ.language.text.tokens import tokenize
    >>> render(tokenize("abs( `x` )>=-1 and y!='a'")[:-1])
    "ABS(x) >= -1 AND y <> 'a'"
    """
    parts: list[str] = []
    angles = 0  # inside ARRAY<...>, where < and > are brackets
    before: Token | None = None
    unary = False
    for position, token in enumerate(tokens):
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        opens = token.is_sign("<") and before is not None and before.is_in(TYPES_WITH_ARGUMENTS)
        bracket = opens or (angles > 0 and token.kind is Kind.SIGN and token.value in (*_ANGLES, ":"))
        if before is not None and not bracket and not _touches(before, token, unary, angles > 0):
            parts.append(" ")
        parts.append(_text(token, before, after))
        if opens:
            angles += 1
        elif angles and token.kind is Kind.SIGN:
            angles = max(0, angles - _ANGLES.get(token.value, 0))
        unary = is_unary(token, before)
        before = token
    return "".join(parts)


def is_unary(token: Token, before: Token | None) -> bool:
    """Whether this sign stands before its operand and belongs to nothing on its left."""
    return token.is_sign("!", "~") or (token.is_sign("-", "+") and not ends_operand(before))


def ends_operand(token: Token | None) -> bool:
    """Whether an operand can end with this token."""
    if token is None or token.kind is Kind.END:
        return False
    if token.kind is Kind.SIGN:
        return token.value in (")", "]", "?")
    return not token.is_in(OPERATOR_WORDS)


def is_call(token: Token, before: Token | None, after: Token | None) -> bool:
    """Whether this word is the name of a function (or a type with arguments) that is called here."""
    return (
        token.kind is Kind.WORD
        and after is not None
        and after.is_sign("(")
        and not token.is_in(KEYWORDS)
        and not (before is not None and before.is_sign("."))
        and not _is_quantifier(token, before)
    )


def _is_quantifier(token: Token, before: Token | None) -> bool:
    if before is None or not token.is_in(QUANTIFIERS):
        return False
    return before.is_word("LIKE", "ILIKE", "RLIKE", "REGEXP") or before.is_sign(
        "=", "<", ">", "<=", ">=", "<>"
    )


def _text(token: Token, before: Token | None, after: Token | None) -> str:
    if token.kind is Kind.QUOTED or (token.kind is Kind.WORD and not token.value.isascii()):
        return quote(token.value)
    if token.kind is Kind.WORD:
        dotted = before is not None and before.is_sign(".")
        if (
            (token.is_in(KEYWORDS) and not dotted)
            or is_call(token, before, after)
            or _is_quantifier(token, before)
        ):
            return token.value.upper()
        return token.value.upper() if _is_suffix(before, token) else token.value
    if token.kind is Kind.STRING:
        return string_text(token.value)
    return _SAME_SIGN.get(token.value, token.value)


def string_text(value: str) -> str:
    """A string literal in one spelling; a doubled quote inside is written with a backslash.

    Spark 4 reads both alike, sqlglot takes the doubled one for two strings.
    """
    quote_char, inside = value[0], value[1:-1]
    if quote_char not in "'\"":
        return value
    if quote_char == '"' and "'" not in inside and '"' not in inside and "\\" not in inside:
        return f"'{inside}'"
    # Backslash pairs are stepped over so that an escaped quote is not taken for a doubled one.
    parts, position = [], 0
    while position < len(inside):
        pair = inside[position : position + 2]
        if pair == quote_char * 2:
            parts.append("\\" + quote_char)
        elif pair[0] == "\\":
            parts.append(pair)
        else:
            parts.append(pair[0])
            pair = pair[0]
        position += len(pair)
    return quote_char + "".join(parts) + quote_char


def _is_suffix(before: Token | None, token: Token) -> bool:
    """The L of `5L`: a word that belongs to the number it touches."""
    return (
        before is not None
        and before.kind is Kind.NUMBER
        and before.end == token.start
        and token.kind is Kind.WORD
    )


def _touches(before: Token, token: Token, before_is_unary: bool, in_type: bool) -> bool:
    if token.is_sign(",", ")", "]", ".", "::") or before.is_sign("(", "[", ".", "::"):
        return True
    if before_is_unary:
        return token.kind is not Kind.SIGN or token.value == "("
    if token.is_sign("("):
        return before.is_name and not before.is_in(KEYWORDS) and not before.is_in(QUANTIFIERS)
    if token.is_sign("["):
        return ends_operand(before)
    if in_type and before.is_sign("<"):
        return True
    return _is_suffix(before, token)
