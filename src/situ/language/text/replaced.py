"""An expression with something else for some of its columns."""

from __future__ import annotations

from collections.abc import Mapping

from situ.language.text.dialect import parse
from situ.language.text.nodes import Expression
from situ.language.text.render import render
from situ.language.text.sql import columns_of, lambda_names, paths
from situ.language.text.tokens import Token, tokenize


def with_columns(expression: Expression, instead: Mapping[str, str]) -> Expression:
    """Token for token what it was, but for these columns: `instead` has the text of an operand for each.

    >>> with_columns(Expression("a.b + ABS(c)", ("a", "c")), {"a": "x", "c": "(y - 1)"}).sql
    'x.b + ABS((y - 1))'
    """
    tokens = tokenize(expression.sql)[:-1]
    variables = lambda_names(tokens)
    replaced: list[Token] = []
    position = 0
    for first, _ in paths(tokens):
        name = tokens[first].value
        is_call = first + 1 < len(tokens) and tokens[first + 1].is_sign("(")
        if name not in instead or name not in expression.columns or is_call or name.lower() in variables:
            continue
        replaced += [*tokens[position:first], *tokenize(instead[name])[:-1]]
        position = first + 1
    sql = render([*replaced, *tokens[position:]])
    return Expression(sql, columns_of(parse(sql)))
