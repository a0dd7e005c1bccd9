"""Matching given intervals: the same join over situations that may overlap each other (SEM 6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.aggregate import States
from situ.errors import DataError, OptionError
from situ.operators.situations.engine import Engine, Found, SymbolValues
from situ.operators.situations.intervals import IntervalRows, Intervals, resolve
from situ.operators.situations.joins import by_instant, endpoints
from situ.operators.situations.kernels.layout import Runs
from situ.operators.situations.kernels.match import Matches
from situ.operators.situations.kernels.spread import spread
from situ.operators.situations.known import Positions
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.prepare import Columns, Prepared, Preparer, mask_of
from situ.rows.schema import refuse_reserved, to_ticks

_TS, _TE, _ID = "_ts", "_te", "_id"  # columns that travel with waiting rows beside the attributes


class IntervalPreparer(Preparer):
    """Rows of FROM INTERVALS; `time` is a row's instant: its te, or its ts when te is null (SEM 6.3)."""

    def __call__(self, table: pa.Table | pa.RecordBatch) -> Prepared:
        source = self.bound.query.intervals
        assert source is not None
        columns = self.event_columns(table)
        ts = self._to_ticks(columns[self.bound.time.name])
        refuse_reserved(ts)
        te = self._ends(columns[self._spelt(source.ending)], ts)
        codes, keys = self.encode(columns)
        attributes = {_TS: pa.array(ts), _TE: pa.array(te)}
        if source.id_by is not None:
            attributes[_ID] = columns[self._spelt(source.id_by)]
        attributes |= {column.name: columns[column.name] for column in self.bound.attributes}
        return Prepared(codes, keys, np.where(te == OPEN, ts, te), self._mask(columns), attributes, [])

    def _instants(self, columns: Columns) -> npt.NDArray[np.int64]:
        source = self.bound.query.intervals
        assert source is not None
        starts, ends = columns[self.bound.time.name], columns[self._spelt(source.ending)]
        has_start, has_end = (np.asarray(column.is_valid()) for column in (starts, ends))
        ts = to_ticks(starts.drop_null(), self.bound.time.name, rounded=True)
        instants = np.full(len(starts), LONG_AGO)
        instants[has_start] = ts
        both = has_start & has_end
        te = to_ticks(ends.filter(pa.array(both)), source.ending, rounded=True)
        if self.options.points == "widen":
            te = np.where((te == instants[both]) & (te < OPEN), te + 1, te)
        instants[both] = te
        return instants

    def waiting_types(self, schema: pa.Schema) -> tuple[dict[str, pa.DataType], list[pa.DataType]]:
        own, ties = super().waiting_types(schema)
        attributes = {_TS: pa.int64(), _TE: pa.int64()}
        source = self.bound.query.intervals
        if source is not None and source.id_by is not None:
            attributes[_ID] = schema.field(self._spelt(source.id_by)).type
        return attributes | own, ties

    def _spelt(self, name: str) -> str:
        """The schema's spelling of a column."""
        return next(column.name for column in self.bound.schema if column.name.lower() == name.lower())

    def _ends(self, column: pa.Array, ts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        is_open = np.asarray(column.is_null())
        te = np.full(len(ts), OPEN)
        assert self.bound.query.intervals is not None
        te[~is_open] = to_ticks(column.drop_null(), self.bound.query.intervals.ending)
        if self.options.points == "widen":
            self._check_widened(column.type)
            te = np.where(te == ts, ts + 1, te)
        refuse_reserved(te[~is_open])
        wrong = np.flatnonzero(te <= ts)
        if len(wrong):
            first = wrong[0]
            point = te[first] == ts[first]
            raise DataError(
                f"{len(wrong)} intervals do not end after they start, for example "
                f"[{int(ts[first])}, {int(te[first])})",
                hint='points="widen" reads ts = te as [ts, ts + 1)'
                if point
                else "leave them out with WHERE, or mend them",
            )
        return te

    def _check_widened(self, kind: pa.DataType) -> None:
        """[ts, ts + 1) must be something the column can show."""
        if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.unit in ("s", "ms")):
            raise OptionError(
                f'points="widen" makes intervals of one microsecond, which a {kind} column cannot hold',
                hint="cast the start and end columns to microsecond timestamps first",
            )

    def _mask(self, columns: Columns) -> npt.NDArray[np.unsignedinteger]:
        source = self.bound.query.intervals
        assert source is not None
        if source.symbol_by is None:
            return mask_of(self.conditions, columns, self.mask_type)
        symbol = columns[self._spelt(source.symbol_by)].cast(pa.string())
        position = pc.index_in(symbol, value_set=pa.array(self.bound.query.symbol_names))
        bit = np.asarray(position.fill_null(-1)).astype(np.int64)
        return np.where(bit < 0, 0, np.left_shift(np.uint64(1), bit.clip(0).astype(np.uint64))).astype(
            self.mask_type
        )


def interval_rows(rows: Prepared, slot: npt.NDArray[np.int64]) -> IntervalRows:
    """Prepared rows as `resolve` takes them."""
    own = dict(rows.attributes)
    ts, te, ids = own.pop(_TS), own.pop(_TE), own.pop(_ID, None)
    return IntervalRows(slot, ts.to_numpy(), te.to_numpy(), rows.mask.astype(np.uint64), ids, own)


class IntervalStep(NamedTuple):
    """The intervals of a step and the runs they make."""

    intervals: Intervals
    runs: Runs


class IntervalEngine(Engine):
    """A bound query over given intervals."""

    def spread(self, kept: Intervals, rows: IntervalRows, n_slots: int) -> IntervalStep:
        """Every symbol's situations, of kept intervals and new rows."""
        intervals = resolve(kept, rows)
        spec = self.spec
        runs = spread(
            intervals.slot, intervals.ts, intervals.te, intervals.known, intervals.mask,
            spec.at_least, spec.at_most, n_slots,
        )  # fmt: skip
        return IntervalStep(intervals, runs)

    def interval_values(self, step: IntervalStep, matches: Matches) -> Found:
        """Endpoints and attributes: those of the latest row with an instant <= the match's (SEM 6.2)."""
        matches = by_instant(matches)
        ends, is_over = endpoints(step.runs[:], matches)
        found = Found(ends, is_over, ())
        is_open = found.is_open
        states = (self._attributes(step, i, matches.pick[:, i], is_open[i]) for i in range(self.n_symbols))
        return found._replace(states=tuple(states))

    def interval_situations(self, step: IntervalStep, symbol: int, column: Positions) -> SymbolValues:
        """A symbol's intervals at these columns, as all rows together have them."""
        ts, te = step.runs.ts[symbol, column], step.runs.te[symbol, column]
        return SymbolValues(ts, te, te == OPEN, self._attributes(step, symbol, column, te == OPEN))

    def _attributes(
        self, step: IntervalStep, symbol: int, column: Positions, is_open: npt.NDArray[np.bool_]
    ) -> States:
        """What the rows say that begin the open ones of these intervals and end the others."""
        spec = self.aggregates[symbol]
        if not spec:
            return spec.empty()
        intervals, runs = step
        interval = runs.first_row[symbol, column]
        row = np.where(is_open, intervals.begin_row[interval], intervals.last_row[interval])
        n_rows = int(max(intervals.last_row.max(initial=-1), intervals.begin_row.max(initial=-1))) + 1
        return spec.rows(intervals.attributes, n_rows).take(row)
