"""Matches as the table a user gets (SEM 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.aggregate.types import value_type
from situ.errors import DataError, UnsupportedExpressionError
from situ.expressions import compile_expression
from situ.expressions.types import canonical
from situ.language.situations.binder import BoundQuery
from situ.operators.situations.engine import Engine, Found, SymbolValues
from situ.operators.situations.identity import match_ids
from situ.operators.situations.known import Positions
from situ.operators.situations.sheets import Sheets
from situ.options import Options
from situ.rows.schema import are_ticks, one_column, result_time_type, ticks_writer


class Results:
    """Makes result tables of one query; everything that can be is worked out once."""

    def __init__(self, bound: BoundQuery, schema: pa.Schema, engine: Engine, options: Options) -> None:
        self.bound = bound
        self.engine = engine
        self.time_type = result_time_type(schema.field(bound.time.name).type)
        self._write_ticks = ticks_writer(self.time_type)
        self.key_fields = [schema.field(column.name) for column in bound.partition]
        self.with_id = options.match_id
        position = {name: i for i, name in enumerate(bound.query.symbol_names)}
        self._items = [
            (f"_item_{i}", position[item.symbol], item.function) for i, item in enumerate(bound.query.items)
        ]
        self._functions = {item.function for item in bound.query.items}
        self.item_schema = pa.schema(
            [(f"_item_{i}", self._item_type(i, schema)) for i in range(len(bound.query.items))]
        )
        self._returns = [
            (
                item.name,
                compile_expression(
                    item.expression, self.item_schema, ansi=options.ansi, time_zone=options.time_zone
                ),
            )
            for item in bound.query.returns
        ]
        fields = [*self.key_fields, *(pa.field(name, compiled.type) for name, compiled in self._returns)]
        fields.append(pa.field("match_time", self.time_type))
        if self.with_id:
            fields.append(pa.field("match_id", pa.string()))
        self.schema = pa.schema(fields)
        self._sheets = self._plain_sheets()
        self.empty = pa.Table.from_batches([], self.schema)  # empty_table would import pandas
        self._aggregates = {  # (function, attribute) of every aggregate any symbol asks for
            (item.function, item.attribute): self.item_schema.field(i).type
            for i, item in enumerate(bound.query.items)
            if item.attribute is not None
        }
        self.situation_schema = pa.schema(
            [
                *self.key_fields,
                ("symbol", pa.string()),
                ("ts", self.time_type),
                ("te", self.time_type),
                ("n_events", pa.int64()),
                *(
                    (f"{function}_{attribute}", kind)
                    for (function, attribute), kind in self._aggregates.items()
                ),
            ]
        )

    def _plain_sheets(self) -> Sheets | None:
        """Where results show endpoints as they are and nothing else, those of small steps need no columns."""
        if self.key_fields or self.with_id or not are_ticks(self.time_type):
            return None
        shown, n = [], self.engine.n_symbols
        for _, compiled in self._returns:
            item = compiled.columns[0] if compiled.is_bare else None
            _, symbol, function = next((i for i in self._items if i[0] == item), (None, 0, None))
            if function not in ("ts", "te"):
                return None
            shown.append(symbol if function == "ts" else n + symbol)
        return Sheets(self.schema, [*shown, 2 * n], n)

    def _item_type(self, i: int, schema: pa.Schema) -> pa.DataType:
        item, kind = self.bound.query.items[i], self.bound.item_types[i]
        if item.function in ("ts", "te"):
            return self.time_type
        if item.function in ("first", "last", "min", "max", "value") and value_type(kind).arrow is None:
            kind_in = next(f.type for f in schema if f.name.lower() == str(item.attribute).lower())
            # on Spark RETURN is empty here, and whatever type there is only passes through
            if self.bound.query.returns and canonical(kind_in) is None:
                raise UnsupportedExpressionError(
                    f"{item.function}({item.symbol}.{item.attribute}) of Arrow type {kind_in}"
                )
            return kind_in
        return value_type(kind).arrow

    def table(self, found: Found, keys: Sequence[pa.Array]) -> pa.Table:
        """The rows of these matches; `keys` are the partition values of each match."""
        if not found.size:
            return self.empty
        if self._sheets is not None and found.size <= self._sheets.size:
            return self._sheets.table(found)
        items = self.items(found)
        columns = [*keys, *(compiled(items) for _, compiled in self._returns), self.times(found.instant)]
        if self.with_id:
            columns.append(match_ids(self.bound.query, keys, list(found.ts)))
        return pa.Table.from_arrays(columns, schema=self.schema)

    def times(self, ticks: np.ndarray, null: np.ndarray | None = None) -> pa.Array:
        """Ticks as the time column's type."""
        return one_column(self._write_ticks, ticks, null)

    def items(self, found: Found) -> dict[str, pa.Array]:
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
        return array if pa.types.is_integer(self.time_type) else array.cast(pa.duration("us"))

    def situations(self, name: str, symbol: int, values: SymbolValues, keys: Sequence[pa.Array]) -> pa.Table:
        """The rows of one symbol's situations; aggregates other symbols ask for are null."""
        spec = self.engine.aggregates[symbol]
        n = len(values.ts)
        columns = [
            *keys,
            pa.array([name]).take(pa.array(np.zeros(n, np.int64))),
            self.times(values.ts),
            self.times(values.te, values.is_open),
            pa.array(spec.n_events(values.states)),
        ]
        asked = {
            (item.function, item.attribute): i
            for i, item in enumerate(self.bound.query.items)
            if item.symbol == name
        }
        for aggregate, kind in self._aggregates.items():
            item = asked.get(aggregate)
            columns.append(pa.nulls(n, kind) if item is None else spec.item(item, values.states))
        return pa.Table.from_arrays(columns, schema=self.situation_schema)
