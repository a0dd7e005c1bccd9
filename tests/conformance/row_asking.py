"""Table and text of a row pattern query to the oracle's question, and its answer back to result rows.

SQL between navigations and aggregates is DuckDB's to evaluate, a value at a time.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from conformance.asking import from_ticks, ticks
from conformance.reading import split
from conformance.row_reading import RowAsked, read_rows, variable
from oracles.question import BadInput
from oracles.row_answer import answer
from oracles.row_items import NUMBER, Aggregate, Expression, Item, Navigation, OfRow, Row, RowQuestion

TIME = "__time"
CLASSIFIER = "_classifier"
AGGREGATES = ("count", "sum", "avg", "min", "max", "stddev", "variance", "array_agg")
CALLS = "|".join(("FIRST", "LAST", "PREV", "NEXT", "CLASSIFIER", "MATCH_NUMBER", *AGGREGATES))
TOKEN = re.compile(
    rf"(?P<text>'[^']*')|(?P<mode>(?:RUNNING|FINAL)\s+)?\b(?P<call>{CALLS})\s*(?=\()"
    r"|(?P<of>\w+|`[^`]+`)\s*\.\s*(?P<column>\w+|`[^`]+`)|(?P<name>[A-Za-z_]\w*|`[^`]+`)(?!\s*\()|(?P<other>.)",
    re.I | re.S,
)


@cache
def connection() -> duckdb.DuckDBPyConnection:
    """One for all values: opening one takes longer than asking it."""
    made = duckdb.connect()
    atexit.register(made.close)
    atexit.register(connection.cache_clear)
    return made


@cache
def scalar(sql: str, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    given = ", ".join(f'? AS "{name}"' for name in names)
    text = f"SELECT ({sql}) FROM (SELECT {given})" if names else f"SELECT ({sql})"
    return connection().execute(text.replace("`", '"'), list(values)).fetchone()[0]


class Reader:
    """Expressions of one query over the columns of its table."""

    def __init__(self, asked: RowAsked, columns: Sequence[str]) -> None:
        self.columns = {name.lower(): name for name in columns}
        self.names = {*asked.variables, *asked.unions}
        self.unions = asked.unions

    def members(self, name: str | None) -> frozenset[str] | None:
        return None if name is None else frozenset(self.unions.get(name, (name,)))

    def expression(self, text: str) -> Expression:
        items: list[Item] = []

        def put(item: Item) -> str:
            items.append(item)
            return f"_item_{len(items) - 1}"

        sql, at = "", 0
        while found := TOKEN.match(text, at):
            at = found.end()
            if found["call"]:
                inside = in_brackets(text, at)
                at += len(inside) + 2
                where = re.match(r"\s*FILTER\s*(?=\()", text[at:], re.I)
                kept = None
                if where:
                    kept = in_brackets(text, at + where.end())
                    at += where.end() + len(kept) + 2
                mode = (found["mode"] or "").strip().upper()
                sql += put(self.called(found["call"].upper(), inside, kept, mode == "FINAL"))
            elif self.is_column(found):
                sql += put(self.navigation(found[0]))
            else:
                sql += found[0]
        names = tuple(f"_item_{i}" for i in range(len(items)))
        if sql == "_item_0":
            return Expression(lambda value: value, tuple(items))
        return Expression(lambda *values: scalar(sql, names, values), tuple(items))

    def is_column(self, found: re.Match[str]) -> bool:
        if found["of"]:
            return variable(found["of"]) in self.names
        return bool(found["name"]) and found["name"].strip("`").lower() in self.columns

    def called(self, function: str, inside: str, where: str | None, is_final: bool) -> Item:
        if function == "MATCH_NUMBER":
            return NUMBER
        if function == "CLASSIFIER":
            return Navigation(
                classifier, self.members(variable(inside) if inside.strip() else None), is_final=is_final
            )
        if function.lower() in AGGREGATES:
            bare = re.sub(r"^\s*DISTINCT\s", "", inside, flags=re.I)
            is_distinct = bare != inside
            if bare.strip().endswith("*"):
                name = bare.strip()[:-1].rstrip(". ")
                of, read = self.members(variable(name) if name else None), None
            else:
                read, of = self.of_row(bare)
            kept = where and self.of_row(re.sub(r"^\s*WHERE\s", "", where, flags=re.I))[0]
            return Aggregate(function.lower(), read, of, is_distinct, kept, is_final)
        inner, *more = split(inside)
        n = int(more[0]) if more else int(function in ("PREV", "NEXT"))
        if function in ("FIRST", "LAST"):
            return self.navigation(inner)._replace(is_first=function == "FIRST", offset=n, is_final=is_final)
        logical = re.match(r"\s*(?:(?:RUNNING|FINAL)\s+)?(FIRST|LAST)\s*(?=\()", inner, re.I)
        if logical:
            item = self.called(logical[1].upper(), in_brackets(inner, logical.end()), None, is_final)
        else:
            item = self.navigation(inner)
        return item._replace(shift=-n if function == "PREV" else n, is_final=is_final)

    def navigation(self, inner: str) -> Navigation:
        read, of = self.of_row(inner)
        return Navigation(read, of)

    def of_row(self, text: str) -> tuple[OfRow, frozenset[str] | None]:
        """What an expression over one row is, and of which variable its columns are."""
        of: set[str] = set()
        used: dict[str, None] = {}
        sql, at = "", 0
        while found := TOKEN.match(text, at):
            at = found.end()
            if found["call"]:
                inside = in_brackets(text, at)
                at += len(inside) + 2
                of |= {variable(inside)} if inside.strip() else set()
                sql += CLASSIFIER
                continue
            name = found["name"]
            if found["of"] and variable(found["of"]) in self.names:
                of.add(variable(found["of"]))
                name = found["column"]
            known = name and self.columns.get(name.strip("`").lower())
            if known:
                used[known] = None
                sql += f'"{known}"'
            else:
                sql += found[0]
        (one,) = of or {None}
        names = (*used, CLASSIFIER)

        def read(row: Row, label: str | None) -> Any:
            return scalar(sql, names, (*(row[name] for name in used), label))

        plain = re.fullmatch(r'\s*"([^"]*)"\s*', sql)
        if plain:
            return (lambda row, _: row[plain[1]]), self.members(one)
        return read, self.members(one)


def classifier(_: Row, label: str | None) -> str | None:
    return label


def in_brackets(text: str, at: int) -> str:
    """What stands between the bracket at or behind this place and the one that closes it."""
    begin = text.index("(", at) + 1
    depth, end = 1, begin
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[begin : end - 1]


def question_of(asked: RowAsked, table: pa.Table, options: dict[str, Any]) -> RowQuestion:
    reader = Reader(asked, table.column_names)
    to, *of = asked.skip
    where: Callable[[Row], bool | None] | None = None
    if asked.where:
        of_row = reader.of_row(asked.where)[0]
        where = lambda row: of_row(row, None)  # noqa: E731
    return RowQuestion(
        pattern=asked.pattern,
        conditions={name: reader.expression(text) for name, text in asked.conditions.items()},
        variables=asked.variables,
        measures=tuple(reader.expression(text) for text, _ in asked.measures),
        partition=asked.partition_by,
        order=asked.order_by,
        time=TIME if has_time(asked, table) else None,
        where=where,
        rows=asked.rows,
        empty=asked.empty,
        skip=(to, reader.members(of[0])) if of else (to,),
        strategy=asked.strategy,
        mode=asked.mode,
        within=asked.within,
        forget_after=options.get("forget_after"),
    )


def has_time(asked: RowAsked, table: pa.Table) -> bool:
    """ROW 1.5."""
    name, descending, _ = asked.order_by[0]
    kind = table.schema.field(name).type
    return not descending and (pa.types.is_integer(kind) or pa.types.is_temporal(kind))


def rows_of(table: pa.Table, asked: RowAsked) -> list[Row]:
    rows = table.to_pylist()
    if not has_time(asked, table):
        return rows
    times = ticks(table[asked.order_by[0][0]])
    if None in times:
        raise BadInput("null time")
    return [row | {TIME: time} for row, time in zip(rows, times, strict=True)]


def has_ties(table: pa.Table, asked: RowAsked) -> bool:
    """ROW 1.4."""
    names = (*asked.partition_by, *(name for name, _, _ in asked.order_by))
    places = [tuple(row[name] for name in names) for row in table.to_pylist()]
    return len(set(places)) < len(places)


def answered(table: pa.Table, text: str, options: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What the oracle says; times have the type of the time column."""
    asked = read_rows(text)
    if options.get("ties") == "error" and has_ties(table, asked):
        raise BadInput("ties")
    wanted = [name for name in ("match_span", "match_time") if options.get(name)]
    found = answer(
        rows_of(table, asked), question_of(asked, table, options), table.column_names, options=wanted
    )
    n_added = 2 * ("match_span" in wanted) + ("match_time" in wanted)
    if not n_added:
        return found
    like = table.schema.field(asked.order_by[0][0]).type
    return [(*row[:-n_added], *from_ticks(row[-n_added:], like)) for row in found]
