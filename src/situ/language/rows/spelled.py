"""What a row pattern reads of each row, called otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from situ.language.rows.ast import Aggregate, Item, Navigation, RowQuery
from situ.language.rows.printer import more_expressions
from situ.language.text.nodes import Expression
from situ.language.text.render import render
from situ.language.text.sql import lambda_names, paths
from situ.language.text.tokens import Kind, Token, tokenize


def row_expressions(item: Item) -> list[Expression]:
    """What an item reads of each row."""
    if isinstance(item, Navigation):
        return [item.expression]
    if not isinstance(item, Aggregate):
        return []
    return [one for one in (item.argument, item.where, *more_expressions(item)) if one is not None]


def with_items(query: RowQuery, items: Sequence[Item], **others: Any) -> RowQuery:
    """The query with other items in place of its own, and equal ones once."""
    numbers: dict[Item, int] = {}
    names = {
        f"_item_{old}": f"_item_{numbers.setdefault(item, len(numbers))}" for old, item in enumerate(items)
    }
    return replace(
        query,
        items=tuple(numbers),
        measures=tuple(replace(one, expression=renamed(one.expression, names)) for one in query.measures),
        definitions=tuple(replace(one, condition=renamed(one.condition, names)) for one in query.definitions),
        **others,
    )


def renamed(of: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with its columns called otherwise."""
    if all(names.get(name, name) == name for name in of.columns):
        return of
    tokens: list[Token] = tokenize(of.sql)[:-1]
    lambdas = lambda_names(tokens)
    for first, last in paths(tokens):
        token = tokens[first]
        is_called = last + 1 < len(tokens) and tokens[last + 1].is_sign("(")
        if token.value in names and token.value.lower() not in lambdas and not is_called:
            tokens[first] = token._replace(kind=Kind.QUOTED, value=names[token.value])
    return Expression(render(tokens), tuple(dict.fromkeys(names.get(name, name) for name in of.columns)))
