"""A query back to its canonical text, which parses to an equal query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from situ.algebra.relations import words_of
from situ.language.situations.ast import Absence, Constraint, Difference, Item, Query, Symbol
from situ.language.situations.checks import default_returns
from situ.language.situations.composed import row_pattern_text
from situ.language.situations.cursor import FIRST_WORDS
from situ.language.situations.define import is_boolean
from situ.language.situations.draft import Pattern
from situ.language.situations.gaps import gaps_text
from situ.language.situations.pattern import pattern as read_pattern
from situ.language.situations.silence import SILENCE
from situ.language.text.clauses import Clause
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Expression
from situ.language.text.render import render
from situ.language.text.sql import lambda_names, paths
from situ.language.text.tokens import Kind, Source, Token, tokenize
from situ.language.text.types import any_kind
from situ.language.text.words import ITEM_ENDPOINTS, quote


def query_text(query: Query) -> str:
    """The canonical text: one clause a line, in the order of the grammar."""
    lines = [f"FROM {'INTERVALS ' if query.intervals else ''}{_from(query)}"]
    if query.intervals is not None:
        named = (
            ("SYMBOL BY", query.intervals.symbol_by),
            ("STARTING", query.intervals.starting),
            ("ENDING", query.intervals.ending),
            ("ID BY", query.intervals.id_by),
        )
        lines[0] += "".join(f" {clause} {quote(column)}" for clause, column in named if column is not None)
    wheres = [_qualified(table.where, table.alias) for table in query.sources if table.where is not None]
    wheres += [_condition(query, query.where)] if query.where is not None else []
    if wheres:
        lines.append(f"WHERE {' AND '.join(wheres)}")
    for clause, columns in zip(("ORDER BY", "PARTITION BY"), columns_of(query), strict=True):
        if columns:
            lines.append(f"{clause} {', '.join(columns)}")
    if query.intervals is None or query.intervals.symbol_by is None:
        lines.append("DEFINE " + ",\n       ".join(_definition(query, symbol) for symbol in query.symbols))
    pattern = _pattern(query)
    if pattern:
        lines.append("PATTERN " + "\n    AND ".join(pattern))
    if query.within is not None:
        lines.append(f"WITHIN {duration_text(query.within)}")
    if query.emit != "EARLY":
        lines.append(f"EMIT {query.emit}")
    default = default_returns([symbol.name for symbol in query.positives])
    if query.returns != default[1] or not _begins_with_ends(query, default[0]):
        lines.append("RETURN " + ",\n       ".join(_returns(query)))
    if query.having is not None:
        lines.append(f"HAVING {having_text(query)}")
    return "\n".join(lines)


def _from(query: Query) -> str:
    if not query.sources:
        return query.source
    return ", ".join(
        table.name if table.name == quote(table.alias) else f"{table.name} AS {quote(table.alias)}"
        for table in query.sources
    )


def columns_of(query: Query) -> tuple[list[str], list[str]]:
    """What ORDER BY and PARTITION BY say."""
    sources = query.sources
    return (
        _columns(query, query.order_by, [table.order_by for table in sources]),
        _columns(query, query.partition_by, [table.partition_by for table in sources]),
    )


def _columns(query: Query, own: Sequence[str], of_each: Sequence[Sequence[str]]) -> list[str]:
    """The columns of a clause; those of several sources by name where it is the same, else paired.

    Behind the time ORDER BY has columns that only break ties in some sources: they are not paired.
    """
    if not query.sources:
        return [quote(column) for column in own]
    entries = []
    fewest = min(map(len, of_each))
    for place in range(max(map(len, of_each))):
        named = [
            f"{quote(table.alias)}.{quote(columns[place])}"
            for table, columns in zip(query.sources, of_each, strict=True)
            if place < len(columns)
        ]
        if place < fewest and len({columns[place] for columns in of_each}) == 1:
            entries.append(quote(of_each[0][place]))
        elif place < fewest:
            entries.append(" = ".join(named))
        else:
            entries += named
    return entries


def _qualified(condition: Expression, alias: str) -> str:
    """A condition that says of every column which source it is of."""
    tokens = tokenize(condition.sql)[:-1]
    variables = lambda_names(tokens)
    qualified: list[Token] = []
    position = 0
    for first, _ in paths(tokens):
        qualified.extend(tokens[position:first])
        if tokens[first].value.lower() not in variables and _is_column(tokens, first, condition):
            qualified.extend((Token(Kind.QUOTED, alias, 0, 0), Token(Kind.SIGN, ".", 0, 0)))
        position = first
    qualified.extend(tokens[position:])
    return render(qualified)


def _is_column(tokens: Sequence[Token], first: int, condition: Expression) -> bool:
    """Whether the path that begins here is a column, and not a function or a type."""
    after = tokens[first + 1] if first + 1 < len(tokens) else None
    return tokens[first].value in condition.columns and not (after is not None and after.is_sign("("))


def _definition(query: Query, symbol: Symbol) -> str:
    condition = SILENCE if symbol.condition is None else _condition(query, symbol.condition, symbol.on)
    if symbol.rows is not None:
        condition = row_pattern_text(symbol.rows, query.source).replace("\n", "\n       ")
    on = "" if symbol.on is None else f" ON {quote(symbol.on)}"
    torn = replace(symbol, at_most=None) if _is_torn(query, symbol) else symbol
    text = f"{quote(symbol.name)}{on} AS {condition}{_length(torn)}"
    return text if symbol.ignoring is None else f"{text} {gaps_text(symbol.ignoring)}"


def _is_torn(query: Query, symbol: Symbol) -> bool:
    """Whether BETWEEN would be read as part of the condition: the upper bound then stands in PATTERN.

    Not where types are known, so that texts and the ids made of them do not depend on when it was understood.
    """
    if symbol.is_typed:
        return False
    if symbol.condition is None or symbol.at_least is None or symbol.at_most is None:
        return False
    if symbol.at_least.has_unit or symbol.name in query.absent_names:
        return False
    return not is_boolean(tokenize(symbol.condition.sql)[:-1], any_kind)


def _length(symbol: Symbol) -> str:
    if symbol.at_least is not None and symbol.at_most is not None:
        return f" BETWEEN {duration_text(symbol.at_least)} AND {duration_text(symbol.at_most)}"
    if symbol.at_least is not None:
        return f" AT LEAST {duration_text(symbol.at_least)}"
    return "" if symbol.at_most is None else f" AT MOST {duration_text(symbol.at_most)}"


def _condition(query: Query, condition: Expression, on: str | None = None) -> str:
    """The condition, with columns qualified where their first part would be read as something else.

    A struct column may be called like the source (`cars.speed` would be the column speed) or like a
    symbol (`A.ts` would be its start).
    """
    tokens = tokenize(condition.sql)[:-1]
    source = [token for token in tokenize(query.source if on is None else quote(on))[:-1]]
    names = [token.value.lower() for token in source if token.is_name]
    for table in query.sources:
        names += [token.value.lower() for token in tokenize(f"{table.name}.{quote(table.alias)}")]
    variables = lambda_names(tokens)
    qualified: list[Token] = []
    position = 0
    for first, last in paths(tokens):
        parts = [token.value for token in tokens[first : last + 1 : 2]]
        qualified.extend(tokens[position:first])
        is_endpoint = (
            len(parts) == 2 and parts[0] in query.symbol_names and parts[1].lower() in ITEM_ENDPOINTS
        )
        if (
            len(parts) > 1
            and (parts[0].lower() in names or is_endpoint)
            and parts[0].lower() not in variables
        ):
            qualified.extend((*source, Token(Kind.SIGN, ".", 0, 0)))
        position = first
    qualified.extend(tokens[position:])
    return render(qualified)


def _pattern(query: Query) -> list[str]:
    texts = [constraint_text(constraint) for constraint in query.constraints]
    texts += [difference_text(difference) for difference in query.differences]
    texts += [absence_text(absence) for absence in query.absences]
    torn = [replace(symbol, at_least=None) for symbol in query.symbols if _is_torn(query, symbol)]
    texts += [_length_in_pattern(symbol) for symbol in torn]
    if query.intervals is not None and query.intervals.symbol_by is not None:
        # There is no DEFINE for lengths, and the order of first mention is the order of the symbols.
        lengths = [
            _length_in_pattern(symbol) for symbol in query.symbols if symbol.at_least or symbol.at_most
        ]
        texts = lengths + texts
        if _mentioned(texts) != list(query.symbol_names):
            ends = [symbol_text(name) for name in query.symbol_names]
            texts = [f"{name}.ts < {name}.te" for name in ends] + texts
    return texts


def _mentioned(texts: Sequence[str]) -> list[str]:
    mentions = _read(" AND ".join(texts)).mentions if texts else []
    return list(dict.fromkeys(mention.name for mention in mentions))


def _read(text: str) -> Pattern:
    source = Source.of(text)
    return read_pattern(source, Clause("PATTERN", source.tokens[0], source.tokens[:-1]))


def written_pattern(query: Query) -> Pattern | None:
    """PATTERN in its canonical text, read again: for errors about a query whose own text is not there."""
    texts = _pattern(query)
    return _read(" AND ".join(texts)) if texts else None


def _length_in_pattern(symbol: Symbol) -> str:
    length = f"{symbol_text(symbol.name)}.te - {symbol_text(symbol.name)}.ts"
    if symbol.at_least is not None and symbol.at_most is not None:
        return f"{length} BETWEEN {duration_text(symbol.at_least)} AND {duration_text(symbol.at_most)}"
    if symbol.at_least is not None:
        return f"{length} >= {duration_text(symbol.at_least)}"
    assert symbol.at_most is not None
    return f"{length} <= {duration_text(symbol.at_most)}"


def symbol_text(name: str) -> str:
    """A symbol as PATTERN must have it: `no` and names of relations could be read as such."""
    return f"`{name}`" if name.lower() in ("no", *FIRST_WORDS) else quote(name)


def constraint_text(constraint: Constraint) -> str:
    """`A meets;overlaps B`."""
    names = ";".join(words_of(constraint.relations)).replace("apart-from", "apart from")
    return f"{symbol_text(constraint.left)} {names} {symbol_text(constraint.right)}"


def difference_text(difference: Difference, first: str | None = None) -> str:
    """`B.ts <= A.te + 10 minutes`, `A.te + 5 minutes < B.te`; an endpoint of `first` stands on the left."""
    left, right = (
        f"{symbol_text(endpoint.symbol)}.{endpoint.end}" for endpoint in (difference.left, difference.right)
    )
    offset = f" + {duration_text(replace(difference.bound, value=abs(difference.bound.value)))}"
    sign = "<" if difference.is_strict else "<="
    if difference.bound.value < 0:
        left += offset
    else:
        right += offset
    if first == difference.right.symbol:
        left, right, sign = right, left, sign.replace("<", ">")
    return f"{left} {sign} {right}"


def absence_text(absence: Absence) -> str:
    """`NO C during B`, `NO (C overlaps A AND C.ts <= B.te + 1 hour)`, the absent symbol always first."""
    texts = [constraint_text(constraint) for constraint in absence.constraints]
    texts += [difference_text(difference, first=absence.symbol) for difference in absence.differences]
    return f"NO {texts[0]}" if len(texts) == 1 else f"NO ({' AND '.join(texts)})"


def _begins_with_ends(query: Query, ends: tuple[Item, ...]) -> bool:
    """Whether the items are those of `RETURN *`, and none behind them but HAVING's."""
    return query.items[: len(ends)] == ends and (query.having is not None or len(query.items) == len(ends))


def _returns(query: Query) -> list[str]:
    return [f"{_with_items(query, item.expression)} AS {quote(item.name)}" for item in query.returns]


def having_text(query: Query) -> str:
    """The condition of HAVING with its items written out."""
    assert query.having is not None
    return _with_items(query, query.having)


def _with_items(query: Query, of: Expression) -> str:
    tokens = tokenize(of.sql)[:-1]
    written = {f"_item_{number}": item_text(item) for number, item in enumerate(query.items)}
    # A number is no part of any rendering rule, so each item passes through `render` in that disguise.
    disguised = [
        token._replace(value=written[token.value]) if token.value in written else token for token in tokens
    ]
    return render(
        [
            token._replace(kind=Kind.NUMBER) if token.value in written.values() else token
            for token in disguised
        ]
    )


def item_text(item: Item) -> str:
    """`avg(A.speed)`, `count(A)`, `A.ts`."""
    symbol = quote(item.symbol)
    if item.attribute is None:
        return f"count({symbol})" if item.function == "count" else f"{symbol}.{item.function}"
    attribute = quote(item.attribute)
    if item.attribute.lower() in ITEM_ENDPOINTS:
        attribute = f"`{item.attribute}`"  # bare it would be the start, end or length of the situation
    path = f"{symbol}.{attribute}"
    if item.fraction is not None:
        path += f", {item.fraction!r}"
    return path if item.function == "value" else f"{item.function}({path})"
