"""Which rows of a match AFTER MATCH SKIP TO can lead to, as far as the pattern shows (ROW 4.9)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import permutations
from typing import NamedTuple

from situ.language.rows.ast import (
    Alternation,
    Concatenation,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)


class _Kind(NamedTuple):
    """Of a match, whether its first row is of the variables meant, and whether a later one is."""

    begins: bool
    later: bool


_Kinds = frozenset[_Kind | None]  # None: no rows
_NOTHING: _Kinds = frozenset({None})
_ENOUGH = 3  # from so many iterations on, one more makes no other kinds


def always_at_first_row(pattern: Pattern, members: frozenset[str], is_first: bool) -> bool:
    """Whether the first (or the last) row of these variables is in every match its first row, or missing."""
    kinds = [kind for kind in _kinds(pattern, members) if kind is not None]
    return not any(kind.later and not (is_first and kind.begins) for kind in kinds)


def _kinds(pattern: Pattern, members: frozenset[str]) -> _Kinds:
    match pattern:
        case Variable(name):
            return frozenset({_Kind(name in members, False)})
        case Concatenation(parts):
            return _joined(_kinds(part, members) for part in parts)
        case Alternation(choices):
            return frozenset().union(*(_kinds(choice, members) for choice in choices))
        case Permutation(parts):
            orders = permutations([_kinds(part, members) for part in parts])
            return frozenset().union(*map(_joined, orders))
        case Exclusion(body):
            return _kinds(body, members)
        case Repetition(body, least, most):
            return _repeated(_kinds(body, members), least, most)
        case _:
            return _NOTHING


def _repeated(once: _Kinds, least: int, most: int | None) -> _Kinds:
    fewest = min(least, _ENOUGH)
    numbers = range(fewest, max(fewest, min(_ENOUGH if most is None else most, _ENOUGH)) + 1)
    return frozenset().union(*(_joined([once] * number) for number in numbers))


def _joined(parts: Iterable[_Kinds]) -> _Kinds:
    return reduce(_both, parts, _NOTHING)


def _both(left: _Kinds, right: _Kinds) -> _Kinds:
    return frozenset(_after(one, other) for one in left for other in right)


def _after(one: _Kind | None, other: _Kind | None) -> _Kind | None:
    if one is None or other is None:
        return one or other
    return _Kind(one.begins, one.later or other.begins or other.later)
