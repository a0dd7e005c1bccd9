"""Aggregates over the visible rows of a variable (ROW 3.6)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import NavigationError, QueryError, QuerySyntaxError
from situ.language.rows.ast import Aggregate
from situ.language.rows.onerow import OneRow
from situ.language.text.clauses import split_commas
from situ.language.text.nesting import closing
from situ.language.text.nodes import Expression
from situ.language.text.tokens import Source, Token, span_of

# One name for each: that of ROW 3.6, or of WIN 4.1.
_SAME = {
    "mean": "avg",
    "std": "stddev",
    "stddev_samp": "stddev",
    "var_samp": "variance",
    "collect_list": "array_agg",
    "some": "any",
    "bool_or": "any",
    "bool_and": "every",
}


def aggregate(
    row: OneRow, tokens: Sequence[Token], begin: int, *, is_final: bool, clause: str
) -> tuple[Aggregate, int]:
    """The aggregate that is called at `begin`, and the last of its tokens; `row` reads its arguments."""
    source, name = row.source, tokens[begin].value.lower()
    last = closing(tokens, begin + 1)
    inside = tokens[begin + 2 : last]
    is_distinct = bool(inside) and inside[0].is_word("DISTINCT")
    if is_distinct and clause == "DEFINE":
        raise _measures_only(source, inside[0], "DISTINCT")
    inside = inside[1:] if inside and inside[0].is_word("DISTINCT", "ALL") else inside
    expressions = _arguments(row, tokens[begin], inside, is_distinct=is_distinct)
    where, last = _filter(row, tokens, last, clause)
    found = Aggregate(
        _SAME.get(name, name),
        argument=expressions[0] if expressions else None,
        variable=row.variable,
        is_distinct=is_distinct,
        where=where,
        is_final=is_final,
        more=tuple(expression.sql for expression in expressions[1:]),
    )
    return found, last


def _arguments(
    row: OneRow, function: Token, inside: Sequence[Token], *, is_distinct: bool
) -> Sequence[Expression]:
    """What is aggregated; nothing for count(*) and count(A.*)."""
    source, name = row.source, function.value.lower()
    if inside and inside[-1].is_sign("*") and len(inside) in (1, 3):
        if name != "count" or is_distinct:
            raise source.error(
                QuerySyntaxError,
                f"{name}{' DISTINCT' if is_distinct else ''} takes a column, found *",
                inside[-1],
                hint=f"write {name}(A.price); rows are counted by count(*) and count(A.*)",
            )
        row.belongs(row.names.variable(source, inside[0]) if len(inside) == 3 else None, inside[0])
        return ()
    parts = split_commas(inside)
    if any(not part for part in parts):
        raise source.error(
            QuerySyntaxError, f"say what to take the {name} of", function, hint=f"write {name}(A.price)"
        )
    return [row.expression(part) for part in parts]


def _filter(row: OneRow, tokens: Sequence[Token], last: int, clause: str) -> tuple[Expression | None, int]:
    """FILTER (WHERE condition) behind the aggregate that ends at `last`, and the last token with it."""
    if last + 2 >= len(tokens) or not tokens[last + 1].is_word("FILTER"):
        return None, last
    source, word = row.source, tokens[last + 1]
    if clause == "DEFINE":
        raise _measures_only(source, word, "FILTER")
    end = closing(tokens, last + 2) if tokens[last + 2].is_sign("(") else last + 2
    condition = tokens[last + 4 : end]
    if not condition or not tokens[last + 3].is_word("WHERE"):
        raise source.error(
            QuerySyntaxError,
            "FILTER is followed by (WHERE condition)",
            span_of(tokens[last + 1 : end + 1]),
            hint="write count(A.*) FILTER (WHERE A.price > 5)",
        )
    return row.expression(condition), end


def _measures_only(source: Source, token: Token, word: str) -> QueryError:
    return source.error(
        NavigationError,
        f"{word} is for aggregates in MEASURES, and this is a condition",
        token,
        hint="take the aggregate of all rows of a variable, or define a variable for the rows that are meant",
    )
