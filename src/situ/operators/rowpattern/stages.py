"""What happens to a row pattern from its text to tests of positions: a list that shows itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from situ.carry.contract import Setting
from situ.language.rows.ast import RowQuery
from situ.language.rows.binder import bind
from situ.language.rows.bound import BoundRows
from situ.language.rows.checks import assemble
from situ.language.rows.clauses import split_clauses
from situ.language.rows.header import Header, read_header
from situ.language.rows.parser import read_clauses
from situ.language.rows.printer import query_text
from situ.language.text.clauses import Clause
from situ.language.text.foreign import check_text
from situ.language.text.parameters import Parameter, filled
from situ.language.text.tokens import Source, tokenize
from situ.operators.rowpattern import dump as lines
from situ.operators.rowpattern.assemble import assemble as assemble_test
from situ.operators.rowpattern.automaton import Automaton
from situ.operators.rowpattern.conditions import ConditionPlan, plan_conditions
from situ.operators.rowpattern.explained import unbound
from situ.operators.rowpattern.ir import Node, lowered
from situ.operators.rowpattern.positions import automaton_of_tree
from situ.operators.rowpattern.resolve import arrow_schema
from situ.operators.rowpattern.simplify import simplified
from situ.operators.rowpattern.tested import Conditions
from situ.plan.dump import clause_lines, text_lines, token_lines
from situ.plan.stages import Stage, tell

Binding = Callable[[RowQuery], BoundRows]
_NONE: Mapping[str, Parameter] = MappingProxyType({})


class Course:
    """What becomes of one text; each result is made once, when it is first asked for.

    `binding` brings the query together with a table; without one columns and types stay open.
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
    def header(self) -> Header:
        return read_header(self.source)

    @cached_property
    def clauses(self) -> dict[str, Clause]:
        return split_clauses(self.source, self.header.inside, self.header.keyword)

    @cached_property
    def checked(self) -> RowQuery:
        return assemble(read_clauses(self.source))

    @cached_property
    def bound(self) -> BoundRows:
        return unbound(self.checked) if self.binding is None else self.binding(self.checked)

    @property
    def query(self) -> RowQuery:
        return self.bound.query

    @cached_property
    def tree(self) -> Node:
        return lowered(self.query.pattern, self.query.variables)

    @cached_property
    def simplified(self) -> Node:
        return simplified(self.tree)

    @cached_property
    def automaton(self) -> Automaton:
        return automaton_of_tree(self.simplified, self.query.variables)

    @cached_property
    def conditions(self) -> ConditionPlan:
        return plan_conditions(self.bound, self.automaton)

    @cached_property
    def programs(self) -> Conditions:
        return self.conditions.compile(arrow_schema(self.bound.schema), Setting())


# fmt: off
STAGES: tuple[Stage, ...] = (
    Stage("text", "Takes what was given, if it is text and not a path to it.",
          check_text, lambda course: text_lines(course.text)),
    Stage("tokens", "Cuts the text into words, numbers, strings and signs, and leaves comments out.",
          tokenize, lambda course: token_lines(course.source)),
    Stage("clauses", "Finds which words inside of MATCH_RECOGNIZE belong to which clause.",
          split_clauses, lambda course: clause_lines(course.source, course.clauses)),
    Stage("checked query", "Reads each clause, holds them against each other, and puts them together.",
          assemble, lambda course: lines.query_lines(course.checked)),
    Stage("canonical text", "Writes the query back in one spelling, which parses to an equal query.",
          query_text, lambda course: query_text(course.checked).splitlines()),
    Stage("bound query", "Finds the query's columns in the table, and turns WITHIN into ticks.",
          bind, lambda course: lines.bound_lines(course.bound), needs_table=True),
    Stage("tree", "Writes PERMUTE out, and makes {- -} a mark of each row inside.",
          lowered, lambda course: lines.tree_lines(course.tree, course.query.variables)),
    Stage("simplified tree", "Makes it smaller where words and their order of preference stay the same.",
          simplified, lambda course: lines.tree_lines(course.simplified, course.query.variables)),
    Stage("positions", "Writes counters out, and lists what may follow each row, the preferred first.",
          automaton_of_tree, lambda course: lines.position_lines(course.automaton)),
    Stage("tests", "Finds what each position must look at to decide whether it takes a row.",
          plan_conditions, lambda course: lines.test_lines(course.conditions)),
    Stage("programs", "Turns tests into code of a small machine, which is compiled once for all queries.",
          assemble_test, lambda course: lines.program_lines(course.programs), needs_table=True),
)
# fmt: on


def told(
    text: str, binding: Binding | None = None, parameters: Mapping[str, Parameter] = _NONE
) -> Iterator[str]:
    """Each stage with what it left of this query, in lines; one that refuses it raises when it is due."""
    return tell(STAGES, Course(text, binding, parameters))


def dump(query: RowQuery | str, binding: Binding | None = None) -> str:
    """All stages of a query, to read."""
    return "\n".join(told(str(query), binding))
