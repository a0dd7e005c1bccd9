"""When a row counts: at its time, or, of rows that last, at their end or while they have none at their start.

An operator's needs hold one of these two; whoever reads, saves or checks rows asks it, and not which it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from situ.errors import DataError, OptionError
from situ.language.text.types import Column
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.prepared import Positions, Prepared
from situ.rows.schema import refuse_reserved, to_ticks
from situ.saved.checks import require

STARTS, ENDS, IDS = "_ts", "_te", "_id"  # columns that rows which last carry, beside their attributes


@dataclass(frozen=True)
class AtTime:
    """Rows that happen at an instant: that of their time column."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns beside the time that rows are made of."""
        return ()

    @property
    def end(self) -> Column | None:
        """The column that the instant is taken from before the time."""
        return None

    def told_by(self, time: Column) -> tuple[Column, ...]:
        """The columns of which the first that is not null tells a row's instant, but for widened points."""
        return (time,)

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Names of what rows carry because of it."""
        return ()

    def carried(self, schema: pa.Schema) -> dict[str, pa.DataType]:
        """Names and types of what rows carry because of it."""
        return {}

    def read(self, columns: Mapping[str, pa.Array], time: Positions) -> tuple[Positions, dict[str, pa.Array]]:
        """Instants of events with these times, and what they carry."""
        return time, {}

    def of_any(self, time: Column, columns: Mapping[str, pa.Array]) -> Positions:
        """Instants of rows that need not be events, LONG_AGO where there is no time."""
        times = columns[time.name]
        instants = np.full(len(times), LONG_AGO)
        instants[np.asarray(times.is_valid())] = to_ticks(
            times.drop_null(), time.name, unit=time.unit, rounded=True
        )
        return instants

    def check(self, rows: Prepared) -> None:
        """Refuse rows of saved state that no reader has made."""


@dataclass(frozen=True)
class Lasting(AtTime):
    """Rows that last: from their time to `until`, null while there is no end yet (SEM 6)."""

    until: Column
    id: Column | None
    widen: bool  # are points read as intervals of one tick

    @property
    def columns(self) -> tuple[Column, ...]:
        """End and id."""
        return (self.until,) if self.id is None else (self.until, self.id)

    @property
    def end(self) -> Column | None:
        """Where there is one, a row's instant is its end (SEM 6.3)."""
        return self.until

    def told_by(self, time: Column) -> tuple[Column, ...]:
        """The end, while there is none the start."""
        return (self.until, time)

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Start, end, and the id."""
        return (STARTS, ENDS) if self.id is None else (STARTS, ENDS, IDS)

    def carried(self, schema: pa.Schema) -> dict[str, pa.DataType]:
        """Start, end, and the id."""
        ids = {} if self.id is None else {IDS: schema.field(self.id.name).type}
        return {STARTS: pa.int64(), ENDS: pa.int64()} | ids

    def read(self, columns: Mapping[str, pa.Array], time: Positions) -> tuple[Positions, dict[str, pa.Array]]:
        """Ends, or starts where there is none."""
        refuse_reserved(time)
        ends = self._ends(columns[self.until.name], time)
        carried = {STARTS: pa.array(time), ENDS: pa.array(ends)}
        if self.id is not None:
            carried[IDS] = columns[self.id.name]
        return np.where(ends == OPEN, time, ends), carried

    def _ends(self, column: pa.Array, starts: Positions) -> Positions:
        is_open = np.asarray(column.is_null())
        ends = np.full(len(starts), OPEN)
        ends[~is_open] = to_ticks(column.drop_null(), self.until.name, unit=self.until.unit)
        if self.widen:
            _check_widened(column.type, self.until.unit)
            ends = np.where(ends == starts, starts + 1, ends)
        refuse_reserved(ends[~is_open])
        wrong = np.flatnonzero(ends <= starts)
        if len(wrong):
            first = wrong[0]
            point = ends[first] == starts[first]
            raise DataError(
                f"{len(wrong)} intervals do not end after they start, for example "
                f"[{int(starts[first])}, {int(ends[first])})",
                hint='points="widen" reads ts = te as [ts, ts + 1)'
                if point
                else "leave them out with WHERE, or mend them",
            )
        return ends

    def of_any(self, time: Column, columns: Mapping[str, pa.Array]) -> Positions:
        """Ends, or starts where there is none."""
        instants = super().of_any(time, columns)
        ends = columns[self.until.name]
        both = (instants != LONG_AGO) & np.asarray(ends.is_valid())
        te = to_ticks(ends.filter(pa.array(both)), self.until.name, unit=self.until.unit, rounded=True)
        if self.widen:
            te = np.where((te == instants[both]) & (te < OPEN), te + 1, te)
        instants[both] = te
        return instants

    def check(self, rows: Prepared) -> None:
        """A row ends after it starts, and its instant is the one or the other."""
        starts, ends = rows.attributes[STARTS], rows.attributes[ENDS]
        require(not starts.null_count and not ends.null_count, "an interval has no start")
        ts, te = starts.to_numpy(), ends.to_numpy()
        check_ends(ts, te)
        require((rows.time == np.where(te == OPEN, ts, te)).all(), "a row's time is not its interval's")


def check_ends(ts: Positions, te: Positions) -> None:
    """Intervals end after they start."""
    require(((ts > LONG_AGO) & (ts < te)).all(), "an interval does not end after it starts")


def _check_widened(kind: pa.DataType, unit: str | None) -> None:
    """[ts, ts + 1) must be something the column can show."""
    if unit not in (None, "microseconds"):
        raise OptionError(
            f'points="widen" makes intervals of one microsecond, which numbers of {unit} need not hold',
            hint="convert the start and end columns to microsecond timestamps first",
        )
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.unit in ("s", "ms")):
        raise OptionError(
            f'points="widen" makes intervals of one microsecond, which a {kind} column cannot hold',
            hint="cast the start and end columns to microsecond timestamps first",
        )
