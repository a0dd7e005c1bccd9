"""Matches of row patterns: their rows on the curves of the columns that conditions read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.carry import in_process
from situ.errors import OptionError
from situ.expressions import compile_condition
from situ.language.rows.ast import (
    CLASSIFIER_COLUMN,
    Aggregate,
    Alternation,
    Concatenation,
    Exclusion,
    Item,
    MatchNumber,
    Measure,
    Navigation,
    Pattern,
    Permutation,
    Repetition,
    RowQuery,
)
from situ.language.rows.binder import bind
from situ.language.rows.printer import expression_text
from situ.language.text.nodes import Expression
from situ.operators.rowpattern.question import RowMatching
from situ.plotting.overview import Seen, overview_of
from situ.plotting.scene import Bar, Curve, Lane, Overview, Point, Scene, Threshold, colour_of
from situ.plotting.telling import Teller
from situ.plotting.thresholds import comparisons
from situ.rows.columns import Columns, truths
from situ.rows.needs import OF_WHERE
from situ.rows.prepared import Positions
from situ.rows.schema import spark_schema, to_ticks

_MAX_CURVES = 4
_MAX_POINTS = 4000  # of a curve; beyond it every n-th
_NUMBER, _VARIABLE = "_situ_number", "_situ_variable"
_CLASSIFIER = Navigation(Expression(CLASSIFIER_COLUMN, (CLASSIFIER_COLUMN,)))


class RowGatherer:
    """Makes scenes of a row pattern over one table."""

    def __init__(self, query: RowQuery, table: pa.Table, options: dict[str, Any]) -> None:
        self.bound = bind(query, spark_schema(table.schema), time=options.get("time"))
        if self.bound.time is None or options.get("time_unit") is not None:
            raise OptionError(
                "a picture has a time axis, and rows are not in the order of a time that it could show",
                hint="order them by a timestamp, a date or a whole number first, and leave time_unit out",
            )
        self.time = self.bound.time
        self.query = self.bound.query
        self.table = table
        self._options = {name: value for name, value in options.items() if name != "match_id"}
        self.teller = Teller.of(table.schema.field(self.time.name).type, options.get("time_zone"))

    def found(self) -> pa.Table:
        """Every match that has rows: its measures, when it was certain, and its number."""
        query = with_measures(replace(self.query, rows="one", empty="show"), self.query.measures)
        asked = {**self._options, "match_span": True, "match_time": True}
        found = in_process.run(self.table, RowMatching(query), asked)
        return found.filter(pc.is_valid(found["match_start"]))

    def scenes(self, chosen: Sequence[dict[str, Any]]) -> tuple[Scene, ...]:
        """A picture of each of these matches."""
        return tuple(self._scene(row) for row in chosen)

    def _scene(self, row: dict[str, Any]) -> Scene:
        events = self._partition(row)
        taken = self._taken(events, row)
        times, variables = self._ticks(taken).tolist(), taken[_VARIABLE].to_pylist()
        first, last = times[0], times[-1]
        instant = None if row["match_time"] is None else self.teller.ticks(row["match_time"])
        end = last if instant is None else max(last, instant)
        margin = max((end - first) // 2, 3_000_000 if self.teller.clock.is_time else 3)
        begin, end = first - margin, end + margin
        return Scene(
            title=self._title(row),
            facts=tuple((one.name, self.teller.told(row[one.name])) for one in self.query.measures),
            clock=self.teller.clock,
            begin=begin,
            end=end,
            instant=instant,
            lanes=self._lanes(times, variables),
            curves=self._curves(events, taken, begin, end),
        )

    def _title(self, row: dict[str, Any]) -> str:
        return self.teller.title(row, self.bound.partition, self.query.source)

    def _partition(self, row: dict[str, Any]) -> pa.Table:
        """The rows of a match's partition that WHERE leaves."""
        events = self.table
        for column in self.bound.partition:
            values, wanted = events[column.name], row[column.name]
            same = pc.is_null(values) if wanted is None else pc.equal(values, pa.scalar(wanted, values.type))
            events = events.filter(same.fill_null(False))
        where = self.query.where
        if where is None:
            return events
        settings = {name: self._options[name] for name in ("ansi", "time_zone") if name in self._options}
        holds = compile_condition(where, events.schema, OF_WHERE, **settings)
        return events.filter(pa.array(truths(holds(Columns(events), events.num_rows)).view(bool)))

    def _taken(self, events: pa.Table, row: dict[str, Any]) -> pa.Table:
        """The rows of a match with all their columns, and the variable of each."""
        pattern = with_all_rows(self.query.pattern)
        every = replace(self.query, rows="all", empty="omit", pattern=pattern, where=None)
        found = in_process.run(events, RowMatching(with_measures(every, ())), self._options)
        return found.filter(pc.equal(found[_NUMBER], row[_NUMBER]))

    def _ticks(self, table: pa.Table) -> Positions:
        return to_ticks(table[self.time.name], self.time.name)

    def _lanes(self, times: Sequence[int], variables: Sequence[str]) -> tuple[Lane, ...]:
        """Of each variable its rows, and the stretches of time in which one follows the other."""
        bands = _bands(times, variables)
        lanes = []
        for i, name in enumerate(self.query.variables):
            condition = self.query.conditions.get(name)
            label = "any row" if condition is None else expression_text(self.query, condition)
            bars = tuple(Bar(ts, te, "match") for ts, te, variable in bands if variable == name)
            rows = tuple(time for time, one in zip(times, variables, strict=True) if one == name)
            lanes.append(Lane(name, label, colour_of(i), bars, rows))
        return tuple(lanes)

    def _curves(self, events: pa.Table, taken: pa.Table, begin: int, end: int) -> tuple[Curve, ...]:
        """The columns that conditions read, with the rows of the match on them."""
        time = self._ticks(events)
        shown = np.flatnonzero((time >= begin) & (time <= end))
        shown = shown[np.argsort(time[shown], kind="stable")][:: 1 + len(shown) // _MAX_POINTS]
        times, curves = tuple(time[shown].tolist()), []
        for name in self._numeric_columns()[:_MAX_CURVES]:
            values = _finite(events[name].take(pa.array(shown)))
            lines, points = self._thresholds(name, values), self._points(name, taken)
            curve = Curve(name, times, tuple(values), lines, self.query.variables, points, is_stepped=False)
            curves.append(curve)
        return tuple(curves)

    def _points(self, name: str, taken: pa.Table) -> tuple[Point, ...]:
        found = zip(
            self._ticks(taken).tolist(), _finite(taken[name]), taken[_VARIABLE].to_pylist(), strict=True
        )
        return tuple(Point(time, value, variable) for time, value, variable in found if value is not None)

    def _numeric_columns(self) -> list[str]:
        """Columns that conditions read, then those of measures."""
        query = self.query
        items = {f"_item_{i}": item for i, item in enumerate(query.items)}
        asked = [*(one.condition for one in query.definitions), *(one.expression for one in query.measures)]
        read = [name for one in asked for item in one.columns for name in _columns(items[item])]
        hidden = {self.time.name, *(column.name for column in self.bound.partition)}
        numeric = {field.name for field in self.table.schema if _is_numeric(field.type)}
        return [name for name in dict.fromkeys(read) if name in numeric - hidden]

    def _thresholds(self, column: str, values: Sequence[float | None]) -> tuple[Threshold, ...]:
        """The numbers that conditions compare a column of the row itself with.

        One far from all values would leave the curve no room, and is left out.
        """
        known = [value for value in values if value is not None]
        low, high = min(known, default=0.0), max(known, default=0.0)
        lines = []
        for i, name in enumerate(self.query.variables):
            own = Expression(column, (column,))
            current = {Navigation(own), Navigation(own, name)}
            items = {f"_item_{j}" for j, item in enumerate(self.query.items) if item in current}
            condition = self.query.conditions.get(name)
            for one in () if condition is None else comparisons(condition):
                if one.column in items and 2 * low - high <= one.value <= 2 * high - low:
                    lines.append(Threshold(one.value, f"{name}: {one.sign} {one.value:g}", colour_of(i)))
        return tuple(dict.fromkeys(lines))

    def overview(self, found: pa.Table, chosen: Sequence[dict[str, Any]], n_matches: int) -> Overview | None:
        """Matches over time; each that has a picture is marked, whatever it is."""
        rows = found.to_pylist()
        pictured = {self._identity(row): i for i, row in enumerate(chosen)}
        among = {self._identity(row) for row in rows}
        every = [*rows, *(row for row in chosen if self._identity(row) not in among)]
        seen = [
            Seen(
                self._title(row),
                self.teller.ticks(row["match_start"]),
                self.teller.ticks(row["match_end"] if row["match_time"] is None else row["match_time"]),
                pictured.get(self._identity(row)),
            )
            for row in every
        ]
        return overview_of(seen, len(rows), n_matches, self.teller.clock)

    def _identity(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in (*(column.name for column in self.bound.partition), _NUMBER))


def measure_named(query: RowQuery, name: str) -> str:
    """The measure of that name, in the query's spelling."""
    names = [one.name for one in query.measures]
    found = next((one for one in names if one.lower() == name.lower()), None)
    if found is None:
        raise OptionError(f"by={name!r} is no measure", hint=f"the measures are {', '.join(names) or 'none'}")
    return found


def with_measures(query: RowQuery, measures: Sequence[Measure]) -> RowQuery:
    """The query with these measures, and behind them the number of the match and the row's variable."""
    items = list(query.items)
    own = list(measures)
    for name, item in ((_NUMBER, MatchNumber()), (_VARIABLE, _CLASSIFIER)):
        if item not in items:
            items.append(item)
        column = f"_item_{items.index(item)}"
        own.append(Measure(name, Expression(column, (column,))))
    return replace(query, items=tuple(items), measures=tuple(own))


def with_all_rows(pattern: Pattern) -> Pattern:
    """The pattern without exclusions, which only leave rows out of the result (ROW 4.3)."""
    match pattern:
        case Exclusion(body):
            return with_all_rows(body)
        case Concatenation(parts):
            return Concatenation(tuple(map(with_all_rows, parts)))
        case Permutation(parts):
            return Permutation(tuple(map(with_all_rows, parts)))
        case Alternation(choices):
            return Alternation(tuple(map(with_all_rows, choices)))
        case Repetition(body):
            return replace(pattern, body=with_all_rows(body))
        case _:
            return pattern


def _bands(times: Sequence[int], variables: Sequence[str]) -> list[tuple[int, int, str]]:
    """Stretches of rows of one variable, each to the middle between its last row and the next one."""
    borders = [times[0], *((a + b) // 2 for a, b in itertools.pairwise(times)), times[-1]]
    bands: list[tuple[int, int, str]] = []
    for variable, begin, end in zip(variables, borders, borders[1:], strict=False):
        if bands and bands[-1][2] == variable:
            bands[-1] = (bands[-1][0], end, variable)
        else:
            bands.append((begin, end, variable))
    return bands


def _columns(item: Item) -> tuple[str, ...]:
    """The columns that an item reads."""
    if isinstance(item, Navigation):
        return item.expression.columns
    return item.argument.columns if isinstance(item, Aggregate) and item.argument is not None else ()


def _finite(column: pa.ChunkedArray) -> list[float | None]:
    numbers = column.cast(pa.float64())
    values: list[float | None] = pc.if_else(pc.is_finite(numbers), numbers, None).to_pylist()
    return values


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
