"""Arrow table and query text to what the oracles take, and their answer back to a result's values.

SQL inside a query (conditions, WHERE, RETURN expressions) is DuckDB's to evaluate: the oracles see booleans.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from conformance.looking import LookBack, is_prev, looked_back
from conformance.patterns import conjuncts
from conformance.reading import Asked, read
from conformance.sql import evaluate
from conformance.tables import Tables, reads, source_of
from oracles.question import SOURCE, BadInput, Having, Item, Question, Row
from oracles.row_items import RowQuestion

DAY = 86400 * 10**6
UNITS = {"days": DAY, "hours": 3600 * 10**6, "minutes": 60 * 10**6, "seconds": 10**6}
TICKS, END_TICKS = "__time", "__end"  # beside the columns themselves, which aggregates may ask for
KEY, TIE = "__key_{}", "__tie_{}"


def question_of(asked: Asked, tables: Tables, options: dict[str, Any]) -> Question:
    """The neutral question, over rows as `rows_of` makes them."""
    symbols = (*asked.symbols, *dict.fromkeys(group.symbol for group in asked.absences))
    looking = {s: LookBack(asked, s, tables) for s, text in asked.conditions.items() if is_prev(text)}
    if asked.symbol_by:
        holds = {s: (lambda row, s=s: row[asked.symbol_by] == s) for s in symbols}
    else:
        holds = {s: (lambda row, s=s: row[f"__{s}"]) for s in asked.conditions}
    return Question(
        symbols=asked.symbols,
        holds=holds | looking,
        constraints=asked.constraints,
        at_least=asked.at_least,
        at_most=asked.at_most,
        within=asked.within,
        emit=asked.emit,
        items=asked.items,
        where=(lambda row: row["__where"]) if asked.where else None,
        partition=tuple(KEY.format(i) for i in range(len(asked.partition_by))),
        time=TICKS,
        ties=tuple(TIE.format(i) for i in range(1, len(asked.order_by))),
        ties_are_errors=options.get("ties") == "error",
        forget_after=options.get("forget_after"),
        ending=END_TICKS if asked.ending else None,
        id_by=asked.id_by,
        widen_points=options.get("points") == "widen",
        differences=asked.differences,
        absences=asked.absences,
        silences=asked.silences,
        gaps=asked.gaps,
        having=having_of(asked, tables, options),
        sources={symbol: source_of(symbol, asked, tables) for symbol in symbols} if asked.tables else {},
        looks_back=frozenset(looking),
        until=until_of(asked, tables, options),
        patterns=patterns_of(asked, tables),
    )


def patterns_of(asked: Asked, tables: Tables) -> dict[str, RowQuestion]:
    """SEM 17: over the rows of one partition as `rows_of` makes them."""
    if not asked.patterns:
        return {}
    from conformance.row_asking import question_of as row_question  # which is made of what is here
    from conformance.row_reading import read_rows

    assert isinstance(tables, pa.Table)
    timed = tables.append_column(TICKS, pa.nulls(tables.num_rows, pa.int64()))
    return {
        symbol: row_question(read_rows(f"FROM t MATCH_RECOGNIZE ( ORDER BY {TICKS} {inside} )"), timed, {})
        for symbol, inside in asked.patterns.items()
    }


def until_of(asked: Asked, tables: Tables, options: dict[str, Any]) -> int | None:
    """SEM 11.9: the option is a value of the time column's type."""
    if options.get("until") is None:
        return None
    given = pa.chunked_array([pa.array([options["until"]], time_type(asked, tables, options))])
    return ticks(given, options.get("time_unit"))[0]


def having_of(asked: Asked, tables: Tables, options: dict[str, Any]) -> Having | None:
    """SEM 13.1: DuckDB evaluates it, of one match at a time."""
    if asked.having is None:
        return None
    like, unit = time_type(asked, tables, options), options.get("time_unit")

    def holds(*values: Any) -> bool | None:
        items = in_time_types([[value] for value in values], asked.having_items, like, unit)
        named = pa.table({f"_item_{i}": column for i, column in enumerate(items)})
        return evaluate(named, {"kept": asked.having})["kept"][0]

    return Having(asked.having_items, holds)


def time_column(asked: Asked, schema: pa.Schema, options: dict[str, Any]) -> str:
    """SEM 1.1: ORDER BY, else the option, else the only timestamp column."""
    chosen = asked.starting or (asked.order_by[0] if asked.order_by else options.get("time"))
    if chosen is None:
        (chosen,) = [field.name for field in schema if pa.types.is_temporal(field.type)]
    return chosen


def time_type(asked: Asked, tables: Tables, options: dict[str, Any]) -> pa.DataType:
    """Of the first source, where there are several (SEM 13.4)."""
    table = tables[asked.tables[0].name] if isinstance(tables, dict) else tables
    return table.schema.field(time_column(asked, table.schema, options)).type


def rows_of(tables: Tables, asked: Asked, options: dict[str, Any]) -> list[Row]:
    """The rows as dicts: their columns, their ticks, and what each condition says of them."""
    if not isinstance(tables, dict):
        return rows_of_table(tables, asked, asked.source, asked.conditions, asked.where, options)
    rows = []
    parts = conjuncts(asked.where or "")
    for table in asked.tables:
        here = tables[table.name]
        conditions = {
            symbol: text
            for symbol, text in asked.conditions.items()
            if source_of(symbol, asked, tables) == table.alias
        }
        where = " AND ".join(part for part in parts if reads(part, asked, tables) == table.alias)
        columns = replace(asked, order_by=table.order_by, partition_by=table.partition_by)
        made = rows_of_table(here, columns, table.alias, conditions, where or "true", options)
        rows += [row | {SOURCE: table.alias, "__where": row["__where"]} for row in made]
    return rows


def rows_of_table(
    table: pa.Table,
    asked: Asked,
    name: str,
    conditions: dict[str, str],
    where: str | None,
    options: dict[str, Any],
) -> list[Row]:
    """Those of one table, with its own columns for time, partition and ties."""
    unit = options.get("time_unit")
    computed = {TICKS: ticks(table[time_column(asked, table.schema, options)], unit)}
    if asked.ending:
        computed[END_TICKS] = ticks(table[asked.ending], unit)
    for i, column in enumerate(asked.partition_by):
        computed[KEY.format(i)] = table[column].to_pylist()
    for i, column in enumerate(asked.order_by[1:], start=1):
        n_rows = table.num_rows  # SEM 13.4: it breaks ties only where there is such a column
        computed[TIE.format(i)] = (
            table[column].to_pylist() if column in table.column_names else [None] * n_rows
        )
    sql = {f"__{symbol}": text for symbol, text in conditions.items() if not is_prev(text)}
    if where:
        sql["__where"] = where
    computed |= evaluate(table, sql, name)
    for symbol, text in conditions.items():
        computed |= evaluate(table, dict(looked_back(symbol, text)[1]), name)
    rows = table.to_pylist()
    joined = [row | {name: values[i] for name, values in computed.items()} for i, row in enumerate(rows)]
    if options.get("on_bad_rows") == "drop":
        joined = [row for row in joined if row[TICKS] is not None]
    return joined


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
    keys, match_time = columns[:n_keys], columns[-1]
    items = in_time_types(columns[n_keys:-1], asked.items, like, unit)
    named = {f"_item_{i}": values for i, values in enumerate(items)}
    sql = {name: text for text, name in asked.returns if text not in named}
    computed = evaluate(pa.table(named), sql) if sql else {}
    returned = [named[text] if text in named else computed[name] for text, name in asked.returns]
    return list(zip(*keys, *returned, from_ticks(match_time, like, unit), strict=True))


def in_time_types(
    columns: Sequence[list[Any]], items: Sequence[Item], like: pa.DataType, unit: str | None
) -> list[list[Any]]:
    """The columns of items, ticks given back as times and lengths."""
    convert = {"ts": from_ticks, "te": from_ticks, "duration": durations}
    return [
        convert[function](column, like, unit) if function in convert else column
        for column, (function, _, _) in zip(columns, items, strict=True)
    ]


def read_question(tables: Tables, text: str, options: dict[str, Any]) -> tuple[Asked, Question, list[Row]]:
    asked = read(text)
    return asked, question_of(asked, tables, options), rows_of(tables, asked, options)
