"""The entries of MEASURES, DEFINE and SUBSET, not yet understood."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import QuerySyntaxError
from situ.language.rows.draft import DefinitionText, MeasureText, Mention, SubsetText
from situ.language.rows.names import variable_name
from situ.language.text.clauses import Clause
from situ.language.text.named import with_name
from situ.language.text.places import Phrase, Place
from situ.language.text.tokens import Kind, Source, Token, describe, span_of
from situ.language.text.words import quote


def measure_text(source: Source, tokens: Sequence[Token], clause: Clause) -> MeasureText:
    """`expression AS name`."""
    if tokens and tokens[0].is_sign("*"):
        raise source.error(
            QuerySyntaxError,
            "MEASURES has no *",
            tokens[0],
            hint="ALL ROWS PER MATCH has all columns of the rows; list others with AS",
        )
    of, name = with_name(source, tokens, clause.keyword, example="LAST(A.price) AS price")
    return MeasureText(name.value, Place(source, name.span), Phrase(source, of))


def definition_text(source: Source, tokens: Sequence[Token], clause: Clause) -> DefinitionText:
    """`variable AS condition`."""
    example = "write DEFINE A AS price > 5, with a comma between conditions and none after the last"
    if not tokens:
        raise source.error(QuerySyntaxError, "a condition is missing in DEFINE", clause.keyword, hint=example)
    name = tokens[0]
    if not name.is_name or name.is_word("AS"):
        raise source.expected("the name of a variable", name, hint=example)
    if len(tokens) < 2 or not tokens[1].is_word("AS"):
        found = tokens[1] if len(tokens) > 1 else None
        message = f"expected AS after the variable {describe(name)}"
        condition = tokens[2:] if found is not None and found.is_sign("=", ":") else ()
        hint = f"write {quote(name.value)} AS " + (
            source.text[condition[0].start : condition[-1].end] if condition else "and its condition"
        )
        raise source.error(
            QuerySyntaxError,
            message + (f", found {describe(found)}" if found else ""),
            found or name,
            hint=hint,
        )
    if len(tokens) == 2:
        raise source.error(
            QuerySyntaxError, f"the condition of {name.value} is missing after AS", tokens[1], hint=example
        )
    _check_missing_comma(source, tokens[2:])
    return DefinitionText(Mention(variable_name(name), Place(source, name.span)), Phrase(source, tokens[2:]))


def _check_missing_comma(source: Source, tokens: Sequence[Token]) -> None:
    depth = 0
    for position, token in enumerate(tokens):
        depth += token.is_sign("(", "[") - token.is_sign(")", "]")
        if token.is_word("AS") and depth == 0 and position and tokens[position - 1].is_name:
            raise source.error(
                QuerySyntaxError,
                f"a comma is missing before {describe(tokens[position - 1])}",
                tokens[position - 1],
                hint="conditions are separated by commas: DEFINE A AS price > 5, B AS price < PREV(price)",
            )


def subset_text(source: Source, tokens: Sequence[Token], clause: Clause) -> SubsetText:
    """`name = (variable, ...)`."""
    signs = [token.value if token.kind is Kind.SIGN else "" for token in tokens]
    is_listed = (
        len(tokens) >= 5
        and tokens[0].is_name
        and signs[1:3] == ["=", "("]
        and signs[-1] == ")"
        and all(
            token.is_name if place % 2 == 0 else token.is_sign(",")
            for place, token in enumerate(tokens[3:-1])
        )
        and len(tokens) % 2 == 1
    )
    if not is_listed:
        raise source.error(
            QuerySyntaxError,
            "SUBSET gives several variables one name",
            span_of(tokens) if tokens else clause.keyword,
            hint="write SUBSET U = (A, B), V = (B, C)",
        )
    name, *members = (
        Mention(variable_name(token), Place(source, token.span)) for token in (tokens[0], *tokens[3:-1:2])
    )
    return SubsetText(name, members)
