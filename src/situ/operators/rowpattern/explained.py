"""What situ understood of a row pattern, how it finds matches, and what that costs (ROW 11.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from situ.carry.in_process import why
from situ.language.rows.ast import RowQuery
from situ.language.rows.bound import BoundRows
from situ.language.rows.names import variable_text
from situ.language.rows.printer import expression_text, order_text
from situ.language.text.words import quote
from situ.operators.rowpattern.automaton import END
from situ.operators.rowpattern.bounds import Bounds, bounds_of
from situ.operators.rowpattern.conditions import NEVER, ConditionPlan, plan_conditions
from situ.operators.rowpattern.costs import counted, method_lines, stream_lines
from situ.operators.rowpattern.dump import MOST_SHOWN, more_lines, taken_text, tree_text, ways_text
from situ.operators.rowpattern.ir import lowered
from situ.operators.rowpattern.positions import automaton_of
from situ.operators.rowpattern.question import RowMatching
from situ.operators.rowpattern.reads import CLASSES
from situ.operators.rowpattern.simplify import simplified
from situ.plan.explain import describe_duration
from situ.plan.render import Section, Shown, Table

_READS = {
    "row": "the row",
    "neighbour": "rows beside it",
    "first": "the match's first row",
    "path": "rows taken before",
}


@dataclass(frozen=True, eq=False, repr=False)
class RowExplanation(Shown):
    """What was understood: print it, show it in a notebook, or read its parts."""

    query: RowQuery
    plan: ConditionPlan
    told: tuple[Section, ...] = ()  # what a run did
    notes: tuple[str, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """The parts in reading order; empty ones are left out."""
        bounds = bounds_of(self.plan.automaton)
        parts = [
            Section("Query", tuple(_query_lines(self.query))),
            _pattern_section(self.query, self.plan, bounds),
            *_condition_sections(self.query, self.plan),
        ]
        if bounds is not None:
            parts.append(Section("How matches are found", tuple(method_lines(self.query, self.plan))))
            parts.append(Section("On a stream", tuple(stream_lines(self.query, self.plan, bounds))))
        parts += self.told
        if self.notes:
            parts.append(Section("Notes", self.notes))
        return tuple(parts)

    def with_notes(self, *notes: str) -> RowExplanation:
        """The same, with further remarks, such as which strategy a carrier chose and why."""
        return replace(self, notes=(*self.notes, *notes))


def explain_query(bound: BoundRows) -> RowExplanation:
    """What was understood of a query that is bound to the columns of a table."""
    query = bound.query
    return RowExplanation(query, plan_conditions(bound, automaton_of(query.pattern, query.variables)))


def explain(events: Any, query: RowQuery, **options: Any) -> RowExplanation:
    """What was understood of a query, and what it does to a table."""
    counted_rows = why(events, RowMatching(query), options)
    n_rows, _, n_looked, n_failing, n_matches, _ = counted_rows.tally.rows.tolist()
    lines = [f"Rows: {n_rows:,}.", f"Matches: {n_matches:,}."]
    if query.strategy != "any":
        lines.append(f"First rows from which a match was sought: {n_looked:,}, without one: {n_failing:,}.")
    did = Section("What the run did", tuple(lines))
    return RowExplanation(counted_rows.query, counted_rows.plan, (did,))


def explain_text(query: RowQuery) -> RowExplanation:
    """The same without a schema: which rows conditions read does not depend on types."""
    return explain_query(unbound(query))


def unbound(query: RowQuery) -> BoundRows:
    """The query as if bound to a table of which nothing is known."""
    return BoundRows(query, (), (), (), None, None)


def _query_lines(query: RowQuery) -> Iterator[str]:
    line = f"Rows of {query.source}, in order of {', '.join(map(order_text, query.order_by))}"
    if query.partition_by:
        line += f", separately for each {', '.join(map(quote, query.partition_by))}"
    yield line + "."
    if query.where is not None:
        yield f"Only rows with {query.where.sql} are rows."
    yield _chosen_text(query)
    if query.mode is None and query.strategy != "any":
        yield f"After a match the next one is sought {_resumed_text(query)} (AFTER MATCH SKIP)."
    if query.within is not None:
        yield f"From its first row to its last at most {describe_duration(query.within)} may pass (WITHIN)."
    yield "A match is one row of the result." if query.rows == "one" else _all_rows_text(query)


def _chosen_text(query: RowQuery) -> str:
    if query.strategy == "any":
        return "A match is any rows in order of time that fit the pattern: all of them (SKIP TILL ANY)."
    if query.strategy == "next":
        return "A match takes the next row that fits, and again, leaving others out (SKIP TILL NEXT)."
    if query.mode == "maximal":
        return "Matches are rows side by side; of each first row the longest (MAXIMAL MATCH)."
    if query.mode == "incremental":
        return "Matches are rows side by side; of each last row the longest (INCREMENTAL MATCH)."
    return "A match is rows side by side: of all those that begin at a row, the one that the pattern prefers."


def _resumed_text(query: RowQuery) -> str:
    match query.skip.to:
        case "past last row":
            return "behind its last row"
        case "next row":
            return "at the row behind its first"
        case which:
            return f"at its {which} row of {variable_text(query.skip.variable or '')}"


def _all_rows_text(query: RowQuery) -> str:
    empty = {
        "show": "an empty match is the row it begins at",
        "omit": "empty matches are left out",
        "unmatched": "rows in no match are results too, without measures",
    }
    return f"Every row of a match is a row of the result; {empty[query.empty]}."


def _pattern_section(query: RowQuery, plan: ConditionPlan, bounds: Bounds | None) -> Section:
    automaton = plan.automaton
    pattern = tree_text(simplified(lowered(query.pattern, query.variables)), query.variables)
    if len(pattern) > 2_000:
        pattern = f"{pattern[:2_000]} ..."
    lines = [f"Understood as {pattern}"]
    if bounds is None:
        return Section("Pattern", (*lines, "No rows can match it, so nothing is found."))
    if not _can_match(plan):
        lines.append("Nothing is found: it needs a row of a variable whose condition is never true.")
    lines.append(_rows_text(bounds))
    rows = [("start", "", "", ways_text(automaton.start))]
    for place in range(min(automaton.n_positions, MOST_SHOWN)):
        rows.append((str(place + 1), taken_text(automaton, place), _reads(plan, place),
                     ways_text(automaton.follow[place])))  # fmt: skip
    columns = ("position", "takes a row of", "looking at", "then, the preferred first")
    return Section("Pattern", (*lines, *more_lines(automaton)), Table(columns, tuple(rows)))


def _rows_text(bounds: Bounds) -> str:
    if bounds.most is None:
        least = f"at least {counted(bounds.least, 'row')}" if bounds.least else "any number of rows, or none"
        return f"A match has {least}."
    if bounds.least == bounds.most:
        return f"A match has {counted(bounds.least, 'row')}."
    return f"A match has from {bounds.least:,} to {counted(bounds.most, 'row')}."


def _reads(plan: ConditionPlan, position: int) -> str:
    test = plan.test[position]
    if test < 0:
        return "nothing: any row"
    if plan.tests[test].condition == NEVER:
        return "nothing: no row"
    return _READS[plan.reads[test]]


def _can_match(plan: ConditionPlan) -> bool:
    """Whether the end can be reached without a test that is never true (ROW 10.3)."""
    automaton = plan.automaton
    waiting, seen = [way.to for way in automaton.start], set[int]()
    while waiting:
        position = waiting.pop()
        if position == END:
            return True
        is_never = plan.test[position] >= 0 and plan.tests[plan.test[position]].condition == NEVER
        if position not in seen and not is_never:
            seen.add(position)
            waiting += [way.to for way in automaton.follow[position]]
    return False


def _condition_sections(query: RowQuery, plan: ConditionPlan) -> list[Section]:
    rows = []
    for number, name in enumerate(query.variables):
        if name not in query.conditions:
            rows.append((variable_text(name), "any row", "nothing", ""))
            continue
        of = zip(plan.automaton.variable, plan.test, strict=True)
        tests = sorted({test for variable, test in of if variable == number and test >= 0})
        text = expression_text(query, query.conditions[name])
        rows.append((variable_text(name), text, _all_read(plan, tests), _evaluated(plan, tests)))
    columns = ("variable", "takes rows where", "which looks at", "evaluated")
    return [Section("Conditions", (), Table(columns, tuple(rows)))] if rows else []


def _all_read(plan: ConditionPlan, tests: list[int]) -> str:
    kinds = {plan.reads[test] for test in tests if plan.tests[test].condition != NEVER}
    found = [_READS[kind] for kind in CLASSES if kind in kinds]
    ahead = max((plan.lag[test] for test in tests), default=0)
    return " or ".join(found or ["nothing"]) + (f", {counted(ahead, 'row')} ahead" if ahead else "")


def _evaluated(plan: ConditionPlan, tests: list[int]) -> str:
    """Where: on Spark the JVM computes what rows have as a bit when they reach the operator."""
    places = set()
    for test in tests:
        if plan.bit[test] >= 0:
            places.add("as rows are read, on Spark by Spark")
        elif plan.reads[test] in ("row", "neighbour"):
            places.add("for all rows at once")
        else:
            places.add("as matches are sought")
    return " and ".join(sorted(places))
