"""The clock of a batch, as it reaches the tasks that step: with the task, or as columns behind the pieces."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import pyarrow as pa

from situ.carry.batch.task import Task
from situ.rows.clock import complete_at_end
from situ.rows.needs import Needs
from situ.rows.schema import latest_of

CLOCK = "_clock_"  # what the names of these columns begin with


def clock_names(needs: Needs) -> dict[str, str]:
    """The columns by which an instant is told, each with its name beside the pieces."""
    return {column.name: f"{CLOCK}{i}" for i, column in enumerate(needs.instant.told_by(needs.time))}


def with_complete(
    task: Task, batches: Iterator[pa.RecordBatch]
) -> tuple[int | None, Iterator[pa.RecordBatch]]:
    """What is complete at the end of the input, None where nobody asks, and the batches."""
    if not task.needs.ticks:
        return None, batches
    if task.clock is not None:
        return task.clock + 1, batches
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return None, iter(())
    return complete_at_end(None, read_clock(task.needs, first), task.needs), itertools.chain([first], batches)


def read_clock(needs: Needs, batch: pa.RecordBatch) -> int:
    """The largest time of the input, of a batch that has it in every row; LONG_AGO for none."""
    one = batch.slice(0, 1)
    columns: Mapping[str, pa.Array] = {name: one.column(at) for name, at in clock_names(needs).items()}
    return latest_of(needs.instant.of_any(needs.time, columns))
