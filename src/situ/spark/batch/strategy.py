"""Which strategy a batch query takes, and why: decided without running anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from situ.errors import OptionError
from situ.language.situations.binder import BoundQuery
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


def decide(df: DataFrame, bound: BoundQuery, asked: str, kind: str) -> Decision:
    """The strategy asked for, or by "auto" the cheapest that is known to be right."""
    sliced = is_sliced(bound, kind)
    if bound.query.intervals is not None:
        if asked == "map-side":
            raise OptionError(
                'strategy="map-side" is for events: given intervals have nothing to condense',
                hint="leave the option out",
            )
        return Decision("shuffle", "given intervals are brought together by partition", False)
    if asked != "auto":
        return Decision("map-side" if asked == "map-side" else "shuffle", "it was asked for", sliced)
    ordering = ordering_of(df, bound)
    if ordering.is_ordered:
        return Decision("map-side", ordering.why, sliced, ordering)
    return Decision("shuffle", ordering.why, sliced, ordering)


def is_sliced(bound: BoundQuery, kind: str) -> bool:
    """Unpartitioned matches are found in slices of time, if a window says how far back they reach."""
    return (
        kind == "match" and not bound.partition and bound.within is not None and bound.query.intervals is None
    )
