"""How the matches of a row pattern are found, what a stream keeps, when a match is certain, in words."""

from __future__ import annotations

from collections.abc import Iterator

from situ.language.rows.ast import MatchNumber, Navigation, RowQuery
from situ.operators.rowpattern.automaton import END
from situ.operators.rowpattern.bounds import Bounds, bounds_of
from situ.operators.rowpattern.certainty import is_certain_at_last_row
from situ.operators.rowpattern.conditions import ConditionPlan
from situ.operators.rowpattern.reads import CLASSES
from situ.plan.explain import describe_duration


def method_lines(query: RowQuery, plan: ConditionPlan) -> Iterator[str]:
    """The method and its bound (ROW 4.10)."""
    n = plan.automaton.n_positions
    worst = CLASSES[max((CLASSES.index(kind) for kind in plan.reads), default=0)]
    if query.strategy == "any":
        yield "Every match is listed; more than max_matches that begin at one row are an error."
        return
    if query.strategy == "next":
        yield "Each first row goes once over the rows of its window, and never back."
        return
    if worst == "path":
        yield (
            "Conditions look at rows taken before, so candidates are tried one by one, the preferred first: "
            "exact, and stopped by an error after max_steps steps from one first row."
        )
        return
    searched = f"at most {counted(n, 'step')} for each row that it reaches"
    if query.mode is not None:
        yield f"Each first row is searched by itself, and comes by no position twice at a row: {searched}."
        return
    if worst == "first":
        yield "Of a table: three times over the rows that each first row reaches, whatever the pattern."
    else:
        yield "Of a table: once from the last row to the first, then once from the first to the last."
    yield f"On a stream, and where instants are asked for: each first row by itself, {searched}."


def stream_lines(query: RowQuery, plan: ConditionPlan, bounds: Bounds) -> Iterator[str]:
    """What a stream keeps, and when it reports a match."""
    automaton = plan.automaton
    if any(way.at_last for ways in automaton.follow for way in ways):
        yield "The pattern asks for the last row ($), and a stream has none: it is refused there."
        return
    if query.empty == "unmatched":
        yield "WITH UNMATCHED ROWS is refused there."
        return
    if query.within is None and bounds.most is None:
        yield "It needs WITHIN there: nothing else bounds the rows that must be kept."
        return
    if query.within is not None:
        kept = f"the rows of the last {describe_duration(query.within)}"
    else:
        kept = f"at most {counted(bounds.most or 1, 'row')}"
    extra = []
    if plan.back:
        extra.append(f"{counted(plan.back, 'row')} before them that PREV reads")
    ahead = max([*plan.lag, _read_ahead(query)], default=0)
    if ahead:
        extra.append(f"{counted(ahead, 'row')} that NEXT waits for")
    yield " and ".join([f"Kept of each partition: {kept}", *extra]) + "."
    later = f", and {counted(ahead, 'row')} later where NEXT is read" if ahead else ""
    yield f"A match is certain {_certain_text(query, plan)}{later}."


def _certain_text(query: RowQuery, plan: ConditionPlan) -> str:
    """When a match is certain (ROW 8.4, 9.7)."""
    if query.strategy == "any" or query.mode == "incremental":
        return "at its last row"
    waits = query.skip.to != "next row" or MatchNumber() in query.items
    if query.mode == "maximal":
        return f"when no longer one can be completed, {_latest(query, plan)}"
    if query.strategy == "next":
        if all(END not in [way.to for way in ways[1:]] for ways in plan.automaton.follow):
            return "at its last row"
        return "at its last row if it could not go on there, else when the window has passed"
    reads_path = "path" in plan.reads
    if is_certain_at_last_row(plan.automaton, waits_for_starts=waits, reads_path=reads_path):
        return "at its last row"
    earlier = " and every earlier first row is settled" if waits else ""
    return f"when no preferred one can be completed{earlier}, {_latest(query, plan)}"


def _latest(query: RowQuery, plan: ConditionPlan) -> str:
    if query.within is not None:
        return "at the latest when the window has passed"
    bounds = bounds_of(plan.automaton)
    assert bounds is not None
    return f"at the latest {counted(bounds.most or 0, 'row')} after it begins"


def _read_ahead(query: RowQuery) -> int:
    """How many rows ahead measures read."""
    names = [name for measure in query.measures for name in measure.expression.columns]
    items = [query.items[int(name.removeprefix("_item_"))] for name in names]
    return max((item.shift for item in items if isinstance(item, Navigation)), default=0)


def counted(n: int, what: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
