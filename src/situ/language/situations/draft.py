"""What text and builder both hand to the checks: the parts of a query and where each was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from situ.language.situations.ast import Difference, IntervalSource, SourceTable, Symbol
from situ.language.text.nodes import Duration, Expression
from situ.language.text.places import Phrase, Place
from situ.language.text.sql import Scope
from situ.language.text.tokens import Source, Token


class Definition(NamedTuple):
    """One DEFINE entry: the symbol, where its name stands, and the condition as written."""

    symbol: Symbol
    place: Place
    written: Phrase


class Written(NamedTuple):
    """One constraint as it was written, before several on a pair are intersected."""

    left: str
    right: str
    relations: int
    place: Place


class Distance(NamedTuple):
    """One difference as it was written; BETWEEN and = are two at one place."""

    difference: Difference
    place: Place


class Length(NamedTuple):
    """What PATTERN says of how long one symbol lasts (SEM 9.1)."""

    symbol: str
    at_least: Duration | None
    at_most: Duration | None
    place: Place


class Mention(NamedTuple):
    """A symbol in PATTERN."""

    name: str
    place: Place


@dataclass
class Conjunction:
    """What must hold together, with every symbol that is mentioned, in order."""

    place: Place
    written: list[Written] = field(default_factory=list)
    distances: list[Distance] = field(default_factory=list)
    lengths: list[Length] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)

    def add(self, other: Conjunction) -> None:
        """Take in what another one says."""
        self.written += other.written
        self.distances += other.distances
        self.lengths += other.lengths
        self.mentions += other.mentions

    @property
    def related(self) -> list[tuple[str, str, Place]]:
        """Which two symbols each constraint or difference is about."""
        pairs = [(one.left, one.right, one.place) for one in self.written]
        for one, place in self.distances:
            pairs.append((one.left.symbol, one.right.symbol, place))
        return pairs


@dataclass
class Pattern(Conjunction):
    """PATTERN: what situations must be like, and the NO groups (SEM 11.1); `mentions` has theirs too."""

    groups: list[Conjunction] = field(default_factory=list)


class ReturnText(NamedTuple):
    """A RETURN item not yet understood: its tokens and its name."""

    source: Source
    tokens: tuple[Token, ...]
    name: str
    place: Place


@dataclass
class Draft:
    """The parts of a query; `place` of the whole is used where no better one is known."""

    place: Place
    source: str
    scope: Scope
    is_intervals: bool = False
    intervals: IntervalSource | None = None
    where: Expression | None = None
    where_written: Phrase | None = None
    order_by: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    definitions: list[Definition] = field(default_factory=list)
    pattern: Pattern | None = None
    within: Duration | None = None
    within_place: Place | None = None
    emit: Literal["EARLY", "FINAL"] = "EARLY"
    returns: list[ReturnText] | None = None  # None: every endpoint, as RETURN * does
    having: Phrase | None = None
    sources: tuple[SourceTable, ...] = ()  # where there are several
