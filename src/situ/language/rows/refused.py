"""What other languages write in expressions and row patterns do not: each is told what to write instead."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import DurationError, ForbiddenExpressionError, NavigationError, QuerySyntaxError, Span
from situ.language.text.durations import is_unit
from situ.language.text.render import is_call
from situ.language.text.tokens import Kind, Source, Token, span_of
from situ.language.text.words import SPARK_AGGREGATES, SPARK_WINDOW_FUNCTIONS

_OTHER_CALLS = {
    "lag": "write PREV(x), or PREV(x, n), without OVER",
    "lead": "write NEXT(x), or NEXT(x, n), without OVER",
    "match_sequence_number": "the number of a row in its match is count(*), with ALL ROWS PER MATCH",
    "match_rowtime": "the time of the match is that of its last row: LAST(ts)",
    "match_proctime": "the time of the match is that of its last row: LAST(ts)",
}
_OTHER_CALLS |= dict.fromkeys(
    SPARK_WINDOW_FUNCTIONS - _OTHER_CALLS.keys(),
    "it is a window function: compute it as a column of the table first",
)


def check_written(source: Source, tokens: Sequence[Token], what: str) -> None:
    """Refuse by name what is understood nowhere in an expression over the rows of a match."""
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else None
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if token.kind is Kind.NUMBER and after is not None:
            _check_unit(source, token, after, before)
        if token.is_word("AT") and after is not None and after.is_word("LEAST", "MOST"):
            raise source.error(
                DurationError,
                f"AT {after.value.upper()} is of situations: a row lasts no time",
                Span(token.start, after.end),
                hint="write how often the variable is repeated in PATTERN, as in A{3,}; "
                "or compare times, as in ts - FIRST(A.ts) >= INTERVAL 5 SECONDS",
            )
        if is_call(token, before, after) and (hint := _OTHER_CALLS.get(token.value.lower())):
            raise source.error(
                ForbiddenExpressionError, f"{what} calls {token.value.lower()}", token, hint=hint
            )
        if token.is_sign("->") and before is not None and before.value.startswith("_item_"):
            raise source.error(QuerySyntaxError, "a name beginning with _item_ is situ's own", before)
        if token.is_word("IGNORE", "RESPECT") and after is not None and after.is_word("NULLS"):
            raise source.error(
                ForbiddenExpressionError,
                f"{token.value.upper()} NULLS is not supported: FIRST, LAST, PREV and NEXT take "
                "the row there is, and aggregates skip nulls",
                Span(token.start, after.end),
                hint="leave it out",
            )
        is_quoted = token.kind is Kind.QUOTED or (before is not None and before.is_sign("."))
        if is_quoted and after is not None and after.is_sign("(") and token.value.lower() in SPARK_AGGREGATES:
            raise source.error(
                NavigationError,
                f"{what} calls {token.value} by a quoted or qualified name",
                token,
                hint=f"write {token.value.lower()}( and what it is of",
            )


def _check_unit(source: Source, number: Token, unit: Token, before: Token | None) -> None:
    """`ts - A.ts < 5 minutes`."""
    if unit.kind is not Kind.WORD or not is_unit(unit.value) or unit.start == number.end:
        return
    if before is not None and (before.is_word("INTERVAL") or before.kind in (Kind.WORD, Kind.NUMBER)):
        return
    raise source.error(
        QuerySyntaxError,
        "a length of time in an expression begins with INTERVAL",
        Span(number.start, unit.end),
        hint=f"write INTERVAL {number.value} {unit.value.upper()}; "
        "how long a match may take is said by WITHIN",
    )


def check_behind(source: Source, tokens: Sequence[Token], position: int, name: str) -> None:
    """A navigation or an aggregate has no OVER, WITHIN GROUP or IGNORE NULLS of its own."""
    if position >= len(tokens):
        return
    token, rest = tokens[position], tokens[position + 1 : position + 3]
    if token.is_word("OVER"):
        if len(rest) == 2 and rest[1].is_word("LAST"):
            raise source.error(
                ForbiddenExpressionError,
                "per-event windows, OVER (LAST ...), are not built yet",
                span_of((token, *rest)),
                hint="compute it as a column of the table first",
            )
        raise source.error(
            ForbiddenExpressionError,
            f"{name} stands before OVER, but this is no window function",
            token,
            hint="an aggregate is over the rows of the match: leave OVER out; "
            "over other rows compute it as a column of the table first",
        )
    if token.is_word("WITHIN") and rest and rest[0].is_word("GROUP"):
        raise source.error(
            ForbiddenExpressionError,
            "WITHIN GROUP is not supported: aggregates take rows in their order",
            Span(token.start, rest[0].end),
            hint="array_agg(A.price) has the values in the order of the rows, sort_array sorts them",
        )
