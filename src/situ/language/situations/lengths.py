"""Refusing what no situations can have together: lengths, distances, relations, a window (SEM 9.6, 11.6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from situ.algebra import distances
from situ.algebra.network import Between
from situ.errors import InconsistentPatternError, QueryError, WindowTooShortError
from situ.language.situations.absent import deadline_of, ends_any_time
from situ.language.situations.ast import Absence, Endpoint, Query, Symbol
from situ.language.situations.draft import Conjunction, Distance, Pattern
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration
from situ.language.text.places import Place
from situ.language.text.words import quote

_MOST_NAMED = 8


class Said(NamedTuple):
    """One constraint of a query: as the algebra takes it, as a message names it, and where it stands."""

    constraint: distances.Constraint
    text: str
    place: Place | None
    is_window: bool = False


def check_lengths(
    query: Query, pattern: Pattern | None, within_place: Place | None, places: dict[str, Place]
) -> None:
    """Raise where nothing could match; `places` are those of the symbols' definitions."""
    order = {symbol.name: number for number, symbol in enumerate(query.positives)}
    said = [one for symbol in query.positives for one in _lengths(query, symbol, order, places)]
    if pattern is not None:
        said += _written(pattern, order)
    base = list(said)
    if query.within is not None:
        for absence, group in _groups(query, pattern):
            said += _deadline(absence, group, order)
        text = f"WITHIN {duration_text(query.within)}"
        said.append(Said(_window(query, query.within), text, within_place, is_window=True))
    if any(not isinstance(one.constraint, Between) for one in said):
        # Path consistency has already judged relations alone.
        culprits = distances.excluding(len(order), [one.constraint for one in said])
        if culprits is not None:
            raise _refusal([said[number] for number in culprits])
    for absence, group in _groups(query, pattern):
        _check_fits(query, absence, group, base, order, places)


def _groups(query: Query, pattern: Pattern | None) -> list[tuple[Absence, Conjunction]]:
    return [] if pattern is None else list(zip(query.absences, pattern.groups, strict=True))


def _lengths(query: Query, symbol: Symbol, order: dict[str, int], places: dict[str, Place]) -> list[Said]:
    """AT LEAST and AT MOST, with what they mean for how long a match must last (SEM 2.4)."""
    said = []
    i, place = order[symbol.name], places.get(symbol.name)
    name, to_end = quote(symbol.name), distances.lasts_to(i, distances.end_of(i))
    if symbol.at_least is not None:
        least = symbol.at_least.value
        used = distances.lasts_to(i, distances.start_of(i), least)
        if query.intervals is not None or symbol.rows is not None:
            used = to_end
        text = f"{name} AT LEAST {duration_text(symbol.at_least)}"
        said.append(Said((*distances.at_least(i, least), *(used if least else ())), text, place))
    if symbol.at_most is not None:
        text = f"{name} AT MOST {duration_text(symbol.at_most)}"
        said.append(Said((*distances.at_most(i, symbol.at_most.value), *to_end), text, place))
    return said


def _written(said: Conjunction, order: dict[str, int]) -> list[Said]:
    """Relations and differences, both bounds of a BETWEEN as one."""
    found = []
    for left, right, relations, place in said.written:
        found.append(Said(Between(order[left], order[right], relations), place.text, place))
    for place, together in groupby(said.distances, key=lambda one: one.place):
        bounds = tuple(_bound(one, order) for one in together)
        found.append(Said(bounds, place.text, place))
    return found


def _bound(one: Distance, order: dict[str, int]) -> distances.Difference:
    left, right, bound, is_strict = (
        one.difference.left,
        one.difference.right,
        one.difference.bound,
        one.difference.is_strict,
    )
    return distances.Difference(_node(left, order), _node(right, order), bound.value - is_strict)


def _node(endpoint: Endpoint, order: dict[str, int]) -> int:
    symbol = order[endpoint.symbol]
    return distances.start_of(symbol) if endpoint.end == "ts" else distances.end_of(symbol)


def _window(query: Query, within: Duration) -> distances.Constraint:
    """WITHIN, with what EMIT FINAL and rows that come with their end mean for how long a match must last."""
    n = len(query.positives)
    given = query.intervals
    at_end = query.emit == "FINAL" or (given is not None and given.id_by is None)
    to_ends = [
        distances.lasts_to(i, distances.end_of(i))[0]
        for i, symbol in enumerate(query.positives)
        if at_end or symbol.rows is not None
    ]
    return (*distances.window(n, within.value), *to_ends)


def _deadline(absence: Absence, group: Conjunction, order: dict[str, int]) -> list[Said]:
    """A match must last until its NO group is certain, where that is so long after an endpoint (SEM 11.6)."""
    last = deadline_of(absence)
    if last is None:
        return []
    needed = distances.lasts_to(order[last.right.symbol], _node(last.right, order), last.bound.value)
    return [Said(needed, group.place.text, group.place)]


def _check_fits(
    query: Query,
    absence: Absence,
    group: Conjunction,
    base: Sequence[Said],
    order: dict[str, int],
    places: dict[str, Place],
) -> None:
    """Refuse a group that nothing can fit, for it forbids nothing, or that a row to come can always fit."""
    order = order | {absence.symbol: len(order)}
    symbol = next(one for one in query.symbols if one.name == absence.symbol)
    said = [*base, *_lengths(query, symbol, order, places), *_written(group, order)]
    constraints = [one.constraint for one in said]
    culprits = distances.excluding(len(order), constraints)
    if culprits is None:
        if query.intervals is not None and _may_end_late(len(order), constraints):
            raise ends_any_time(absence, group.place)
        return
    texts = _listed([said[number] for number in culprits])
    raise group.place.error(
        InconsistentPatternError,
        f"no {absence.symbol} could ever be like this, so the group forbids nothing: {texts}",
        hint="leave the group out, or change one of them",
    )


def _may_end_late(n: int, constraints: Sequence[distances.Constraint]) -> bool:
    """Whether the last of n symbols may end as late after all others as one likes (SEM 11.8)."""
    bounds = [bound for one in constraints if not isinstance(one, Between) for _, _, bound in one]
    late = sum(map(abs, bounds)) + 4 * n  # later than any path of bounds leads
    last = distances.end_of(n - 1)
    far = tuple(distances.Difference(distances.end_of(i), last, -late) for i in range(n - 1))
    return distances.excluding(n, [*constraints, far]) is None


def _listed(culprits: Sequence[Said]) -> str:
    *others, last = dict.fromkeys(f'"{one.text}"' for one in culprits)
    if len(others) > _MOST_NAMED:
        others = [*others[:_MOST_NAMED], f"{len(others) - _MOST_NAMED} more"]
    return f"{', '.join(others)} and {last}" if others else last


def _refusal(culprits: Sequence[Said]) -> QueryError:
    place = next((one.place for one in reversed(culprits) if one.place is not None), None)
    is_window = any(one.is_window for one in culprits)
    kind = WindowTooShortError if is_window else InconsistentPatternError
    if len(culprits) == 1:
        message = f"nothing could match {_listed(culprits)}: every situation lasts for at least one tick"
        hint = "allow more time"
    else:
        message = f"nothing could match: {_listed(culprits)} exclude each other"
        hint = (
            "make the window longer, or ask for less to happen in it" if is_window else "change one of them"
        )
    return kind(message, hint=hint) if place is None else place.error(kind, message, hint=hint)
