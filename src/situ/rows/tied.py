"""Rows left out because a later row of their partition has the same time (SEM 1.3): counted, and told once.

Nearly always a PARTITION BY was forgotten, so whoever tells of them names the columns that tell them apart.
"""

from __future__ import annotations

import itertools
import logging
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import DataError, TiesWarning
from situ.rows.keys import encode
from situ.rows.needs import Needs
from situ.rows.schema import time_text

MOST_INSTANTS = 16  # looked at to find out which columns tell their rows apart
MOST_ROWS = 10_000
_FEW_LEFT = 10  # columns tell rows apart if at most one tie in so many is left
_MOST_COLUMNS = 60  # looked at in pairs

_INSIDE = ("situ", "functools")
_log = logging.getLogger(__name__)
_log.addHandler(logging.NullHandler())  # what is logged here is also a warning of Python's: not shown twice


class Instant(NamedTuple):
    """A time at which rows of one partition were left out."""

    ticks: int
    key: tuple[Any, ...]
    code: int  # the partition's, in the rows it was found in


@dataclass
class Tied:
    """How many rows were left out so far, and the first few instants that had some."""

    n_rows: int = 0
    instants: list[Instant] = field(default_factory=list)

    def note(self, n_rows: int, instants: Sequence[Instant]) -> None:
        """So many more, for example at these instants."""
        self.n_rows += n_rows
        self.instants += instants[: MOST_INSTANTS - len(self.instants)]

    def drained(self) -> Tied:
        """What was noted, of which nothing is remembered."""
        found = replace(self)
        self.n_rows, self.instants = 0, []
        return found


@dataclass(frozen=True)
class Ties:
    """What there is to say of rows that were left out."""

    needs: Needs
    n_rows: int
    example: Instant
    n_of: int | None = None  # rows altogether, where that is known
    at_least: bool = False  # are there perhaps more
    columns: tuple[str, ...] = ()  # that tell the rows apart, fewest values first
    ask: str = ""  # what tells those columns, where nobody has looked for them

    @property
    def where(self) -> str:
        """The example's time and partition."""
        partition = f" in partition {self.example.key}" if self.example.key else ""
        return time_text(self.example.ticks, self.needs.time.told) + partition

    @property
    def message(self) -> str:
        """What was found."""
        n_of = f" of {self.n_of:,}" if self.n_of is not None else ""
        rows = "row is" if self.n_rows == 1 and self.n_of is None else "rows are"
        sharing = "in a partition" if self.needs.partition else "(the query has no PARTITION BY)"
        least = "at least " if self.at_least else ""
        return (
            f"{least}{self.n_rows:,}{n_of} {rows} left out: of rows that share their time {sharing} only the "
            f"last counts; for example at {self.where}"
        )

    @property
    def hint(self) -> str:
        """What to do about it."""
        return f'{self.advice} With ties="last" that is what you mean, ties="error" refuses such rows'

    @property
    def advice(self) -> str:
        """How such rows can all count."""
        if self.columns:
            names = [*(column.name for column in self.needs.partition), *self.columns]
            return f"did you forget PARTITION BY {', '.join(names)}?"
        if self.ask:
            return f"did you forget a column in PARTITION BY? {self.ask}."
        order = "" if self.needs.ties else "; one named in ORDER BY after the time says which row is the last"
        return f"no column tells such rows apart{order}."

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}"

    def warn(self, place: Place | None = None) -> None:
        """Tell it, as a warning about the call that was made there, or is being made, and to the log."""
        _log.warning("%s", self)
        place = place or calling_place()
        warnings.warn_explicit(str(self), TiesWarning, *place)

    def refused(self) -> DataError:
        """The same where ties="error" was asked for."""
        return refused(f"two rows share the time {self.where}", self.advice)


def refused(what: str, advice: str) -> DataError:
    """An error for rows that share their time."""
    return DataError(f'{what}, and ties="error" was asked for', hint=advice)


class Place(NamedTuple):
    """Where in a user's code situ was called."""

    file: str
    line: int
    module: str


def calling_place() -> Place:
    """The line that calls situ."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__", ""))


def ties_in_table(
    needs: Needs,
    tied: Tied,
    events: pa.Table | pa.RecordBatch,
    time: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
) -> Ties:
    """What there is to say of a table's events, whose times and partitions these are."""
    shown = np.flatnonzero(np.isin(time, [one.ticks for one in tied.instants]))
    groups = encode([pa.array(time[shown]), pa.array(codes[shown])], len(shown))[0]
    is_tied = np.bincount(groups)[groups] > 1  # other partitions may have a single row then
    shown, groups = shown[is_tied][:MOST_ROWS], groups[is_tied][:MOST_ROWS]
    found = telling_columns(events.take(pa.array(shown)), groups, events.slice(0, MOST_ROWS), needs)
    return Ties(needs, tied.n_rows, tied.instants[0], n_of=len(time), columns=found)


def telling_columns(
    rows: pa.Table | pa.RecordBatch,
    groups: npt.NDArray[np.int64],
    some: pa.Table | pa.RecordBatch,
    needs: Needs,
) -> tuple[str, ...]:
    """Columns that tell apart the rows of every group, but for few; the one or two with the fewest values.

    `some` rows of the data show how often values come again: what is new in every row names no partition.
    """
    used = {column.name for column in (needs.time, *needs.partition, *needs.ties)}
    codes: dict[str, npt.NDArray[np.int64]] = {}
    n_values: dict[str, int] = {}
    for name in rows.schema.names:
        if name in used or not _is_key_type(rows.schema.field(name).type):
            continue
        if rows.schema.names.count(name) > 1:
            continue
        n_values[name] = len(pc.unique(some.column(name)))
        if 2 * n_values[name] <= max(some.num_rows, 2 * 2):
            codes[name] = encode([_whole(rows.column(name))], rows.num_rows)[0]
    n_ties = len(groups) - len(np.unique(groups))
    for size in (1, 2):
        several = itertools.combinations(list(codes)[:_MOST_COLUMNS], size)
        enough = [
            names for names in several if _ties_left(groups, [codes[n] for n in names]) * _FEW_LEFT <= n_ties
        ]
        if enough:
            return min(enough, key=lambda names: np.prod([n_values[name] for name in names]))
    return ()


def _ties_left(groups: npt.NDArray[np.int64], several: list[npt.NDArray[np.int64]]) -> int:
    """How many rows share group and values with an earlier one."""
    return len(groups) - len(np.unique(np.stack([groups, *several]), axis=1).T)


def _is_key_type(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (
        pa.types.is_integer,
        pa.types.is_boolean,
        pa.types.is_date,
        pa.types.is_string,
        pa.types.is_binary,
    )
    wide = (pa.types.is_large_string, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in (*tests, *wide))


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
