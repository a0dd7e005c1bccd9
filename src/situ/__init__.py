"""situ finds what happened while something else was happening, in event tables and event streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situ._version import __version__
from situ.errors import SituError, TiesWarning
from situ.language import query
from situ.language.rows.ast import RowQuery
from situ.language.situations.ast import Query
from situ.public import explain, match, match_parquet, plot, situations, situations_parquet, tune, why

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "Query",
    "RowQuery",
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

_MODULES = ("builder", "errors", "sources", "testing")  # for users too, and imported when first used


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])


if not TYPE_CHECKING:  # to a type checker this would say that situ has every name

    def __getattr__(name: str) -> ModuleType:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
