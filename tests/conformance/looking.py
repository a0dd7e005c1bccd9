"""`prev(x, n)` in the conditions of cases (SEM 15): taken apart, so that DuckDB sees plain columns."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from conformance.reading import PREV, Asked
from conformance.sql import evaluate, types
from conformance.tables import Tables, source_of
from oracles.question import Row


def is_prev(condition: str) -> bool:
    return re.search(PREV, condition, re.I) is not None


def looked_back(symbol: str, condition: str) -> tuple[str, dict[str, str], list[int]]:
    """The condition with a column for every prev, the expressions of those columns, how far each goes."""
    expressions: dict[str, str] = {}
    distances: list[int] = []

    def column(found: re.Match[str]) -> str:
        name = f"__prev_{symbol}_{len(distances)}"
        expressions[name] = found[1]
        distances.append(int(found[2] or 1))
        return name

    return re.sub(PREV, column, condition, flags=re.I), expressions, distances


class LookBack:
    """The condition of a symbol, called with a row and those of earlier instants."""

    def __init__(self, asked: Asked, symbol: str, tables: Tables) -> None:
        self.condition, expressions, self.distances = looked_back(symbol, asked.conditions[symbol])
        self.name = source_of(symbol, asked, tables) if asked.tables else asked.source
        names = {table.alias: table.name for table in asked.tables}
        self.table = tables[names[self.name]] if isinstance(tables, dict) else tables
        self.types = types(self.table, expressions, self.name)

    def __call__(self, row: Row, earlier: list[Row]) -> bool | None:
        own = {field.name: pa.array([row[field.name]], field.type) for field in self.table.schema}
        for (name, kind), distance in zip(self.types.items(), self.distances, strict=True):
            value: Any = earlier[-distance][name] if len(earlier) >= distance else None
            own[name] = pa.array([value], kind)
        return evaluate(pa.table(own), {"verdict": self.condition}, self.name)["verdict"][0]
