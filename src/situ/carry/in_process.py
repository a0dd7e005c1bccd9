"""`situ.match` and `situ.situations` in process, on Arrow, pandas and Polars tables."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from situ.errors import QueryError
from situ.language.situations.ast import Query
from situ.operators.situations.engine import Engine, Found, Input, SymbolValues
from situ.operators.situations.interval_engine import (
    IntervalEngine,
    IntervalPreparer,
    IntervalStep,
    interval_rows,
)
from situ.operators.situations.intervals import nothing_kept
from situ.operators.situations.known import Positions
from situ.operators.situations.result import Results
from situ.options import Options, check_applicable, check_forget_after, read_options
from situ.rows import prepare
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.prepare import Preparer
from situ.rows.tables import bind_table, from_arrow, to_arrow
from situ.rows.tied import Tied, Ties, ties_in_table

OPTIONS = frozenset(
    {
        "time",
        "ties",
        "on_bad_rows",
        "join",
        "threads",
        "forget_after",
        "match_id",
        "ansi",
        "time_zone",
        "points",
    }
)
_ELSEWHERE = "watermark, late_rows and max_ahead are for streams: see q.operator() and streaming DataFrames"


class _Batch:
    """One whole table under one query."""

    def __init__(self, events: Any, query: Query, given: dict[str, Any], *, with_count: bool = False) -> None:
        table = to_arrow(events)
        self.options: Options = read_options(given, OPTIONS, "a table in process", _ELSEWHERE)
        check_applicable(given, query)
        self.bound = bind_table(query, events, table, self.options.time)
        engine, preparer = (
            (Engine, Preparer) if query.intervals is None else (IntervalEngine, IntervalPreparer)
        )
        self.engine = engine(
            self.bound,
            ansi=self.options.ansi,
            forget_after=check_forget_after(self.options.forget_after, self.bound),
            join=self.options.join,
            threads=self.options.threads,
            with_count=with_count,
        )
        self.results = Results(self.bound, table.schema, self.engine, self.options)
        self._preparer = preparer(self.bound, table.schema, self.engine, self.options)
        self._table = table
        self.prepared = self._preparer(table)

    def found(self) -> Found:
        """The matches."""
        engine, n_slots = self.engine, self.prepared.n_slots
        if isinstance(engine, IntervalEngine):
            step = self._intervals(engine)
            matches = engine.match(step.runs, np.full(n_slots, LONG_AGO), self.prepared.n_rows)
            return engine.interval_values(step, matches)
        return engine.find(self._input, engine.nothing_known(n_slots))

    def situations(self, symbol: int) -> tuple[Positions, SymbolValues]:
        """The situations of a symbol: slots and values."""
        engine = self.engine
        if isinstance(engine, IntervalEngine):
            step = self._intervals(engine)
            slot, column = engine.existing(step.runs, symbol)
            return slot, engine.interval_situations(step, symbol, column)
        given = self._input
        known = engine.nothing_known(self.prepared.n_slots)
        runs, _ = engine.derive(given.rows, known)
        return engine.situations(given, runs, known, symbol)

    @cached_property
    def _input(self) -> Input:
        prepared, tied = self.prepared, Tied()
        given = prepare.to_input(self.engine, prepared, prepared.codes, prepared.n_slots, "last", tied)
        if tied.n_rows and self.options.ties == "error":
            raise self._ties(tied).refused()
        if tied.n_rows and self.options.ties == "warn":
            self._ties(tied).warn()
        return given

    def _ties(self, tied: Tied) -> Ties:
        events = self._preparer.events(self._table)
        return ties_in_table(self.bound, tied, events, self.prepared.time, self.prepared.codes)

    def _intervals(self, engine: IntervalEngine) -> IntervalStep:
        rows = interval_rows(self.prepared, self.prepared.codes)
        return engine.spread(nothing_kept(rows), rows, self.prepared.n_slots)

    def keys_at(self, slots: Positions) -> list[pa.Array]:
        """The partition values of these slots."""
        return [column.take(pa.array(slots)) for column in self.prepared.keys]


def match(events: Any, query: Query, **options: Any) -> Any:
    """Every match in a table, once, as a table of the same kind (SEM 5.1)."""
    check_matchable(query)
    batch = _Batch(events, query, options)
    found = batch.found()
    return from_arrow(batch.results.table(found, batch.keys_at(found.slot)), events)


def check_matchable(query: Query) -> None:
    """Several symbols without PATTERN have situations but no matches (SEM 7)."""
    if len(query.symbols) > 1 and not query.constraints:
        raise QueryError(
            "a query of several symbols needs a PATTERN to match", hint="or ask for situ.situations"
        )


def situations(events: Any, query: Query, **options: Any) -> Any:
    """The derived situations themselves, one row each (SEM 5.5)."""
    batch = _Batch(events, query, options, with_count=True)
    tables = []
    for symbol, name in enumerate(query.symbol_names):
        slot, values = batch.situations(symbol)
        tables.append(batch.results.situations(name, symbol, values, batch.keys_at(slot)))
    return from_arrow(pa.concat_tables(tables), events)
