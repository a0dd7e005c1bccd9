"""What every kind of query is made of: durations and expressions, as frozen, hashable, picklable data."""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlglot.expressions as exp

from situ.language.text.dialect import parse


@dataclass(frozen=True)
class Duration:
    """A length of time: microseconds when it was written with a unit, plain ticks when not (SEM 1.1)."""

    value: int
    has_unit: bool


@dataclass(frozen=True)
class Expression:
    """A Spark SQL expression, held as canonical text (that is what `==`, hash and pickle see).

    `columns` are the unqualified column names it reads, in order of first use.
    """

    sql: str
    columns: tuple[str, ...] = field(compare=False)

    @property
    def tree(self) -> exp.Expression:
        """The sqlglot tree (Spark dialect); shared, so never change it: `.copy()` first."""
        return parse(self.sql)
