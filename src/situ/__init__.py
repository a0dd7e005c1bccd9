"""situ finds what happened while something else was happening, in event tables and event streams."""

from __future__ import annotations

from situ._version import __version__
from situ.errors import SituError, TiesWarning
from situ.language import query
from situ.language.situations.ast import Query
from situ.public import explain, match, match_parquet, plot, situations, situations_parquet, tune, why

__all__ = [
    "Query",
    "SituError",
    "TiesWarning",
    "__version__",
    "explain",
    "match",
    "match_parquet",
    "plot",
    "query",
    "situations",
    "situations_parquet",
    "tune",
    "why",
]
