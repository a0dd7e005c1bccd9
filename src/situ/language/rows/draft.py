"""What text and builder both hand to the checks: the parts of a row pattern, and where each was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from situ.language.rows.ast import OrderColumn, Pattern, Skip
from situ.language.text.nodes import Duration, Expression
from situ.language.text.places import Phrase, Place
from situ.language.text.sql import Scope

PAST_LAST_ROW = Skip()


class Mention(NamedTuple):
    """A variable, and where it is named."""

    name: str
    place: Place


@dataclass
class PatternText:
    """PATTERN, every variable it mentions in order, and where the first of each special sign stands."""

    place: Place
    pattern: Pattern
    mentions: list[Mention] = field(default_factory=list)
    anchor: Place | None = None
    exclusion: Place | None = None
    reluctant: Place | None = None


class DefinitionText(NamedTuple):
    """`variable AS condition`, the condition not yet understood."""

    variable: Mention
    condition: Phrase


class MeasureText(NamedTuple):
    """`expression AS name`, the expression not yet understood."""

    name: str
    place: Place
    expression: Phrase


class SubsetText(NamedTuple):
    """`name = (members)`."""

    name: Mention
    members: list[Mention]


@dataclass
class Draft:
    """The parts of a query. A `Place` beside a part is None where nothing was written and a default holds."""

    place: Place
    source: str
    scope: Scope
    order_by: tuple[OrderColumn, ...]
    pattern: PatternText
    partition_by: tuple[str, ...] = ()
    measures: list[MeasureText] = field(default_factory=list)
    definitions: list[DefinitionText] = field(default_factory=list)
    subsets: list[SubsetText] = field(default_factory=list)
    rows: Literal["one", "all"] = "one"
    empty: Literal["show", "omit", "unmatched"] = "show"
    rows_place: Place | None = None
    skip: Skip = PAST_LAST_ROW
    skip_place: Place | None = None
    strategy: Literal["contiguous", "next", "any"] = "contiguous"
    strategy_place: Place | None = None
    mode: Literal["maximal", "incremental"] | None = None
    mode_place: Place | None = None
    within: Duration | None = None
    within_place: Place | None = None
    where: Expression | None = None
    alias: str | None = None
