"""The conditions of a row pattern as tests of its positions, each of the cheapest class (ROW 4.10)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from situ.carry.contract import Setting
from situ.errors import DataError, UnsupportedExpressionError
from situ.expressions import compile_expression
from situ.language.rows.ast import CLASSIFIER_COLUMN, Navigation
from situ.language.rows.bound import BoundRows
from situ.language.text.nodes import Expression
from situ.operators.rowpattern.automaton import Automaton
from situ.operators.rowpattern.nulls import replaced, simplified
from situ.operators.rowpattern.positions import automaton_of
from situ.operators.rowpattern.reaching import Reaching
from situ.operators.rowpattern.reads import CLASSES, Class, OfRow, Read, Running, ahead, before, class_of
from situ.operators.rowpattern.resolve import arrow_schema, null_text, own_text, read_of
from situ.operators.rowpattern.tested import Conditions
from situ.operators.rowpattern.unroll import unrolled
from situ.rows.needs import Condition

_MOST_MASKED = 60
_MOST_UNROLLED = 8  # iterations that may be written out to know more about the rows before
NEVER = Expression("FALSE", ())


@dataclass(frozen=True)
class Test:
    """A condition over columns of the tested row, by their names, and `_read_<i>`, other values it reads."""

    variable: str  # of the first position that has it
    condition: Expression
    reads: tuple[Read, ...]

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"the condition of {self.variable}"

    @property
    def kind(self) -> Class:
        """Its class."""
        return CLASSES[max((CLASSES.index(class_of(read)) for read in self.reads), default=0)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The input columns it reads, of whatever rows."""
        inner: list[str] = []
        for read in self.reads:
            for expression in _expressions_of(read):
                inner += [name for name in expression.columns if name != CLASSIFIER_COLUMN]
        own = [name for name in self.condition.columns if not name.startswith("_read_")]
        return tuple(dict.fromkeys([*own, *inner]))


@dataclass(frozen=True)
class ConditionPlan:
    """All tests of a pattern; those that only read a row and its neighbours come first."""

    automaton: Automaton
    tests: tuple[Test, ...]
    test: tuple[int, ...]  # of each position; -1: always true
    masked: tuple[Condition, ...]  # tests of single rows that never raise, as bits of the rows' masks
    bit: tuple[int, ...]  # of each test its place in `masked`, or -1

    @property
    def reads(self) -> tuple[Class, ...]:
        """The class of each test."""
        return tuple(test.kind for test in self.tests)

    @property
    def lag(self) -> tuple[int, ...]:
        """How many rows ahead each test reads."""
        return tuple(max(map(ahead, test.reads), default=0) for test in self.tests)

    @property
    def back(self) -> int:
        """How many rows before the tested one, or before the match's first, tests read at the most."""
        return max((before(read) for test in self.tests for read in test.reads), default=0)

    @property
    def columns(self) -> tuple[str, ...]:
        """Input columns that tests are evaluated from."""
        unmasked = [test for test, bit in zip(self.tests, self.bit, strict=True) if bit < 0]
        return tuple(dict.fromkeys(name for test in unmasked for name in test.columns))

    @property
    def n_on_path(self) -> int:
        """How many tests read the path."""
        return self.reads.count("path")

    def compile(self, schema: pa.Schema, setting: Setting) -> Conditions:
        """The tests for columns of these types."""
        return Conditions(self, schema, setting)


def plan_conditions(bound: BoundRows, automaton: Automaton) -> ConditionPlan:
    """The tests of the automaton's positions, or of an equal one's whose tests read less."""
    plan = _planned(bound, automaton)
    times = max((item.offset for item in bound.query.items if isinstance(item, Navigation)), default=0)
    if "path" in plan.reads and times <= _MOST_UNROLLED:
        pattern = unrolled(bound.query.pattern, automaton.variables, max(1, times))
        other = _planned(bound, automaton_of(pattern, automaton.variables))
        if other.n_on_path < plan.n_on_path:
            return other
    return plan


def _planned(bound: BoundRows, automaton: Automaton) -> ConditionPlan:
    reaching = Reaching(automaton)
    by_position = [_test_of(bound, position, reaching) for position in range(automaton.n_positions)]
    distinct: dict[tuple[Expression, tuple[Read, ...]], Test] = {}
    for test in by_position:
        if test is not None:
            distinct.setdefault((test.condition, test.reads), test)
    tests = sorted(distinct.values(), key=lambda test: CLASSES.index(test.kind))
    place = {(test.condition, test.reads): i for i, test in enumerate(tests)}
    numbers = tuple(-1 if test is None else place[test.condition, test.reads] for test in by_position)
    masked, bits = _masked(bound, tests)
    return ConditionPlan(automaton, tuple(tests), numbers, masked, bits)


def _test_of(bound: BoundRows, position: int, reaching: Reaching) -> Test | None:
    """The condition of a position's variable as seen from there; None for one that always holds."""
    query, automaton = bound.query, reaching.automaton
    variable = automaton.variables[automaton.variable[position]]
    condition = query.conditions.get(variable)
    if condition is None:
        return None
    texts: dict[str, str] = {}
    reads: dict[Read, None] = {}
    is_decided = not condition.columns  # in part: by nulls, or because it is constant
    for name in condition.columns:
        item = query.items[int(name.removeprefix("_item_"))]
        read = read_of(item, position, query, reaching)
        if read is None:
            is_decided, texts[name] = True, null_text(item, bound)
        elif isinstance(read, OfRow) and read.shift == 0:
            texts[name] = own_text(read.expression, variable)
        else:
            reads[read] = None
            texts[name] = f"_read_{list(reads).index(read)}"
    written = replaced(condition, texts)
    smaller = simplified(written) if is_decided else written
    left = () if isinstance(smaller, bool) else smaller.columns
    if any(ahead(read) and f"_read_{i}" not in left for i, read in enumerate(reads)):
        smaller = written  # what NEXT reads delays the verdict also where it cannot change it (ROW 8.1)
    if isinstance(smaller, bool):
        return None if smaller else Test(variable, NEVER, ())
    return _renumbered(Test(variable, smaller, tuple(reads)))


def _renumbered(test: Test) -> Test:
    """With those values only that are still read, in order of use, so that equal tests look equal."""
    used = [name for name in test.condition.columns if name.startswith("_read_")]
    texts = {name: f"_read_{i}" for i, name in enumerate(used)}
    reads = tuple(test.reads[int(name.removeprefix("_read_"))] for name in used)
    return Test(test.variable, replaced(test.condition, texts), reads)


def _masked(bound: BoundRows, tests: Iterable[Test]) -> tuple[tuple[Condition, ...], tuple[int, ...]]:
    """The tests that are evaluated where rows are read, on Spark by Spark."""
    schema = arrow_schema(bound.schema)
    masked: list[Condition] = []
    bits = []
    for test in tests:
        suits = test.kind == "row" and test.condition != NEVER and len(masked) < _MOST_MASKED
        if suits and not _may_raise(test.condition, schema):
            bits.append(len(masked))
            masked.append(Condition(test.name, test.condition))
        else:
            bits.append(-1)
    return tuple(masked), tuple(bits)


def _may_raise(condition: Expression, schema: pa.Schema) -> bool:
    """Whether there are values for which it raises under ANSI rules; no, if only Spark can say."""
    try:
        return compile_expression(condition, schema).can_fail
    except (DataError, UnsupportedExpressionError):
        return False


def _expressions_of(read: Read) -> list[Expression]:
    if isinstance(read, Running):
        return [one for one in (read.aggregate.argument, read.aggregate.where) if one is not None]
    expression = getattr(read, "expression", None)
    return [] if expression is None else [expression]
