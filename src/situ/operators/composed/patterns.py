"""The row patterns of a query as questions of their own over its events (SEM 17.1)."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from situ.carry.contract import Setting
from situ.language.rows.ast import OrderColumn, RowQuery
from situ.language.situations.ast import Item, Query, Symbol
from situ.language.situations.binder import BoundQuery
from situ.operators.rowpattern.operator import RowOperator
from situ.operators.rowpattern.question import AskedRows, RowMatching
from situ.options import Options


def standalone(bound: BoundQuery, symbol: Symbol) -> RowQuery:
    """A symbol's pattern as a query of its own; what is no event never reaches it, so it has no WHERE."""
    assert symbol.rows is not None
    query = bound.query
    return replace(
        symbol.rows,
        source=query.source,
        order_by=(OrderColumn(bound.time.name),),
        partition_by=tuple(column.name for column in bound.partition),
    )


def asked_rows(bound: BoundQuery, symbol: Symbol, options: Options) -> AskedRows:
    """The pattern bound to the columns of the query, with those that are asked of its matches."""
    own = Options(
        time_unit=options.time_unit,
        match_time=True,
        max_steps=options.max_steps,
        max_matches=options.max_matches,
    )
    asked = RowMatching(standalone(bound, symbol)).bind(bound.schema, own)
    wanted = {bound.column_of(item): None for item in bound.query.items if _reads(item, symbol)}
    attributes = tuple(dict.fromkeys([*asked.needs.attributes, *wanted]))
    return replace(asked, needs=replace(asked.needs, attributes=attributes))


def _reads(item: Item, symbol: Symbol) -> bool:
    return item.symbol == symbol.name and item.attribute is not None


class PatternOperator(RowOperator):
    """One that keeps every row: the first behind a match says where its situation ends."""

    def __init__(self, asked: AskedRows, schema: pa.Schema, setting: Setting) -> None:
        super().__init__(asked, schema, setting)
        self._keeps_all_rows = True


def check_bounded(query: Query) -> None:
    """Refuse a pattern of which a stream would have to keep all rows (ROW 8.1)."""
    for symbol in query.row_patterns:
        assert symbol.rows is not None
        RowMatching(symbol.rows).check_stream()
