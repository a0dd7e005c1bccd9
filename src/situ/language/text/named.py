"""`expression AS name`, as clauses of output columns list it."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import QuerySyntaxError, ReturnItemError
from situ.language.text.render import ends_operand
from situ.language.text.tokens import Source, Token, describe, span_of
from situ.language.text.words import quote


def with_name(
    source: Source, tokens: Sequence[Token], keyword: Token, *, example: str
) -> tuple[tuple[Token, ...], Token]:
    """The tokens of the expression, and its name; `keyword` opens the clause, of which `example` is one."""
    clause = keyword.value.upper()
    if not tokens:
        raise source.error(
            QuerySyntaxError,
            f"a {clause} item is missing",
            keyword,
            hint=f"write {clause} {example}, with a comma between items and none after the last",
        )
    _check_missing_comma(source, tokens, clause, example)
    if len(tokens) >= 3 and tokens[-2].is_word("AS") and tokens[-1].is_name:
        return tuple(tokens[:-2]), tokens[-1]
    if tokens[-1].is_word("AS") or (len(tokens) >= 2 and tokens[-2].is_word("AS")):
        raise source.expected(
            "a name after AS", tokens[-1], hint="a name that is no plain word is written in back-quotes"
        )
    if tokens[0].is_word("AS"):
        raise source.error(QuerySyntaxError, "an expression is missing before AS", tokens[0])
    if len(tokens) > 1 and tokens[-1].is_name and ends_operand(tokens[-2]):
        raise source.error(
            ReturnItemError,
            f"AS is missing before {describe(tokens[-1])}",
            tokens[-1],
            hint=f"write {source.text[tokens[0].start : tokens[-2].end]} AS {quote(tokens[-1].value)}",
        )
    words = "_".join(token.value for token in tokens if token.is_name)
    raise source.error(
        ReturnItemError,
        f"this {clause} item has no name",
        span_of(tokens),
        hint=f"add AS and a name, as in {source.text[tokens[0].start : tokens[-1].end]} AS "
        f"{quote(words or 'x')}",
    )


def _check_missing_comma(source: Source, tokens: Sequence[Token], clause: str, example: str) -> None:
    """What follows `x AS name` is the next item."""
    depth = 0
    for position, token in enumerate(tokens[:-2]):
        depth += token.is_sign("(", "[") - token.is_sign(")", "]")
        name, behind = tokens[position + 1], tokens[position + 2]
        if position and token.is_word("AS") and depth == 0 and name.is_name and behind.is_name:
            raise source.error(
                QuerySyntaxError,
                f"a comma is missing before {describe(behind)}",
                behind,
                hint=f"{clause} items are separated by commas: {example}, max(A.speed) AS top",
            )
