"""Events drawn as timelines: one text per symbol, one character per event, `#` where its condition holds.

a  .###..#.
b  ..#####.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import situ
from situ.carry.contract import Setting
from situ.language.situations.binder import bind
from situ.operators.questions import matching
from situ.operators.situations.engine import Engine
from situ.operators.situations.events import EventMatches
from situ.operators.situations.kernels.layout import Entries, Rows, Runs, Slots
from situ.options import Options
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.schema import spark_schema

NAMES = "abcdefgh"
SCHEMA = pa.schema(
    [("k", pa.string()), ("t", pa.int64()), *((name, pa.bool_()) for name in NAMES), ("x", pa.float64())]
)


def engine_of(clauses: str, **options: Any) -> Engine:
    """An engine for `FROM events ORDER BY t <clauses>` over the columns of SCHEMA."""
    return Engine(bind(situ.query(f"FROM events ORDER BY t {clauses}"), spark_schema(SCHEMA)), **options)


def operator_of(clauses: str, **options: Any) -> EventMatches:
    """An operator for the same."""
    question = matching(situ.query(f"FROM events ORDER BY t {clauses}"))
    return question.bind(spark_schema(SCHEMA), Options(**options)).operator(SCHEMA, Setting())


def events(*lines: str, t: Sequence[int] | None = None, k: str | None = None) -> pa.Table:
    """A table of SCHEMA; a line is a column's name and its timeline. Times are 0, 1, 2, ... if not given."""
    drawn = dict(line.split() for line in lines)
    n = len(next(iter(drawn.values())))
    columns = {name: [mark == "#" for mark in drawn[name]] if name in drawn else [None] * n for name in NAMES}
    times = list(range(n)) if t is None else list(t)
    x = [float(i) for i in range(n)]
    return pa.table({"k": [k] * n, "t": times, **columns, "x": x}, schema=SCHEMA)


def rows_of(*slots: Sequence[str], t: Sequence[Sequence[int]] | None = None) -> Rows:
    """Rows as kernels take them; each slot is a sequence of timelines, one per symbol."""
    masks: list[int] = []
    times: list[int] = []
    offset = [0]
    for k, lines in enumerate(slots):
        for i, marks in enumerate(zip(*lines, strict=True)):
            masks.append(sum(1 << symbol for symbol, mark in enumerate(marks) if mark == "#"))
            times.append(i if t is None else t[k][i])
        offset.append(len(masks))
    return Rows(np.array(times, np.int64), np.array(masks, np.uint8), np.array(offset))


def no_entries(n_slots: int = 1, n_followed: int = 0) -> Entries:
    none = np.empty(0, np.int64)
    return Entries(
        none, none, none, none, np.empty((n_followed, 0), np.int64), np.zeros(n_slots + 1, np.int64)
    )


def new_slots(n_slots: int = 1, n_raw: int = 0) -> Slots:
    return Slots(
        np.full(n_slots, LONG_AGO),
        np.zeros(n_slots, np.uint64),
        np.full((n_raw, n_slots), LONG_AGO, np.int64),
    )


def kept(*entries: tuple[int, int, int, int], n_slots: int = 1) -> Entries:
    """Entries (symbol, ts, te, admissible) of one slot."""
    symbol, ts, te, admissible = (np.array(column, np.int64) for column in zip(*entries, strict=True))
    return Entries(symbol, ts, te, admissible, np.empty((0, len(ts)), np.int64), np.array([0, len(ts)]))


def spans(runs: Runs, symbol: int, slot: int = 0) -> list[tuple[int, int]]:
    """(ts, te) of a symbol's runs in a slot."""
    chosen = slice(int(runs.offset[symbol, slot]), int(runs.offset[symbol, slot + 1]))
    return list(zip(runs.ts[symbol, chosen].tolist(), runs.te[symbol, chosen].tolist(), strict=True))


def values_of(array: np.ndarray, runs: Runs, symbol: int, slot: int = 0) -> list[int]:
    """One array of the runs, cut to a symbol's runs in a slot."""
    return array[symbol, runs.offset[symbol, slot] : runs.offset[symbol, slot + 1]].tolist()


def records(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a result, sorted."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(rows, key=lambda row: tuple((value is not None, value) for value in row))
