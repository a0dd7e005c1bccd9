"""A query as neutral data: what the oracles are asked, whatever text or builder it came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


class BadInput(Exception):
    """The data breaks a rule of the semantics (the oracles' own word for DataError)."""


@dataclass(frozen=True)
class Question:
    """Times and durations are integer ticks; relation names are those of `match.ATOMS`, or before/after.

    `holds` has one condition per symbol, called with a row, giving True, False or None.
    `items` are (function, symbol, attribute or None), as in SEM 5.2, with `value` for a bare `A.attr`.
    """

    symbols: tuple[str, ...]
    holds: dict[str, Callable[[Row], bool | None]]
    constraints: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    at_least: dict[str, int] = field(default_factory=dict)
    at_most: dict[str, int] = field(default_factory=dict)
    within: int | None = None
    emit: str = "EARLY"
    items: tuple[tuple[str, str, str | None], ...] = ()
    where: Callable[[Row], bool | None] | None = None
    partition: tuple[str, ...] = ()
    time: str = "t"
    ties: tuple[str, ...] = ()
    ties_are_errors: bool = False
    forget_after: int | None = None
    # Given intervals (SEM 6): `time` is then the STARTING column.
    ending: str | None = None
    id_by: str | None = None
    widen_points: bool = False

    @property
    def is_over_intervals(self) -> bool:
        return self.ending is not None
