"""Names as clauses list them: `PARTITION BY cars.id, zone`."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import QuerySyntaxError
from situ.language.text.clauses import Clause, clause_hint, split_commas
from situ.language.text.sql import Scope
from situ.language.text.tokens import Source, Token, describe, span_of


def dotted(source: Source, tokens: Sequence[Token]) -> tuple[list[str], Sequence[Token]]:
    """The parts of a dotted name, and the tokens behind it."""
    if not tokens[0].is_name:
        raise source.expected(
            "the name of the events",
            tokens[0],
            hint="FROM only gives the events a name, which table or file they are is said to situ.match; "
            "a name that is no plain word is written in back-quotes",
        )
    used = 1
    while used + 1 < len(tokens) and tokens[used].is_sign(".") and tokens[used + 1].is_name:
        used += 2
    return [token.value for token in tokens[:used:2]], tokens[used:]


def column_names(source: Source, clause: Clause | None, scope: Scope) -> tuple[str, ...]:
    """The columns that a clause lists, none of them twice."""
    if clause is None:
        return ()
    if clause.tokens and clause.tokens[-1].is_sign(","):
        raise source.error(QuerySyntaxError, f"a column is missing in {clause.name}", clause.tokens[-1])
    columns = tuple(column_name(source, tokens, clause, scope) for tokens in split_commas(clause.tokens))
    lowered = [column.lower() for column in columns]
    for position, column in enumerate(lowered):
        if column in lowered[:position]:
            raise source.error(
                QuerySyntaxError, f"{clause.name} has {columns[position]} twice", span_of(clause.tokens)
            )
    return columns


def column_name(source: Source, tokens: Sequence[Token], clause: Clause, scope: Scope) -> str:
    """The one column that the tokens name."""
    if not tokens:
        raise source.error(QuerySyntaxError, f"a column is missing in {clause.name}", clause.keyword)
    if not tokens[0].is_name:
        raise source.expected(f"a column in {clause.name}", tokens[0])
    parts, rest = dotted(source, tokens)
    if rest:
        hint = clause_hint(rest[0].value) if rest[0].is_name else None
        raise source.error(
            QuerySyntaxError,
            f"{clause.name} takes columns separated by commas, found {describe(rest[0])}",
            rest[0],
            hint=hint or "compute anything else as a column of the DataFrame first",
        )
    parts = parts[scope.strip(parts) :]
    if len(parts) > 1:
        raise source.error(
            QuerySyntaxError,
            f"{clause.name} takes columns, and {'.'.join(parts)} is a field of one",
            span_of(tokens),
            hint="give the field a column of its own in the DataFrame first",
        )
    return parts[0]
