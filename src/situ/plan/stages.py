"""What happens to a query from its text to a plan, in order: `STAGES` is the list, and shows itself.

Every stage is made by the function of the product that it names, from what the stages before it left: that
of `situ.query` and of binding, and from the relations on that of `Query.explain`. An engine writes the
matrix once more, for its kernels (`make_spec`), and its planner sets out from the relations as written, so
that the first order of a run can be another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from situ.algebra.certainty import Trigger
from situ.algebra.composition import IntArray
from situ.algebra.network import Reduced
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery, bind
from situ.language.situations.checks import assemble
from situ.language.situations.draft import Draft
from situ.language.situations.parser import read_clauses
from situ.language.situations.printer import query_text
from situ.language.text.clauses import Clause, split_clauses
from situ.language.text.foreign import check_text
from situ.language.text.parameters import Parameter, filled
from situ.language.text.tokens import Source, tokenize
from situ.plan import dump
from situ.plan.pattern import initial_plan, positive_part, reduce_pattern, relation_matrix, triggers_of
from situ.plan.plan import Plan

Binding = Callable[[Query], BoundQuery]
_NONE: Mapping[str, Parameter] = MappingProxyType({})


class Course:
    """What becomes of one text; each result is made once, when it is first asked for.

    `binding` brings the query together with a table. Without one the query goes on as it is: only what a
    schema decides (columns, ticks, whether a BETWEEN is a length) stays open.
    """

    def __init__(
        self, given: str, binding: Binding | None = None, parameters: Mapping[str, Parameter] = _NONE
    ) -> None:
        self._given = given
        self.binding = binding
        self._parameters = parameters

    @cached_property
    def text(self) -> str:
        return check_text(self._given)

    @cached_property
    def source(self) -> Source:
        return filled(Source.of(self.text), self._parameters)

    @cached_property
    def clauses(self) -> dict[str, Clause]:
        return split_clauses(self.source)

    @cached_property
    def draft(self) -> Draft:
        return read_clauses(self.source, self.clauses)

    @cached_property
    def checked(self) -> Query:
        return assemble(self.draft)

    @cached_property
    def bound(self) -> BoundQuery:
        assert self.binding is not None
        return self.binding(self.checked)

    @property
    def query(self) -> Query:
        return self.checked if self.binding is None else self.bound.query

    @cached_property
    def matched(self) -> Query:
        return positive_part(self.query)

    @cached_property
    def relations(self) -> IntArray:
        return relation_matrix(self.matched)

    @cached_property
    def reduced(self) -> Reduced:
        return reduce_pattern(self.matched)

    @cached_property
    def triggers(self) -> tuple[Trigger, ...]:
        return triggers_of(self.matched, self.relations)

    @cached_property
    def plan(self) -> Plan | None:
        return initial_plan(self.matched, self.relations, self.reduced)


@dataclass(frozen=True)
class Stage:
    """One thing that happens to a query: its name, a sentence on it, who does it, and what it left."""

    name: str
    does: str
    function: Callable[..., Any]
    shown: Callable[[Any], Iterable[str]]  # of the course of a query of its kind
    needs_table: bool = False

    @property
    def module(self) -> str:
        """The module to open in order to change what happens here."""
        return self.function.__module__

    def lines(self, course: Any) -> tuple[str, ...]:
        """What the stage left, in lines without line breaks; raises what the stage raises."""
        return tuple(part for line in self.shown(course) for part in line.splitlines() or [""])


# fmt: off
STAGES: tuple[Stage, ...] = (
    Stage("text", "Takes what was given, if it is text and not a path to it.",
          check_text, lambda course: dump.text_lines(course.text)),
    Stage("tokens", "Cuts the text into words, numbers, strings and signs, and leaves comments out.",
          tokenize, lambda course: dump.token_lines(course.source)),
    Stage("clauses", "Finds which words belong to which clause, without looking inside.",
          split_clauses, lambda course: dump.clause_lines(course.source, course.clauses)),
    Stage("parts", "Reads each clause by itself: conditions, lengths, and relations from names or endpoints.",
          read_clauses, lambda course: dump.draft_lines(course.draft)),
    Stage("checked query", "Holds the parts against each other, refuses contradictions, puts them together.",
          assemble, lambda course: dump.query_lines(course.checked)),
    Stage("canonical text", "Writes the query back in one spelling, which parses to an equal query.",
          query_text, lambda course: query_text(course.checked).splitlines()),
    Stage("bound query", "Finds the query's columns in the table, and turns its durations into ticks.",
          bind, lambda course: dump.bound_lines(course.checked, course.bound), needs_table=True),
    Stage("relations", "Writes the pattern as a matrix: what is asked from each symbol to each other.",
          relation_matrix, lambda course: dump.relation_lines(course.matched, course.relations)),
    Stage("reduced relations", "Removes relations that cannot hold together, and infers what follows.",
          reduce_pattern, lambda course: dump.reduced_lines(course.matched, course.reduced)),
    Stage("triggers", "Finds the only starts, ends and other instants at which a match can be complete.",
          triggers_of, lambda course: dump.trigger_lines(course.matched, course.triggers)),
    Stage("initial plan", "Chooses in which order symbols are joined, before anything is known of the data.",
          initial_plan, lambda course: dump.plan_lines(course.matched, course.plan)),
)
# fmt: on


def stages_of(text: str, binding: Binding | None = None) -> Iterator[tuple[Stage, tuple[str, ...]]]:
    """Each stage with what it left of this query; a query that is refused raises where its stage is due.

    >>> for stage, lines in stages_of("FROM t ORDER BY ts DEFINE A AS x > 1"):
    ...     if stage.name in ("tokens", "triggers"):
    ...         print(stage.name, stage.module, *lines, sep="\\n  ")
    tokens
      situ.language.text.tokens
      [FROM] [t] [ORDER] [BY] [ts] [DEFINE] [A] [AS] [x] [>] [1]
    triggers
      situ.plan.pattern
      symbol  can complete a match at
      ------  -----------------------
      A       A.ts
    """
    course = Course(text, binding)
    for stage in _due(STAGES, course):
        yield stage, stage.lines(course)


def told(
    text: str, binding: Binding | None = None, parameters: Mapping[str, Parameter] = _NONE
) -> Iterator[str]:
    """`stages_of` as lines with headings; that of a stage comes before it is tried, so a refusal has one."""
    return tell(STAGES, Course(text, binding, parameters))


def tell(stages: Sequence[Stage], course: Any) -> Iterator[str]:
    """The stages of one kind of queries on the course of one query."""
    for number, stage in enumerate(_due(stages, course), start=1):
        if number > 1:
            yield ""
        yield f"{number}. {stage.name}"
        yield f"  {stage.does}"
        yield f"  by {stage.function.__name__} in {stage.module}"
        yield ""
        yield from (f"    {line}".rstrip() for line in stage.lines(course))


def _due(stages: Sequence[Stage], course: Any) -> Iterator[Stage]:
    return (stage for stage in stages if course.binding is not None or not stage.needs_table)
