"""Which aggregates a symbol needs, and everything that is done with them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from situ.aggregate import codec, decimals, percentiles, results
from situ.aggregate.arrays import Numbers
from situ.aggregate.columns import ColumnView
from situ.aggregate.components import (
    ArrowEdges,
    ArrowExtremes,
    Component,
    Counts,
    ExactSums,
    FloatSums,
    Fold,
    Moments,
    NumberEdges,
    NumberExtremes,
    Values,
)
from situ.aggregate.components.counts import ONE_EACH
from situ.aggregate.deciding import decides_by_values, exactly
from situ.aggregate.states import States
from situ.aggregate.types import ValueType, value_type
from situ.errors import AggregateTypeError
from situ.language.situations.having import read_items

if TYPE_CHECKING:
    from situ.language.situations.ast import Item
    from situ.language.situations.binder import BoundQuery
    from situ.language.text.types import Schema

_ENDPOINTS = frozenset({"ts", "te", "duration"})
_EVENTS = Counts(None, value_type("bigint"))


@dataclass(frozen=True)
class Wanted:
    """One item of the query: its function over the component at `position`."""

    function: str
    position: int
    text: str  # as the query says it, for errors
    fraction: float  # of a percentile
    decides: bool  # whether its floating value is rounded once (WIN 5.5)


class AggregateSpec:
    """The aggregates of one symbol: what each situation must remember, and how items are read from it."""

    __slots__ = ("_empty", "_items", "_keeps_edges", "ansi", "columns", "components", "types")

    def __init__(
        self,
        items: Mapping[int, Item],
        schema: Schema,
        *,
        ansi: bool,
        with_count: bool,
        deciding: Container[int] = (),
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.ansi = ansi
        self.types: dict[str, ValueType] = {}
        wanted: dict[int, tuple[Item, Component]] = {}
        for index, item in items.items():
            attribute = None
            if item.attribute is not None:
                attribute = self._resolve(names.get(item.attribute.lower(), item.attribute), schema)
            if attribute is not None:
                _check(item, self.types[attribute])
            by_values = (
                index in deciding
                and attribute is not None
                and decides_by_values(item.function, self.types[attribute])
            )
            wanted[index] = item, _component("values" if by_values else item.function, attribute, self.types)
        components = list(dict.fromkeys(component for _, component in wanted.values()))
        self._keeps_edges = any(isinstance(c, NumberEdges | ArrowEdges) for c in components)
        if (self._keeps_edges or with_count) and _EVENTS not in components:
            components.append(_EVENTS)
        components.sort(key=lambda component: component != _EVENTS)  # the events' count comes first
        self.components: tuple[Component, ...] = tuple(components)
        self.columns: tuple[str, ...] = tuple(self.types)
        self._items = {
            index: Wanted(
                item.function,
                components.index(component),
                _text(item),
                0.5 if item.fraction is None else item.fraction,
                index in deciding,
            )
            for index, (item, component) in wanted.items()
        }
        self._empty = States(self.components, tuple(c.empty() for c in self.components), 0)

    @classmethod
    def of(
        cls, bound: BoundQuery, symbol: str, *, ansi: bool = True, with_count: bool = False
    ) -> AggregateSpec:
        """The aggregates among the query's items that are asked of `symbol`; with_count adds n_events."""
        items = {
            index: item
            for index, item in enumerate(bound.query.items)
            if item.symbol == symbol and item.function not in _ENDPOINTS
        }
        deciding, names = read_items(bound.query), bound.names_for(symbol)
        return cls(items, bound.schema, ansi=ansi, with_count=with_count, deciding=deciding, names=names)

    def __bool__(self) -> bool:
        """Whether there is anything to remember."""
        return bool(self.components)

    def rows(self, columns: Mapping[str, pa.Array], length: int | None = None) -> States:
        """Each raw event as a state; `length` is needed only where `columns` may be empty."""
        if not self.components:
            return States((), (), length or 0)
        views = {name: ColumnView(name, columns[name], self.types[name]) for name in self.columns}
        parts = tuple(
            ONE_EACH if component.attribute is None else component.view(views[component.attribute])
            for component in self.components
        )
        if length is None:
            length = len(next(iter(columns.values()), ()))
        return States(self.components, parts, length)

    def empty(self) -> States:
        """No states at all."""
        return self._empty

    def fold(
        self, rows: States, carry: States, row_from: Numbers, row_to: Numbers, carry_idx: Numbers
    ) -> States:
        """For each request the state of carry[carry_idx] (-1: none) and rows row_from..row_to, inclusive.

        All three are int64 and equally long; row_to < row_from means no rows. Requests with equal row_from
        and carry_idx and ascending row_to that follow each other are answered in one sweep.
        """
        if not self.components:
            return States((), (), row_from.size)
        by = Fold(row_from, row_to, carry_idx, rows.length)
        carried = carry if carry.length == 0 else carry.condensed()
        if self._keeps_edges:
            events = rows.parts[0]
            if not events.raw:
                by.rows_n = events.arrays[0]
            by.carry_n = carried.parts[0].arrays[0]
        parts = tuple(
            component.fold(part, before, by)
            for component, part, before in zip(self.components, rows.parts, carried.parts, strict=True)
        )
        return States(self.components, parts, row_from.size)

    def to_buffers(self, states: States) -> list[bytes]:
        """The states as bytes for saved state and shuffles; see `codec`."""
        return codec.to_buffers(states)

    def from_buffers(
        self,
        buffers: Sequence[bytes | bytearray | memoryview | pa.Buffer],
        opaque: Mapping[str, pa.DataType] = MappingProxyType({}),
    ) -> States:
        """What `to_buffers` wrote, of the same specification; else a StateError.

        `opaque` tells the Arrow types of columns, where they must be those.
        """
        return codec.from_buffers(self.components, buffers, opaque)

    def n_events(self, states: States) -> Numbers:
        """int64: how many events each state covers; the spec must count them (`with_count`)."""
        assert self.components[:1] == (_EVENTS,), "a specification that does not count events"
        counted = _EVENTS.condense(states.parts[0], states.length).arrays[0]
        return cast(Numbers, counted)

    def item(self, item_index: int, states: States) -> pa.Array:
        """The Spark-typed value of query.items[item_index] for each state."""
        wanted = self._items[item_index]
        component = self.components[wanted.position]
        part = component.condense(states.parts[wanted.position], states.length)
        if wanted.function in ("first", "last", "value", "min", "max"):
            return results.kept(part, component.type, states.length)
        if wanted.function == "count":
            return results.count(part)
        if wanted.decides and decides_by_values(wanted.function, component.type):
            return exactly(part.arrays[0], component.type, wanted.function)
        if wanted.function == "stddev":
            return results.deviation(part)
        if wanted.function == "variance":
            return results.variance(part)
        if wanted.function in ("median", "percentile"):
            return percentiles.percentile(part.arrays[0], component.type, wanted.fraction)
        if wanted.function == "collect_list":
            return results.collected(part.arrays[0], wanted.text)
        average = wanted.function == "avg"
        if component.type.is_decimal:
            finish = decimals.average_decimal if average else decimals.sum_decimal
            return finish(part, component.type, self.ansi, wanted.text)
        if isinstance(component, FloatSums):
            return results.average_of_floats(part) if average else results.sum_of_floats(part)
        if average:
            return results.average_of_integers(part)
        return results.sum_of_integers(part, self.ansi, wanted.text)

    def _resolve(self, attribute: str, schema: Schema) -> str:
        """The schema's spelling of an attribute; the binder has seen to it that there is one."""
        by_case = {column.name: column for column in schema}
        column = by_case.get(attribute) or next(c for c in schema if c.name.lower() == attribute.lower())
        self.types[column.name] = value_type(column.type)
        return column.name


def specs_of(bound: BoundQuery, *, ansi: bool = True, with_count: bool = False) -> tuple[AggregateSpec, ...]:
    """One specification for each symbol, in symbol order."""
    return tuple(
        AggregateSpec.of(bound, symbol, ansi=ansi, with_count=with_count)
        for symbol in bound.query.symbol_names
    )


def _check(item: Item, kind: ValueType) -> None:
    """Refuse what the binder lets pass because Spark could do it, and states cannot."""
    if kind.family == "opaque" and item.function in ("min", "max"):
        raise AggregateTypeError(
            f"{_text(item)} needs an order of the values, and states have none for {kind.spark}",
            hint="take min or max of a plain column: a number, string, binary, boolean, date or timestamp",
        )


def _component(function: str, attribute: str | None, types: Mapping[str, ValueType]) -> Component:
    if attribute is None:
        return _EVENTS
    kind = types[attribute]
    numeric = kind.family in ("integers", "floats")
    match function:
        case "count":
            return Counts(attribute, kind)
        case "sum" | "avg":
            return FloatSums(attribute, kind) if kind.family == "floats" else ExactSums(attribute, kind)
        case "stddev" | "variance":
            return Moments(attribute, kind)
        case "median" | "percentile" | "collect_list" | "values":
            return Values(attribute, kind)
        case "min" | "max":
            largest = function == "max"
            return (
                NumberExtremes(attribute, kind, largest)
                if numeric
                else ArrowExtremes(attribute, kind, largest)
            )
        case _:
            last = function != "first"
            return NumberEdges(attribute, kind, last) if numeric else ArrowEdges(attribute, kind, last)


def _text(item: Item) -> str:
    symbol = f"{item.symbol}." if item.symbol else ""
    return f"{item.function}({symbol}{item.attribute})"
