"""Several sources in one query (SEM 13.2, 13.4): which of them a name, a condition or a column is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from situ.errors import QuerySyntaxError, SourceError
from situ.language.situations.ast import SourceTable, Symbol
from situ.language.situations.draft import Definition, Draft
from situ.language.text.clauses import Clause, split_commas
from situ.language.text.looking import looks_back
from situ.language.text.nodes import Expression
from situ.language.text.places import Phrase, Place
from situ.language.text.sql import Scope, expression, lambda_names, paths
from situ.language.text.tokens import Source, Token, describe, did_you_mean, span_of
from situ.language.text.words import quote

OF_TWO = "put it in HAVING, which sees the situations of all sources; or define a symbol on each of the two"


class Named(NamedTuple):
    """One entry of FROM: its name as text and in parts, and what conditions may call it."""

    text: str
    parts: tuple[str, ...]
    alias: str | None
    place: Place


class Origins:
    """The sources of a query that has several, as far as they are known while it is read."""

    def __init__(self, named: Sequence[Named]) -> None:
        self.tables = tuple(SourceTable(one.text, one.alias or one.parts[-1]) for one in named)
        self.scopes = _scopes(named, self.tables)
        self.scope = Scope(frozenset().union(*(scope.qualifiers for scope in self.scopes)))

    @property
    def aliases(self) -> list[str]:
        """What conditions call them."""
        return [table.alias for table in self.tables]

    def of(self, parts: Sequence[str]) -> int | None:
        """The source that a dotted name is qualified with."""
        longest = max(range(len(self.scopes)), key=lambda s: self.scopes[s].strip(parts))
        return longest if self.scopes[longest].strip(parts) else None

    def named_in(self, tokens: Sequence[Token]) -> Iterator[tuple[int, Sequence[Token]]]:
        """The sources that columns are qualified with, each with the tokens of the column."""
        variables = lambda_names(tokens)
        for first, last in paths(tokens):
            parts = [token.value for token in tokens[first : last + 1 : 2]]
            source = self.of(parts)
            if source is not None and parts[0].lower() not in variables:
                yield source, tokens[first : last + 1]

    def read_by(self, written: Phrase, what: str) -> int | None:
        """The one source that columns are qualified with, None where none is."""
        found: int | None = None
        for source, tokens in self.named_in(written.tokens):
            if found is not None and source != found:
                raise self._two_sources(Place(written.source, span_of(tokens)), what, found, source)
            found = source
        return found

    def _two_sources(self, place: Place, what: str, one: int, other: int) -> Exception:
        names = f"{self.aliases[one]} and {self.aliases[other]}"
        return place.error(
            SourceError, f"{what} reads columns of {names}, and a condition sees one row", hint=OF_TWO
        )

    # -- clauses

    def with_where(self, written: Phrase) -> Expression | None:
        """Each part of WHERE goes to the source it names; what is left over is for the schemas to decide."""
        parts: dict[int | None, list[str]] = {}
        for tokens in conjuncts(written.tokens):
            what = "a part of WHERE"
            own = expression(written.source, tokens, self.scope, what=what, after=written.tokens[0])
            of = self.read_by(Phrase(written.source, tokens), what)
            if of is None and not own.columns:
                raise written.source.error(
                    SourceError,
                    "nothing says which source this part of WHERE filters",
                    span_of(tokens),
                    hint=f"name a column of it, as in {quote(self.aliases[0])}.x > 0",
                )
            parts.setdefault(of, []).append(own.sql)
        wheres = {of: _joined(several) for of, several in parts.items()}
        self.tables = tuple(replace(table, where=wheres.get(s)) for s, table in enumerate(self.tables))
        return wheres.get(None)

    def with_columns(self, source: Source, clause: Clause | None) -> None:
        """ORDER BY or PARTITION BY: `t` of every source, or paired as in `w.obs = f.dep`."""
        if clause is None:
            return
        columns: list[list[str]] = [[] for _ in self.tables]
        for place, entry in enumerate(split_commas(clause.tokens)):
            named = self._paired(source, entry, clause)
            is_tie = clause.name == "ORDER BY" and place > 0
            if len(named) < len(self.tables) and not is_tie:
                raise self._lacks(source, entry, clause, named)
            for of, name in named.items():
                if name.lower() in (earlier.lower() for earlier in columns[of]):
                    raise source.error(QuerySyntaxError, f"{clause.name} has {name} twice", span_of(entry))
                columns[of].append(name)
        self.place_columns(clause.name, columns)

    def place_columns(self, clause: str, columns: Sequence[Sequence[str]]) -> None:
        """Take down the columns of every source."""
        field = "order_by" if clause == "ORDER BY" else "partition_by"
        self.tables = tuple(
            replace(table, **{field: tuple(own)})  # type: ignore[arg-type]
            for table, own in zip(self.tables, columns, strict=True)
        )

    def _paired(self, source: Source, entry: Sequence[Token], clause: Clause) -> dict[int, str]:
        named: dict[int, str] = {}
        sides = _sides(entry)
        for side in sides:
            of, name = self._column(source, side, clause)
            if of is None:
                if len(sides) > 1:
                    raise source.error(
                        SourceError,
                        f"nothing says of which source {name} is",
                        span_of(side),
                        hint=f"write {quote(self.aliases[len(named) % len(self.aliases)])}.{quote(name)}",
                    )
                return dict.fromkeys(range(len(self.tables)), name)
            if of in named:
                raise source.error(
                    SourceError,
                    f"two columns of {self.aliases[of]} stand for one",
                    span_of(entry),
                    hint="pair one column of each source: " + self._pair_text(name),
                )
            named[of] = name
        return named

    def _column(self, source: Source, tokens: Sequence[Token], clause: Clause) -> tuple[int | None, str]:
        if not tokens:
            raise source.error(QuerySyntaxError, f"a column is missing in {clause.name}", clause.keyword)
        parts = [token.value for token in tokens[::2]]
        is_path = all(token.is_name for token in tokens[::2]) and all(t.is_sign(".") for t in tokens[1::2])
        of = self.of(parts)
        own = parts if of is None else parts[self.scopes[of].strip(parts) :]
        if not is_path or len(tokens) % 2 == 0 or len(own) > 1:
            raise source.error(
                QuerySyntaxError,
                f"{clause.name} takes columns separated by commas, found {describe(tokens[0])}",
                span_of(tokens),
                hint="write the name of a column that all sources have, or pair theirs: "
                + self._pair_text("id"),
            )
        return of, own[0]

    def _lacks(
        self, source: Source, entry: Sequence[Token], clause: Clause, named: dict[int, str]
    ) -> Exception:
        missing = ", ".join(alias for s, alias in enumerate(self.aliases) if s not in named)
        name = next(iter(named.values()))
        return source.error(
            SourceError,
            f"{clause.name} names no column of {missing} here",
            span_of(entry),
            hint=f"write {quote(name)} if all sources have it, or pair columns: {self._pair_text(name)}",
        )

    def _pair_text(self, name: str) -> str:
        return " = ".join(f"{quote(alias)}.{quote(name)}" for alias in self.aliases)

    def placed(self, definition: Definition) -> Definition:
        """A definition whose symbol knows its source, where that can be told without schemas."""
        symbol, place, written = definition
        what = f"the condition of {symbol.name}"
        if symbol.rows is not None:
            raise place.error(
                SourceError,
                f"{symbol.name} is a row pattern, which a query of several sources cannot have",
                hint="match the rows of one source in a query of its own",
            )
        if symbol.condition is not None and looks_back(symbol.condition):
            raise place.error(
                SourceError,
                f"{what} looks back with prev, which a query of several sources cannot",
                hint="give the earlier value a column of its own in the table first",
            )
        of = self.read_by(written, what)
        if symbol.on is not None:
            on = self._index(symbol.on, place)
            if of is not None and of != on:
                raise self._two_sources(place, what, on, of)
            of = on
        if of is None and (symbol.condition is None or not symbol.condition.columns):
            raise undecided(symbol, place, self.aliases)
        return definition._replace(symbol=replace(symbol, on=None if of is None else self.tables[of].alias))

    def _index(self, on: str, place: Place) -> int:
        of = self.of((on, ""))
        if of is None:
            raise place.error(
                SourceError,
                f"there is no source {on!r}",
                hint=did_you_mean(on, self.aliases) or f"the sources are {', '.join(self.aliases)}",
            )
        return of


def place_sources(draft: Draft, origins: Origins | None) -> None:
    """Decide, as far as can be told without schemas, which source each part of a query is about."""
    if origins is None:
        for definition in draft.definitions:
            _refuse_on(definition.symbol, definition.place)
        return
    if draft.where_written is not None:
        draft.where = origins.with_where(draft.where_written)
    draft.definitions = [origins.placed(definition) for definition in draft.definitions]
    draft.sources = origins.tables
    draft.order_by, draft.partition_by = draft.sources[0].order_by, draft.sources[0].partition_by


def undecided(symbol: Symbol, place: Place, aliases: Sequence[str]) -> Exception:
    """Nothing says which source a symbol belongs to."""
    return place.error(
        SourceError,
        f"no column says which source {symbol.name} belongs to",
        hint="say it with ON: "
        + " or ".join(f"DEFINE {quote(symbol.name)} ON {quote(alias)} AS ..." for alias in aliases[:2]),
    )


def _refuse_on(symbol: Symbol, place: Place) -> None:
    """ON means nothing in a query of one source."""
    if symbol.on is not None:
        raise place.error(
            SourceError,
            "ON says which of several sources a symbol belongs to, and FROM names one",
            hint="leave ON out",
        )


def conjuncts(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The parts that a condition joins with AND; one where it is no conjunction."""
    found: list[Sequence[Token]] = []
    depth = start = betweens = 0
    for position, token in enumerate(tokens):
        depth += token.is_sign("(", "[") or token.is_word("CASE")
        depth -= token.is_sign(")", "]") or token.is_word("END")
        if depth:
            continue
        if token.is_word("OR"):
            return [tokens]
        betweens += token.is_word("BETWEEN")
        if token.is_word("AND") and betweens:
            betweens -= 1
        elif token.is_word("AND"):
            found.append(tokens[start:position])
            start = position + 1
    return [*found, tokens[start:]]


def _joined(parts: Sequence[str]) -> Expression:
    sql = " AND ".join(parts)
    source = Source.of(sql)
    return expression(source, source.tokens[:-1], Scope(), what="the condition of WHERE")


def joined_with(where: Expression | None, part: Expression) -> Expression:
    """One more part of a condition."""
    return part if where is None else _joined([where.sql, part.sql])


def _sides(entry: Sequence[Token]) -> list[Sequence[Token]]:
    sides: list[Sequence[Token]] = []
    start = 0
    for position, token in enumerate(entry):
        if token.is_sign("=", "=="):
            sides.append(entry[start:position])
            start = position + 1
    return [*sides, entry[start:]]


def _scopes(named: Sequence[Named], tables: Sequence[SourceTable]) -> tuple[Scope, ...]:
    """What each source may be called: its alias, and its name where no other has it."""
    seen: set[str] = set()
    for one, table in zip(named, tables, strict=True):
        if table.alias.lower() in seen:
            raise one.place.error(
                SourceError,
                f"two sources are called {table.alias}",
                hint=f"give each a name of its own: FROM {one.text} AS a, {one.text} AS b",
            )
        seen.add(table.alias.lower())
    suffixes = [
        {tuple(p.lower() for p in one.parts[start:]) for start in range(len(one.parts))} for one in named
    ]
    scopes = []
    for s, table in enumerate(tables):
        others = set().union(*(suffixes[:s] + suffixes[s + 1 :])) | {
            (other.alias.lower(),) for other in (*tables[:s], *tables[s + 1 :])
        }
        scopes.append(Scope(frozenset(suffixes[s] - others | {(table.alias.lower(),)})))
    return tuple(scopes)
