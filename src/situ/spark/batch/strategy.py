"""Which strategy a batch query takes, and why: decided without running anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from situ.carry.contract import Condenses, Operator, Slices
from situ.errors import OptionError
from situ.spark.files.footers import Ordering, ordering_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Strategy = Literal["shuffle", "map-side", "direct"]


@dataclass(frozen=True)
class Decision:
    """A strategy and the reasons for it, in sentences."""

    strategy: Strategy
    why: str
    sliced: bool  # is one partition matched in slices of time
    ordering: Ordering | None = None  # what footers say, where they were read


def decide(df: DataFrame, operator: Operator, asked: str) -> Decision:
    """The strategy asked for, or by "auto" the cheapest that is known to be right."""
    if operator.needs.parts:
        if asked == "map-side":
            raise OptionError(
                'strategy="map-side" needs splits whose times do not interleave, and several sources do',
                hint="leave the option out",
            )
        return Decision("shuffle", "rows of several sources are brought together by partition", False)
    if not isinstance(operator, Condenses):
        if asked == "map-side":
            raise OptionError(
                'strategy="map-side" is for what can do with fewer rows: given intervals, for example, '
                "have nothing to condense",
                hint="leave the option out",
            )
        return Decision("shuffle", "rows that cannot be condensed are brought together by partition", False)
    sliced = is_sliced(operator)
    if asked != "auto":
        return Decision("map-side" if asked == "map-side" else "shuffle", "it was asked for", sliced)
    ordering = ordering_of(df, operator.needs)
    if ordering.is_ordered:
        return Decision("map-side", ordering.why, sliced, ordering)
    return Decision("shuffle", ordering.why, sliced, ordering)


def is_sliced(operator: Operator) -> bool:
    """One partition is matched in slices of time, if a window says how far back results reach."""
    return not operator.needs.partition and isinstance(operator, Slices) and operator.is_sliced
