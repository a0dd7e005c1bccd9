"""Matches and situations as the columns a user gets (SEM 5), or those that Spark makes them from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.aggregate.types import value_type
from situ.carry.contract import Field, Setting
from situ.errors import DataError, UnsupportedExpressionError
from situ.expressions import Compiled, compile_condition, compile_expression
from situ.expressions.types import canonical
from situ.language.situations.ast import Item
from situ.language.situations.binder import BoundQuery
from situ.language.situations.having import WHAT as HAVING
from situ.language.situations.printer import item_text
from situ.language.text.nodes import Expression
from situ.operators.identity import match_ids
from situ.operators.situations.engine import Engine, Found, SymbolValues
from situ.operators.situations.known import Positions
from situ.operators.situations.sheets import Sheets
from situ.rows.schema import are_ticks, one_column, result_time_type, ticks_writer

MATCH_TIME, MATCH_ID = "match_time", "match_id"


# functions whose values have the attribute's own type
_OF_ITS_TYPE = ("first", "last", "min", "max", "value")


def aggregates_of(bound: BoundQuery) -> dict[str, int]:
    """The name of every aggregate that some symbol asks for, and the last item that does."""
    return {
        _aggregate_name(item): i for i, item in enumerate(bound.query.items) if item.attribute is not None
    }


def _aggregate_name(item: Item) -> str:
    """`avg_speed`; a dot in `percentile_0_95_speed` would have to be quoted everywhere."""
    fraction = "" if item.fraction is None else f"_{item.fraction!r}".replace(".", "_")
    return f"{item.function}{fraction}_{item.attribute}"


class _Items:
    """What both kinds of results are made of: the query's items, of types that are worked out once."""

    def __init__(self, bound: BoundQuery, schema: pa.Schema, engine: Engine, setting: Setting) -> None:
        self.bound = bound
        self.engine = engine
        self._evaluates = setting.evaluates
        self.time_type = result_time_type(schema.field(bound.time.name).type)
        self._write_ticks = ticks_writer(self.time_type, bound.time.unit)
        self.item_schema = pa.schema(
            [(f"_item_{i}", self._item_type(i, schema)) for i in range(len(bound.query.items))]
        )

    def _item_field(self, i: int, name: str) -> Field:
        """Item i as an emitted column."""
        item = self.bound.query.items[i]
        like = None
        if item.function in ("ts", "te"):
            like = self.bound.time.name
        elif item.function in (*_OF_ITS_TYPE, "collect_list"):  # of any type, nested ones too
            like = self.bound.column_of(item).name
        return Field(name, self.item_schema.field(i).type, like, item.function == "collect_list")

    def _item_type(self, i: int, schema: pa.Schema) -> pa.DataType:
        item, kind = self.bound.query.items[i], self.bound.item_types[i]
        if item.function in ("ts", "te"):
            return self.time_type
        if item.function == "collect_list":
            of = self.bound.column_of(item)
            return pa.list_(value_type(of.type).arrow or self._opaque_type(item, schema))
        if item.function in _OF_ITS_TYPE and value_type(kind).arrow is None:
            return self._opaque_type(item, schema)
        return value_type(kind).arrow

    def _opaque_type(self, item: Item, schema: pa.Schema) -> pa.DataType:
        """Of an attribute that is kept as it comes."""
        kind_in = schema.field(self.bound.column_of(item).name).type
        # what Spark evaluates may be of any type: here it only passes through
        if self._evaluates and self.bound.query.returns and canonical(kind_in) is None:
            raise UnsupportedExpressionError(
                f"{item.function}({item.symbol}.{item.attribute}) of Arrow type {kind_in}"
            )
        return kind_in

    def times(self, ticks: Positions, null: npt.NDArray[np.bool_] | None = None) -> pa.Array:
        """Ticks as the time column's type."""
        return one_column(self._write_ticks, ticks, null)


class _Passed(NamedTuple):
    """A RETURN item that is nothing but a column, of a type that no expression takes."""

    type: pa.DataType
    columns: tuple[str]
    is_bare: bool = True

    def __call__(self, items: Mapping[str, pa.Array]) -> pa.Array:
        """The column as it is."""
        return items[self.columns[0]]


class MatchResults(_Items):
    """Makes columns of matches."""

    def __init__(
        self, bound: BoundQuery, schema: pa.Schema, engine: Engine, setting: Setting, *, with_id: bool
    ) -> None:
        super().__init__(bound, schema, engine, setting)
        self.with_id = with_id
        position = {name: i for i, name in enumerate(bound.query.symbol_names)}
        self._items = [
            (f"_item_{i}", position[item.symbol], item.function) for i, item in enumerate(bound.query.items)
        ]
        self._functions = {item.function for item in bound.query.items}
        self._returns: list[tuple[str, Compiled | _Passed]] = []
        self._having = self._condition(bound.query.having, setting)
        if setting.evaluates:
            returns = bound.query.returns
            self._returns = [(item.name, self._compiled(item.expression, setting)) for item in returns]
            self.output = [Field(name, compiled.type) for name, compiled in self._returns]
        else:
            self.output = [self._item_field(i, name) for i, (name, _, _) in enumerate(self._items)]
        self.output.append(Field(MATCH_TIME, self.time_type, bound.time.name))
        if with_id:
            self.output.append(Field(MATCH_ID, pa.string()))
        self._sheets = self._plain_sheets()

    def _compiled(self, expression: Expression, setting: Setting) -> Compiled | _Passed:
        """A RETURN item to be evaluated here; a list passes through, and nothing is computed with it."""
        bare = expression.sql.strip("()")
        if bare in expression.columns and pa.types.is_list(self.item_schema.field(bare).type):
            return _Passed(self.item_schema.field(bare).type, (bare,))
        self._refuse_lists(expression)
        return compile_expression(
            expression, self.item_schema, ansi=setting.ansi, time_zone=setting.time_zone
        )

    def _condition(self, having: Expression | None, setting: Setting) -> Compiled | None:
        """HAVING, where it is to be evaluated here."""
        if having is None or not setting.evaluates:
            return None
        self._refuse_lists(having)
        return compile_condition(
            having, self.item_schema, HAVING, ansi=setting.ansi, time_zone=setting.time_zone
        )

    def _refuse_lists(self, expression: Expression) -> None:
        for column in expression.columns:
            i = self.item_schema.get_field_index(column)
            if pa.types.is_list(self.item_schema.field(i).type):
                of = item_text(self.bound.query.items[i])
                raise UnsupportedExpressionError(
                    f"an expression over {of}",
                    hint=f"Return {of} alone and compute with the column that it becomes.",
                )

    def _plain_sheets(self) -> Sheets | None:
        """Where results show endpoints as they are and nothing else, those of small steps need no columns."""
        if (
            not self._evaluates
            or self._having is not None
            or self.bound.partition
            or self.with_id
            or not are_ticks(self.time_type, self.bound.time.unit)
        ):
            return None
        shown, n = [], self.engine.n_positive
        for _, compiled in self._returns:
            item = compiled.columns[0] if compiled.is_bare else None
            _, symbol, function = next((i for i in self._items if i[0] == item), (None, 0, None))
            if function not in ("ts", "te"):
                return None
            shown.append(symbol if function == "ts" else n + symbol)
        schema = pa.schema([(field.name, field.type) for field in self.output])
        return Sheets(schema, [*shown, 2 * n], n)

    def table(self, found: Found, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """The rows of these matches; `keys` are the partition values of each match."""
        if self._sheets is not None and found.size <= self._sheets.size:
            return self._sheets.table(found)
        items = self._values(found)
        instants, starts = found.instant, list(found.ts)
        if self._having is not None:
            true = self._having(items, found.size).cast(pa.bool_()).fill_null(False)
            if true.false_count:  # RETURN is not evaluated for a match that is not reported: it might fail
                items = {name: column.filter(true) for name, column in items.items()}
                keys = [column.filter(true) for column in keys]
                kept = true.to_numpy(zero_copy_only=False)
                instants, starts = instants[kept], [ts[kept] for ts in starts]
        own = [compiled(items) for _, compiled in self._returns] if self._evaluates else items.values()
        columns = [*keys, *own, self.times(instants)]
        if self.with_id:
            columns.append(match_ids(self.bound.query, keys, starts))
        return pa.Table.from_arrays(columns, schema=schema)

    def _values(self, found: Found) -> dict[str, pa.Array]:
        """The value of every item of the query for each match, as column `_item_<i>`."""
        ends = {}
        if "ts" in self._functions:
            ends["ts"] = self._write_ticks(found.ts, None)
        if "te" in self._functions:
            ends["te"] = self._write_ticks(found.te, found.is_over)
        return {
            name: ends[function][symbol] if function in ends else self._item(i, symbol, function, found)
            for i, (name, symbol, function) in enumerate(self._items)
        }

    def _item(self, i: int, symbol: int, function: str, found: Found) -> pa.Array:
        if function == "duration":
            return self._duration(found.ts[symbol], found.te[symbol], found.is_open[symbol])
        return self.engine.aggregates[symbol].item(i, found.states[symbol])

    def _duration(self, ts: Positions, te: Positions, is_open: npt.NDArray[np.bool_]) -> pa.Array:
        length = np.where(is_open, 0, te) - np.where(is_open, 0, ts)
        if bool((length < 0).any()):
            raise DataError("the duration of a situation does not fit 64 bits", hint="leave A.duration out")
        array = pa.array(length, mask=is_open)
        return array if self.bound.time.counts_ticks else array.cast(pa.duration("us"))


class SituationResults(_Items):
    """Makes columns of situations (SEM 5.5)."""

    def __init__(self, bound: BoundQuery, schema: pa.Schema, engine: Engine, setting: Setting) -> None:
        super().__init__(bound, schema, engine, setting)
        self._aggregates = aggregates_of(bound)
        self.output = [
            Field("symbol", pa.string()),
            Field("ts", self.time_type, bound.time.name),
            Field("te", self.time_type, bound.time.name),
            Field("n_events", pa.int64()),
            *(
                self._item_field(item, name if setting.evaluates else f"_value_{i}")
                for i, (name, item) in enumerate(self._aggregates.items())
            ),
        ]

    def table(
        self, symbol: int, values: SymbolValues, keys: Sequence[pa.Array], schema: pa.Schema
    ) -> pa.Table:
        """The rows of one symbol's situations; aggregates other symbols ask for are null."""
        spec, name = self.engine.aggregates[symbol], self.bound.query.symbol_names[symbol]
        n = len(values.ts)
        columns = [
            *keys,
            pa.array([name]).take(pa.array(np.zeros(n, np.int64))),
            self.times(values.ts),
            self.times(values.te, values.is_open),
            pa.array(spec.n_events(values.states)),
        ]
        asked = {
            _aggregate_name(item): i for i, item in enumerate(self.bound.query.items) if item.symbol == name
        }
        for aggregate, last in self._aggregates.items():
            item = asked.get(aggregate)
            kind = self.item_schema.field(last).type
            columns.append(pa.nulls(n, kind) if item is None else spec.item(item, values.states))
        return pa.Table.from_arrays(columns, schema=schema)


class FoundMatches(NamedTuple):
    """Matches of a step."""

    results: MatchResults
    found: Found

    @property
    def slot(self) -> Positions:
        """The slot of each."""
        return self.found.slot

    def table(self, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """As the contract says."""
        return self.results.table(self.found, keys, schema)


class FoundSituations(NamedTuple):
    """Situations of one symbol in a step."""

    results: SituationResults
    symbol: int
    slot: Positions
    values: SymbolValues

    def table(self, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """As the contract says."""
        return self.results.table(self.symbol, self.values, keys, schema)
