"""What the conditions of a query read of earlier instants (SEM 15), as data.

A condition with prev is taken apart: every expression inside of prev is a column that is read, or computed,
of each row and travels with it; what stands around it is a condition over such values and plain columns, and
is evaluated once rows are in order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import sqlglot.expressions as exp

from situ.language.situations.binder import BoundQuery
from situ.language.text.looking import looks_back, taken_apart
from situ.language.text.nodes import Expression
from situ.language.text.types import Column
from situ.rows.needs import Derived


class Back(NamedTuple):
    """A value of an earlier instant: its name in conditions, the column it is of, how far back it is."""

    name: str
    column: str
    n: int


class Looks(NamedTuple):
    """The condition of a symbol, over columns and values of earlier instants, and what messages call it."""

    symbol: int
    what: str
    condition: Expression


@dataclass(frozen=True)
class LookBack:
    """All looks back of a query."""

    backs: tuple[Back, ...]
    conditions: tuple[Looks, ...]
    plain: tuple[Column, ...]  # columns that travel as they are
    derived: tuple[Derived, ...]  # columns that are computed

    @property
    def most(self) -> int:
        """How many instants it goes back at the most."""
        return max(back.n for back in self.backs)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Names of the columns of which earlier values are read."""
        return tuple(dict.fromkeys(back.column for back in self.backs))

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Names of all columns that conditions are evaluated from."""
        return (*(column.name for column in self.plain), *(one.name for one in self.derived))

    @property
    def symbols(self) -> tuple[int, ...]:
        """Those whose conditions look back."""
        return tuple(looks.symbol for looks in self.conditions)


def column_of(inner: Expression) -> str:
    """The name of the column that an expression inside of prev is computed as.

    By what it is, so that queries in one pass share it.
    """
    return f"_prev_{hashlib.blake2b(inner.sql.encode(), digest_size=8).hexdigest()}"


def look_back_of(bound: BoundQuery) -> LookBack | None:
    """The looks back of a bound query, None for none."""
    backs: dict[Back, None] = {}
    plain: dict[Column, None] = {}
    derived: dict[Derived, None] = {}

    def name(inner: Expression, n: int) -> str:
        tree, column = inner.tree, column_of(inner)
        if isinstance(tree, exp.Column) and len(tree.parts) == 1:
            own = bound.column(inner.columns[0])
            plain[own] = None
            back = Back(f"{column}_{n}", own.name, n)
        else:
            derived[Derived(column, inner)] = None
            back = Back(f"{column}_{n}", column, n)
        backs[back] = None
        return back.name

    conditions = []
    for i, symbol in enumerate(bound.query.symbols):
        if symbol.condition is not None and looks_back(symbol.condition):
            conditions.append(
                Looks(i, f"the condition of {symbol.name}", taken_apart(symbol.condition, name))
            )
    if not conditions:
        return None
    named = {back.name for back in backs}
    for looks in conditions:
        plain |= {bound.column(one): None for one in looks.condition.columns if one not in named}
    return LookBack(tuple(backs), tuple(conditions), tuple(plain), tuple(derived))
