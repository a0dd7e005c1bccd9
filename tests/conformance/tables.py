"""Which of several sources an expression reads (SEM 13.2), by names alone."""

from __future__ import annotations

import re

import pyarrow as pa

from conformance.reading import Asked

Tables = pa.Table | dict[str, pa.Table]  # one, or several by FROM name


def source_of(symbol: str, asked: Asked, tables: dict[str, pa.Table]) -> str:
    """The alias of a symbol's source: the one behind ON, else the one whose columns its condition reads."""
    return asked.on.get(symbol) or reads(asked.conditions[symbol], asked, tables)


def reads(text: str, asked: Asked, tables: dict[str, pa.Table]) -> str:
    """The alias that the text qualifies columns with, or the only source that has all bare ones."""
    text = re.sub(r"'[^']*'", "", text)
    aliases = [table.alias for table in asked.tables]
    qualified = set(re.findall(r"\b(\w+)\s*\.\s*\w+", text)) & set(aliases)
    if qualified:
        (alias,) = qualified
        return alias
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    known = {table.alias: set(tables[table.name].column_names) for table in asked.tables}
    named = words & set.union(*known.values())
    (alias,) = [alias for alias in aliases if named and named <= known[alias]]
    return alias
