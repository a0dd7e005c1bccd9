"""A row pattern query bound to the columns of an input."""

from __future__ import annotations

from dataclasses import dataclass

from situ.language.rows.ast import RowQuery
from situ.language.text.types import Column, Schema


@dataclass(frozen=True)
class BoundRows:
    """Names are spelled as the schema spells them, in the query too."""

    query: RowQuery
    schema: Schema
    partition: tuple[Column, ...]
    order: tuple[Column, ...]
    time: Column | None  # the first of `order`, where it is a time and ascends (ROW 1.5)
    within: int | None  # ticks

    def column(self, name: str) -> Column:
        """The column of this name, as the query now spells it."""
        return next(column for column in self.schema if column.name == name)
