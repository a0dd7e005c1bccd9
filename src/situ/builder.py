"""Queries without text: `from situ.builder import col, events, symbols`."""

from situ.language.builder import events, intervals
from situ.language.symbols import symbols
from situ.language.values import call, col, sql

__all__ = ["call", "col", "events", "intervals", "sql", "symbols"]
