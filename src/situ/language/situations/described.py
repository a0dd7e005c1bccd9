"""A query's situations in words, for explanations and pictures."""

from __future__ import annotations

from situ.algebra.certainty import STARTS_EARLIER, STARTS_TOGETHER, Admissible
from situ.algebra.relations import AFTER, BEFORE, MEETS
from situ.language.rows.shapes import pattern_text
from situ.language.situations.ast import Absence, Constraint, Difference, Endpoint, Query, Symbol
from situ.language.situations.gaps import gaps_text
from situ.language.text.durations import duration_text
from situ.language.text.looking import how_far_back
from situ.language.text.nodes import Duration


def source_text(query: Query) -> str:
    """Where situations come from."""
    given = query.intervals
    if query.sources:
        names = [
            table.key if table.key == table.alias else f"{table.key} ({table.alias})"
            for table in query.sources
        ]
        return f"Derives situations from the events of {', '.join(names[:-1])} and {names[-1]}"
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
    """A symbol's condition, and which gaps do not end it; SYMBOL BY is a comparison."""
    if symbol.condition is not None:
        ignoring = "" if symbol.ignoring is None else f", {gaps_text(symbol.ignoring).lower()}"
        of = "" if symbol.on is None else f" in {symbol.on}"
        return f"{symbol.condition.sql}{of}{ignoring}"
    if symbol.rows is not None:
        return f"rows match {pattern_text(symbol.rows.pattern)}"
    if symbol.is_silence:
        return "no event comes" if symbol.on is None else f"no event of {symbol.on} comes"
    assert query.intervals is not None  # nothing else leaves a symbol without a condition
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


def gap_lines(query: Query) -> list[str]:
    """What gaps that are ignored mean for the instant of a match (SEM 14.3)."""
    names = [symbol.name for symbol in query.symbols if symbol.ignoring is not None]
    if not names:
        return []
    return [
        f"When {' or '.join(names)} pauses it is not known at once whether that is a gap or the end: a match "
        "whose instant falls into such a pause is reported when it is decided."
    ]


def looking_lines(query: Query) -> list[str]:
    """What is kept for conditions that look back (SEM 15.2)."""
    conditions = [symbol.condition for symbol in query.symbols if symbol.condition is not None]
    most = max(map(how_far_back, conditions), default=0)
    if not most:
        return []
    instants = "the instant before" if most == 1 else f"up to {most:,} instants back"
    return [
        f"Conditions look at {instants} (prev). A stream keeps these values of every partition, however long "
        "it is silent, until forget_after if that is given."
    ]


def composed_lines(query: Query) -> list[str]:
    """What row patterns mean for the instant of a match (SEM 17.3)."""
    names = [symbol.name for symbol in query.row_patterns]
    if not names:
        return []
    return [
        f"A situation of {' or '.join(names)} ends at the first event behind the rows that match, and can be "
        "in a match once it has ended and no other rows can be its match any more."
    ]


def has_ticks(query: Query) -> bool:
    """Whether matches are reported between events (SEM 11.9)."""
    return bool(query.absences) or any(
        symbol.is_silence or (symbol.rows is not None and symbol.rows.within is not None)
        for symbol in query.symbols
    )


TICKS = (
    "Time that passes without events counts here. A batch takes it up to the largest time of its input; "
    "elsewhere a silent partition reports nothing until a watermark, op.advance or its own next event shows "
    "that the instant has passed."
)


def difference_certain(query: Query, difference: Difference) -> str:
    """When a difference that holds is certain (SEM 9.3)."""
    left, right = difference.left, difference.right
    if difference.bound.value < 0:
        if right.end == "ts" or query.intervals is not None:
            return f"at {_end(right)}"
        later = f"{_end(left)} + {_ticks(difference.bound)}"
        return f"at the first event from {later} on, once {right.symbol} has started"
    if left.end == "ts":
        return "at the later start"
    return f"at {_end(left)}, once {right.symbol} has started"


def absence_certain(query: Query, absence: Absence) -> str:
    """From when on a group is certain where nothing fits it, for the common cases of SEM 11.4."""
    found = [_set_certain(one) for one in absence.constraints if one.relations & AFTER != AFTER]
    for one in absence.differences:
        if one.left.symbol == absence.symbol:
            later = f" + {_ticks(one.bound)}" if one.bound.value > 0 else ""
            found.append(f"from {_end(one.right)}{later} on")
    text = ", or earlier ".join(dict.fromkeys(found))
    symbol = next(one for one in query.symbols if one.name == absence.symbol)
    if symbol.at_least is not None or symbol.at_most is not None or query.intervals is not None:
        text += f"; later while {absence.symbol} has begun and may still fit"
    return text


def _set_certain(constraint: Constraint) -> str:
    absent, other, relations = constraint.left, constraint.right, constraint.relations
    if not relations & ~(BEFORE | 1 << MEETS):
        return f"from {other}.ts on"
    if not relations & ~(BEFORE | 1 << MEETS | STARTS_EARLIER | STARTS_TOGETHER):
        return f"from {other}.ts on, or with a {absent} in progress then when the first of the two ends"
    return f"from {other}.te on"


def _end(endpoint: Endpoint) -> str:
    return f"{endpoint.symbol}.{endpoint.end}"


def _ticks(bound: Duration) -> str:
    return duration_text(Duration(abs(bound.value), bound.has_unit))
