"""DEFINE: `A [ON source] AS condition [AT LEAST d | AT MOST d | BETWEEN d AND d] [IGNORING GAPS UP TO d]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sqlglot.expressions as exp

from situ.errors import (
    DurationBoundsError,
    DurationError,
    QueryError,
    QuerySyntaxError,
    TooManySymbolsError,
)
from situ.language.situations.ast import Symbol
from situ.language.situations.composed import check_behind, is_row_pattern, row_pattern
from situ.language.situations.draft import Definition
from situ.language.situations.gaps import split_gaps
from situ.language.situations.silence import check_silence_words, is_silence, kept_columns, silence_symbol
from situ.language.text.clauses import Clause, split_commas
from situ.language.text.dialect import NotAnExpression, TooDeep, parse
from situ.language.text.durations import duration, duration_text, is_unit, leading_duration
from situ.language.text.looking import check_prev
from situ.language.text.nodes import Duration, Expression
from situ.language.text.places import Phrase, Place
from situ.language.text.render import ends_operand, render
from situ.language.text.sql import Scope, expression
from situ.language.text.tokens import Kind, Source, Token, describe, span_of
from situ.language.text.types import Kind as ValueKind
from situ.language.text.types import Lookup, any_kind, kind_of
from situ.language.text.words import quote

Bounds = tuple[Duration | None, Duration | None]

MAX_SYMBOLS = 64


def definitions(source: Source, clause: Clause, scope: Scope) -> list[Definition]:
    """The entries of a DEFINE clause."""
    found, keyword = [], clause.keyword
    entries = split_commas(clause.tokens)
    if len(entries) > MAX_SYMBOLS:  # before anything is read: what comes next takes more than linear time
        beyond = (entries[MAX_SYMBOLS] or clause.tokens[-1:])[0]
        raise too_many_symbols(Place(source, beyond.span), len(entries))
    for tokens in entries:
        found.append(_definition(source, tokens, keyword, scope))
        keyword = next((token for token in clause.tokens if token.start >= tokens[-1].end), keyword)
    return found


def _definition(source: Source, tokens: Sequence[Token], keyword: Token, scope: Scope) -> Definition:
    if not tokens:
        raise source.error(
            QuerySyntaxError,
            f"a definition is missing after {describe(keyword)}",
            keyword,
            hint="write DEFINE A AS speed > 70, and no comma after the last one",
        )
    name = tokens[0]
    if name.is_word("AS"):
        raise source.error(
            QuerySyntaxError,
            "the name of a symbol is missing before AS",
            name,
            hint="write DEFINE A AS speed > 70",
        )
    if not name.is_name:
        raise source.expected("the name of a symbol", name, hint="write DEFINE A AS speed > 70")
    on, tokens = _cut_on(source, tokens)
    if len(tokens) < 2 or not tokens[1].is_word("AS"):
        found = tokens[1] if len(tokens) > 1 else None
        raise source.error(
            QuerySyntaxError,
            f"expected AS after the symbol {describe(name)}"
            + (f", found {describe(found)}" if found else ""),
            found or name,
            hint=_definition_hint(source, tokens),
        )
    symbol, condition = defined(source, name.value, tokens[2:], scope, after=tokens[1])
    return Definition(replace(symbol, on=on), Place(source, name.span), Phrase(source, condition))


def _cut_on(source: Source, tokens: Sequence[Token]) -> tuple[str | None, Sequence[Token]]:
    """The source behind ON (SEM 13.2), and the definition without it."""
    if len(tokens) < 2 or not tokens[1].is_word("ON"):
        return None, tokens
    if len(tokens) < 3 or not tokens[2].is_name or tokens[2].is_word("AS"):
        raise source.expected(
            "the name of a source after ON",
            tokens[min(2, len(tokens) - 1)],
            hint="write DEFINE A ON w AS ...",
        )
    return tokens[2].value, (tokens[0], *tokens[3:])


def defined(
    source: Source,
    name: str,
    tokens: Sequence[Token],
    scope: Scope,
    *,
    after: Token,
    given: Bounds = (None, None),
) -> tuple[Symbol, Sequence[Token]]:
    """The symbol that these tokens define, and those of its condition; `given` is a length said elsewhere."""
    tokens, ignoring = split_gaps(source, tokens)
    if is_row_pattern(tokens):
        rows, (keyword, behind) = row_pattern(source, tokens, scope)
        bounds = given
        if given == (None, None) and behind:
            (_, *behind), bounds = split_bounds(source, (keyword, *behind), _is_boolean)
        check_behind(source, behind)
        return Symbol(name, None, *bounds, ignoring=ignoring, rows=rows), tokens
    written, bounds = tokens, given
    if given == (None, None):
        # Without units only a boolean has a length: a silence is something that holds or not.
        lookup = _is_boolean if is_silence(written) else any_kind
        tokens, bounds = split_bounds(source, tokens, lookup)
    if is_silence(written):
        symbol, tokens = silence_symbol(source, name, written, bounds), written
    else:
        check_silence_words(source, written)
        _check_missing_comma(source, tokens)
        if given != (None, None):
            check_no_length(source, tokens)
        check_prev(source, tokens, f"the condition of {name}")
        condition = expression(
            source, kept_columns(tokens), scope, what=f"the condition of {name}", after=after
        )
        symbol = Symbol(name, condition, *bounds)
    return replace(symbol, ignoring=ignoring), tokens


def _definition_hint(source: Source, tokens: Sequence[Token]) -> str:
    """What to write where AS does not follow the name of a symbol."""
    if len(tokens) > 3 and tokens[-2].is_word("AS") and tokens[-1].is_name and not tokens[1].is_sign("-"):
        condition = source.text[tokens[0].start : tokens[-3].end]
        return f"the name comes first: {quote(tokens[-1].value)} AS {condition}"
    hint = f"write {quote(tokens[0].value)} AS and the condition"
    if len(tokens) > 1 and tokens[1].is_sign("-"):
        return f"{hint}; a name that is not made of letters, digits and _ is written in back-quotes"
    if len(tokens) > 1 and tokens[1].is_sign("=", ":", ":="):
        return hint
    return f"{hint}; a comma inside a condition must stand in parentheses, as in speed IN (1, 2)"


def too_many_symbols(place: Place, n_symbols: int, n_sources: int = 0) -> QueryError:
    of = f" of {n_sources} sources" if n_sources else ""
    return place.error(
        TooManySymbolsError,
        f"a query{of} can have {MAX_SYMBOLS - n_sources} symbols, this one has {n_symbols}",
        hint="match parts of the pattern with queries of their own",
    )


def _check_missing_comma(source: Source, tokens: Sequence[Token]) -> None:
    depth = 0
    for position, token in enumerate(tokens):
        depth += token.is_sign("(", "[") - token.is_sign(")", "]")
        if not (token.is_word("AS") and depth == 0 and position and tokens[position - 1].is_name):
            continue
        before = tokens[position - 2] if position > 1 else None
        if before is None:
            raise source.error(
                QuerySyntaxError,
                "a definition has one AS, and this is the second",
                token,
                hint="write A AS speed > 70, with a comma before the next definition",
            )
        if before.is_sign(";"):
            raise source.error(
                QuerySyntaxError,
                "definitions are separated by commas, found `;`",
                before,
                hint="write a comma",
            )
        raise source.error(
            QuerySyntaxError,
            f"a comma is missing before {describe(tokens[position - 1])}",
            tokens[position - 1],
            hint="definitions are separated by commas: A AS speed > 70, B AS accel < -9",
        )


def split_bounds(
    source: Source, tokens: Sequence[Token], lookup: Lookup = any_kind
) -> tuple[Sequence[Token], Bounds]:
    """Cut the duration bounds off the end of a condition; `lookup` tells the kinds of columns."""
    depth = 0
    between: list[int] = []
    for position, token in enumerate(tokens):
        depth += token.is_sign("(", "[") - token.is_sign(")", "]")
        if depth or position == 0 or not ends_operand(tokens[position - 1]):
            continue
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if token.is_word("AT") and after is not None and after.is_word("LEAST", "MOST"):
            bounds = _one_bound(source, tokens[position + 1 :])
            check_no_length(source, tokens[:position], lookup)
            return tokens[:position], bounds
        if token.is_word("BETWEEN"):
            between.append(position)
    if between:
        length = _between(source, tokens, between[-1], lookup)
        if length is not None:
            return tokens[: between[-1]], length
    return tokens, (None, None)


def _is_boolean(column: exp.Column) -> ValueKind:
    return ValueKind.BOOLEAN


def length_if_boolean(condition: Expression) -> tuple[str, Bounds] | None:
    """The condition and length that `c BETWEEN 2 AND 9` stands for should c be a boolean (SEM 7)."""
    source = Source.of(condition.sql)
    try:
        tokens, bounds = split_bounds(source, source.tokens[:-1], _is_boolean)
    except QueryError:
        return None
    return None if bounds == (None, None) else (render(tokens), bounds)


def refuse_length(source: Source, tokens: Sequence[Token], lookup: Lookup = any_kind) -> None:
    """Refuse bounds behind the condition of WHERE."""
    condition, bounds = split_bounds(source, tokens, lookup)
    if bounds != (None, None):
        raise source.error(
            DurationError,
            "WHERE chooses events, which have no duration",
            span_of(tokens[len(condition) :]),
            hint="put the duration behind a condition in DEFINE",
        )


def check_no_length(source: Source, tokens: Sequence[Token], lookup: Lookup = any_kind) -> None:
    """Refuse a length at the end of a condition behind which another one stands."""
    condition, bounds = split_bounds(source, tokens, lookup)
    if bounds != (None, None):
        raise source.error(
            DurationError,
            "only one duration constraint can follow a condition, and this BETWEEN is one",
            span_of(tokens[len(condition) :]),
            hint="what is true or false cannot lie between two numbers; "
            "give both bounds of its length at once, as in BETWEEN 5 seconds AND 1 minute",
        )


def _one_bound(source: Source, tokens: Sequence[Token]) -> Bounds:
    keyword, rest = tokens[0], tokens[1:]
    value, used = leading_duration(source, rest, after=keyword)
    if used < len(rest) and rest[used].is_word("AT", "AND", "BETWEEN"):
        raise source.error(
            DurationError,
            f"only one duration constraint can follow a condition, found another at {describe(rest[used])}",
            rest[used],
            hint="give both bounds as BETWEEN 5 seconds AND 1 minute; further conditions go before AT",
        )
    duration(source, rest, after=keyword)
    return (value, None) if keyword.is_word("LEAST") else (None, value)


def _between(source: Source, tokens: Sequence[Token], position: int, lookup: Lookup) -> Bounds | None:
    """The bounds, or None where this BETWEEN belongs to the condition itself.

    With a unit of time it is a duration. With plain numbers it is one only when what stands before is
    a whole condition already, as in `speed > 70 BETWEEN 4 AND 30`: `speed BETWEEN 4 AND 30` compares speed.
    Of a column alone only a schema tells which it is, so the binder asks once more (SEM 7).
    """
    keyword, rest = tokens[position], tokens[position + 1 :]
    if not _has_unit(rest) and not _is_condition(tokens[:position], rest, lookup):
        return None
    low, used = leading_duration(source, rest, after=keyword)
    if used >= len(rest) or not rest[used].is_word("AND"):
        found = rest[used] if used < len(rest) else rest[-1]
        raise source.error(
            DurationError, "BETWEEN needs two durations", found, hint="write BETWEEN 5 seconds AND 1 minute"
        )
    high = duration(source, rest[used + 1 :], after=rest[used])
    if low.has_unit == high.has_unit and low.value > high.value:
        raise source.error(
            DurationBoundsError,
            f"the bounds are the wrong way round: {duration_text(low)} is longer than {duration_text(high)}",
            span_of(tokens[position:]),
            hint=f"write BETWEEN {duration_text(high)} AND {duration_text(low)}",
        )
    return low, high


def _has_unit(tokens: Sequence[Token]) -> bool:
    """Whether a number right after BETWEEN, or after its AND, carries a unit of time."""
    heads = [0, *(position + 1 for position, token in enumerate(tokens) if token.is_word("AND"))][:2]
    return any(
        head + 1 < len(tokens)
        and tokens[head].kind is Kind.NUMBER
        and tokens[head + 1].kind is Kind.WORD
        and is_unit(tokens[head + 1].value)
        for head in heads
    )


def _is_condition(tokens: Sequence[Token], bounds: Sequence[Token], lookup: Lookup) -> bool:
    """Whether the tokens are a boolean expression to which BETWEEN can add nothing."""
    is_number = bounds and (bounds[0].kind is Kind.NUMBER or bounds[0].is_word("INTERVAL"))
    return bool(is_number) and is_boolean(tokens, lookup)


def is_boolean(tokens: Sequence[Token], lookup: Lookup) -> bool:
    """Whether what stands last in an expression, where BETWEEN would follow, is true or false."""
    try:
        node: exp.Expr = parse(render(tokens))
    except (NotAnExpression, TooDeep, QueryError):
        return False
    while isinstance(node, exp.Connector | exp.Not):
        # BETWEEN binds tighter than AND, OR and NOT: only their last operand is before it.
        node = node.expression if isinstance(node, exp.Connector) else node.this
    return kind_of(node, lookup) is ValueKind.BOOLEAN
