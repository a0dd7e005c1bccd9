"""What an operator needs of its input, as data: which columns and conditions, and in which order rows count.

Readers make rows of any table from it, on Spark and off it; no carrier asks what an operator looks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from situ.language.text.nodes import Expression
from situ.language.text.types import Column

STARTS, ENDS, IDS = "_ts", "_te", "_id"  # columns of rows that last, beside their attributes
MOST_CONDITIONS = 64  # bits of a mask

# Of rows of one partition and instant: only the last counts, there may be no others, or every one counts.
Order = Literal["last", "error", "all"]


class Condition(NamedTuple):
    """A predicate of one row, and what messages call it."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Lasting:
    """Rows that last: from the time column to the column `end`, null while there is no end yet (SEM 6)."""

    end: Column
    id: Column | None
    widen: bool  # are points read as intervals of one tick


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
    lasting: Lasting | None = None
    only_where_true: bool = False  # are attributes read only of rows at which some condition holds
    window: int | None = None  # ticks after which nothing of a row matters, None for ever

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Every column that rows are made of, once; conditions and WHERE may read others."""
        own = [*self.partition, self.time, *self.ties, *self.attributes]
        if self.lasting is not None:
            own += [column for column in (self.lasting.end, self.lasting.id) if column is not None]
        return tuple(dict.fromkeys(own))

    @property
    def instants(self) -> tuple[Column, ...]:
        """The columns that a row's instant is made of."""
        return (self.time,) if self.lasting is None else (self.time, self.lasting.end)

    @property
    def mask_type(self) -> np.dtype[Any]:
        """What masks are held in."""
        return np.dtype(np.uint8 if len(self.conditions) <= 8 else np.uint64)

    def carried(self, schema: pa.Schema) -> dict[str, pa.DataType]:
        """Names and types of the columns that rows carry beside key, time, mask and ties."""
        own: dict[str, pa.DataType] = {}
        if self.lasting is not None:
            own = {STARTS: pa.int64(), ENDS: pa.int64()}
            if self.lasting.id is not None:
                own[IDS] = schema.field(self.lasting.id.name).type
        return own | {column.name: schema.field(column.name).type for column in self.attributes}
