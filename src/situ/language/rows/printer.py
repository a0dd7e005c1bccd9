"""A row pattern back to its canonical text, which parses to an equal query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from situ.language.rows.ast import (
    CLASSIFIER_COLUMN,
    Aggregate,
    Empty,
    Item,
    MatchNumber,
    Navigation,
    OrderColumn,
    RowQuery,
)
from situ.language.rows.names import variable_name, variable_text
from situ.language.rows.shapes import pattern_text
from situ.language.rows.together import implied_skip
from situ.language.text.dialect import parse
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Expression
from situ.language.text.render import render
from situ.language.text.sql import columns_of, lambda_names, paths
from situ.language.text.tokens import Kind, Token, tokenize
from situ.language.text.words import quote


def query_text(query: RowQuery) -> str:
    """The canonical text: one clause a line, in the order of ROW 1.1, without defaults."""
    source = _Source(query)
    lines = "".join(f"    {line}\n" for line in _clauses(query, source))
    alias = "" if query.alias is None else f" AS {quote(query.alias)}"
    return f"FROM {source.text} MATCH_RECOGNIZE (\n{lines}){alias}"


def inside_text(query: RowQuery, source: str) -> str:
    """What stands between the parentheses of a pattern that is a symbol of a query over `source` (SEM 17)."""
    lines = _matching(query, _Source(replace(query, source=source), alias=source))
    return "".join(f"    {line}\n" for line in lines)


def expression_text(query: RowQuery, of: Expression) -> str:
    """An expression of DEFINE or MEASURES as it is written in the text of the query."""
    return _Source(query).written(of)


def _clauses(query: RowQuery, source: _Source) -> Iterator[str]:
    if query.partition_by:
        yield f"PARTITION BY {', '.join(map(quote, query.partition_by))}"
    yield f"ORDER BY {', '.join(map(order_text, query.order_by))}"
    if query.measures:
        measures = (f"{source.written(one.expression)} AS {quote(one.name)}" for one in query.measures)
        yield "MEASURES " + ",\n             ".join(measures)
    if query.rows == "all":
        yield (
            "ALL ROWS PER MATCH"
            + {
                "show": "",
                "omit": " OMIT EMPTY MATCHES",
                "unmatched": " WITH UNMATCHED ROWS",
            }[query.empty]
        )
    yield from _matching(query, source)


def _matching(query: RowQuery, source: _Source) -> Iterator[str]:
    """The clauses that say which rows match."""
    if query.skip != implied_skip(query.strategy, query.mode):
        variable = "" if query.skip.variable is None else f" {variable_text(query.skip.variable)}"
        to = "" if query.skip.to == "past last row" else "TO "
        yield f"AFTER MATCH SKIP {to}{query.skip.to.upper()}{variable}"
    if query.strategy != "contiguous":
        yield f"STRATEGY SKIP TILL {query.strategy.upper()}"
    if query.mode is not None:
        yield f"{query.mode.upper()} MATCH"
    yield f"PATTERN ({pattern_text(query.pattern) if query.pattern != Empty() else ''})"
    if query.within is not None:
        yield f"WITHIN {duration_text(query.within)}"
    if query.subsets:
        unions = (
            f"{variable_text(one.name)} = ({', '.join(map(variable_text, one.members))})"
            for one in query.subsets
        )
        yield f"SUBSET {', '.join(unions)}"
    if query.definitions:
        entries = (
            f"{variable_text(one.variable)} AS {source.written(one.condition)}" for one in query.definitions
        )
        yield "DEFINE " + ",\n           ".join(entries)


def order_text(column: OrderColumn) -> str:
    """A column of ORDER BY."""
    nulls = ""
    if column.nulls_last != column.is_descending:
        nulls = " NULLS LAST" if column.nulls_last else " NULLS FIRST"
    return quote(column.name) + (" DESC" if column.is_descending else "") + nulls


def item_text(query: RowQuery, item: Item) -> str:
    """What an `_item_<i>` of this query stands for, as it would be written."""
    return _Source(query).item(item)


# -- expressions


class _Source:
    """FROM, and expressions in which columns are such as it lets them be read.

    A struct column may be called like the source or like a variable: `a.x` would be x of A. Then an alias of
    FROM says that it is a column; inside of another query, whose FROM is not ours to write, `alias` does.
    """

    def __init__(self, query: RowQuery, alias: str | None = None) -> None:
        self.query = query
        self._names = {*query.variables, *(subset.name for subset in query.subsets)}
        self._tables = {token.value.lower() for token in tokenize(query.source) if token.is_name}
        self._alias: str | None = None
        read = [item for item in query.items if isinstance(item, Navigation | Aggregate)]
        of_rows = [one for item in read for one in _expressions(item)]
        if query.where is not None:
            of_rows.append(query.where)
        if any(self._is_mistaken(parts) for one in of_rows for parts in _paths(one)):
            taken = {name.lower() for name in self._names} | self._tables
            taken |= {parts[0].value.lower() for one in of_rows for parts in _paths(one)}
            names = ("input", *(f"input{number}" for number in range(2, len(taken) + 3)))
            self._alias = alias or next(name for name in names if name not in taken)

    def _is_mistaken(self, parts: list[Token]) -> bool:
        """Whether the first part of a name with several would be taken for a variable or a table."""
        return len(parts) > 1 and (
            parts[0].value.lower() in self._tables or variable_name(_bare(parts[0])) in self._names
        )

    @property
    def text(self) -> str:
        name = self.query.source + ("" if self._alias is None else f" AS {self._alias}")
        if self.query.where is None:
            return name
        return f"(SELECT * FROM {name} WHERE {self._qualified(self.query.where, None)})"

    def written(self, of: Expression) -> str:
        """An expression of DEFINE or MEASURES with its items written out."""
        items = {f"_item_{number}": item for number, item in enumerate(self.query.items)}
        # A number is no part of any rendering rule, so each item passes through `render` in that disguise.
        return render(
            [
                token._replace(kind=Kind.NUMBER, value=self.item(items[token.value]))
                if token.value in items
                else token
                for token in tokenize(of.sql)[:-1]
            ]
        )

    def item(self, item: Item) -> str:
        """`LAST(A.price, 1)`, `count(B.*)`."""
        if isinstance(item, MatchNumber):
            return "MATCH_NUMBER()"
        return self._aggregate(item) if isinstance(item, Aggregate) else self._navigation(item)

    def _navigation(self, item: Navigation) -> str:
        of = self._qualified(item.expression, item.variable)
        final = "FINAL " if item.is_final else ""
        is_last = not item.is_first and item.offset == 0 and not item.is_final
        if not is_last or (item.shift == 0 and not _is_plain(item.expression)):
            offset = f", {item.offset}" if item.offset else ""
            of = f"{final}{'FIRST' if item.is_first else 'LAST'}({of}{offset})"
        if item.shift:
            number = "" if abs(item.shift) == 1 else f", {abs(item.shift)}"
            of = f"{'PREV' if item.shift < 0 else 'NEXT'}({of}{number})"
        return of

    def _aggregate(self, item: Aggregate) -> str:
        if item.argument is None:
            of = "*" if item.variable is None else f"{variable_text(item.variable)}.*"
        else:
            of = ", ".join(
                self._qualified(one, item.variable) for one in (item.argument, *more_expressions(item))
            )
        where = "" if item.where is None else f" FILTER (WHERE {self._qualified(item.where, item.variable)})"
        final, distinct = "FINAL " * item.is_final, "DISTINCT " * item.is_distinct
        function = "bool_or" if item.function == "any" else item.function  # `x = any(..)` is something else
        return f"{final}{function}({distinct}{of}){where}"

    def _qualified(self, of: Expression, variable: str | None) -> str:
        """An expression over a row, saying of every column whose it is."""
        tokens = tokenize(of.sql)[:-1]
        lambdas = lambda_names(tokens)
        written: list[Token] = []
        position = 0
        for first, last in paths(tokens):
            written.extend(tokens[position:first])
            position = first
            name = tokens[first].value
            if name == CLASSIFIER_COLUMN:
                called = "" if variable is None else variable_text(variable)
                written.append(Token(Kind.NUMBER, f"CLASSIFIER({called})", 0, 0))
                position = last + 1
                continue
            is_column = name in of.columns and not (last + 1 < len(tokens) and tokens[last + 1].is_sign("("))
            if not is_column or name.lower() in lambdas:
                continue
            if variable is not None:
                written += [Token(Kind.NUMBER, variable_text(variable), 0, 0), Token(Kind.SIGN, ".", 0, 0)]
            elif self._is_mistaken(list(tokens[first : last + 1 : 2])):
                assert self._alias is not None
                written += [Token(Kind.NUMBER, self._alias, 0, 0), Token(Kind.SIGN, ".", 0, 0)]
        written.extend(tokens[position:])
        return render(written)


def _bare(token: Token) -> Token:
    """The token as `render` would write it."""
    return token if quote(token.value) != token.value else token._replace(kind=Kind.WORD)


def _is_plain(expression: Expression) -> bool:
    """Whether it is one column, or a field of one, which needs no LAST around it."""
    tokens = tokenize(expression.sql)[:-1]
    return paths(tokens) == [(0, len(tokens) - 1)]


def more_expressions(item: Aggregate) -> list[Expression]:
    """The further arguments of an aggregate."""
    return [Expression(sql, columns_of(parse(sql))) for sql in item.more]


def _expressions(item: Navigation | Aggregate) -> list[Expression]:
    """What an item reads of a row where its columns are written without a variable."""
    if item.variable is not None:
        return []
    if isinstance(item, Navigation):
        return [item.expression]
    return [one for one in (item.argument, item.where, *more_expressions(item)) if one is not None]


def _paths(of: Expression) -> list[list[Token]]:
    tokens = tokenize(of.sql)[:-1]
    lambdas = lambda_names(tokens)
    return [
        list(tokens[first : last + 1 : 2])
        for first, last in paths(tokens)
        if tokens[first].value.lower() not in lambdas and tokens[first].value in of.columns
    ]
