"""What situ understood of a query, in words and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from situ.algebra.certainty import Admissible, Trigger, describe_certainty, pair_triggers
from situ.algebra.network import Reduced
from situ.algebra.relations import names_of, words_of
from situ.language.situations.ast import Query, Symbol
from situ.language.situations.define import length_if_boolean
from situ.language.situations.described import (
    TICKS,
    absence_certain,
    composed_lines,
    condition_text,
    difference_certain,
    gap_lines,
    has_ticks,
    holding_text,
    looking_lines,
    source_text,
    usable_text,
)
from situ.language.situations.printer import absence_text, columns_of, difference_text
from situ.language.text.nodes import Duration
from situ.plan.cost import Floats
from situ.plan.having import having_lines, open_notes
from situ.plan.pattern import initial_plan, positive_part, reduce_pattern, relation_matrix, triggers_of
from situ.plan.plan import Plan
from situ.plan.render import Section, Shown, Table

_UNITS = (
    ("days", 86_400_000_000),
    ("hours", 3_600_000_000),
    ("minutes", 60_000_000),
    ("seconds", 1_000_000),
    ("milliseconds", 1_000),
    ("microseconds", 1),
)


@dataclass(frozen=True, eq=False)
class Actuals:
    """What a run did, to stand beside the estimates; leave out what is not known.

    `situations`: per symbol, how many were derived. `candidates`, `survivors`: per pair, as given to
    `Planner.observe`, over the whole run. `visited`: candidates looked at. `plan`: the one at the end.
    `events`: rows that count.
    """

    situations: tuple[int, ...] | None = None
    candidates: Floats | None = None
    survivors: Floats | None = None
    visited: int | None = None
    matches: int | None = None
    plan: Plan | None = None
    n_plan_changes: int | None = None
    events: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """What was understood: print it, show it in a notebook, or read its parts."""

    query: Query
    reduced: Reduced
    triggers: tuple[Trigger, ...]
    plan: Plan | None
    actuals: Actuals | None = None
    notes: tuple[str, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """The parts in reading order; empty ones are left out."""
        parts = [_query_section(self.query), symbols_section(self.query)]
        if self.query.constraints:
            parts += [_constraints_section(self), *_inferred_sections(self)]
        parts += _distance_sections(self.query)
        parts += _absence_sections(self.query)
        if self.plan is not None:
            parts += [_triggers_section(self), plan_section(positive_part(self.query), self.plan)]
        if self.actuals is not None:
            parts += _actual_sections(self, self.actuals)
        if self.notes:
            parts.append(Section("Notes", self.notes))
        return tuple(parts)

    def with_actuals(self, actuals: Actuals) -> Explanation:
        """The same, with what a run did."""
        return replace(self, actuals=actuals)

    def with_notes(self, *notes: str) -> Explanation:
        """The same, with further remarks, such as which strategy a carrier chose and why."""
        return replace(self, notes=(*self.notes, *notes))


def explain_query(query: Query) -> Explanation:
    """What was understood of `query`, and how it would be joined before anything is known of the data."""
    matched = positive_part(query)
    written, reduced = relation_matrix(matched), reduce_pattern(matched)
    triggers, plan = triggers_of(matched, written), initial_plan(matched, written, reduced)
    explanation = Explanation(query, reduced, triggers, plan)
    return explanation.with_notes(*open_notes(matched, reduced.matrix))


def explain_text(query: Query) -> Explanation:
    """`explain_query` without a schema, which says where a schema will decide what is meant."""
    return explain_query(query).with_notes(*(note for symbol in query.symbols for note in _unsettled(symbol)))


def _unsettled(symbol: Symbol) -> list[str]:
    if symbol.condition is None or symbol.at_least is not None or symbol.at_most is not None:
        return []
    length = length_if_boolean(symbol.condition)
    if length is None:
        return []
    condition, (low, high) = length
    column = condition.split()[-1]
    return [
        f"Should {column} be a boolean column, its BETWEEN is a length, because a boolean has no order: "
        f"then {symbol.name} goes on while {condition}, and lasts {lasting(low, high)}."
    ]


def describe_duration(duration: Duration) -> str:
    """A duration in the largest unit that leaves no fraction.

    >>> describe_duration(Duration(90_000_000, True)), describe_duration(Duration(5, False))
    ('90 seconds', '5 ticks')
    """
    if not duration.has_unit:
        return _count(duration.value, "ticks")
    if duration.value == 0:
        return "0 seconds"
    unit, size = next((unit, size) for unit, size in _UNITS if duration.value % size == 0)
    return _count(duration.value // size, unit)


def _count(n: int, unit: str) -> str:
    return f"{n} {unit[:-1] if n == 1 else unit}"


def _query_section(query: Query) -> Section:
    lines = [_source_line(query)]
    for table in query.sources:
        if table.where is not None:
            lines.append(f"Of {table.alias} only rows with {table.where.sql} are events.")
    if query.where is not None:
        lines.append(f"Only rows with {query.where.sql} are events.")
    if not query.can_match:
        lines.append("There is no PATTERN: this query can derive situations but not match them.")
        return Section("Query", (*lines, *looking_lines(query)))
    if query.emit == "EARLY":
        lines.append(
            "A match is reported at the first instant at which it is certain (EMIT EARLY); "
            "a situation still open then has no end yet."
        )
        last = "that instant"
    else:
        certain = ", and its NO groups are certain" if query.absences else ""
        lines.append(f"A match is reported when all its situations have ended{certain} (EMIT FINAL).")
        last = "the last end"
    if query.within is None:
        lines.append("There is no WITHIN: situations of any age can match, and a stream needs one.")
    else:
        lines.append(
            f"From the first start to {last} at most {describe_duration(query.within)} may pass (WITHIN)."
        )
    lines += having_lines(query)
    lines += gap_lines(query)
    lines += composed_lines(query)
    lines += looking_lines(query)
    if has_ticks(query):
        lines.append(TICKS)
    return Section("Query", tuple(lines))


def _source_line(query: Query) -> str:
    line = source_text(query)
    order_by, partition_by = columns_of(query)
    if order_by:
        line += f", in order of {', '.join(order_by)}"
    if partition_by:
        line += f", separately for each {', '.join(partition_by)}"
    return line + "."


def symbols_section(query: Query) -> Section:
    """Of every symbol: its condition, its bounds, and from when on a situation of it can be used."""
    rows = []
    for symbol, admissible in zip(query.symbols, query.admissible, strict=True):
        bounds = lasting(symbol.at_least, symbol.at_most)
        used = "never: it must be absent" if symbol.name in query.absent_names else None
        used = used or usable_text(query, admissible)
        rows.append((symbol.name, condition_text(query, symbol), bounds, used))
    heading = ("symbol", holding_text(query), "lasts", "can be used")
    return Section("Symbols", (), Table(heading, tuple(rows)))


def lasting(at_least: Duration | None, at_most: Duration | None) -> str:
    """The bounds on a length in words; `any time` where there are none."""
    if at_least is not None and at_most is not None:
        return f"{describe_duration(at_least)} to {describe_duration(at_most)}"
    if at_least is not None:
        return f"at least {describe_duration(at_least)}"
    return f"at most {describe_duration(at_most)}" if at_most is not None else "any time"


def relation_text(names: tuple[str, ...], bits: int, left: int, right: int) -> str:
    """Two symbols, given by number, and what holds between them: `A meets; overlaps B`."""
    return f"{names[left]} {'; '.join(words_of(bits))} {names[right]}"


def _constraints_section(explanation: Explanation) -> Section:
    query, matrix = positive_part(explanation.query), explanation.reduced.matrix
    names = query.symbol_names
    removed = {(left, right): bits for left, right, bits in explanation.reduced.removed}
    rows = []
    for left, right in _constrained_pairs(query):
        bits = int(matrix[left, right])
        gone = removed.get((left, right), 0)
        kinds = query.admissible[left], query.admissible[right]
        rows.append(
            (
                relation_text(names, bits, left, right),
                ", ".join(names_of(gone)) or "nothing",
                _certainty(bits, kinds),
                " or ".join(
                    instants((query.symbols[left], query.symbols[right]), pair_triggers(bits, *kinds))
                ),
            )
        )
    columns = ("constraint", "removed as impossible", "certain", "that is at")
    return Section("Constraints", (), Table(columns, tuple(rows)))


def _certainty(bits: int, kinds: tuple[Admissible, Admissible]) -> str:
    if kinds == (Admissible.AT_END, Admissible.AT_END):
        return "once both have ended"
    waits = "" if kinds == (Admissible.AT_START, Admissible.AT_START) else ", once both can be used"
    return describe_certainty(bits) + waits


def _constrained_pairs(query: Query) -> list[tuple[int, int]]:
    position = {name: i for i, name in enumerate(query.symbol_names)}
    return [(position[constraint.left], position[constraint.right]) for constraint in query.constraints]


def instants(symbols: Sequence[Symbol], triggers: Sequence[Trigger]) -> list[str]:
    """The instants that triggers mark, by name."""
    found = []
    for symbol, trigger in zip(symbols, triggers, strict=True):
        found += [f"{symbol.name}.ts"] * trigger.ts + [f"{symbol.name}.te"] * trigger.te
        found += [f"the instant {symbol.name} {_awaited(symbol)}"] * trigger.admissible
    return found


def _awaited(symbol: Symbol) -> str:
    return "becomes known" if symbol.at_least is None else "has lasted long enough"


def _inferred_sections(explanation: Explanation) -> list[Section]:
    names = positive_part(explanation.query).symbol_names
    lines = [relation_text(names, bits, left, right) for left, right, bits in explanation.reduced.inferred]
    return [Section("What follows from them", tuple(lines))] if lines else []


def _triggers_section(explanation: Explanation) -> Section:
    query = positive_part(explanation.query)
    found = instants(query.symbols, explanation.triggers)
    if explanation.query.emit == "EARLY" and (query.differences or explanation.query.absences):
        found = _possible_instants(explanation)
    elif explanation.query.absences:
        found += _absence_instants(explanation.query)
    return Section("What can complete a match", (", ".join(dict.fromkeys(found)) + ".",))


def _possible_instants(explanation: Explanation) -> list[str]:
    """The instants of SEM 9.4 and 11.5, one by one: the last of a match's is the one it is reported at."""
    query, found = positive_part(explanation.query), []
    for symbol, kind in zip(query.symbols, query.admissible, strict=True):
        alone = Trigger(kind is Admissible.AT_START, kind is Admissible.DELAYED, kind is Admissible.AT_END)
        found += instants([symbol], [alone])
    for left, right in _constrained_pairs(query):
        kinds = query.admissible[left], query.admissible[right]
        bits = int(explanation.reduced.matrix[left, right])
        found += instants((query.symbols[left], query.symbols[right]), pair_triggers(bits, *kinds))
    for difference in query.differences:
        found.append(f"the instant that {difference_text(difference)} is certain")
    return found + _absence_instants(explanation.query)


def _absence_instants(query: Query) -> list[str]:
    return [f"the instant that {absence_text(absence)} is certain" for absence in query.absences]


def _distance_sections(query: Query) -> list[Section]:
    rows = tuple((difference_text(one), difference_certain(query, one)) for one in query.differences)
    return [Section("Distances", (), Table(("distance", "certain"), rows))] if rows else []


def _absence_sections(query: Query) -> list[Section]:
    rows = tuple((absence_text(one), absence_certain(query, one)) for one in query.absences)
    return (
        [Section("What must be absent", (), Table(("group", "certain, if nothing fits"), rows))]
        if rows
        else []
    )


def plan_section(query: Query, plan: Plan) -> Section:
    """The order in which a whole batch is joined, with what each step is expected to have."""
    names = query.symbol_names
    rows = []
    for depth, symbol in enumerate(plan.full):
        rows.append(
            (
                str(depth + 1),
                names[symbol],
                _number(plan.statistics.sizes[symbol]),
                _number(plan.estimates.candidates[depth]),
                _number(plan.estimates.results[depth]),
            )
        )
    lines = (
        f"{plan.join} join; estimated cost {_number(plan.estimates.cost)} by range join, "
        f"{_number(plan.pair_cost)} by pair join.",
    )
    columns = ("step", "symbol", "situations per window", "candidates", "results")
    return Section("Plan (estimates)", lines, Table(columns, tuple(rows)))


def _actual_sections(explanation: Explanation, actuals: Actuals) -> list[Section]:
    query = explanation.query
    names = query.symbol_names
    lines = []
    if actuals.events is not None:
        lines.append(f"Events: {_number(actuals.events)}.")
    if actuals.situations is not None:
        counts = (f"{name} {_number(n)}" for name, n in zip(names, actuals.situations, strict=True))
        lines.append(f"Situations derived: {', '.join(counts)}.")
    if actuals.visited is not None:
        lines.append(f"Candidates looked at: {_number(actuals.visited)}.")
    if actuals.matches is not None:
        lines.append(f"Matches: {_number(actuals.matches)}.")
    if actuals.n_plan_changes is not None:
        lines.append(f"Plan changes: {actuals.n_plan_changes}.")
    sections = [Section("What the run did", tuple(lines), _pairs_table(explanation, actuals))]
    if actuals.plan is not None:
        last = plan_section(positive_part(query), actuals.plan)
        sections.append(replace(last, title="Plan at the end"))
    return sections


def _pairs_table(explanation: Explanation, actuals: Actuals) -> Table | None:
    if actuals.candidates is None or actuals.survivors is None or explanation.plan is None:
        return None
    query, matrix = positive_part(explanation.query), explanation.reduced.matrix
    names, rows = query.symbol_names, []
    for left, right in _constrained_pairs(query):
        seen = float(actuals.candidates[left, right] + actuals.candidates[right, left])
        passed = float(actuals.survivors[left, right] + actuals.survivors[right, left])
        rows.append(
            (
                relation_text(names, int(matrix[left, right]), left, right),
                _number(seen),
                _number(passed),
                f"{passed / seen:.3g}" if seen else "not looked at",
                f"{explanation.plan.statistics.selectivities[left][right]:.3g}",
            )
        )
    columns = ("constraint", "pairs", "let through", "share", "estimated share")
    return Table(columns, tuple(rows)) if rows else None


def _number(value: float) -> str:
    if value >= 1e7:
        return f"{value:.2g}"
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:.3g}"
