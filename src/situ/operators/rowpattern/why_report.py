"""What `situ.why` tells of a row pattern, in words and tables."""

from __future__ import annotations

from dataclasses import dataclass

from situ.language.rows.ast import RowQuery
from situ.language.rows.names import variable_text
from situ.language.rows.printer import expression_text
from situ.language.text.words import quote
from situ.operators.rowpattern.automaton import END, Automaton
from situ.operators.rowpattern.conditions import ConditionPlan
from situ.operators.rowpattern.costs import counted
from situ.operators.rowpattern.dump import MOST_SHOWN, more_lines, taken_text
from situ.operators.rowpattern.kernels.furthest import CONDITION, NO_ROWS, WINDOW
from situ.operators.rowpattern.why import Furthest, RowTally
from situ.plan.explain import describe_duration
from situ.plan.render import Section, Shown, Table
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.schema import time_text


@dataclass(frozen=True, eq=False, repr=False)
class RowWhy(Shown):
    """Where candidates are lost: print it, show it in a notebook, or read its parts."""

    query: RowQuery
    plan: ConditionPlan
    tally: RowTally
    time: str | None  # the type of the time column, None where rows have no time

    @property
    def n_rows(self) -> int:
        """Rows that were looked at."""
        return int(self.tally.rows[0])

    @property
    def matches(self) -> int:
        """Matches, empty ones included."""
        return int(self.tally.rows[4])

    @property
    def satisfying(self) -> dict[str, int | None]:
        """Of each variable the rows that its condition holds for; None where that depends on the match."""
        found = self.tally.satisfying.tolist()
        return {
            name: None if self._depends(number) else found[number]
            for number, name in enumerate(self.plan.automaton.variables)
        }

    @property
    def furthest(self) -> Furthest | None:
        """The candidate that came furthest without a match; None on Spark, and where there is none."""
        return self.tally.furthest

    @property
    def verdict(self) -> str:
        """The first reason that explains the result, in a sentence or two."""
        if self.matches:
            n_empty = int(self.tally.rows[5])
            of = f", {n_empty:,} of them empty" if n_empty else ""
            return f"1 match{of}." if self.matches == 1 else f"{self.matches:,} matches{of}."
        return "No match. " + (self._of_rows() or self._of_variables() or self._of_furthest())

    def _of_rows(self) -> str | None:
        if not self.plan.automaton.start:
            return "No rows can match this pattern."
        if self.n_rows:
            return None
        where = " that satisfies WHERE" if self.query.where is not None else ""
        return f"There is no row{where}."

    def _of_variables(self) -> str | None:
        """Variables without which there is no match, and that take no row."""
        never = [
            f"{variable_text(name)} never held: no row satisfies {self._condition(name)}."
            for number, (name, found) in enumerate(self.satisfying.items())
            if found == 0 and _is_needed(self.plan.automaton, number)
        ]
        return " ".join(never) or None

    def _of_furthest(self) -> str:
        if self.query.strategy == "any":
            return "Each variable has rows, but none follow each other in time as the pattern asks."
        longest, furthest = int(self.tally.longest[0]), self.tally.furthest
        if furthest is None:
            died = int(self.tally.died[min(longest, len(self.tally.died) - 1)])
            at = (
                ""
                if self.time is None or died == LONG_AGO
                else f", the latest at {time_text(died, self.time)}"
            )
            return f"The candidates that came furthest took {counted(longest, 'row')} and ended{at}."
        if not longest:
            return f"No row begins a match: {self._ended(furthest)}."
        automaton = self.plan.automaton
        where = self._partition(furthest)
        return (
            f"The candidate that came furthest took {counted(longest, 'row')}, the last as "
            f"{taken_text(automaton, furthest.last)}. It begins at {furthest.start}{where}, and "
            f"{self._ended(furthest)}."
        )

    def _partition(self, furthest: Furthest) -> str:
        names = map(quote, self.query.partition_by)
        told = ", ".join(f"{name} {value}" for name, value in zip(names, furthest.partition, strict=True))
        return f" (partition {told})" if told else ""

    def _ended(self, furthest: Furthest) -> str:
        names = " or ".join(map(variable_text, furthest.wanted))
        wanted = f"{names}: it must satisfy {' or '.join(map(self._condition, furthest.wanted))}"
        if self.query.strategy == "next" and furthest.n_rows:
            assert self.query.within is not None
            within = f" within {describe_duration(self.query.within)} of its first row"
            return f"no later row{within} is {wanted}"
        if furthest.reason == CONDITION:
            return f"the row at {furthest.row} is no {wanted}"
        if furthest.reason == WINDOW:
            assert self.query.within is not None
            within = describe_duration(self.query.within)
            return f"the row at {furthest.row} comes more than {within} after its first row"
        if furthest.reason == NO_ROWS:
            return "there are no more rows"
        return "it is not where ^ and $ ask it to be"

    def _condition(self, name: str) -> str:
        condition = self.query.conditions.get(name)
        return "TRUE" if condition is None else expression_text(self.query, condition)

    def _depends(self, variable: int) -> bool:
        """Whether no row alone says that this variable takes it."""
        plan = self.plan
        pairs = zip(plan.automaton.variable, plan.test, strict=True)
        tests = [test for of, test in pairs if of == variable]
        return min(tests, default=-1) >= 0 and any(plan.reads[test] in ("first", "path") for test in tests)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The parts in reading order."""
        n_rows, n_partitions, n_looked, n_failing, *_ = self.tally.rows.tolist()
        of = f" in {counted(n_partitions, 'partition')}" if self.query.partition_by else ""
        lines = [self.verdict, f"{counted(n_rows, 'row')}{of}."]
        if self.query.strategy != "any" and n_rows:
            lines.append(
                f"A match was sought from {counted(n_looked, 'row')} on; {n_failing:,} of them begin none."
            )
        parts = [Section("Why", tuple(lines)), self._variables_section()]
        if n_failing:
            parts += [self._positions_section(), self._ends_section()]
        return tuple(parts)

    def _variables_section(self) -> Section:
        rows = []
        for name, found in self.satisfying.items():
            told = "depends on the match" if found is None else f"{found:,}"
            rows.append((variable_text(name), self._condition(name), told))
        return Section("Variables", (), Table(("variable", "condition", "rows it holds for"), tuple(rows)))

    def _positions_section(self) -> Section:
        automaton, rows = self.plan.automaton, []
        for place in range(min(automaton.n_positions, MOST_SHOWN)):
            asked, held = int(self.tally.asked[place]), int(self.tally.held[place])
            rows.append((str(place + 1), taken_text(automaton, place), f"{asked:,}", f"{held:,}"))
        columns = ("position", "takes a row of", "asked of rows", "took")
        return Section(
            "What candidates without a match asked for",
            tuple(more_lines(automaton)),
            Table(columns, tuple(rows)),
        )

    def _ends_section(self) -> Section:
        names, rows = [variable_text(name) for name in self.plan.automaton.variables], []
        for number, (reasons, failed) in enumerate(zip(self.tally.stopped, self.tally.failed, strict=True)):
            if reasons.sum():
                last = names[number - 1] if number else "(none)"
                missing = ", ".join(f"{names[v]} {n:,}" for v, n in enumerate(failed.tolist()) if n)
                rows.append((last, *(f"{n:,}" for n in (reasons.sum(), *reasons)), missing))
        columns = ("last row taken as", "candidates", "no condition held", "no more rows", "window passed",
                   "^ or $", "the next row was no")  # fmt: skip
        return Section("Where candidates end", (), Table(columns, tuple(rows)))


def _is_needed(automaton: Automaton, variable: int) -> bool:
    """Whether no match can do without a row of this variable."""
    waiting, seen = [way.to for way in automaton.start], set[int]()
    while waiting:
        position = waiting.pop()
        if position == END:
            return False
        if position not in seen and automaton.variable[position] != variable:
            seen.add(position)
            waiting += [way.to for way in automaton.follow[position]]
    return True
