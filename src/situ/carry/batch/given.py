"""Given intervals (SEM 6) whose conditions Spark has evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.batch.runner import Runner, located
from situ.carry.batch.task import Task
from situ.carry.stream.events import with_ids
from situ.carry.stream.intervals import IntervalKeeper, KnownIntervals
from situ.errors import SituError
from situ.operators.situations.interval_engine import IntervalEngine, IntervalPreparer
from situ.options import Options
from situ.rows.prepare import Columns, Prepared
from situ.spark.select.project import MASK, read_mask


class MaskedIntervals(IntervalPreparer):
    """Reads rows that have a mask after the columns of the query."""

    def _mask(self, columns: Columns) -> npt.NDArray[np.unsignedinteger]:
        return read_mask(columns[MASK], self.mask_type)


def read_given(task: Task, engine: IntervalEngine, table: pa.Table) -> Prepared:
    """A batch of travelling columns as rows of the engine."""
    query, names = task.bound.query, [*(column.name for column in task.layout.columns), MASK]
    symbols = tuple(replace(symbol, condition=None) for symbol in query.symbols)
    bare = replace(task.bound, query=replace(query, symbols=symbols, where=None))
    named = table.select(range(len(names))).rename_columns(names)  # a late row may travel beside them
    return MaskedIntervals(bare, named.schema, engine, Options(points=task.points))(named)


class StartedIntervals:
    """A partition of which not all rows are there at once: they come by instant, block after block."""

    def __init__(self, task: Task, code: int, keys: list[pa.Array]) -> None:
        self.code = code
        self._task = task
        self._keys = keys
        self._keeper: IntervalKeeper | None = None
        self._known: KnownIntervals | None = None

    def feed(self, rows: Prepared, *, at_end: bool) -> Iterator[pa.RecordBatch]:
        """The results of the next rows; but for the last, those of the largest instant wait for more."""
        keeper, known = self._started(rows)
        rows = rows._replace(codes=np.zeros(rows.n_rows, np.int64), keys=[])
        try:
            stepped = keeper.step(known, rows, None, at_end=at_end)
        except SituError as error:
            raise located(error, self._keys, 0) if self._keys else error from None
        self._known = stepped.known
        for emitted in stepped.emitted:
            keys = [pa.repeat(column[0], len(emitted.slot)) for column in self._keys]
            columns = with_ids(self._task, emitted, keys)
            table = pa.Table.from_arrays(columns, names=self._task.output_names)
            yield from Runner.batches([table])

    def _started(self, rows: Prepared) -> tuple[IntervalKeeper, KnownIntervals]:
        if self._keeper is None or self._known is None:
            engine = self._task.engine
            assert isinstance(engine, IntervalEngine)
            types = {name: column.type for name, column in rows.attributes.items()}
            self._keeper = IntervalKeeper(self._task, engine, types)
            self._known = self._keeper.nothing(1)
        return self._keeper, self._known
