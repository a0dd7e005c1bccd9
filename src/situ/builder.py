"""Queries without text: `from situ.builder import col, events, symbols`, `... import rows, variables`."""

from situ.language.building.builder import events, intervals
from situ.language.building.constraints import no
from situ.language.building.parts import (
    classifier,
    exclude,
    final,
    first,
    last,
    match_number,
    next_,
    partition_end,
    partition_start,
    permute,
    running,
    seq,
    variables,
)
from situ.language.building.rows import ascending, descending, rows
from situ.language.building.symbols import symbols
from situ.language.building.values import call, col, prev, sql

__all__ = [
    "ascending",
    "call",
    "classifier",
    "col",
    "descending",
    "events",
    "exclude",
    "final",
    "first",
    "intervals",
    "last",
    "match_number",
    "next_",
    "no",
    "partition_end",
    "partition_start",
    "permute",
    "prev",
    "rows",
    "running",
    "seq",
    "sql",
    "symbols",
    "variables",
]
