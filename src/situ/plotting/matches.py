"""Matches with the endpoints of all their situations, whatever RETURN asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from situ.errors import OptionError
from situ.language.situations.ast import Item, Query, ReturnItem
from situ.language.text.nodes import Expression

_ENDPOINT = "_situ_{}_{}"


@dataclass(frozen=True)
class Found:
    """Result rows of `with_endpoints(query)`."""

    table: pa.Table
    query: Query

    def starts(self, row: dict[str, Any]) -> list[Any]:
        """The start of each symbol that matches have, in one match."""
        return [row[_ENDPOINT.format(i, "ts")] for i in range(len(self.query.positives))]

    def ends(self, row: dict[str, Any]) -> list[Any]:
        """Each end, None where it was open when the match was certain."""
        return [row[_ENDPOINT.format(i, "te")] for i in range(len(self.query.positives))]


def with_endpoints(query: Query) -> Query:
    """The same query that also returns every start and end."""
    items, returns = list(query.items), list(query.returns)
    for i, name in enumerate(symbol.name for symbol in query.positives):
        for function in ("ts", "te"):
            item = Item(function, name)
            if item not in items:
                items.append(item)
            column = f"_item_{items.index(item)}"
            returns.append(ReturnItem(_ENDPOINT.format(i, function), Expression(column, (column,))))
    return replace(query, items=tuple(items), returns=tuple(returns))


def return_column(query: Query, name: str) -> str:
    """The RETURN column of that name, in the query's spelling."""
    names = [item.name for item in query.returns]
    found = next((one for one in names if one.lower() == name.lower()), None)
    if found is None:
        raise OptionError(
            f"by={name!r} is no column of RETURN", hint=f"the columns are {', '.join(names) or 'none'}"
        )
    return found


def loose(query: Query) -> Query:
    """Every raw run of every symbol: no pattern, aggregates or lengths, but those of silences."""
    symbols = tuple(
        symbol if symbol.is_silence else replace(symbol, at_least=None, at_most=None)
        for symbol in query.symbols
    )
    return replace(query, symbols=symbols, constraints=(), within=None, items=(), returns=(), having=None)
