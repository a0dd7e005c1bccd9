"""Repetitions with their first iterations written out, so that these are positions of their own."""

from __future__ import annotations

from collections.abc import Collection

from situ.language.rows.ast import (
    Alternation,
    Concatenation,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)


def unrolled(pattern: Pattern, variables: Collection[str], times: int = 1) -> Pattern:
    """`X*` as `(X X*)?` and `X+` as `X X*`, of these variables; deeper with `times`: `(X (X X*)?)?`.

    Equal under preferment: one more iteration stands where it stood, before or behind none, and X always
    takes a row.
    """

    def of(one: Pattern) -> Pattern:
        match one:
            case Repetition(body, least, None, is_reluctant) if _is_one_of(body, variables):
                rest: Pattern = Repetition(body, 0, None, is_reluctant)
                for _ in range(times - least):
                    rest = Repetition(Concatenation((body, rest)), 0, 1, is_reluctant)
                return Concatenation((Repetition(body, least, least), rest)) if least else rest
            case Repetition(body, least, most, is_reluctant):
                return Repetition(of(body), least, most, is_reluctant)
            case Concatenation(parts):
                return Concatenation(tuple(map(of, parts)))
            case Alternation(choices):
                return Alternation(tuple(map(of, choices)))
            case Permutation(parts):
                return Permutation(tuple(map(of, parts)))
            case Exclusion(body):
                return Exclusion(of(body))
            case _:
                return one

    return of(pattern)


def _is_one_of(body: Pattern, variables: Collection[str]) -> bool:
    while isinstance(body, Exclusion):
        body = body.body
    return isinstance(body, Variable) and body.name in variables
