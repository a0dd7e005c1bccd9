"""Timelines of matches: PNG and SVG by matplotlib, interactive HTML by a small script of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc

from situ.carry import in_process
from situ.errors import OptionError
from situ.language.rows.ast import RowQuery
from situ.language.situations.ast import Query
from situ.operators.situations.question import Matching
from situ.plotting.gather import Gatherer, best, partition_events
from situ.plotting.matches import Found, return_column, with_endpoints
from situ.plotting.pictures import Picture, Pictures
from situ.plotting.rows import RowGatherer, measure_named
from situ.rows.tables import to_arrow

__all__ = ["Picture", "Pictures", "draw_sample", "plot", "plot_on_spark"]

_MOST_IN_OVERVIEW = 10_000


def plot(
    events: Any, query: Query | RowQuery, *, top: int = 3, by: str | None = None, **options: Any
) -> Pictures:
    """Pictures of a table's matches: the first `top`, or those with the largest RETURN column `by`."""
    _check_top(top)
    if isinstance(query, RowQuery):
        return _plot_rows(events, query, top, by, options)
    table, schema = _arrow(events)
    gatherer = Gatherer(query, schema, options, zone=options.get("time_zone"))
    found = Found(in_process.run(table, Matching(with_endpoints(query)), options), query)
    chosen = best(found, top, by).table.to_pylist()
    fetch = partition_events(gatherer.events(table), gatherer.bound)
    scenes = tuple(gatherer.scene(found, row, fetch(row, *gatherer.stretch(found, row))) for row in chosen)
    several = Found(found.table.sort_by("match_time").slice(0, _MOST_IN_OVERVIEW), query)
    n_matches = found.table.num_rows
    overview = gatherer.overview(several, chosen, n_matches)
    return Pictures(query.source, scenes, overview, n_matches, str(query))


def _plot_rows(events: Any, query: RowQuery, top: int, by: str | None, options: dict[str, Any]) -> Pictures:
    """The same of a row pattern, `by` a measure."""
    if isinstance(events, Mapping):
        raise OptionError("MATCH_RECOGNIZE reads one table, and several were given", hint="give the table")
    gatherer = RowGatherer(query, to_arrow(events), options)
    found = gatherer.found()
    key = ("match_time", "ascending") if by is None else (measure_named(gatherer.query, by), "descending")
    chosen = found.take(pc.sort_indices(found, sort_keys=[key])[:top]).to_pylist()
    several = found.sort_by("match_time").slice(0, _MOST_IN_OVERVIEW)
    n_matches = found.num_rows
    overview = gatherer.overview(several, chosen, n_matches)
    return Pictures(query.source, gatherer.scenes(chosen), overview, n_matches, str(query))


def plot_on_spark(df: Any, query: Query, *, top: int = 3, by: str | None = None, **options: Any) -> Pictures:
    """The same of a batch DataFrame: the matches and the events around them come to the driver, no more."""
    from situ.spark.batch import sample
    from situ.spark.select.united import frames_of

    _check_top(top)
    if any(one.isStreaming for one in frames_of(df)):
        raise OptionError(
            "situ.plot does not take a streaming DataFrame", hint="plot what the stream has written"
        )
    by = None if by is None else return_column(query, by)
    found = sample.found_in(df, with_endpoints(query), options)
    matches = sample.sample_matches(found, most=_MOST_IN_OVERVIEW, top=top, by=by)
    return draw_sample(df, query, matches, **options)


def _arrow(events: Any) -> tuple[Any, Any]:
    """A table in Arrow and its schema, or tables by name and theirs."""
    if not isinstance(events, Mapping):
        table = to_arrow(events)
        return table, table.schema
    tables = {name: to_arrow(one) for name, one in events.items()}
    return tables, {name: table.schema for name, table in tables.items()}


def draw_sample(df: Any, query: Query, matches: Any, **options: Any) -> Pictures:
    """Pictures of matches that were sampled (`situ.spark.batch.sample`) with their endpoints."""
    from situ.spark.batch import sample

    time = options.get("time")
    kept = {name: value for name, value in options.items() if name in ("time", "ties", "points")}
    found, chosen = Found(matches.first, query), matches.best.to_pylist()
    _, schema = _arrow(sample.sample_events(df, query, [], time))
    gatherer = Gatherer(query, schema, kept, sample.ready, zone=sample.zone_of_session(df))
    stretches = [(row, *gatherer.stretch(found, row)) for row in chosen]
    fetch = partition_events(sample.sample_events(df, query, stretches, time), gatherer.bound)
    scenes = tuple(gatherer.scene(found, row, fetch(row, begin, end)) for row, begin, end in stretches)
    overview = gatherer.overview(found, chosen, matches.n_matches)
    return Pictures(query.source, scenes, overview, matches.n_matches, str(query))


def _check_top(top: int) -> None:
    if not isinstance(top, int) or top < 0:
        raise OptionError(f"top={top!r} must be a whole number from 0 on")
