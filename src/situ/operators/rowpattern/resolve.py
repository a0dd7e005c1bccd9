"""Items of a condition as a position sees them, at the cheapest place that is provably equal."""

from __future__ import annotations

import pyarrow as pa
import sqlglot.expressions as exp

from situ.errors import SituError, UnsupportedExpressionError
from situ.expressions import compile_expression
from situ.expressions import types as t
from situ.expressions.sql_types import target_type
from situ.language.rows.ast import CLASSIFIER_COLUMN, Aggregate, Item, MatchNumber, Navigation, RowQuery
from situ.language.rows.bound import BoundRows
from situ.language.text.dialect import NotAnExpression, parse
from situ.language.text.nodes import Expression
from situ.language.text.types import Schema
from situ.operators.rowpattern.nulls import replaced
from situ.operators.rowpattern.reaching import Back, FromStart, Missing, Reaching
from situ.operators.rowpattern.reads import Number, OfFirst, OfPath, OfRow, Read, Running, Taken


def read_of(item: Item, position: int, query: RowQuery, reaching: Reaching) -> Read | None:
    """What an item is at a position; None where there can be no such row."""
    is_dense = query.strategy == "contiguous"  # rows of a match lie side by side
    match item:
        case MatchNumber():
            return Number()
        case Aggregate():
            is_all = is_dense and item == Aggregate("count") and item.variable is None
            return Taken() if is_all else Running(item, _group(query, item.variable))
        case Navigation():
            return _navigated(item, position, query, reaching, is_dense)


def _navigated(
    item: Navigation, position: int, query: RowQuery, reaching: Reaching, is_dense: bool
) -> Read | None:
    expression, shift = item.expression, item.shift
    variables = reaching.automaton.variables
    members = frozenset(variables.index(name) for name in query.members(item.variable))
    place = reaching.navigated(position, members, item.is_first, item.offset)
    is_mapped = CLASSIFIER_COLUMN in expression.columns  # what a row is mapped to, only the path knows
    match place:
        case Missing():
            return None
        case Back(rows) if (rows == 0 or is_dense) and (not is_mapped or rows == shift == 0):
            return OfRow(expression, shift - rows)
        case FromStart(rows) if (rows == 0 or is_dense) and not is_mapped:
            return OfFirst(expression, rows, shift)
        case _:
            return OfPath(expression, _group(query, item.variable), item.is_first, item.offset, shift)


def _group(query: RowQuery, variable: str | None) -> tuple[str, ...]:
    return tuple(sorted(query.members(variable)))


def own_text(expression: Expression, variable: str) -> str:
    """A value of the tested row, as an operand of its condition."""
    inner = replaced(expression, {CLASSIFIER_COLUMN: string_literal(variable)})
    is_operand = isinstance(inner.tree, exp.Column | exp.Literal)
    return inner.sql if is_operand else f"({inner.sql})"


def string_literal(text: str) -> str:
    """A text as SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def null_text(item: Item, bound: BoundRows) -> str:
    """A null of the type that the item has."""
    if not isinstance(item, Navigation):
        return "NULL"
    if item.expression.sql == CLASSIFIER_COLUMN:
        return "CAST(NULL AS STRING)"
    try:
        kind = compile_expression(item.expression, arrow_schema(bound.schema)).type
    except SituError:  # Spark evaluates more than we do
        return "NULL"
    return "NULL" if kind in (t.NULL, t.BINARY) or t.is_day_time(kind) else f"CAST(NULL AS {t.name_of(kind)})"


def arrow_schema(schema: Schema) -> pa.Schema:
    """The columns of which we know the types; who needs another one learns that it is not there."""
    fields = []
    for column in schema:
        try:
            fields.append((column.name, target_type(parse(f"CAST(NULL AS {column.type})").args["to"])))
        except (UnsupportedExpressionError, NotAnExpression):
            continue
    return pa.schema(fields)
