"""The keyword options of public calls, as type checkers, editors and `help` see them.

The calls themselves take any keyword, so that one that is unknown or does not apply is told what would be
right (`situ.options`). What stands here says the same beforehand: a test holds both together.
"""

import inspect
from collections.abc import Callable
from dataclasses import fields
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar

from situ.options import Options

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Duration: TypeAlias = str | int | timedelta
Instant: TypeAlias = int | float | date  # a datetime is a date


class SparkDataFrame(Protocol):
    """What tells a Spark DataFrame, classic or Connect, from other tables; PySpark need not be installed."""

    @property
    def sparkSession(self) -> Any: ...

    @property
    def isStreaming(self) -> bool: ...


OnSpark = TypeVar("OnSpark", bound=SparkDataFrame)
InProcess = TypeVar("InProcess", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame | pa.Table")


class CommonOptions(TypedDict, total=False):
    """Wherever a query runs."""

    time: str | None
    time_unit: Literal["days", "hours", "minutes", "seconds", "milliseconds", "microseconds"] | None
    ties: Literal["warn", "last", "error"]
    on_bad_rows: Literal["error", "drop"]
    join: Literal["auto", "range", "pair"]
    forget_after: Duration | None
    match_id: bool
    points: Literal["error", "widen"]


class ProcessOptions(CommonOptions, total=False):
    """Whatever runs in process."""

    threads: int | Literal["auto"]
    match_span: bool
    match_time: bool
    max_steps: int
    max_matches: int
    ansi: bool
    time_zone: str


class TableOptions(ProcessOptions, total=False):
    """Tables in process."""

    until: Instant | None


class OperatorOptions(ProcessOptions, total=False):
    """`Query.operator`."""

    watermark: Duration | None
    late_rows: bool
    max_ahead: Duration | None
    timeouts: bool


class BatchOptions(CommonOptions, total=False):
    """Batch DataFrames and Parquet files."""

    strategy: Literal["auto", "shuffle", "map-side", "direct"]
    until: Instant | None


class DataFrameOptions(BatchOptions, total=False):
    """DataFrames, of which it is not known before the call whether they are streams."""

    watermark: Duration | None
    late_rows: bool
    max_ahead: Duration | None
    buckets: int


DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Options)} | {"buckets": 64}

Call = TypeVar("Call", bound=Callable[..., Any])


def spelled_out(*kinds: Any, like: Callable[..., Any] | None = None) -> Callable[[Call], Call]:
    """Let `inspect.signature` and `help` show the options of these kinds instead of `**options`.

    What the docstring of `like` says of them is said in that of the call too, beside what it says itself.
    """
    types = {name: annotation for kind in kinds for name, annotation in kind.__annotations__.items()}

    def spell_out(call: Call) -> Call:
        shown = inspect.signature(call)
        own = [one for one in shown.parameters.values() if one.kind is not one.VAR_KEYWORD]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
            for name, default in DEFAULTS.items()
            if name in types
        ]
        call.__signature__ = shown.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
        if like is not None and call.__doc__ and like.__doc__:  # python -OO has none
            told = described(like.__doc__) | described(call.__doc__)
            lines = [line for name in types for line in told[name]]
            before = inspect.cleandoc(call.__doc__).partition(f"{_HEADING}\n")[0].rstrip()
            call.__doc__ = "\n".join([before, _HEADING, *lines])
        return call

    return spell_out


_HEADING = "\nOptions:"


def described(docstring: str) -> dict[str, list[str]]:
    """The lines that a docstring has on each option, under its last heading.

    >>> described("Every match.\\n\\n    Options:\\n        ties: rows of\\n            equal time.\\n")
    {'ties': ['    ties: rows of', '        equal time.']}
    """
    entries: dict[str, list[str]] = {}
    for line in inspect.cleandoc(docstring).partition(f"{_HEADING}\n")[2].splitlines():
        if not line.startswith(" " * 8):
            name = line.strip().partition(":")[0]
        entries.setdefault(name, []).append(line)
    return entries
