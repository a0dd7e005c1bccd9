"""NO groups: which symbol is absent, what a group says of it, and whether it can ever be certain (SEM 11)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.algebra.relations import (
    AFTER,
    ALL,
    BEFORE,
    converse,
    names_of,
)
from situ.errors import AbsenceError, InconsistentPatternError, QueryError, QuerySyntaxError
from situ.language.situations.ast import Absence, Constraint, Difference, Query, Symbol
from situ.language.situations.draft import Conjunction, Pattern
from situ.language.situations.tightest import tightest
from situ.language.text.places import Place
from situ.language.text.words import quote


def absent_symbols(pattern: Pattern) -> list[str]:
    """The absent symbol of every group: the one that no positive constraint has.

    Where there is no positive constraint the symbol right behind NO is the absent one.
    """
    positive = {name for left, right, _ in pattern.related for name in (left, right)}
    found = [_absent_symbol(group, positive) for group in pattern.groups]
    for name, group in zip(found, pattern.groups, strict=True):
        for mention in group.mentions:
            if mention.name != name and mention.name in found:
                raise mention.place.error(
                    AbsenceError,
                    f"{mention.name} is absent in another NO group, so nothing can be related to it",
                    hint=f"relate {name} to a symbol of the match",
                )
    return found


def _absent_symbol(group: Conjunction, positive: set[str]) -> str:
    mentioned = list(dict.fromkeys(mention.name for mention in group.mentions))
    loose = [name for name in mentioned if name not in positive] if positive else mentioned[:1]
    if len(loose) == 1:
        return loose[0]
    if not loose:
        listed = " and ".join(quote(name) for name in mentioned)
        raise group.place.error(
            AbsenceError,
            f"nothing is absent here: {listed} {'is' if len(mentioned) == 1 else 'are'} part of the match",
            hint=f"define {quote(mentioned[0])} a second time, under another name with the same condition, "
            "and say NO of that",
        )
    raise group.place.error(
        AbsenceError,
        f"a NO group is about one absent symbol, and this one has {len(loose)}: {', '.join(loose)}",
        hint="write a group for each: NO C during A AND NO D during A",
    )


def absence_of(group: Conjunction, absent: str, order: dict[str, int]) -> Absence:
    """What a group says, every constraint from the absent symbol to a positive one."""
    for left, right, place in group.related:
        if absent not in (left, right):
            raise place.error(
                AbsenceError,
                f"this says nothing about {absent}, which is what must be absent",
                hint="what relates other symbols stands outside of the group: A before B AND NO ...",
            )
    for length in group.lengths:
        raise _length_in_group(length.symbol, absent, length.place)
    sets: dict[str, int] = {}
    for left, right, relations, place in group.written:
        if is_followed(relations):
            raise place.error(
                AbsenceError,
                "followed-by and follows read the events of a situation, and an absent one has none",
                hint="write before or after, with BY AT MOST, or a second NO group",
            )
        other = right if left == absent else left
        sets[other] = sets.get(other, ALL) & (relations if left == absent else converse(relations))
        if not sets[other]:
            raise place.error(
                InconsistentPatternError,
                f"the constraints between {absent} and {other} exclude each other",
                hint="if either may hold, separate them with ; instead of AND, or write two NO groups",
            )
    if not group.related:
        raise group.place.error(
            AbsenceError,
            f"this group does not say where no {absent} may be",
            hint=f"relate it to a symbol of the match, as in NO {quote(absent)} during B",
        )
    constraints = tuple(
        Constraint(absent, other, sets[other]) for other in sorted(sets, key=order.__getitem__)
    )
    return Absence(absent, constraints, tightest(group.distances, order))


def is_followed(relations: int) -> bool:
    """Whether a set names followed-by or follows without the whole before or after."""
    return any(name in ("followed-by", "follows") for name in names_of(relations))


def _length_in_group(symbol: str, absent: str, place: Place) -> QueryError:
    name = quote(symbol)
    hint = f"bound the length of {name} in DEFINE: {name} AS ... AT LEAST 5 minutes"
    if symbol != absent:
        hint = "how long a symbol of the match lasts is said in DEFINE, or before NO"
    return place.error(AbsenceError, f"a NO group cannot bound the length of {symbol}", hint=hint)


def check_certain(absence: Absence, place: Place) -> None:
    """Refuse a group that no instant could make certain (SEM 11.6)."""
    name = quote(absence.symbol)
    if not _is_bounded(absence):
        other = _related(absence)
        raise place.error(
            AbsenceError,
            f"this could never be certain: a {absence.symbol} may always come later",
            hint=f"say until when, as in NO {name} after {quote(other)} BY AT MOST 5 minutes",
        )


def ends_any_time(absence: Absence, place: Place) -> QueryError:
    """The error for a group of given intervals that a row still to come can always fit (SEM 11.8)."""
    name = quote(absence.symbol)
    return place.error(
        AbsenceError,
        f"this could never be certain: a {absence.symbol} comes with its end, and may have begun any time",
        hint=f"bound the end, as in {name}.te <= {quote(_related(absence))}.te + 5 minutes, "
        f"or the length of {name} with AT MOST",
    )


def _related(absence: Absence) -> str:
    for constraint in absence.constraints:
        return constraint.right
    ends = absence.differences[0]
    return ends.right.symbol if ends.left.symbol == absence.symbol else ends.left.symbol


def _is_bounded(absence: Absence) -> bool:
    """Whether some endpoint of the absent symbol has a latest instant, whatever the relation."""
    return any(one.relations & AFTER != AFTER for one in absence.constraints) or bool(
        uppers(absence, absence.symbol)
    )


def uppers(absence: Absence, symbol: str) -> list[Difference]:
    """The differences that say how late an endpoint of the absent symbol may be."""
    return [one for one in absence.differences if one.left.symbol == symbol]


def deadline_of(absence: Absence) -> Difference | None:
    """The one difference after which the group is certain, where it has that form (SEM 11.6)."""
    sets = [one.relations for one in absence.constraints] or [ALL]
    if len(sets) > 1 or sets[0] & AFTER != AFTER or len(absence.differences) != 1:
        return None
    one = absence.differences[0]
    is_upper = one.left.symbol == absence.symbol and one.left.end == "ts" and one.bound.value > 0
    return one if is_upper else None


def unbounded_absence(query: Query) -> Absence | None:
    """A group that a given interval of any age could fit, so that a stream would keep all (SEM 11.7)."""
    if query.intervals is None:
        return None
    for absence in query.absences:
        reaches_back = all(one.relations & BEFORE == BEFORE for one in absence.constraints)
        if reaches_back and all(one.left.symbol == absence.symbol for one in absence.differences):
            return absence
    return None


def unbounded_hint(absence: Absence) -> str:
    """What to write so that a stream need not keep everything."""
    name, other = quote(absence.symbol), quote(_related(absence))
    return f"say how far back, as in NO {name} before {other} BY AT MOST 1 hour"


def check_gaps_beside(symbols: Sequence[Symbol], pattern: Pattern, absent: Sequence[str]) -> None:
    """Refuse an absent silence where gaps are ignored: every short one would have to be kept (SEM 14.4)."""
    gapped = next((symbol.name for symbol in symbols if symbol.ignoring is not None), None)
    silent = {symbol.name for symbol in symbols if symbol.is_silence}
    for name, group in zip(absent, pattern.groups, strict=True):
        if gapped is not None and name in silent:
            raise group.place.error(
                AbsenceError,
                f"the silence {name} cannot be absent beside {gapped}, which ignores gaps",
                hint=f"leave IGNORING GAPS out of {gapped}, or ask for {name} with a second query",
            )


def check_followed(symbols: Sequence[Symbol], pattern: Pattern) -> None:
    """Refuse followed-by and follows where there is no raw condition to read (SEM 12.4, 14.4, 17.6)."""
    by_name = {symbol.name: symbol for symbol in symbols}
    for left, right, relations, place in pattern.written:
        if not is_followed(relations):
            continue
        for symbol in (by_name[left], by_name[right]):
            if symbol.is_silence or symbol.rows is not None:
                what = "silence" if symbol.is_silence else "row pattern"
                raise place.error(
                    QuerySyntaxError,
                    f"followed-by and follows read conditions, and the {what} {symbol.name} has none",
                    hint="use before, after, meets or met-by",
                )
            if symbol.ignoring is not None:
                raise place.error(
                    QuerySyntaxError,
                    f"followed-by and follows read conditions, and {symbol.name} ignores gaps in its own",
                    hint="use before or after with a distance, as in A before B BY AT MOST 5 minutes",
                )
