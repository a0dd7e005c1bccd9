"""A row pattern query as neutral data, and what navigation and aggregates give (ROW 3)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Row = dict[str, Any]
# A variable by its name, or a tuple: ("cat", p, ...) with ("cat",) for `()`, ("alt", p, ...),
# ("permute", p, ...), ("exclude", p), ("repeat", p, least, most or None, is_reluctant), ("^",), ("$",).
Pattern = str | tuple[Any, ...]
OfRow = Callable[[Row, str | None], Any]  # of a row and its variable, None for a row that has none


class Navigation(NamedTuple):
    """The `offset`-th row of the variables (None: of all) from the back or the front, `shift` rows on."""

    of: OfRow
    variables: frozenset[str] | None = None
    is_first: bool = False
    offset: int = 0
    shift: int = 0
    is_final: bool = False


class Aggregate(NamedTuple):
    function: str
    of: OfRow | None = None  # None: count rows
    variables: frozenset[str] | None = None
    is_distinct: bool = False
    where: OfRow | None = None
    is_final: bool = False


NUMBER = "MATCH_NUMBER()"
Item = Navigation | Aggregate | str


class Expression(NamedTuple):
    """`combine` of the values of its items, all of which are read whatever it makes of them."""

    combine: Callable[..., Any]
    items: tuple[Item, ...] = ()


class Taken(NamedTuple):
    """A row of a match: its place in the history, its variable, and whether it stands in {- -}."""

    row: int
    variable: str
    is_excluded: bool = False


Path = tuple[Taken, ...]


@dataclass(frozen=True)
class RowQuestion:
    """Times are ticks in the column `time`; None where the rows have no time (ROW 1.5).

    `skip` is ("past",), ("next",), ("first", variables) or ("last", variables): a union has several.
    """

    pattern: Pattern
    conditions: dict[str, Expression] = field(default_factory=dict)
    variables: tuple[str, ...] = ()  # in order of first mention
    measures: tuple[Expression, ...] = ()
    partition: tuple[str, ...] = ()
    order: tuple[tuple[str, bool, bool], ...] = (("t", False, False),)  # column, descending, nulls last
    time: str | None = "t"
    where: Callable[[Row], bool | None] | None = None
    rows: str = "one"  # or all
    empty: str = "show"  # or omit, unmatched
    skip: tuple[Any, ...] = ("past",)
    strategy: str = "contiguous"  # or next, any
    mode: str | None = None  # or maximal, incremental
    within: int | None = None
    forget_after: int | None = None

    @property
    def uses_number(self) -> bool:
        return any(NUMBER in one.items for one in (*self.conditions.values(), *self.measures))


class UnknownError(Exception):
    """A row that has not come yet was read."""


class View(NamedTuple):
    """What an expression sees: a path, the place of the current row in it, and the history around it."""

    rows: Sequence[Row]
    path: Path
    current: int
    number: int
    known: int  # so many of the rows have come
    at_end: bool  # no more will

    def value(self, expression: Expression) -> Any:
        return expression.combine(*[self.item(item) for item in expression.items])

    def item(self, item: Item) -> Any:
        if isinstance(item, str):
            return self.number
        visible = self.path if item.is_final else self.path[: self.current + 1]
        own = [one for one in visible if item.variables is None or one.variable in item.variables]
        if isinstance(item, Aggregate):
            return aggregated(item, [(self.rows[one.row], one.variable) for one in own])
        place = item.offset if item.is_first else len(own) - 1 - item.offset
        if not 0 <= place < len(own):
            return None
        at = own[place].row + item.shift
        if at >= self.known and not self.at_end:
            raise UnknownError
        if not 0 <= at < self.known:
            return None
        variable = next((one.variable for one in self.path if one.row == at), None)
        return item.of(self.rows[at], variable)


class Known(NamedTuple):
    """A history of which the rows up to a horizon are known, all of them if it is None (the end)."""

    question: RowQuestion
    rows: Sequence[Row]
    horizon: int | None
    size: int  # of the known part

    def time(self, row: int) -> int:
        return self.rows[row][self.question.time]

    def end(self, start: int) -> int | None:
        """Of the window."""
        return None if self.question.within is None else self.time(start) + self.question.within

    def holds(self, path: Path, number: int) -> bool | None:
        """None: that cannot be said yet."""
        condition = self.question.conditions.get(path[-1].variable)
        view = View(self.rows, path, len(path) - 1, number, self.size, self.horizon is None)
        try:
            return condition is None or view.value(condition) is True
        except UnknownError:
            return None


def known_at(question: RowQuestion, rows: Sequence[Row], horizon: int | None) -> Known:
    return Known(
        question, rows, horizon, sum(horizon is None or row[question.time] <= horizon for row in rows)
    )


def aggregated(item: Aggregate, rows: Sequence[tuple[Row, str]]) -> Any:
    """ROW 3.6, WIN 5.5."""
    where = item.where
    rows = [one for one in rows if where is None or where(*one) is True]
    if item.of is None:
        return len(rows)
    values = [value for value in (item.of(*one) for one in rows) if value is not None]
    if item.is_distinct:
        values = list(dict.fromkeys(values))
    match item.function:
        case "count":
            return len(values)
        case "array_agg":
            return values
        case _ if not values:
            return None
        case "sum":
            return math.fsum(values) if isinstance(values[0], float) else sum(values)
        case "avg":
            return (math.fsum(values) if isinstance(values[0], float) else sum(values)) / len(values)
        case "stddev" | "variance":
            function = {"stddev": statistics.stdev, "variance": statistics.variance}[item.function]
            return None if len(values) == 1 else float(function(values))
    by_size = sorted(values, key=lambda value: (isinstance(value, float) and math.isnan(value), value))
    return by_size[0] if item.function == "min" else by_size[-1]
