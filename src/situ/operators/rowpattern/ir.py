"""The pattern as a small tree: PERMUTE written out, exclusion a flag of each row, names as numbers."""

from __future__ import annotations

from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import TypeAlias

from situ.errors import QueryError
from situ.language.rows.ast import (
    Alternation,
    Anchor,
    Concatenation,
    Empty,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)

MOST_POSITIONS = 20_000


@dataclass(frozen=True)
class Take:
    """One row for this variable; `is_excluded` inside `{- -}`."""

    variable: int
    is_excluded: bool = False


@dataclass(frozen=True)
class At:
    """No row: `^` or `$` must hold here."""

    is_start: bool


@dataclass(frozen=True)
class Sequence:
    """One after the other; of none, the empty pattern."""

    parts: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Choice:
    """One of them, the first preferred."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """From `least` to `most` times, None for ever."""

    body: Node
    least: int
    most: int | None
    is_reluctant: bool = False


Node: TypeAlias = Take | At | Sequence | Choice | Repeat

NOTHING = Sequence()


def lowered(pattern: Pattern, variables: Ordered[str]) -> Node:
    """The pattern with only five kinds of nodes; variables are numbered as they stand in `variables`."""
    if _leaves(pattern) > MOST_POSITIONS:
        raise too_large()
    number = {name: place for place, name in enumerate(variables)}

    def lower(one: Pattern, is_excluded: bool) -> Node:
        match one:
            case Variable(name):
                return Take(number[name], is_excluded)
            case Empty():
                return NOTHING
            case Anchor(is_start):
                return At(is_start)
            case Concatenation(parts):
                return Sequence(tuple(lower(part, is_excluded) for part in parts))
            case Alternation(choices):
                return Choice(tuple(lower(choice, is_excluded) for choice in choices))
            case Permutation(parts):
                nodes = [lower(part, is_excluded) for part in parts]
                return Choice(tuple(Sequence(order) for order in permutations(nodes)))
            case Exclusion(body):
                return lower(body, True)
            case Repetition(body, least, most, is_reluctant):
                return Repeat(lower(body, is_excluded), least, most, is_reluctant)

    return lower(pattern, False)


def can_be_empty(node: Node) -> bool:
    """Whether it can be derived without a row, anchors permitting."""
    match node:
        case Take():
            return False
        case At():
            return True
        case Sequence(parts):
            return all(map(can_be_empty, parts))
        case Choice(parts):
            return any(map(can_be_empty, parts))
        case Repeat(body, least):
            return least == 0 or can_be_empty(body)


def too_large() -> QueryError:
    """The pattern is more than an automaton is made of."""
    return QueryError(
        f"the pattern has more than {MOST_POSITIONS:,} positions: counters and PERMUTE are written out, "
        "so that A{2,5} is five positions and PERMUTE(A, B, C) up to eighteen",
        hint="use smaller counters, or *, + and WITHIN in their place: A+ is one position",
    )


def _leaves(pattern: Pattern) -> int:
    """How large it is with PERMUTE written out; counters are judged once it has been simplified."""
    match pattern:
        case Concatenation(parts) | Alternation(parts):
            return sum(map(_leaves, parts))
        case Permutation(parts):
            return factorial(len(parts)) * sum(map(_leaves, parts))
        case Exclusion(body) | Repetition(body):
            return _leaves(body)
        case _:
            return 1
