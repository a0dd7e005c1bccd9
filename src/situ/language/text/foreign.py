"""What other query languages say and this one does not: each is told what to type instead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from situ.errors import ForeignClauseError, QueryError, QuerySyntaxError, Span
from situ.language.text.render import ends_operand
from situ.language.text.tokens import Kind, Source, Token, describe

_SORT = "situ.match(events, query) gives a table: sort it there"
_CLAUSES = {
    "GROUP": "to match within each value of some columns write PARTITION BY, after FROM; "
    "aggregates over a situation are written in RETURN, as in avg(A.speed) AS speed",
    "LIMIT": "a query gives every match: take the first rows of the table that situ.match gives",
    "OFFSET": "a query gives every match: take some rows of the table that situ.match gives",
    "SELECT": "list the output columns in RETURN, at the end",
    "UNION": "run each query on its own and join the results",
}
_OF_ROWS = {
    "MEASURES": "list the output columns in RETURN",
    "SUBSET": "define a symbol by both conditions, joined with OR",
    "STRATEGY": "leave it out: every combination of situations that fits is found",
    "AFTER": "leave it out: every combination of situations that fits is found",
    "ONE": "leave it out: every match is one row",
    "ALL": "every match is one row; list what is to be in it in RETURN",
}


def check_foreign_clauses(source: Source, depths: Sequence[int], end: int) -> None:
    """Refuse clauses of SQL; a word is one only where no operand can stand, as for our own."""
    tokens = source.tokens
    for position in range(1, end):
        token, before, after = tokens[position], tokens[position - 1], tokens[position + 1]
        if depths[position] or not (token.is_in(_CLAUSES) or token.is_in(_OF_ROWS)):
            continue
        is_star = before.is_sign("*") and tokens[position - 2].is_word("RETURN")
        if token.is_in(_OF_ROWS):
            if ends_operand(before) and _opens_clause(token, after):
                raise _of_row_patterns(source, token)
            continue
        if (ends_operand(before) or is_star) and _opens_clause(token, after):
            written = "GROUP BY" if token.is_word("GROUP") else token.value.upper()
            raise source.error(
                QuerySyntaxError,
                f"there is no clause {written}",
                Span(token.start, after.end) if after.is_word("BY") else token.span,
                hint=_CLAUSES[token.value.upper()],
            )


def _of_row_patterns(source: Source, token: Token) -> QueryError:
    return source.error(
        ForeignClauseError,
        f"{token.value.upper()} is a clause of row patterns, "
        "and a query without MATCH_RECOGNIZE is one of situations",
        token,
        hint=f"{_OF_ROWS[token.value.upper()]}; a row pattern is written FROM t MATCH_RECOGNIZE ( ... )",
    )


def _opens_clause(token: Token, after: Token) -> bool:
    if token.is_word("GROUP"):
        return after.is_word("BY")
    if token.is_word("AFTER"):
        return after.is_word("MATCH")
    if token.is_word("ONE", "ALL"):
        return after.is_word("ROW", "ROWS")
    if token.is_word("STRATEGY"):
        return after.is_word("CONTIGUOUS", "SKIP")
    if token.is_word("LIMIT", "OFFSET"):
        return after.kind is Kind.NUMBER
    return after.is_name or after.is_sign("*", "(")


def sort_hint() -> str:
    """What to do where ORDER BY was meant for the result."""
    return f"ORDER BY names the time column of the events; the result has no order: {_SORT}"


_PATH = re.compile(r"[^\s]+\.(?:situ|sql|txt|query|q)|(?:[./~]|[A-Za-z]:\\)[^\s]*")


def check_text(given: object) -> str:
    """A query is text: not a path to it, and not anything else."""
    if isinstance(given, str):
        if _PATH.fullmatch(given.strip()):
            raise QuerySyntaxError(f"{given!r} is the name of a file, not a query", hint=_read(given.strip()))
        return given
    if hasattr(given, "__fspath__"):
        raise QuerySyntaxError("a path is not a query", hint=_read(str(given)))
    raise QuerySyntaxError(
        f"a query is text, not a {type(given).__name__}",
        hint="decode it first: situ.query(text.decode())"
        if isinstance(given, bytes)
        else 'write situ.query("FROM cars DEFINE A AS speed > 70")',
    )


def _read(path: str) -> str:
    return f"read it first: situ.query(Path({path!r}).read_text())"


def pattern_hint(left: Token, found: Token, after: Token) -> str | None:
    """For the quantifiers of row patterns and other languages."""
    if found.is_sign("{") or (found.kind is Kind.NUMBER and after.is_word("TIMES", "TIME", "X")):
        return (
            f"{left.value} is one situation, a whole run of rows; for several define it several times, "
            f"{left.value}1 AS ..., {left.value}2 AS ..., and write {left.value}1 before {left.value}2"
        )
    if found.is_sign("?"):
        return f"nothing is optional in a pattern: leave {left.value} out, or ask with a second query"
    if found.is_sign("+", "*"):
        return f"{left.value} already stands for a whole run of rows: write {left.value} alone"
    return None


# Words for relations that have other names here, and how to write what they say.
OTHER_RELATIONS = {
    "then": "before, or followed-by when neither may happen again in between",
    "precedes": "before",
    "follow": "follows, or after when they may happen again in between",
    "in": "inside",
    "within": "inside; WITHIN is the window of the whole match",
    "includes": "covers, or contains where neither end may coincide",
    "ends": "finishes",
    "by": "BY behind the second symbol, as in A before B BY AT MOST 5 minutes",
}


def relation_hint(word: str) -> str | None:
    """How to write a relation of another name."""
    meant = OTHER_RELATIONS.get(word.lower())
    return None if meant is None else f"write {meant}"


def missing_and(source: Source, found: Token) -> QueryError:
    """Two constraints in a row."""
    return source.error(
        QuerySyntaxError,
        f"AND is missing before {describe(found)}",
        found,
        hint="constraints are joined with AND, as in A meets B AND B before C",
    )
