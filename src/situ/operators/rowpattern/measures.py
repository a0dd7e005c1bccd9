"""MEASURES and the columns of a result (ROW 6), as data: what rows must carry for them, what users see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from situ.carry.contract import Returned, Setting
from situ.language.rows.ast import Aggregate, Navigation
from situ.language.rows.bound import BoundRows
from situ.language.text.dialect import parse
from situ.language.text.nodes import Expression
from situ.language.text.replaced import with_columns
from situ.language.text.sql import columns_of
from situ.operators.rowpattern.automaton import Automaton
from situ.operators.rowpattern.identity import ordering_columns
from situ.operators.rowpattern.items import handed_as, item_name
from situ.operators.rowpattern.navigate import furthest
from situ.operators.rowpattern.output import MATCHED, NO_EXTRAS, Extras, Measures, row_columns, row_name


@dataclass(frozen=True)
class MeasurePlan:
    """What the result of a query shows of its matches, bound to the columns of an input."""

    bound: BoundRows
    automaton: Automaton
    extras: Extras

    @cached_property
    def items(self) -> tuple[int, ...]:
        """The items that measures read."""
        read = {name for measure in self.bound.query.measures for name in measure.expression.columns}
        return tuple(i for i in range(len(self.bound.query.items)) if item_name(i) in read)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The input columns that rows must carry; the time is written from their ticks."""
        wanted = {name for names in row_columns(self.bound) for name in names}
        for i in self.items:
            match self.bound.query.items[i]:
                case Navigation(expression):
                    wanted.update(expression.columns)
                case Aggregate(argument=argument, where=where):
                    wanted.update(
                        name for one in (argument, where) if one is not None for name in one.columns
                    )
        if self.extras.match_id:
            wanted.update(ordering_columns(self.bound))
        time = None if self.bound.time is None else self.bound.time.name
        return tuple(column.name for column in self.bound.schema if column.name in wanted - {time})

    @property
    def back(self) -> int:
        """How many rows before the first row of a match are read."""
        return max((furthest(one)[0] for one in self._navigations), default=0)

    @property
    def lag(self) -> int:
        """How many rows behind the last row of a match are read."""
        return max((furthest(one)[1] for one in self._navigations), default=0)

    @property
    def _navigations(self) -> list[Navigation]:
        items = [self.bound.query.items[i] for i in self.items]
        return [item for item in items if isinstance(item, Navigation)]

    @cached_property
    def returned(self) -> tuple[Returned, ...]:
        """What users see, over the columns that are emitted where Spark evaluates measures."""
        query = self.bound.query
        handed = {item_name(i): handed_as(i, query.items[i]) for i in self.items}
        instead = {name: text for name, text in handed.items() if text is not None}
        first, others = row_columns(self.bound)
        return (
            *(Returned(name, row_name(name)) for name in first),
            *(
                Returned(measure.name, self._guarded(with_columns(measure.expression, instead)))
                for measure in query.measures
            ),
            *(Returned(name, row_name(name)) for name in others),
            *(Returned(name, name) for name in self.extras.names),
        )

    def _guarded(self, measure: Expression) -> Expression:
        """Null of a row that is in no match (ROW 6.3)."""
        if self.bound.query.empty != "unmatched":
            return measure
        sql = f"CASE WHEN {MATCHED} THEN ({measure.sql}) END"
        return Expression(sql, columns_of(parse(sql)))

    def compile(self, schema: pa.Schema, setting: Setting) -> Measures:
        """For columns of these Arrow types, of which `schema` has those in `columns` and the time."""
        return Measures(self.bound, self.automaton, self.items, self.extras, schema, setting)


def plan_measures(bound: BoundRows, automaton: Automaton, extras: Extras = NO_EXTRAS) -> MeasurePlan:
    """What is shown of the matches that an engine finds by this automaton."""
    return MeasurePlan(bound, automaton, extras)
