"""LIKE: `%` any text, `_` any one character, an escape character before either or itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pyarrow.compute as pc

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.evaluate import unary
from situ.expressions.node import Node, constant
from situ.expressions.vectors import Values, read_boolean

_PLAIN_SEARCHES: Final = {"=%": "starts_with", "%=": "ends_with", "%=%": "match_substring"}


def like(child: Node, pattern: Node, escape: str) -> Node:
    """`child LIKE pattern`, the pattern a literal."""
    if child.is_null or pattern.is_null:
        return constant(t.BOOLEAN, None)
    if not pattern.folded:
        raise UnsupportedExpressionError("LIKE with a pattern that is not a literal")
    matches = _matcher(_parse(pattern.value, escape))
    return unary(t.BOOLEAN, child, lambda values, valid: (matches(values), valid))


def _parse(pattern: str, escape: str) -> list[str]:
    """The pattern as a list of `%`, `_`, and plain texts, each with a mark before it: `=text`."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, None)
            if escaped is None or escaped not in ("%", "_", escape):
                raise UnsupportedExpressionError(
                    f"LIKE {pattern!r}, where {escape!r} escapes neither %, _ nor itself,"
                )
            character = "=" + escaped
        elif character not in ("%", "_"):
            character = "=" + character
        if character[0] == "=" and parts and parts[-1][0] == "=":
            parts[-1] += character[1:]
        else:
            parts.append(character)
    return parts


def _matcher(parts: list[str]) -> Callable[[Values], Values]:
    """Plain searches where the pattern is one text with `%` around it, else a regular expression."""
    shape = "".join(part[0] for part in parts)
    if shape in _PLAIN_SEARCHES:
        text = next(part[1:] for part in parts if part[0] == "=")
        return searching(_PLAIN_SEARCHES[shape], text)
    expressions = {"%": ".*", "_": "."}
    regex = "".join(expressions.get(part) or re.escape(part[1:]) for part in parts)
    return searching("match_substring_regex", rf"(?s)\A(?:{regex})\z")


def searching(name: str, pattern: str) -> Callable[[Values], Values]:
    """Arrow's search of that name for the pattern."""
    function, options = pc.get_function(name), pc.MatchSubstringOptions(pattern)
    return lambda values: read_boolean(function.call([values], options))[0]
