"""Queries without text: `from situ.builder import col, events, symbols`."""

from situ.language.building.builder import events, intervals
from situ.language.building.constraints import no
from situ.language.building.symbols import symbols
from situ.language.building.values import call, col, prev, sql

__all__ = ["call", "col", "events", "intervals", "no", "prev", "sql", "symbols"]
