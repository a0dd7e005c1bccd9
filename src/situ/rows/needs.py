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

# Of rows of one partition and instant: only the last counts, there may be no others, or every one counts.
Order = Literal["last", "error", "all"]


class Condition(NamedTuple):
    """A predicate of one row, and what messages call it."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Needs:
    """The columns, conditions and order that rows are read by."""

    time: Column
    partition: tuple[Column, ...] = ()
    ties: tuple[Column, ...] = ()  # that order rows of one instant
    attributes: tuple[Column, ...] = ()  # that travel with the rows
    conditions: tuple[Condition, ...] = ()  # bit i of a row's mask is condition i
    where: Expression | None = None
    order: Order = "last"
    instant: AtTime | Lasting = field(default_factory=AtTime)
    only_where_true: bool = False  # are attributes read only of rows at which some condition holds
    window: int | None = None  # ticks after which nothing of a row matters, None for ever
    ticks: bool = False  # may results fall between events, so that a clock must be told (SEM 11.9)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Every column that rows are made of, once; conditions and WHERE may read others."""
        own = [*self.partition, self.time, *self.ties, *self.attributes, *self.instant.columns]
        return tuple(dict.fromkeys(own))

    @property
    def all_names(self) -> tuple[str, ...]:
        """Names of every column that is read, also by conditions and WHERE."""
        read = [condition.expression for condition in self.conditions] + ([self.where] if self.where else [])
        own = [column.name for column in self.columns]
        return tuple(dict.fromkeys([*own, *(name for one in read for name in one.columns)]))

    @property
    def mask_type(self) -> np.dtype[Any]:
        """What masks are held in."""
        return np.dtype(np.uint8 if len(self.conditions) <= 8 else np.uint64)

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Names of the columns that rows carry beside key, time, mask and ties."""
        return (*self.instant.carried_names, *(column.name for column in self.attributes))

    def carried(self, schema: pa.Schema) -> dict[str, pa.DataType]:
        """The same with their types."""
        own = {column.name: schema.field(column.name).type for column in self.attributes}
        return self.instant.carried(schema) | own
