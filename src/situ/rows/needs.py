"""What an operator needs of its input, as data: which columns and conditions, and in which order rows count.

Readers make rows of any table from it, on Spark and off it; no carrier asks what an operator looks for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from situ.language.text.nodes import Expression
from situ.language.text.types import Column
from situ.rows.instants import AtTime, Lasting

OF_WHERE = "the condition of WHERE"  # what messages call it
MOST_CONDITIONS = 64  # bits of a mask

# Of rows of one partition and instant: only the last counts, there may be no others, every one counts, or
# every one does and `ties` must tell them apart.
Order = Literal["last", "error", "all", "distinct"]


class Condition(NamedTuple):
    """A predicate of one row, and what messages call it."""

    name: str
    expression: Expression


class Derived(NamedTuple):
    """A column that is computed of each row and travels with it."""

    name: str
    expression: Expression


class Towards(NamedTuple):
    """Which way a column orders rows; by default as Spark's ascending order does, nulls first."""

    is_descending: bool = False
    nulls_last: bool = False


@dataclass(frozen=True)
class Needs:
    """The columns, conditions and order that rows are read by."""

    time: Column
    partition: tuple[Column, ...] = ()
    ties: tuple[Column, ...] = ()  # that order rows of one instant
    towards: tuple[Towards, ...] = ()  # of each of these, where some do not ascend
    is_timeless: bool = False  # is `time` no time: all rows are of one instant, and `ties` order them
    attributes: tuple[Column, ...] = ()  # that travel with the rows
    derived: tuple[Derived, ...] = ()  # the same, computed
    conditions: tuple[Condition, ...] = ()  # bit i of a row's mask is condition i
    where: Expression | None = None
    order: Order = "last"
    instant: AtTime | Lasting = field(default_factory=AtTime)
    only_where_true: bool = False  # are attributes read only of rows at which some condition holds
    window: int | None = None  # ticks after which nothing of a row matters, None for ever
    ticks: bool = False  # may results fall between events, so that a clock must be told (SEM 11.9)
    parts: tuple[Part, ...] = ()  # of several sources: how each is read; conditions and WHERE are theirs

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Every column that rows are made of, once; conditions and WHERE may read others."""
        first = [*self.partition, self.time, *self.ties]
        names = {column.name for column in first}  # an attribute may be the time, of which a unit is known
        attributes = [column for column in self.attributes if column.name not in names]
        return tuple(dict.fromkeys([*first, *attributes, *self.instant.columns]))

    @property
    def travelling_names(self) -> tuple[str, ...]:
        """Names of the columns that rows are made of where they have been read, the derived ones last."""
        return (*(column.name for column in self.columns), *(one.name for one in self.derived))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything that is evaluated of a row."""
        conditions = [condition.expression for condition in self.conditions]
        derived = [one.expression for one in self.derived]
        return (*conditions, *derived, *([self.where] if self.where else []))

    @property
    def n_sources(self) -> int:
        """How many sources rows come from; of several, the last bits of a mask say which one's a row is."""
        return max(1, len(self.parts))

    @property
    def all_names(self) -> tuple[str, ...]:
        """Names of every column that is read, also by conditions and WHERE."""
        own = [column.name for column in self.columns]
        return tuple(dict.fromkeys([*own, *(name for one in self.expressions for name in one.columns)]))

    @property
    def mask_type(self) -> np.dtype[Any]:
        """What masks are held in."""
        return np.dtype(np.uint8 if len(self.conditions) <= 8 else np.uint64)

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """Names of the attributes, read or computed."""
        return (*(column.name for column in self.attributes), *(one.name for one in self.derived))

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Names of the columns that rows carry beside key, time, mask and ties."""
        return (*self.instant.carried_names, *self.attribute_names)

    def carried(self, schema: pa.Schema) -> dict[str, pa.DataType]:
        """The same with their types; `schema` has those of the derived columns too."""
        own = {name: schema.field(name).type for name in self.attribute_names}
        return self.instant.carried(schema) | own


@dataclass(frozen=True)
class Part:
    """One of several sources (SEM 13): what is read of it by itself, as rows of all sources together."""

    name: str  # of its table
    alias: str
    needs: Needs  # over its own columns; its conditions have the bits that those of all sources have
    names: tuple[tuple[str, str], ...]  # of the columns of all sources those it has, and its own names

    def own(self, name: str) -> str | None:
        """Its own name of a column that rows of all sources have; None where it has none."""
        return dict(self.names).get(name)
