"""What the passes from pattern to tests leave behind, as lines to read; nothing is worked out here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from situ.language.rows.ast import RowQuery
from situ.language.rows.bound import BoundRows
from situ.language.rows.names import variable_text
from situ.language.rows.printer import item_text
from situ.operators.rowpattern.automaton import END, Automaton, Way
from situ.operators.rowpattern.conditions import ConditionPlan
from situ.operators.rowpattern.ir import At, Choice, Node, Repeat, Take
from situ.operators.rowpattern.ir import Sequence as InTurn
from situ.operators.rowpattern.kernels import operations
from situ.operators.rowpattern.reads import Number, OfFirst, OfPath, OfRow, Read, Running, Taken
from situ.operators.rowpattern.tested import Conditions
from situ.plan.render import Table, table_lines

MOST_SHOWN = 200  # positions; thousands are no use to a reader

Lines = Iterator[str]


def query_lines(query: RowQuery) -> Lines:
    """Variables with their conditions, and what the items in expressions stand for."""
    holds = {name: condition.sql for name, condition in query.conditions.items()}
    rows = [(variable_text(name), holds.get(name, "TRUE")) for name in query.variables]
    yield from table_lines(Table(("variable", "takes a row where"), tuple(rows)))
    if query.items:
        items = [(f"_item_{number}", item_text(query, item)) for number, item in enumerate(query.items)]
        yield ""
        yield from table_lines(Table(("item", "asks for"), tuple(items)))
    if query.measures:
        measures = [(measure.name, measure.expression.sql) for measure in query.measures]
        yield ""
        yield from table_lines(Table(("measure", "is"), tuple(measures)))


def tree_lines(node: Node, variables: Sequence[str], depth: int = 0) -> Lines:
    """One node a line, what it holds moved in."""
    margin = "  " * depth
    match node:
        case InTurn(()):
            yield f"{margin}nothing"
        case InTurn(parts) | Choice(parts):
            yield margin + ("in turn" if isinstance(node, InTurn) else "one of, the first preferred")
            for part in parts:
                yield from tree_lines(part, variables, depth + 1)
        case Repeat(body):
            yield f"{margin}{times_text(node)}"
            yield from tree_lines(body, variables, depth + 1)
        case Take() | At():
            yield f"{margin}{tree_text(node, variables)}"


def times_text(node: Repeat) -> str:
    """How often, and what is preferred."""
    most = "any number of" if node.most is None else f"{node.most:,}"
    preferred = "fewer preferred" if node.is_reluctant else "more preferred"
    if node.least == node.most:
        return f"{node.least:,} times"
    return f"{node.least:,} to {most} times, {preferred}"


def tree_text(node: Node, variables: Sequence[str]) -> str:
    """On one line, as patterns are written."""
    match node:
        case Take(variable, is_excluded):
            name = variable_text(variables[variable])
            return f"{{- {name} -}}" if is_excluded else name
        case At(is_start):
            return "^" if is_start else "$"
        case InTurn(parts):
            return " ".join(_operand(part, variables) for part in parts) or "()"
        case Choice(parts):
            return " | ".join(tree_text(part, variables) for part in parts)
        case Repeat(body, least, most, is_reluctant):
            signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
            counter = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
            inner = tree_text(body, variables)
            inner = inner if isinstance(body, Take | At) or inner == "()" else f"({inner})"
            return inner + signs.get((least, most), counter) + "?" * is_reluctant


def _operand(node: Node, variables: Sequence[str]) -> str:
    text = tree_text(node, variables)
    return f"({text})" if isinstance(node, Choice) else text


def position_lines(automaton: Automaton) -> Lines:
    """Each position, whose row it takes, and where a match may go from there, the preferred way first."""
    if not automaton.start:
        yield "No rows can match this pattern."
        return
    rows = [("start", "", ways_text(automaton.start))]
    for place, ways in enumerate(automaton.follow[:MOST_SHOWN]):
        rows.append((str(place + 1), taken_text(automaton, place), ways_text(ways)))
    yield from table_lines(Table(("position", "takes", "then"), tuple(rows)))
    yield from more_lines(automaton)


def more_lines(automaton: Automaton) -> Lines:
    """What is said of positions that are not shown."""
    if automaton.n_positions > MOST_SHOWN:
        yield f"... and {automaton.n_positions - MOST_SHOWN:,} more positions"


def taken_text(automaton: Automaton, position: int) -> str:
    """The variable of a position."""
    name = variable_text(automaton.variables[automaton.variable[position]])
    return f"{{- {name} -}}" if automaton.excluded[position] else name


def ways_text(ways: Sequence[Way]) -> str:
    """`2, 3, end`: positions are counted from 1."""
    return ", ".join(map(_way_text, ways))


def _way_text(way: Way) -> str:
    where = "end" if way.to == END else str(way.to + 1)
    return where + " at the partition's first row" * way.at_first + " behind its last row" * way.at_last


def test_lines(plan: ConditionPlan) -> Lines:
    """The tests, what each reads besides its row, and which positions have it."""
    if not plan.tests:
        yield "Every row may be taken: no variable has a condition that could be false."
        return
    rows = []
    for number, test in enumerate(plan.tests):
        reads = ", ".join(f"_read_{place}: {read_text(read)}" for place, read in enumerate(test.reads))
        at = ", ".join(str(place + 1) for place, of in enumerate(plan.test[:MOST_SHOWN]) if of == number)
        bit = "" if plan.bit[number] < 0 else f"bit {plan.bit[number]} of the rows' masks"
        rows.append((str(number + 1), test.condition.sql, test.kind, bit, at, reads))
    columns = ("test", "condition", "reads", "evaluated as", "at positions", "values read")
    yield from table_lines(Table(columns, tuple(rows)))


def read_text(read: Read) -> str:
    """A value that a test reads, and of which row."""
    match read:
        case OfRow(expression, shift):
            return f"{expression.sql} {_shifted(shift, 'the row')}"
        case OfFirst(expression, offset, shift):
            return f"{expression.sql} {_shifted(shift, f'row {offset + 1} of the match')}"
        case OfPath(expression, group, is_first, offset, shift):
            which = f"row {offset + 1} of {'/'.join(group)} from the {'front' if is_first else 'back'}"
            return f"{expression.sql} {_shifted(shift, which)}"
        case Running(aggregate, group):
            argument = "*" if aggregate.argument is None else aggregate.argument.sql
            return f"{aggregate.function}({argument}) of {'/'.join(group)}"
        case Taken():
            return "the number of rows of the match"
        case Number():
            return "MATCH_NUMBER()"


def _shifted(shift: int, of: str) -> str:
    if shift == 0:
        return f"of {of}"
    return f"{abs(shift):,} before {of}" if shift < 0 else f"{shift:,} behind {of}"


_OPERATIONS = {number: name.lower() for name, number in vars(operations).items() if name.isupper()}


def program_lines(conditions: Conditions) -> Lines:
    """The instructions of tests that are not evaluated as the rows are read (see kernels/operations.py)."""
    programs = conditions.programs
    if not conditions.programmed:
        yield "There is nothing to run: rows come with all that is asked of them."
        return
    rows = []
    for program, tests in enumerate(conditions.programmed):
        of = ", ".join(str(test + 1) for test in tests)
        for place in range(programs.begin[program], programs.begin[program + 1]):
            operation, out, *operands = programs.code[place].tolist()
            listed = " ".join(map(str, operands))
            rows.append((of, f"r{out}", _OPERATIONS[operation], listed))
    yield from table_lines(Table(("tests", "into", "operation", "operands"), tuple(rows)))


def bound_lines(bound: BoundRows) -> Lines:
    """The columns that names stand for, and the ticks of WITHIN."""
    uses = [("a partition", one.name, one.type) for one in bound.partition]
    uses += [("the time" if one == bound.time else "the order", one.name, one.type) for one in bound.order]
    yield from table_lines(Table(("column for", "is", "of type"), tuple(uses)))
    if bound.within is not None:
        yield f"WITHIN is {bound.within:,} ticks of {bound.order[0].name}."
