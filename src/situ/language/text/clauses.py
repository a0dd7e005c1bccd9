"""Which stretch of the text belongs to which clause, without yet looking inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from situ.errors import QuerySyntaxError
from situ.language.text.foreign import check_foreign_clauses
from situ.language.text.nesting import bracket_depths
from situ.language.text.render import ends_operand
from situ.language.text.tokens import Kind, Source, Token, describe, did_you_mean
from situ.language.text.words import CLAUSE_WORDS, CLAUSES_WITH_BY

CLAUSES = ("FROM", "WHERE", "ORDER BY", "PARTITION BY", "SYMBOL BY", "STARTING", "ENDING", "ID BY", "DEFINE",
           "PATTERN", "WITHIN", "EMIT", "RETURN", "HAVING")  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """One clause: the tokens of its keyword and of what follows it."""

    name: str
    keyword: Token  # its last word, to point at when what should follow is missing
    tokens: tuple[Token, ...]


def split_clauses(source: Source) -> dict[str, Clause]:
    """The clauses of a query by name; FROM first, each at most once."""
    tokens = source.tokens
    depths = bracket_depths(source)
    end = len(tokens) - 1
    if end and tokens[end - 1].is_sign(";"):
        end -= 1
    _check_beginning(source)
    check_foreign_clauses(source, depths, end)
    starts = [(0, 0, "FROM"), *_starts(source, depths, end)]
    clauses: dict[str, Clause] = {}
    for number, (_, last, name) in enumerate(starts):
        stop = starts[number + 1][0] if number + 1 < len(starts) else end
        if name in clauses:
            raise source.error(
                QuerySyntaxError,
                f"{name} is there twice",
                tokens[last],
                hint="join conditions with AND, list items with commas; a column of that "
                "name needs back-quotes",
            )
        clauses[name] = Clause(name, tokens[last], tokens[last + 1 : stop])
    return clauses


def _check_beginning(source: Source) -> None:
    first = source.tokens[0]
    if first.is_word("FROM"):
        return
    if first.is_word("SELECT"):
        hint = "there is no SELECT: begin with FROM and list the output columns in RETURN"
    else:
        hint = "write FROM and the name of the events, as in: FROM cars DEFINE A AS speed > 70"
    raise source.error(
        QuerySyntaxError, f"a query begins with FROM, found {describe(first)}", first, hint=hint
    )


def _starts(source: Source, depths: Sequence[int], end: int) -> Iterator[tuple[int, int, str]]:
    """Position of each clause's first and last keyword token, and its name."""
    tokens = source.tokens
    position, opened = 1, 1  # `opened`: where the current clause's own tokens begin
    while position < end:
        token, before, after = tokens[position], tokens[position - 1], tokens[position + 1]
        if depths[position] == 0 and token.kind is Kind.WORD and not before.is_sign("."):
            word = token.value.upper()
            if word in CLAUSES_WITH_BY and after.is_word("BY"):
                yield position, position + 1, f"{word} BY"
                position = opened = position + 2
                continue
            opens_by_clause = position + 2 < end and tokens[position + 2].is_word("BY")
            before_operand = _begins_operand(after) and not opens_by_clause
            is_star = before.is_sign("*") and position - 1 == opened  # RETURN *
            after_operand = position > opened and (ends_operand(before) or is_star)
            if word in CLAUSE_WORDS and (before_operand or after_operand):
                # An operand never follows an operand, so there the word is a keyword, and not a column.
                yield position, position, word
                opened = position + 1
            elif word == "FROM" and not _is_second_word(tokens, position):
                is_apart = before.kind is Kind.WORD and did_you_mean(before.value, ["apart"]) is not None
                hint = "did you mean `apart from`?" if is_apart else "a column of that name needs back-quotes"
                raise source.error(QuerySyntaxError, "FROM is there twice", token, hint=hint)
        position += 1


def _is_second_word(tokens: Sequence[Token], position: int) -> bool:
    """Whether the FROM there belongs to the word before it: DISTINCT FROM, apart from, apart-from."""
    before = tokens[position - 1]
    if before.is_sign("-"):
        return tokens[position - 2].is_word("APART")
    return before.is_word("DISTINCT", "APART")


def _begins_operand(token: Token) -> bool:
    if token.kind is Kind.WORD:
        return ends_operand(token) and not token.is_word("END") and token.value.upper() not in CLAUSE_WORDS
    return token.kind in (Kind.QUOTED, Kind.STRING, Kind.NUMBER)


def split_commas(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The stretches between commas that stand in no bracket; one empty stretch for no tokens at all."""
    stretches: list[Sequence[Token]] = []
    depth = start = 0
    for position, token in enumerate(tokens):
        if token.is_sign("(", "["):
            depth += 1
        elif token.is_sign(")", "]"):
            depth -= 1
        elif token.is_sign(",") and depth == 0:
            stretches.append(tokens[start:position])
            start = position + 1
    stretches.append(tokens[start:])
    return stretches


def clause_hint(word: str) -> str | None:
    """Did you mean some clause?"""
    return did_you_mean(word, [clause.split()[0] for clause in CLAUSES], cutoff=0.75)
