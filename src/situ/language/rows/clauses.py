"""Which stretch of MATCH_RECOGNIZE ( ... ) belongs to which clause, without yet looking inside (ROW 1.1)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import ForeignClauseError, QueryError, QuerySyntaxError
from situ.language.text.clauses import Clause
from situ.language.text.render import ends_operand
from situ.language.text.tokens import Kind, Source, Token, describe, did_you_mean

ROWS_PER_MATCH = "ROWS PER MATCH"
MODE = "MATCH"
# In the order they are written in; those of one rank may change places.
_RANKS = {
    "PARTITION BY": 0,
    "ORDER BY": 1,
    "MEASURES": 2,
    ROWS_PER_MATCH: 3,
    "AFTER MATCH": 4,
    "STRATEGY": 5,
    MODE: 6,
    "PATTERN": 7,
    "WITHIN": 8,
    "SUBSET": 8,
    "DEFINE": 9,
}
_PLAIN = ("MEASURES", "PATTERN", "WITHIN", "SUBSET", "DEFINE", "STRATEGY")
_WORDS = (*_PLAIN, "PARTITION", "ORDER", "ONE", "ALL", "AFTER", "MAXIMAL", "INCREMENTAL")
_FOREIGN = {
    "RETURN": ("situations", "list the output columns in MEASURES, before PATTERN"),
    "EMIT": ("situations", "a match is reported as soon as it is certain: leave EMIT out"),
    "HAVING": ("situations", "say it in the condition of the last variable"),
    "STARTING": ("situations", "rows are ordered by ORDER BY and last no time"),
    "ENDING": ("situations", "rows are ordered by ORDER BY and last no time"),
    "WHERE": (
        "SELECT",
        "choose the rows before they are matched: FROM (SELECT * FROM t WHERE x > 5) MATCH_RECOGNIZE ( ... )",
    ),
    "GROUP": ("SELECT", "write PARTITION BY to match within each value of some columns"),
    "LIMIT": ("SELECT", "take the first rows of the table that situ.match gives"),
}


def split_clauses(source: Source, tokens: Sequence[Token], keyword: Token) -> dict[str, Clause]:
    """The clauses by name, each at most once and in their order; `keyword` is MATCH_RECOGNIZE."""
    starts = _starts(source, tokens)
    if not starts or starts[0][0] > 0:
        raise _no_clause(source, tokens, keyword)
    clauses: dict[str, Clause] = {}
    for number, (begin, n_words, name) in enumerate(starts):
        stop = starts[number + 1][0] if number + 1 < len(starts) else len(tokens)
        last = tokens[begin + n_words - 1]
        if name in clauses:
            raise source.error(
                QuerySyntaxError,
                f"{told_clause(name)} is there twice",
                tokens[begin],
                hint="join conditions with AND, list items with commas; "
                "a column of that name needs back-quotes",
            )
        later = next((earlier for earlier in clauses if _RANKS[earlier] > _RANKS[name]), None)
        if later is not None:
            raise _misplaced(source, tokens[begin], name, later)
        clauses[name] = Clause(name, last, tuple(tokens[begin + n_words : stop]))
    return clauses


def _starts(source: Source, tokens: Sequence[Token]) -> list[tuple[int, int, str]]:
    """Where each clause begins, of how many words its keyword is, and its name."""
    found: list[tuple[int, int, str]] = []
    depth = opened = 0  # `opened`: where the current clause's own tokens begin
    for position, token in enumerate(tokens):
        depth += token.is_sign("(", "[") - token.is_sign(")", "]")
        before = tokens[position - 1] if position else None
        if depth or token.kind is not Kind.WORD or position < opened:
            continue
        if before is not None and before.is_sign("."):
            continue
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        is_behind = position == 0 or (position > opened and ends_operand(before))
        if found and found[-1][2] == "AFTER MATCH":
            is_behind = is_behind and not _is_variable_next(tokens, position)
        opening = _opening(token, after, is_behind=is_behind)
        if opening is not None:
            found.append((position, *opening))
            opened = position + opening[0]
        elif is_behind:
            _check_foreign(source, token, after)
    return found


def _is_variable_next(tokens: Sequence[Token], position: int) -> bool:
    """Whether AFTER MATCH SKIP TO [FIRST | LAST] is all there is so far of the clause."""
    before = position - 2 if tokens[position - 1].is_word("FIRST", "LAST") else position - 1
    return tokens[before].is_word("TO")


def _opening(token: Token, after: Token | None, *, is_behind: bool) -> tuple[int, str] | None:
    """How many words of a keyword stand here, and the clause it opens.

    An operand never follows an operand, so there the word is a keyword, and not a column. Where a clause has
    just been opened it is one only if what follows says so.
    """
    if after is None:
        return (1, token.value.upper()) if is_behind and token.is_word(*_PLAIN) else None
    if token.is_word("PARTITION", "ORDER") and after.is_word("BY"):
        return 2, f"{token.value.upper()} BY"
    if token.is_word("ONE", "ALL") and after.is_word("ROW", "ROWS"):
        return 1, ROWS_PER_MATCH
    if token.is_word("AFTER") and after.is_word("MATCH"):
        return 1, "AFTER MATCH"
    if token.is_word("MAXIMAL", "INCREMENTAL") and after.is_word("MATCH"):
        return 1, MODE
    if not token.is_word(*_PLAIN) or (token.is_word("WITHIN") and after.is_word("GROUP")):
        return None
    begins_clause = (
        after.is_sign("(")
        if token.is_word("PATTERN")
        else _begins_operand(after) and not token.is_word("STRATEGY")
    )
    return (1, token.value.upper()) if is_behind or begins_clause else None


def _begins_operand(token: Token) -> bool:
    if token.kind is Kind.WORD:
        return ends_operand(token) and not token.is_word("END", *_WORDS)
    return token.kind in (Kind.QUOTED, Kind.STRING, Kind.NUMBER)


def _check_foreign(source: Source, token: Token, after: Token | None) -> None:
    """Clauses of other languages, and of other kinds of queries."""
    if token.is_word("SEEK", "INITIAL") and after is not None and after.is_word("PATTERN"):
        raise source.error(
            ForeignClauseError,
            f"{token.value.upper()} belongs to row patterns in the WINDOW clause (R020), "
            "which are not supported",
            token,
            hint=f"leave {token.value.upper()} out: a match may begin at every row",
        )
    if (
        token.value.upper() not in _FOREIGN
        or after is None
        or not (after.is_name or after.kind is Kind.NUMBER)
    ):
        return
    kind, hint = _FOREIGN[token.value.upper()]
    raise source.error(
        ForeignClauseError,
        f"{token.value.upper()} is a clause of {kind}, and MATCH_RECOGNIZE is a row pattern",
        token,
        hint=hint,
    )


def _no_clause(source: Source, tokens: Sequence[Token], keyword: Token) -> QueryError:
    example = "write MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B+) DEFINE B AS x > PREV(x))"
    if not tokens:
        return source.error(QuerySyntaxError, "MATCH_RECOGNIZE has no clauses", keyword, hint=example)
    return source.expected(
        "PARTITION BY or ORDER BY",
        tokens[0],
        hint=(clause_hint(tokens[0].value) if tokens[0].is_name else None) or example,
    )


def clause_hint(word: str) -> str | None:
    """Did you mean some clause?"""
    return did_you_mean(word, _WORDS, cutoff=0.75)


def told_clause(name: str) -> str:
    """What messages call a clause."""
    return {MODE: "MAXIMAL or INCREMENTAL MATCH", ROWS_PER_MATCH: "ONE or ALL ROWS PER MATCH"}.get(name, name)


def _misplaced(source: Source, token: Token, name: str, later: str) -> QueryError:
    order = (
        "PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, AFTER MATCH SKIP, STRATEGY, "
        "MAXIMAL or INCREMENTAL MATCH, PATTERN, WITHIN, SUBSET, DEFINE"
    )
    return source.error(
        QuerySyntaxError,
        f"{told_clause(name)} comes before {told_clause(later)}, found it behind",
        token,
        hint=f"the order is {order}",
    )


def expected_columns(source: Source, clause: Clause, found: Token) -> QueryError:
    """The error for what stands behind a column of PARTITION BY or ORDER BY."""
    return source.error(
        QuerySyntaxError,
        f"{clause.name} takes columns separated by commas, found {describe(found)}",
        found,
        hint=(clause_hint(found.value) if found.is_name else None)
        or "compute anything else as a column of the table first",
    )
