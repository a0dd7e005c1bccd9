"""The items of measures: evaluated here, or handed to Spark as the columns that it evaluates them from."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from situ.carry.contract import Field, Setting
from situ.language.rows.ast import CLASSIFIER_COLUMN, Aggregate, Item, MatchNumber, Navigation
from situ.language.rows.bound import BoundRows
from situ.language.rows.printer import item_text
from situ.language.text.replaced import with_columns
from situ.operators.rowpattern.aggregates import Aggregated
from situ.operators.rowpattern.matched import Layout, Matched
from situ.operators.rowpattern.navigate import Navigated, Way, bare_column
from situ.operators.rowpattern.shown import Shown
from situ.rows.prepared import Flags


class Taken(Protocol):
    """Columns taken of matches, of each row of output."""

    fields: list[Field]

    def __call__(self, matched: Matched, shown: Shown) -> list[pa.Array]:
        """The columns."""


def item_name(i: int) -> str:
    """The column that stands for an item in the expression of a measure."""
    return f"_item_{i}"


def taken(i: int, item: Item, bound: BoundRows, layout: Layout, setting: Setting) -> Taken:
    """How the columns of an item are taken: its value, or where Spark is to evaluate what that is made of."""
    if isinstance(item, MatchNumber):
        return _Number(i)
    members = layout.members(bound.query.members(item.variable))
    if isinstance(item, Aggregate):
        return _Value(i, Aggregated(item, item_text(bound.query, item), members, layout, setting))
    if bare_column(item.expression) is None and not setting.evaluates:
        return _Raw(i, item, members, layout)
    return _Value(i, Navigated(item, members, layout, setting))


def handed_as(i: int, item: Item) -> str | None:
    """What Spark evaluates in place of an item, where the columns handed to it are not its value."""
    if not isinstance(item, Navigation) or bare_column(item.expression) is not None:
        return None
    names = {column: _raw_name(i, k) for k, column in enumerate(item.expression.columns)}
    inner = with_columns(item.expression, names)
    return f"(CASE WHEN {_there_name(i)} THEN ({inner.sql}) END)"


def _raw_name(i: int, k: int) -> str:
    return f"{item_name(i)}_{k}"


def _there_name(i: int) -> str:
    return f"{item_name(i)}_there"


class _Number:
    """MATCH_NUMBER()."""

    def __init__(self, i: int) -> None:
        self.fields = [Field(item_name(i), pa.int64())]

    def __call__(self, matched: Matched, shown: Shown) -> list[pa.Array]:
        return [pa.array(matched.found.number[shown.match])]


class _Value:
    """A navigation or an aggregate, evaluated."""

    def __init__(self, i: int, of: Navigated | Aggregated) -> None:
        self._of = of
        like, is_list = of.like
        self.fields = [Field(item_name(i), of.type, like, is_list)]

    def __call__(self, matched: Matched, shown: Shown) -> list[pa.Array]:
        return [self._of(matched, shown)]


class _Raw:
    """The columns that a navigation's expression reads, of the row it leads to, and whether there is one."""

    def __init__(self, i: int, navigation: Navigation, members: Flags, layout: Layout) -> None:
        self._way = Way(navigation, members, layout)
        self._names = navigation.expression.columns
        self.fields = [
            Field(
                _raw_name(i, k), layout.schema.field(name).type, None if name == CLASSIFIER_COLUMN else name
            )
            for k, name in enumerate(self._names)
        ]
        self.fields.append(Field(_there_name(i), pa.bool_()))

    def __call__(self, matched: Matched, shown: Shown) -> list[pa.Array]:
        reached = self._way.reached(matched, shown)
        columns = self._way.columns(self._names, matched, shown, reached)
        return [*(columns[name] for name in self._names), pa.array(reached.is_there)]
