"""From a table and a query to what the pictures show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.carry import in_process
from situ.errors import OptionError
from situ.expressions import compile_condition
from situ.language.situations.ast import Query, Symbol
from situ.language.situations.binder import BoundQuery, bind
from situ.language.situations.described import condition_text
from situ.operators.situations.look_back import look_back_of
from situ.operators.situations.question import Deriving
from situ.plan.explain import describe_duration
from situ.plotting.matches import Found, loose, return_column
from situ.plotting.overview import Seen, overview_of
from situ.plotting.scene import Bar, Curve, Lane, Overview, Scene, Threshold, colour_of
from situ.plotting.telling import Teller
from situ.plotting.thresholds import comparisons
from situ.rows.columns import Columns, truths
from situ.rows.needs import OF_WHERE
from situ.rows.schema import spark_schema, to_ticks

_MAX_CURVES = 4
_MAX_POINTS = 4000  # of a curve; beyond it every n-th


def best(found: Found, top: int, by: str | None) -> Found:
    """The first `top` matches in time, or those with the largest values of a RETURN column."""
    key = ("match_time", "ascending") if by is None else (return_column(found.query, by), "descending")
    indices = pc.sort_indices(found.table, sort_keys=[key])  # nulls come last either way
    return replace(found, table=found.table.take(indices[:top]))


class Gatherer:
    """Makes scenes of a query over tables of one schema."""

    def __init__(
        self,
        query: Query,
        schema: Any,
        options: dict[str, Any],
        ready: Callable[[Query], Query] = lambda query: query,
        *,
        zone: str | None = None,
    ) -> None:
        """`schema` is that of the events, of several sources a dict by name.

        `ready` makes the query one over the tables that scenes are made from, if it is not one.

        Times are told in `zone`, or in that of their column; those without a zone have none.
        """
        if options.get("time_unit") is not None:
            raise OptionError(
                "pictures have no axis for times that are numbers of a unit",
                hint="leave time_unit out, and draw a table whose time column is a timestamp",
            )
        of_matches = ("match_id", "join", "threads", "until")
        self.options = {name: value for name, value in options.items() if name not in of_matches}
        if Deriving(query).takes("ties"):
            self.options["ties"] = "last"  # whoever found the matches has said what there is to say
        several = schema if isinstance(schema, Mapping) else {"": schema}
        schemas = {name: spark_schema(one) for name, one in several.items()}
        given = schemas if isinstance(schema, Mapping) else schemas[""]
        self.bound: BoundQuery = bind(query, given, time=options.get("time"))
        self.query = self.bound.query
        self._runs_query = ready(loose(self.query))
        first = several[self.bound.sources[0].name] if self.bound.sources else schema
        self.teller = Teller.of(first.field(self.bound.time.name).type, zone)

    def stretch(self, found: Found, row: dict[str, Any]) -> tuple[int, int]:
        """The stretch of time whose events a picture of this match needs."""
        first, last, margin = self._extent(found, row)
        return first - 2 * margin, last + 2 * margin

    def events(self, table: pa.Table) -> pa.Table:
        """What WHERE leaves of a table, where conditions look back at it; else all may be left in."""
        where = self.query.where
        if where is None or look_back_of(self.bound) is None:
            return table
        settings = {name: self.options[name] for name in ("ansi", "time_zone") if name in self.options}
        holds = compile_condition(where, table.schema, OF_WHERE, **settings)(Columns(table), table.num_rows)
        return table.filter(pa.array(truths(holds).view(bool)))

    def _extent(self, found: Found, row: dict[str, Any]) -> tuple[int, int, int]:
        """First start, last instant that matters, and the margin on both sides."""
        instants = [row["match_time"], *(te for te in found.ends(row) if te is not None)]
        first, last = min(map(self.teller.ticks, found.starts(row))), max(map(self.teller.ticks, instants))
        return first, last, max((last - first) // 4, 3_000_000 if self.teller.clock.is_time else 3)

    def scene(self, found: Found, row: dict[str, Any], events: Any) -> Scene:
        """The picture of one match, from its partition's events in its stretch of time."""
        first, last, margin = self._extent(found, row)
        names = [symbol.name for symbol in self.query.positives]
        starts = dict(zip(names, map(self.teller.ticks, found.starts(row)), strict=True))
        ends = [None if te is None else self.teller.ticks(te) for te in found.ends(row)]
        return Scene(
            title=self._title(row),
            facts=tuple((item.name, self.teller.told(row[item.name])) for item in self.query.returns),
            clock=self.teller.clock,
            begin=first - margin,
            end=last + margin,
            instant=self.teller.ticks(row["match_time"]),
            lanes=self._lanes(events, starts, dict(zip(names, ends, strict=True))),
            curves=self._all_curves(events, first - margin, last + margin),
        )

    def _title(self, row: dict[str, Any]) -> str:
        return self.teller.title(row, self.bound.partition, self.query.source)

    def _lanes(self, events: Any, own: dict[str, int], ends: dict[str, int | None]) -> tuple[Lane, ...]:
        runs = in_process.run(events, Deriving(self._runs_query), self.options)
        lanes = []
        for i, symbol in enumerate(self.query.symbols):
            several = runs.filter(pc.equal(runs["symbol"], symbol.name)).sort_by("ts").to_pylist()
            begin, end = own.get(symbol.name), ends.get(symbol.name)  # an absent symbol has none
            bars = [self._bar(i, run, begin, end) for run in several]
            if begin is not None and not any(bar.role == "match" for bar in bars):
                bars.append(Bar(begin, end, "match"))  # its start lies beyond the events at hand
            lanes.append(Lane(symbol.name, _lane_label(self.query, symbol), colour_of(i), _stacked(bars)))
        return tuple(lanes)

    def _bar(self, i: int, run: dict[str, Any], own_ts: int | None, own_te: int | None) -> Bar:
        ts, te = self.teller.ticks(run["ts"]), None if run["te"] is None else self.teller.ticks(run["te"])
        if ts == own_ts and (own_te is None or te == own_te):
            return Bar(ts, te, "match")
        least, most = self.bound.at_least[i], self.bound.at_most[i]
        fits = te is None or ((least or 0) <= te - ts and (most is None or te - ts <= most))
        return Bar(ts, te, "other" if fits else "refused")

    def _all_curves(self, events: Any, begin: int, end: int) -> tuple[Curve, ...]:
        """Of several sources those of each, which are told apart by its name."""
        if not self.bound.sources:
            return self._curves(events, self.bound, begin, end)[:_MAX_CURVES]
        curves = [
            replace(curve, name=f"{one.alias}.{curve.name}")
            for one in self.bound.sources
            for curve in self._curves(events[one.name], one.bound, begin, end)
        ]
        return tuple(curves[:_MAX_CURVES])

    def _curves(self, events: pa.Table, bound: BoundQuery, begin: int, end: int) -> tuple[Curve, ...]:
        """What the query reads of one source."""
        if self.query.intervals is not None or not events.num_rows:
            return ()
        time = to_ticks(events[bound.time.name], bound.time.name)
        shown = np.flatnonzero((time >= begin) & (time <= end))
        shown = shown[np.argsort(time[shown], kind="stable")][:: 1 + len(shown) // _MAX_POINTS]
        curves = []
        for name, symbols in self._numeric_columns(events.schema, bound).items():
            numbers = events[name].take(pa.array(shown)).cast(pa.float64())
            values = pc.if_else(pc.is_finite(numbers), numbers, None).to_pylist()
            lines = self._thresholds(name, bound)
            curves.append(Curve(name, tuple(time[shown].tolist()), tuple(values), lines, symbols))
        return tuple(curves)

    def _numeric_columns(self, schema: pa.Schema, bound: BoundQuery) -> dict[str, tuple[str, ...]]:
        """Columns that conditions or RETURN read, those with thresholds first."""
        spelled = {field.name.lower(): field.name for field in schema if _is_numeric(field.type)}
        compared: set[str] = set()
        read: dict[str, list[str]] = {}
        for symbol in bound.query.symbols:
            if symbol.condition is None:
                continue
            for name in symbol.condition.columns:
                read.setdefault(name.lower(), []).append(symbol.name)
            for one in comparisons(symbol.condition):
                compared.add(one.column.lower())
        for item in bound.query.items:
            if item.attribute is not None:
                read.setdefault(item.attribute.lower(), [])
        order = sorted(read, key=lambda name: name not in compared)
        hidden = {bound.time.name.lower(), *(column.name.lower() for column in bound.partition)}
        return {
            spelled[name]: tuple(dict.fromkeys(read[name]))
            for name in order
            if name in spelled and name not in hidden
        }

    def _thresholds(self, column: str, bound: BoundQuery) -> tuple[Threshold, ...]:
        lines = []
        for symbol in bound.query.symbols:
            i = self.query.symbol_names.index(symbol.name)
            for one in comparisons(symbol.condition) if symbol.condition is not None else ():
                if one.column.lower() == column.lower() and math.isfinite(one.value):
                    lines.append(
                        Threshold(one.value, f"{symbol.name}: {one.sign} {one.value:g}", colour_of(i))
                    )
        return tuple(dict.fromkeys(lines))

    def overview(self, found: Found, shown: Sequence[dict[str, Any]], n_matches: int) -> Overview | None:
        """All matches over time; None if there is none. Each match of `shown` has a mark, whatever it is."""
        rows = found.table.to_pylist()
        n_found = len(rows)
        pictured = {_identity(row): i for i, row in enumerate(shown)}
        among = {_identity(row) for row in rows}
        rows += [row for row in shown if _identity(row) not in among]
        seen = [
            Seen(
                self._title(row),
                min(self.teller.ticks(ts) for ts in found.starts(row)),
                self.teller.ticks(row["match_time"]),
                pictured.get(_identity(row)),
            )
            for row in rows
        ]
        return overview_of(seen, n_found, n_matches, self.teller.clock)


def partition_events(events: Any, bound: BoundQuery) -> Callable[[dict[str, Any], int, int], Any]:
    """How to fetch the events of a match's partition in a stretch of time from a table in memory.

    With as many instants before it as conditions look back at; `events` are then those that WHERE leaves. Of
    several sources they are fetched from a dict of tables into one.
    """
    names = [column.name for column in bound.partition]
    if not bound.sources:
        return _events_of(events, bound, names)
    fetches = {one.name: _events_of(events[one.name], one.bound, names) for one in bound.sources}
    return lambda row, begin, end: {name: fetch(row, begin, end) for name, fetch in fetches.items()}


def _events_of(
    events: pa.Table, bound: BoundQuery, keys: Sequence[str]
) -> Callable[[dict[str, Any], int, int], pa.Table]:
    """The same of one table; `keys` are what a match calls its partition columns."""
    look_back = look_back_of(bound)
    ending = (bound.time.name, *bound.query.times)[-1]
    until = to_ticks_or_open(_column(events, ending), ending)
    since = to_ticks_or_open(events[bound.time.name], bound.time.name)

    def fetch(row: dict[str, Any], begin: int, end: int) -> pa.Table:
        own = np.ones(len(since), bool)
        for column, key in zip(bound.partition, keys, strict=True):
            values, wanted = events[column.name], row[key]
            same = pc.is_null(values) if wanted is None else pc.equal(values, pa.scalar(wanted, values.type))
            own &= same.fill_null(False).combine_chunks().to_numpy(zero_copy_only=False)
        if look_back is not None:
            before = np.unique(since[own & (since < begin)])[-look_back.most :]
            begin = int(before[0]) if len(before) else begin
        return events.filter(pa.array(own & (until >= begin) & (since <= end)))

    return fetch


def to_ticks_or_open(column: pa.ChunkedArray, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Ticks; a null is later than everything."""
    is_null = column.is_null().combine_chunks().to_numpy(zero_copy_only=False)
    ticks = np.full(len(column), np.iinfo(np.int64).max)
    ticks[~is_null] = to_ticks(column.drop_null(), name)
    return ticks


def _column(events: pa.Table, name: str) -> pa.ChunkedArray:
    return events[next(field.name for field in events.schema if field.name.lower() == name.lower())]


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(str(value) for value in row.values())


def _lane_label(query: Query, symbol: Symbol) -> str:
    text = ("NO: " if symbol.name in query.absent_names else "") + condition_text(query, symbol)
    if symbol.at_least is not None and symbol.at_most is not None:
        return f"{text}, {describe_duration(symbol.at_least)} to {describe_duration(symbol.at_most)}"
    if symbol.at_least is not None:
        return f"{text}, at least {describe_duration(symbol.at_least)}"
    return f"{text}, at most {describe_duration(symbol.at_most)}" if symbol.at_most is not None else text


def _stacked(bars: Iterable[Bar]) -> tuple[Bar, ...]:
    """Bars on the lowest level where they overlap no other."""
    free: list[float] = []
    placed = []
    for bar in sorted(bars, key=lambda bar: bar.ts):
        level = next((i for i, until in enumerate(free) if until <= bar.ts), len(free))
        free[level : level + 1] = [float("inf") if bar.te is None else bar.te]
        placed.append(replace(bar, level=level))
    return tuple(placed)


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
