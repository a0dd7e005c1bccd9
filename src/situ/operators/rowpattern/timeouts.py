"""Starts that had no match and that only the window ended (ROW 8.8): an output beside the matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from situ.rows.prepared import Positions
from situ.rows.schema import result_time_type, ticks_writer

if TYPE_CHECKING:
    from situ.operators.rowpattern.operator import RowOperator


class Timeouts(NamedTuple):
    """One for each such start."""

    operator: RowOperator
    slot: Positions
    start: Positions  # its time
    instant: Positions  # when the window ended
    variable: Positions  # of the last row of the most preferred candidate

    def table(self, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """`keys` are the partition values of each."""
        needs = self.operator.needs
        write = ticks_writer(schema.field("start_time").type, needs.time.unit)
        times = [write(ticks.reshape(1, -1), None)[0] for ticks in (self.start, self.instant)]
        names = pa.array(self.operator.engine.automaton.variables, pa.string())
        return pa.Table.from_arrays([*keys, *times, names.take(pa.array(self.variable))], schema=schema)


def timeouts_schema(operator: RowOperator) -> pa.Schema:
    """Partition columns, start_time, match_time, furthest."""
    keys = [operator.schema.field(column.name) for column in operator.needs.partition]
    time = result_time_type(operator.schema.field(operator.needs.time.name).type)
    own = [pa.field("start_time", time), pa.field("match_time", time), pa.field("furthest", pa.string())]
    return pa.schema([*keys, *own])


def timeouts_of(operator: RowOperator, ended: Positions, slot: Positions, time: Positions) -> Timeouts:
    """`ended` [4, N]: history, start, end of the window, variable; `slot` of histories, `time` of rows."""
    history, start, instant, variable = ended
    return Timeouts(operator, slot[history], time[start], instant, variable.astype(np.int64))
