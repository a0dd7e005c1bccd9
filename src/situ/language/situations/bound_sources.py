"""A query of several sources meets their schemas (SEM 13.2, 13.4).

What is about one source is a query by itself, and bound like any other; then the parts are put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from situ.errors import AmbiguousColumnError, BindError, SourceError, TimeColumnError, UnknownColumnError
from situ.language.situations.ast import Query, SourceTable, Symbol
from situ.language.situations.binder import Binder, BoundQuery, BoundSource
from situ.language.situations.lengths import check_lengths
from situ.language.situations.printer import written_pattern
from situ.language.situations.sources import OF_TWO, conjuncts, joined_with, undecided
from situ.language.text.nodes import Expression
from situ.language.text.places import Place
from situ.language.text.sql import Scope, expression
from situ.language.text.tokens import Source, did_you_mean
from situ.language.text.types import Column, Schema, Schemas
from situ.language.text.words import quote


def bind_sources(
    query: Query, schemas: Schema | Schemas, *, time: str | None, time_unit: str | None
) -> BoundQuery:
    """Resolve a query of several sources against the schemas of their tables."""
    given = checked_tables(query, schemas)
    query = _Deciding(query, given).decided()
    parts = tuple(
        Binder(_part(query, table), given[table.key], time_unit, query).bound(time) for table in query.sources
    )
    _check_types(query, parts)
    return _together(query, parts)


def checked_tables(query: Query, given: Schema | Schemas) -> dict[str, Schema]:
    """What was given for each source: tables by name for several, and no others."""
    wanted = list(dict.fromkeys(table.key for table in query.sources))
    shape = "{" + ", ".join(f'"{name}": ...' for name in wanted) + "}"
    if not query.sources:
        raise SourceError(
            f"the query reads one table, {query.source}, and tables by name were given",
            hint="give the table alone; a query reads several with FROM weather AS w, flights AS f",
        )
    if not isinstance(given, Mapping):
        raise SourceError(
            f"the query reads {' and '.join(wanted)}, and one table was given",
            hint=f"give them by name: {shape}",
        )
    for name in wanted:
        if name not in given:
            raise SourceError(
                f"FROM names {name}, and there is no table of that name",
                hint=f"give {shape}; there {'are' if len(given) > 1 else 'is'} {', '.join(map(str, given))}",
            )
    for name in given:
        if name not in wanted:
            raise SourceError(
                f"a table {name!r} was given, and FROM does not name it",
                hint=did_you_mean(str(name), wanted) or f"leave it out; FROM names {', '.join(wanted)}",
            )
    return dict(given)


class _Deciding:
    """Finds for every part of a query the source it is about."""

    def __init__(self, query: Query, schemas: Schemas) -> None:
        self.query = query
        self.columns = {
            table.alias: {column.name.lower() for column in schemas[table.key]} for table in query.sources
        }

    def decided(self) -> Query:
        """The query, every symbol and every part of WHERE with its source."""
        query = self.query
        symbols = tuple(self.placed(symbol) for symbol in query.symbols)
        tables = {table.alias: replace(table, order_by=self.order_by(table)) for table in query.sources}
        if query.where is not None:
            source = Source.of(query.where.sql)
            for tokens in conjuncts(source.tokens[:-1]):
                part = expression(source, tokens, Scope(), what="a part of WHERE")
                alias = self.reads(part, "a part of WHERE")
                tables[alias] = replace(tables[alias], where=joined_with(tables[alias].where, part))
        return replace(query, symbols=symbols, sources=tuple(tables.values()), where=None)

    def placed(self, symbol: Symbol) -> Symbol:
        what = f"the condition of {symbol.name}"
        if symbol.on is not None:
            if symbol.condition is not None:
                self.check_all_in(symbol.on, symbol.condition, what)
            return symbol
        if symbol.condition is None or not symbol.condition.columns:
            source = Source.of(str(self.query))
            token = next(token for token in source.tokens if token.value == symbol.name)
            raise undecided(symbol, Place(source, token.span), list(self.columns))
        return replace(symbol, on=self.reads(symbol.condition, what))

    def reads(self, condition: Expression, what: str) -> str:
        """The source that a column of the condition alone decides, and that has all the others."""
        for name in condition.columns:
            if len(self.having(name)) == 1:
                alias = self.having(name)[0]
                self.check_all_in(alias, condition, what)
                return alias
        name = condition.columns[0]
        several = self.having(name)
        if not several:
            raise self.unknown(name, what)
        raise self.error(
            AmbiguousColumnError,
            f"{what} reads {name}, which is a column of {' and of '.join(several)}",
            name,
            hint=f"write {' or '.join(f'{quote(alias)}.{quote(name)}' for alias in several)}",
        )

    def having(self, name: str) -> list[str]:
        """The sources that have a column."""
        return [alias for alias, columns in self.columns.items() if name.lower() in columns]

    def check_all_in(self, alias: str, condition: Expression, what: str) -> None:
        for name in condition.columns:
            others = self.having(name)
            if alias in others:
                continue
            if not others:
                raise self.unknown(name, what)
            raise self.error(
                SourceError,
                f"{what} is about {alias}, and {name} is a column of {' and of '.join(others)}",
                name,
                hint=OF_TWO,
            )

    def order_by(self, table: SourceTable) -> tuple[str, ...]:
        """Without columns that break ties in other sources only (SEM 13.4)."""
        if not table.order_by:
            return ()
        in_all = set.intersection(*({name.lower() for name in one.order_by} for one in self.query.sources))
        return table.order_by[:1] + tuple(
            name
            for name in table.order_by[1:]
            if name.lower() in self.columns[table.alias]
            or name.lower() not in in_all
            or not self.having(name)
        )

    def unknown(self, name: str, what: str) -> Exception:
        names = sorted(set().union(*self.columns.values()))
        listed = "; ".join(f"{alias} has {', '.join(sorted(own))}" for alias, own in self.columns.items())
        return self.error(
            UnknownColumnError,
            f'no source has a column "{name}", which {what} uses',
            name,
            hint=did_you_mean(name, names) or listed,
        )

    def error(self, kind: type[BindError | SourceError], message: str, name: str, *, hint: str) -> Exception:
        source = Source.of(str(self.query))
        token = next((token for token in source.tokens if token.is_name and token.value == name), None)
        return source.error(kind, message, token, hint=hint) if token else kind(message, hint=hint)


def _part(query: Query, table: SourceTable) -> Query:
    """What of a query is about one source: its events, symbols, and what is asked of them."""
    symbols = tuple(symbol for symbol in query.symbols if symbol.on == table.alias)
    names = [symbol.name for symbol in symbols]
    return Query(
        source=table.name,
        symbols=symbols,
        where=table.where,
        order_by=table.order_by,
        partition_by=table.partition_by,
        within=query.within,
        items=tuple(item for item in query.items if item.symbol in names),
    )


def _check_types(query: Query, parts: Sequence[BoundQuery]) -> None:
    """One type of time, one of each paired partition column (SEM 13.4)."""
    first, alias = parts[0], query.sources[0].alias
    for table, part in zip(query.sources[1:], parts[1:], strict=True):
        if part.time.type != first.time.type:
            raise TimeColumnError(
                f"the time {alias}.{first.time.name} is a {first.time.type} and "
                f"{table.alias}.{part.time.name} a {part.time.type}; all sources must have one type of time",
                hint="convert one of the two columns first",
            )
        for one, other in zip(first.partition, part.partition, strict=True):
            if one.type != other.type:
                raise BindError(
                    f"PARTITION BY pairs {alias}.{one.name}, a {one.type}, with {table.alias}.{other.name}, "
                    f"a {other.type}; they must have one type",
                    hint="convert one of the two columns first",
                )


def _together(query: Query, parts: Sequence[BoundQuery]) -> BoundQuery:
    """All parts as one: shared columns under the first source's names, the others under `alias.name`."""
    first = parts[0]
    schema: dict[str, Column] = {column.name.lower(): column for column in (*first.partition, first.time)}
    sources = []
    for table, part in zip(query.sources, parts, strict=True):
        names = {own.name.lower(): one.name for own, one in zip(part.partition, first.partition, strict=True)}
        names.setdefault(part.time.name.lower(), first.time.name)
        for column in (*part.ties, *part.attributes):
            if column.name.lower() not in names:
                united = Column(f"{table.alias}.{column.name}", column.type)
                while united.name.lower() in schema:
                    united = replace(united, name=united.name + "_")
                names[column.name.lower()] = united.name
                schema[united.name.lower()] = united
        sources.append(BoundSource(table.key, table.alias, part, tuple(names.items())))
    by_name = {symbol.name: symbol for part in parts for symbol in part.query.symbols}
    written = query
    query = replace(query, symbols=tuple(by_name[symbol.name] for symbol in query.symbols))
    if query.symbols != written.symbols:
        check_lengths(query, written_pattern(query), None, {})
    lengths = {
        symbol.name: (least, most)
        for part in parts
        for symbol, least, most in zip(part.query.symbols, part.at_least, part.at_most, strict=True)
    }
    types = {
        item: kind for part in parts for item, kind in zip(part.query.items, part.item_types, strict=True)
    }
    item_types = tuple(types[item] for item in query.items)
    binder = Binder(query, tuple(schema.values()), first.time.unit)
    binder.check_distances(first.time)
    if query.having is not None:
        binder.check_having(query.having, item_types)

    def of_all(columns: Sequence[Sequence[Column]]) -> tuple[Column, ...]:
        found = [
            schema[dict(one.names)[column.name.lower()].lower()]
            for one, own in zip(sources, columns, strict=True)
            for column in own
        ]
        return tuple(dict.fromkeys(found))

    return BoundQuery(
        query=query,
        schema=tuple(schema.values()),
        time=first.time,
        partition=first.partition,
        ties=of_all([part.ties for part in parts]),
        attributes=of_all([part.attributes for part in parts]),
        within=first.within,
        at_least=tuple(lengths[name][0] for name in query.symbol_names),
        at_most=tuple(lengths[name][1] for name in query.symbol_names),
        item_types=item_types,
        sources=tuple(sources),
    )
