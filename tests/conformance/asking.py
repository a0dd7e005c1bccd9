"""Arrow table and query text to what the oracles take, and their answer back to a result's values.

SQL inside a query (conditions, WHERE, RETURN expressions) is DuckDB's to evaluate: the oracles see booleans.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa

from conformance.reading import Asked, read
from oracles.question import BadInput, Question, Row

DAY = 86400 * 10**6
UNITS = {"days": DAY, "hours": 3600 * 10**6, "minutes": 60 * 10**6, "seconds": 10**6}
TICKS, END_TICKS = "__time", "__end"  # beside the columns themselves, which aggregates may ask for


def question_of(asked: Asked, schema: pa.Schema, options: dict[str, Any]) -> Question:
    """The neutral question, over rows as `rows_of` makes them."""
    if asked.symbol_by:
        holds = {s: (lambda row, s=s: row[asked.symbol_by] == s) for s in asked.symbols}
    else:
        holds = {s: (lambda row, s=s: row[f"__{s}"]) for s in asked.symbols}
    return Question(
        symbols=asked.symbols,
        holds=holds,
        constraints=asked.constraints,
        at_least=asked.at_least,
        at_most=asked.at_most,
        within=asked.within,
        emit=asked.emit,
        items=asked.items,
        where=(lambda row: row["__where"]) if asked.where else None,
        partition=asked.partition_by,
        time=TICKS,
        ties=asked.order_by[1:],
        ties_are_errors=options.get("ties") == "error",
        forget_after=options.get("forget_after"),
        ending=END_TICKS if asked.ending else None,
        id_by=asked.id_by,
        widen_points=options.get("points") == "widen",
    )


def time_column(asked: Asked, schema: pa.Schema, options: dict[str, Any]) -> str:
    """SEM 1.1: ORDER BY, else the option, else the only timestamp column."""
    chosen = asked.starting or (asked.order_by[0] if asked.order_by else options.get("time"))
    if chosen is None:
        (chosen,) = [field.name for field in schema if pa.types.is_temporal(field.type)]
    return chosen


def rows_of(table: pa.Table, asked: Asked, options: dict[str, Any]) -> list[Row]:
    """The rows as dicts: their columns, their ticks, and what each condition says of them."""
    unit = options.get("time_unit")
    computed = {TICKS: ticks(table[time_column(asked, table.schema, options)], unit)}
    if asked.ending:
        computed[END_TICKS] = ticks(table[asked.ending], unit)
    sql = {f"__{symbol}": text for symbol, text in asked.conditions.items()}
    if asked.where:
        sql["__where"] = asked.where
    computed |= evaluate(table, sql, asked.source)
    rows = table.to_pylist()
    if options.get("on_bad_rows") == "drop":
        computed = {name: list(values) for name, values in computed.items()}
    joined = [row | {name: values[i] for name, values in computed.items()} for i, row in enumerate(rows)]
    if options.get("on_bad_rows") == "drop":
        joined = [row for row in joined if row[TICKS] is not None]
    return joined


def evaluate(table: pa.Table, sql: dict[str, str], name: str = "rows") -> dict[str, list[Any]]:
    """Each expression over the rows of a table, in row order."""
    if not sql:
        return {}
    numbered = table.append_column("__row", pa.array(range(table.num_rows), pa.int64()))
    with duckdb.connect() as connection:
        connection.register("__table", numbered)
        wanted = ", ".join(f'({text}) AS "{alias}"' for alias, text in sql.items())
        text = f'SELECT {wanted} FROM __table AS "{name}" ORDER BY __row'.replace("`", '"')
        values = connection.execute(text).fetchall()
    return {alias: [row[i] for row in values] for i, alias in enumerate(sql)}


def ticks(column: pa.ChunkedArray, unit: str | None = None) -> list[int | None]:
    """SEM 1.1: integers as they are, everything else in microseconds."""
    if unit is not None:
        single = pa.types.is_float32(column.type)
        return [None if v is None else counted(v, UNITS[unit], single) for v in column.to_pylist()]
    if pa.types.is_integer(column.type):
        return column.to_pylist()
    if pa.types.is_date(column.type):
        return [None if day is None else day * DAY for day in column.cast(pa.int32()).to_pylist()]
    return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_pylist()


def counted(value: float, unit: int, single: bool) -> int:
    """The microsecond nearest to so many units, if it reads back as the value."""
    if not math.isfinite(value):
        raise BadInput("no time")
    nearest = round(Fraction(value) * unit)
    if abs(nearest) >= 2**63 or given_back(nearest, unit, single) != value:
        raise BadInput("no whole number of microseconds")
    return nearest


def given_back(ticks: int, unit: int, single: bool) -> float:
    quotient = ticks / unit  # of integers: rounded once
    return struct.unpack("f", struct.pack("f", quotient))[0] if single else quotient


def from_ticks(values: Sequence[int | None], like: pa.DataType, unit: str | None = None) -> list[Any]:
    """SEM 5.4: ts, te and match_time have the time column's type."""
    if unit is not None:
        single, is_whole = pa.types.is_float32(like), pa.types.is_integer(like)
        numbers = [None if v is None else given_back(v, UNITS[unit], single) for v in values]
        return [v if v is None or not is_whole else int(v) for v in numbers]
    if pa.types.is_integer(like):
        return list(values)
    if pa.types.is_date(like):
        return pa.array([None if v is None else v // DAY for v in values], pa.int32()).cast(like).to_pylist()
    return pa.array(values, pa.int64()).cast(pa.timestamp("us", like.tz)).to_pylist()


def durations(values: Sequence[int | None], like: pa.DataType, unit: str | None = None) -> list[Any]:
    """SEM 5.4: bigint for integers, else an interval."""
    if pa.types.is_integer(like) and unit is None:
        return list(values)
    return pa.array(values, pa.duration("us")).to_pylist()


def results(
    found: Sequence[tuple[Any, ...]], asked: Asked, like: pa.DataType, unit: str | None = None
) -> list[tuple[Any, ...]]:
    """The oracles' tuples as result rows (SEM 5.1): time types given back, RETURN expressions computed."""
    if not found:
        return []
    columns = [list(column) for column in zip(*found, strict=True)]
    n_keys = len(asked.partition_by)
    keys, items, match_time = columns[:n_keys], columns[n_keys:-1], columns[-1]
    for i, (function, _, _) in enumerate(asked.items):
        if function in ("ts", "te"):
            items[i] = from_ticks(items[i], like, unit)
        elif function == "duration":
            items[i] = durations(items[i], like, unit)
    named = {f"_item_{i}": values for i, values in enumerate(items)}
    sql = {name: text for text, name in asked.returns if text not in named}
    computed = evaluate(pa.table(named), sql) if sql else {}
    returned = [named[text] if text in named else computed[name] for text, name in asked.returns]
    return list(zip(*keys, *returned, from_ticks(match_time, like, unit), strict=True))


def read_question(table: pa.Table, text: str, options: dict[str, Any]) -> tuple[Asked, Question, list[Row]]:
    asked = read(text)
    return asked, question_of(asked, table.schema, options), rows_of(table, asked, options)
