"""A query back to its canonical text, which parses to an equal query."""

from __future__ import annotations

from collections.abc import Sequence

from situ.algebra.relations import names_of
from situ.language.situations.ast import Constraint, Item, Query, Symbol
from situ.language.situations.checks import default_returns
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Expression
from situ.language.text.render import render
from situ.language.text.sql import lambda_names, paths
from situ.language.text.tokens import Kind, Token, tokenize
from situ.language.text.words import ITEM_ENDPOINTS, quote


def query_text(query: Query) -> str:
    """The canonical text: one clause a line, in the order of the grammar."""
    lines = [f"FROM {'INTERVALS ' if query.intervals else ''}{query.source}"]
    if query.intervals is not None:
        named = (
            ("SYMBOL BY", query.intervals.symbol_by),
            ("STARTING", query.intervals.starting),
            ("ENDING", query.intervals.ending),
            ("ID BY", query.intervals.id_by),
        )
        lines[0] += "".join(f" {clause} {quote(column)}" for clause, column in named if column is not None)
    if query.where is not None:
        lines.append(f"WHERE {_condition(query, query.where)}")
    for clause, columns in (("ORDER BY", query.order_by), ("PARTITION BY", query.partition_by)):
        if columns:
            lines.append(f"{clause} {', '.join(quote(column) for column in columns)}")
    if query.intervals is None or query.intervals.symbol_by is None:
        lines.append("DEFINE " + ",\n       ".join(_definition(query, symbol) for symbol in query.symbols))
    pattern = _pattern(query)
    if pattern:
        lines.append("PATTERN " + "\n    AND ".join(pattern))
    if query.within is not None:
        lines.append(f"WITHIN {duration_text(query.within)}")
    if query.emit != "EARLY":
        lines.append(f"EMIT {query.emit}")
    if (query.items, query.returns) != default_returns(query.symbol_names):
        lines.append("RETURN " + ",\n       ".join(_returns(query)))
    return "\n".join(lines)


def _definition(query: Query, symbol: Symbol) -> str:
    assert symbol.condition is not None
    text = f"{quote(symbol.name)} AS {_condition(query, symbol.condition)}"
    if symbol.at_least is not None and symbol.at_most is not None:
        return f"{text} BETWEEN {duration_text(symbol.at_least)} AND {duration_text(symbol.at_most)}"
    if symbol.at_least is not None:
        return f"{text} AT LEAST {duration_text(symbol.at_least)}"
    return text if symbol.at_most is None else f"{text} AT MOST {duration_text(symbol.at_most)}"


def _condition(query: Query, condition: Expression) -> str:
    """The condition, with columns qualified where their first part would be read as something else.

    A struct column may be called like the source (`cars.speed` would be the column speed) or like a
    symbol (`A.ts` would be its start).
    """
    tokens = tokenize(condition.sql)[:-1]
    source = [token for token in tokenize(query.source)[:-1]]
    names = [token.value.lower() for token in source if token.is_name]
    variables = lambda_names(tokens)
    qualified: list[Token] = []
    position = 0
    for first, last in paths(tokens):
        parts = [token.value for token in tokens[first : last + 1 : 2]]
        qualified.extend(tokens[position:first])
        is_endpoint = (
            len(parts) == 2 and parts[0] in query.symbol_names and parts[1].lower() in ITEM_ENDPOINTS
        )
        if (
            len(parts) > 1
            and (parts[0].lower() in names or is_endpoint)
            and parts[0].lower() not in variables
        ):
            qualified.extend((*source, Token(Kind.SIGN, ".", 0, 0)))
        position = first
    qualified.extend(tokens[position:])
    return render(qualified)


def _pattern(query: Query) -> list[str]:
    texts = [constraint_text(constraint) for constraint in query.constraints]
    by_column = query.intervals is not None and query.intervals.symbol_by is not None
    mentioned = list(dict.fromkeys(name for one in query.constraints for name in (one.left, one.right)))
    if by_column and mentioned != list(query.symbol_names):
        # With SYMBOL BY the order of first mention is the order of the symbols.
        texts = [f"{quote(name)}.ts < {quote(name)}.te" for name in query.symbol_names] + texts
    return texts


def constraint_text(constraint: Constraint) -> str:
    """`A meets;overlaps B`."""
    return f"{quote(constraint.left)} {';'.join(names_of(constraint.relations))} {quote(constraint.right)}"


def _returns(query: Query) -> list[str]:
    written = {f"_item_{number}": item_text(item) for number, item in enumerate(query.items)}
    return [
        f"{_with_items(tokenize(item.expression.sql)[:-1], written)} AS {quote(item.name)}"
        for item in query.returns
    ]


def _with_items(tokens: Sequence[Token], written: dict[str, str]) -> str:
    # A number is no part of any rendering rule, so each item passes through `render` in that disguise.
    disguised = [
        token._replace(value=written[token.value]) if token.value in written else token for token in tokens
    ]
    return render(
        [
            token._replace(kind=Kind.NUMBER) if token.value in written.values() else token
            for token in disguised
        ]
    )


def item_text(item: Item) -> str:
    """`avg(A.speed)`, `count(A)`, `A.ts`."""
    symbol = quote(item.symbol)
    if item.attribute is None:
        return f"count({symbol})" if item.function == "count" else f"{symbol}.{item.function}"
    attribute = quote(item.attribute)
    if item.attribute.lower() in ITEM_ENDPOINTS:
        attribute = f"`{item.attribute}`"  # bare it would be the start, end or length of the situation
    path = f"{symbol}.{attribute}"
    if item.fraction is not None:
        path += f", {item.fraction!r}"
    return path if item.function == "value" else f"{item.function}({path})"
