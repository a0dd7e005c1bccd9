"""Bound queries and automata for tests of conditions, put together by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from situ.language.rows.ast import (
    Concatenation,
    Definition,
    Item,
    OrderColumn,
    Pattern,
    Repetition,
    RowQuery,
    Subset,
    Variable,
)
from situ.language.rows.bound import BoundRows
from situ.language.text.dialect import parse
from situ.language.text.nodes import Expression
from situ.language.text.sql import columns_of
from situ.operators.rowpattern.conditions import ConditionPlan, plan_conditions
from situ.operators.rowpattern.found import Ordered
from situ.operators.rowpattern.positions import automaton_of
from situ.rows.schema import spark_schema


def expression(sql: str) -> Expression:
    return Expression(sql, columns_of(parse(sql)))


def bound_rows(
    schema: pa.Schema,
    items: tuple[Item, ...],
    conditions: dict[str, str],
    pattern: Pattern | None = None,
    subsets: dict[str, tuple[str, ...]] | None = None,
    strategy: str = "contiguous",
) -> BoundRows:
    """A query over these columns, ordered by the first one."""
    columns = spark_schema(schema)
    query = RowQuery(
        "t",
        (OrderColumn(columns[0].name),),
        pattern or _one_after_the_other(tuple(conditions)),
        items=items,
        definitions=tuple(
            Definition(name, expression(sql)) for name, sql in conditions.items() if sql != "TRUE"
        ),
        subsets=tuple(Subset(name, members) for name, members in (subsets or {}).items()),
        strategy=strategy,  # type: ignore[arg-type]
    )
    return BoundRows(query, columns, (), columns[:1], columns[0], None)


def _one_after_the_other(names: tuple[str, ...]) -> Pattern:
    loops = tuple(Repetition(Variable(name), 1, None) for name in names)
    return loops[0] if len(loops) == 1 else Concatenation(loops)


def planned(
    schema: pa.Schema, items: tuple[Item, ...], conditions: dict[str, str], **more: object
) -> ConditionPlan:
    """The plan of a pattern, `A+ B+ ...` unless said, under these conditions."""
    bound = bound_rows(schema, items, conditions, **more)  # type: ignore[arg-type]
    return plan_conditions(bound, automaton_of(bound.query.pattern, bound.query.variables))


def ordered(table: pa.Table) -> Ordered:
    """Rows of one partition."""
    n = table.num_rows
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    return Ordered(np.zeros(n, np.int64), np.arange(n), columns)
