"""Queries with row patterns among their symbols, as questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from situ.carry.contract import Setting
from situ.errors import OptionError, QueryError
from situ.language.situations.ast import Query
from situ.language.text.types import Schema, Schemas
from situ.operators.composed.operator import ComposedMatches, ComposedSituations
from situ.operators.composed.patterns import asked_rows, check_bounded
from situ.operators.rowpattern.question import AskedRows
from situ.operators.situations.question import (
    AskedSituations,
    Deriving,
    Matching,
    SituationsQuestion,
    row_patterns_refused,
)
from situ.options import Options
from situ.rows.needs import MOST_CONDITIONS, Needs
from situ.rows.read import with_derived

_OF_PATTERNS = ("max_steps", "max_matches")


class Composed(SituationsQuestion):
    """What matches and situations have in common, where symbols are row patterns (SEM 17)."""

    takes_row_patterns = True

    def check_options(self, passed: Mapping[str, Any]) -> None:
        """As for situations; a history that ends has no meaning for row patterns here."""
        if passed.get("forget_after") is not None:
            raise OptionError(
                "option forget_after does not apply where a symbol is a row pattern", hint="leave it out"
            )
        super().check_options({name: passed[name] for name in passed if name not in _OF_PATTERNS})

    def check_stream(self) -> None:
        """State must be bounded, also that of the patterns (SEM 17.5)."""
        super().check_stream()
        check_bounded(self.query)

    def bind(self, schema: Schema | Schemas, options: Options) -> AskedComposed:
        """Resolve the query's names and types, and those of its patterns."""
        asked = super().bind(schema, options)
        patterns = tuple(asked_rows(asked.bound, symbol, options) for symbol in self.query.row_patterns)
        return AskedComposed(
            asked.bound,
            needs_of(asked.needs, patterns),
            asked.kind,
            asked.forget_after,
            asked.match_id,
            patterns=patterns,
        )


class ComposedMatching(Composed, Matching):
    """`situ.match`."""


class ComposedDeriving(Composed, Deriving):
    """`situ.situations`."""


def composed(query: Query, of: type[Matching] | type[Deriving]) -> Matching | Deriving:
    """The question `of` a query, whatever its symbols are."""
    if not query.row_patterns:
        return of(query)
    return ComposedMatching(query) if of is Matching else ComposedDeriving(query)


def needs_of(needs: Needs, patterns: tuple[AskedRows, ...]) -> Needs:
    """What situations need of rows, and behind their conditions those of each pattern."""
    conditions = (*needs.conditions, *(one for own in patterns for one in own.needs.conditions))
    if len(conditions) > MOST_CONDITIONS:
        raise QueryError(
            f"the symbols of this query and the variables of its row patterns have {len(conditions)} "
            f"conditions together, and at most {MOST_CONDITIONS} can be read of a row",
            hint="match parts of the pattern with queries of their own",
        )
    attributes = [*needs.attributes, *(one for own in patterns for one in own.needs.attributes)]
    return replace(
        needs, conditions=conditions, attributes=tuple(dict.fromkeys(attributes)), only_where_true=False
    )


@dataclass(frozen=True)
class AskedComposed(AskedSituations):
    """A query bound to the columns of an input, and its row patterns in the order of their symbols."""

    patterns: tuple[AskedRows, ...] = ()

    def counting(self) -> AskedSituations:
        """Matches of rows are not counted yet."""
        raise row_patterns_refused(self.bound.query)

    def operator(self, schema: pa.Schema, setting: Setting) -> Any:
        """One of two; those that Spark would evaluate are not."""
        if not setting.evaluates:
            raise row_patterns_refused(self.bound.query)
        schema = with_derived(self.needs, schema, ansi=setting.ansi, time_zone=setting.time_zone)
        operator = (ComposedMatches if self.kind == "match" else ComposedSituations)(self, schema, setting)
        _ = operator.looking, operator.patterns  # what cannot be evaluated is refused where it is asked
        return operator
