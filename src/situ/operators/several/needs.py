"""What several questions need together, and each one's own view of the rows that were read for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.errors import QueryError
from situ.language.text.nodes import Expression
from situ.language.text.types import Column
from situ.rows.kernels.bits import rearranged
from situ.rows.needs import MOST_CONDITIONS, Condition, Derived, Needs
from situ.rows.prepared import Positions, Prepared

_SHARED = (
    ("time", "the time column"),
    ("partition", "PARTITION BY"),
    ("ties", "the columns of ORDER BY after the time"),
    ("instant", "FROM and the columns of intervals"),
)


class View(NamedTuple):
    """How one question sees the rows of all: its conditions as other bits, and its WHERE as one more."""

    bits: tuple[int, ...]  # where each of its conditions stands
    where: int | None  # the bit of its WHERE, None where all rows are its own
    mask_type: npt.DTypeLike
    carried: tuple[str, ...]  # the columns beside key, time, mask and ties that it would have read alone

    def of(self, rows: Prepared) -> tuple[Prepared, Positions | None]:
        """Its rows, and their positions among all; None: they are all."""
        chosen = None
        rows = rows._replace(attributes={name: rows.attributes[name] for name in self.carried})
        if self.where is not None:
            one = rows.mask.dtype.type(1)
            chosen = np.flatnonzero(rows.mask >> rows.mask.dtype.type(self.where) & one)
            if len(chosen) == rows.n_rows:
                chosen = None
            else:
                rows = rows.take(chosen)
        mask = np.empty(rows.n_rows, self.mask_type)
        rearranged(rows.mask, self._tables(rows.mask.dtype.itemsize), mask)
        return rows._replace(mask=mask), chosen

    def _tables(self, n_bytes: int) -> npt.NDArray[np.uint64]:
        tables = np.zeros((n_bytes, 256), np.uint64)
        values = np.arange(256, dtype=np.uint64)
        for to, origin in enumerate(self.bits):
            byte, bit = divmod(origin, 8)
            tables[byte] |= (values >> np.uint64(bit) & np.uint64(1)) << np.uint64(to)
        return tables


def together(names: Sequence[str], several: Sequence[Needs]) -> tuple[Needs, tuple[View, ...]]:
    """All needs as one, every condition once, and each question's view of it."""
    first = several[0]
    for name, other in zip(names[1:], several[1:], strict=True):
        for attribute, what in _SHARED:
            if getattr(first, attribute) != getattr(other, attribute):
                raise QueryError(
                    f"queries {names[0]} and {name} differ in {what}, so that one pass cannot answer both",
                    hint="give queries that share time, partition and order, or call situ once for each",
                )
    wheres = list(dict.fromkeys(one.where for one in several))
    is_common = len(wheres) == 1
    bits: dict[Expression, int] = {}
    conditions: list[Condition] = []

    def place(name: str, expression: Expression) -> int:
        if expression not in bits:
            bits[expression] = len(conditions)
            conditions.append(Condition(name, expression))
        return bits[expression]

    views = []
    for name, own in zip(names, several, strict=True):
        guard = None if is_common or own.where is None else own.where
        placed = [
            place(f"{one.name} in query {name}", _guarded(one.expression, guard)) for one in own.conditions
        ]
        where = None if guard is None else place(f"the condition of WHERE in query {name}", guard)
        views.append(View(tuple(placed), where, own.mask_type, own.carried_names))
    if len(conditions) > MOST_CONDITIONS:
        raise QueryError(
            f"these queries have {len(conditions)} different conditions together, and one pass takes at "
            f"most {MOST_CONDITIONS}",
            hint="give fewer queries in one call",
        )
    attributes: dict[Column, None] = dict.fromkeys(column for one in several for column in one.attributes)
    guards: dict[Derived, list[Expression | None]] = {}
    for one in several:
        for derived in one.derived:
            guards.setdefault(derived, []).append(None if is_common else one.where)
    windows = [one.window for one in several]
    needs = replace(
        first,
        attributes=tuple(attributes),
        derived=tuple(
            derived._replace(expression=_guarded(derived.expression, _any_of(wheres)))
            for derived, wheres in guards.items()
        ),
        conditions=tuple(conditions),
        where=wheres[0] if is_common else _any_of(wheres),
        # the last row of an instant for one question is none of another's, whose last is an earlier one
        order=first.order if is_common else "all",
        only_where_true=is_common and all(one.only_where_true for one in several),
        window=None if None in windows else max(window for window in windows if window is not None),
        ticks=any(one.ticks for one in several),
    )
    return needs, tuple(views)


def _guarded(condition: Expression, where: Expression | None) -> Expression:
    """Evaluated only where the question's own WHERE holds: elsewhere it might fail."""
    if where is None:
        return condition
    columns = tuple(dict.fromkeys((*where.columns, *condition.columns)))
    return Expression(f"CASE WHEN {where.sql} THEN {condition.sql} END", columns)


def _any_of(wheres: Sequence[Expression | None]) -> Expression | None:
    """What leaves the rows of any question; None if one takes all."""
    if None in wheres:
        return None
    several = [where for where in wheres if where is not None]
    columns = tuple(dict.fromkeys(column for where in several for column in where.columns))
    return Expression(" OR ".join(f"({where.sql})" for where in several), columns)
