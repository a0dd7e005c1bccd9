"""A query as neutral data: what the oracles are asked, whatever text or builder it came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from oracles.row_items import RowQuestion

Row = dict[str, Any]
Item = tuple[str, str, str | None]  # function, symbol, attribute
Endpoint = tuple[str, str]  # symbol, "ts" or "te"

SOURCE = "__source"  # where there are several (SEM 13), a row's own one stands in this column


class BadInput(Exception):
    """The data breaks a rule of the semantics (the oracles' own word for DataError)."""


class Difference(NamedTuple):
    """SEM 9.1: left - right <= bound, or < bound."""

    left: Endpoint
    right: Endpoint
    bound: int
    is_strict: bool = False


@dataclass(frozen=True)
class Absence:
    """SEM 11.1: a NO group. `constraints` go from `symbol` to each positive symbol named."""

    symbol: str
    constraints: dict[str, frozenset[str]] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()


class Gaps(NamedTuple):
    """SEM 14.1: IGNORING GAPS UP TO so many ticks, or so many events."""

    ticks: int | None = None
    events: int | None = None


class Having(NamedTuple):
    """SEM 13.1: a condition, called with the values of these items."""

    items: tuple[Item, ...]
    holds: Callable[..., bool | None]


@dataclass(frozen=True)
class Question:
    """Times and durations are integer ticks; relation names are those of `match.ATOMS`, or before/after.

    `symbols` are the positive ones, those of NO groups stand in `absences` alone. `holds` has one condition
    per symbol but for silences and row patterns, called with a row, giving True, False or None; conditions
    of the symbols in `looks_back` are called with the row and the list of the rows of all earlier instants
    (SEM 15).
    `items` are (function, symbol, attribute or None), as in SEM 5.2, with `value` for a bare `A.attr`.
    """

    symbols: tuple[str, ...]
    holds: dict[str, Callable[..., bool | None]]
    constraints: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    at_least: dict[str, int] = field(default_factory=dict)
    at_most: dict[str, int] = field(default_factory=dict)
    within: int | None = None
    emit: str = "EARLY"
    items: tuple[Item, ...] = ()
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
    differences: tuple[Difference, ...] = ()
    absences: tuple[Absence, ...] = ()
    silences: frozenset[str] = frozenset()  # symbols; their lengths are in at_least and at_most
    gaps: dict[str, Gaps] = field(default_factory=dict)
    having: Having | None = None
    sources: dict[str, str] = field(default_factory=dict)  # of each symbol, where there are several
    looks_back: frozenset[str] = frozenset()
    until: int | None = None  # SEM 11.9
    patterns: dict[str, RowQuestion] = field(default_factory=dict)  # SEM 17: symbols that are row patterns

    @property
    def is_over_intervals(self) -> bool:
        return self.ending is not None

    @property
    def absent(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(group.symbol for group in self.absences))

    @property
    def has_ticks(self) -> bool:
        """SEM 11.9: can it report between events?"""
        windows = (one.within for one in self.patterns.values())
        return bool(self.absences or self.silences) or any(window is not None for window in windows)
