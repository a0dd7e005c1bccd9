"""How deep an expression nests: checked before and after anything recursive sees it."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot.expressions as exp

from situ.errors import NestingError, QueryError, QuerySyntaxError, Span
from situ.language.text.dialect import MAX_NESTING
from situ.language.text.render import is_unary
from situ.language.text.tokens import Source, Token
from situ.language.text.words import TYPES_WITH_ARGUMENTS

MAX_TYPE_NESTING = 20  # ARRAY<ARRAY<...>>: sqlglot takes time quadratic in this depth
_OPENING = {"(": ")", "[": "]"}


def bracket_depths(source: Source) -> list[int]:
    """The bracket depth of every token; brackets that do not pair up, or nest too deep, are errors."""
    depths: list[int] = []
    open_brackets: list[Token] = []
    for token in source.tokens:
        if token.is_sign(")", "]"):
            _close(source, token, open_brackets)
        depths.append(len(open_brackets))
        if token.is_sign(*_OPENING):
            open_brackets.append(token)
            if len(open_brackets) > MAX_NESTING:
                raise too_deep(source, token.span)
    if open_brackets:
        opened = open_brackets[-1]
        raise source.error(
            QuerySyntaxError,
            f"this {opened.value} is never closed",
            opened,
            hint=f"add the {_OPENING[opened.value]} it needs",
        )
    return depths


def _close(source: Source, token: Token, open_brackets: list[Token]) -> None:
    if not open_brackets:
        raise source.error(
            QuerySyntaxError, f"there is nothing open that this {token.value} could close", token
        )
    opened = open_brackets.pop()
    if _OPENING[opened.value] != token.value:
        raise source.error(
            QuerySyntaxError,
            f"this {token.value} stands where the {opened.value} before it needs a {_OPENING[opened.value]}",
            token,
        )


def closing(tokens: Sequence[Token], opening: int) -> int:
    """The bracket that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(tokens)):
        depth += tokens[position].is_sign("(", "[") - tokens[position].is_sign(")", "]")
        if depth == 0:
            return position
    raise AssertionError("brackets were checked before")


def check_nesting(source: Source, tokens: Sequence[Token]) -> None:
    """Refuse tokens in which too many brackets, CASEs, types and prefix operators enclose one another."""
    brackets = cases = types = prefixes = 0
    before: Token | None = None
    for token in tokens:
        if token.is_sign("(", "["):
            brackets += 1
        elif token.is_sign(")", "]"):
            brackets -= 1
        elif token.is_word("CASE"):
            cases += 1
        elif token.is_word("END"):
            cases = max(0, cases - 1)
        elif token.is_sign("<") and before is not None and before.is_in(TYPES_WITH_ARGUMENTS):
            types += 1
        elif token.is_sign(">", ">>", ">>>"):
            types = max(0, types - len(token.value))
        prefixes = prefixes + 1 if is_unary(token, before) or token.is_word("NOT", "INTERVAL") else 0
        if brackets + cases + types + prefixes > MAX_NESTING or types > MAX_TYPE_NESTING:
            raise too_deep(source, token.span)
        before = token


def tree_nesting(tree: exp.Expr) -> int:
    """The depth of a tree, where a flat chain such as `a AND b AND c` counts as one level and () as none."""
    deepest = 0
    waiting: list[tuple[exp.Expr, int]] = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        # sqlglot leans chains of operators to the left and walks that side in a loop.
        spine = node.this if isinstance(node, exp.Binary) and not isinstance(node, exp.Dot) else None
        flat = isinstance(node, exp.Paren)
        for child in node.iter_expressions():
            waiting.append((child, depth if flat or child is spine else depth + 1))
    return deepest


def too_deep(source: Source, span: Span) -> QueryError:
    return source.error(
        NestingError,
        f"this is nested deeper than {MAX_NESTING} levels ({MAX_TYPE_NESTING} for types)",
        span,
        hint="compute part of it as a column of its own first",
    )
