"""Refusing lengths, relations and a window that no situations can have together (SEM 9.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from situ.algebra import distances
from situ.algebra.network import Between
from situ.errors import InconsistentPatternError, QueryError, WindowTooShortError
from situ.language.situations.ast import Query
from situ.language.situations.draft import Place, Written
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration
from situ.language.text.words import quote

_MOST_NAMED = 8


class Said(NamedTuple):
    """One constraint of a query: as the algebra takes it, as a message names it, and where it stands."""

    constraint: distances.Constraint
    text: str
    place: Place | None
    is_window: bool = False


def check_lengths(
    query: Query, written: Sequence[Written], within_place: Place | None, places: Sequence[Place | None]
) -> None:
    """Raise where nothing could match; `places` are those of the symbols' definitions."""
    said = _lengths(query, places)
    if query.within is None and not said:
        return  # path consistency has already judged the relations alone
    order = {name: number for number, name in enumerate(query.symbol_names)}
    for one in written:
        relations = Between(order[one.left], order[one.right], one.relations)
        said.append(Said(relations, one.place.text, one.place))
    if query.within is not None:
        text = f"WITHIN {duration_text(query.within)}"
        said.append(Said(_window(query, query.within), text, within_place, is_window=True))
    culprits = distances.excluding(len(query.symbols), [one.constraint for one in said])
    if culprits is not None:
        raise _refusal([said[number] for number in culprits])


def _lengths(query: Query, places: Sequence[Place | None]) -> list[Said]:
    """AT LEAST and AT MOST, with what they mean for how long a match must last (SEM 2.4)."""
    said = []
    for i, (symbol, place) in enumerate(zip(query.symbols, places, strict=True)):
        name, to_end = quote(symbol.name), distances.lasts_to(i, distances.end_of(i))
        if symbol.at_least is not None:
            least = symbol.at_least.value
            used = distances.lasts_to(i, distances.start_of(i), least) if query.intervals is None else to_end
            text = f"{name} AT LEAST {duration_text(symbol.at_least)}"
            said.append(Said((*distances.at_least(i, least), *(used if least else ())), text, place))
        if symbol.at_most is not None:
            text = f"{name} AT MOST {duration_text(symbol.at_most)}"
            said.append(Said((*distances.at_most(i, symbol.at_most.value), *to_end), text, place))
    return said


def _window(query: Query, within: Duration) -> distances.Constraint:
    """WITHIN, with what EMIT FINAL and rows that come with their end mean for how long a match must last."""
    n = len(query.symbols)
    given = query.intervals
    at_end = query.emit == "FINAL" or (given is not None and given.id_by is None)
    to_ends = [distances.lasts_to(i, distances.end_of(i))[0] for i in range(n)] if at_end else []
    return (*distances.window(n, within.value), *to_ends)


def _refusal(culprits: Sequence[Said]) -> QueryError:
    *others, last = [f'"{one.text}"' for one in culprits]
    if len(others) > _MOST_NAMED:
        others = [*others[:_MOST_NAMED], f"{len(others) - _MOST_NAMED} more"]
    place = next((one.place for one in reversed(culprits) if one.place is not None), None)
    is_window = any(one.is_window for one in culprits)
    kind = WindowTooShortError if is_window else InconsistentPatternError
    if not others:
        message = f"nothing could match {last}: every situation lasts for at least one tick"
        hint = "allow more time"
    else:
        message = f"nothing could match: {', '.join(others)} and {last} exclude each other"
        hint = (
            "make the window longer, or ask for less to happen in it" if is_window else "change one of them"
        )
    return kind(message, hint=hint) if place is None else place.error(kind, message, hint=hint)
