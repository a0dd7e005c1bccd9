"""What a condition reads, as seen from a position of the pattern: rows at a known place, or the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from situ.language.rows.ast import CLASSIFIER_COLUMN, Aggregate
from situ.language.text.nodes import Expression

Class = Literal["row", "neighbour", "first", "path"]  # of tests, the cheapest first (ROW 4.10)
CLASSES: tuple[Class, ...] = ("row", "neighbour", "first", "path")


@dataclass(frozen=True)
class OfRow:
    """A value of the row `shift` behind the tested one."""

    expression: Expression
    shift: int = 0


@dataclass(frozen=True)
class OfFirst:
    """A value of the row `shift` behind the match's row number `offset`, null before that row is taken."""

    expression: Expression
    offset: int = 0
    shift: int = 0


@dataclass(frozen=True)
class OfPath:
    """A value of the row `shift` behind the `offset`-th row of a group from the front or back."""

    expression: Expression
    group: tuple[str, ...]  # variables, sorted
    is_first: bool
    offset: int = 0
    shift: int = 0


@dataclass(frozen=True)
class Running:
    """An aggregate of the rows of a group, the tested one included."""

    aggregate: Aggregate
    group: tuple[str, ...]


@dataclass(frozen=True)
class Taken:
    """How many rows the match has, the tested one included, where they lie side by side."""


@dataclass(frozen=True)
class Number:
    """MATCH_NUMBER of the match that is sought."""


Read: TypeAlias = OfRow | OfFirst | OfPath | Running | Taken | Number


def class_of(read: Read) -> Class:
    """What must be known to read it."""
    match read:
        case OfRow(_, shift):
            return "neighbour" if shift else "row"
        case OfFirst() | Taken() | Number():
            return "first"
        case _:
            return "path"


def ahead(read: Read) -> int:
    """How many rows behind the tested one it may read."""
    return max(0, getattr(read, "shift", 0))


def before(read: Read) -> int:
    """How many rows before the tested one, or before the match's first, it may read."""
    return max(0, -getattr(read, "shift", 0))


def is_classifier(read: Read) -> bool:
    """Whether it is the variable of a row, and no value of it."""
    return isinstance(read, OfRow | OfFirst | OfPath) and read.expression.sql == CLASSIFIER_COLUMN
