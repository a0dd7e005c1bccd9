"""A query's situations in words, for explanations and pictures."""

from __future__ import annotations

from situ.algebra.certainty import Admissible
from situ.language.situations.ast import Query, Symbol


def source_text(query: Query) -> str:
    """Where situations come from."""
    given = query.intervals
    if given is None:
        return f"Derives situations from the events of {query.source}"
    line = f"Takes each row of {query.source} as a situation from {given.starting} to {given.ending}"
    if given.id_by is not None:
        line += f"; one without an end is closed by a later row with its {given.id_by}"
    return line


def holding_text(query: Query) -> str:
    """How a situation and its condition go together."""
    return "goes on while" if query.intervals is None else "are rows with"


def condition_text(query: Query, symbol: Symbol) -> str:
    """A symbol's condition; SYMBOL BY is a comparison."""
    if symbol.condition is not None:
        return symbol.condition.sql
    assert query.intervals is not None  # only SYMBOL BY leaves a symbol without a condition
    return f"{query.intervals.symbol_by} = '{symbol.name}'"


def usable_text(query: Query, admissible: Admissible) -> str:
    """From when on a situation can be in a match."""
    if query.intervals is not None and admissible is Admissible.DELAYED:
        return "once it is known"
    return {
        Admissible.AT_START: "from its start",
        Admissible.DELAYED: "once it has lasted long enough",
        Admissible.AT_END: "once it has ended",
    }[admissible]
