"""Given intervals (SEM 6) whose conditions Spark has evaluated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.engine.interval_engine import IntervalEngine, IntervalPreparer
from situ.engine.options import Options
from situ.engine.prepare import Columns, Prepared
from situ.spark.project import MASK, read_mask
from situ.spark.task import Task


class MaskedIntervals(IntervalPreparer):
    """Reads rows that have a mask as their last column."""

    def _mask(self, columns: Columns) -> npt.NDArray[np.unsignedinteger]:
        return read_mask(columns[MASK], self.mask_type)


def read_given(task: Task, engine: IntervalEngine, table: pa.Table) -> Prepared:
    """A batch of travelling columns as rows of the engine."""
    query = task.bound.query
    symbols = tuple(replace(symbol, condition=None) for symbol in query.symbols)
    bare = replace(task.bound, query=replace(query, symbols=symbols, where=None))
    named = table.rename_columns([*(column.name for column in task.layout.columns), MASK])
    return MaskedIntervals(bare, named.schema, engine, Options(points=task.points))(named)
