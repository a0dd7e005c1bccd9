"""What Spark's tasks do, run here one after the other: the same functions, without a session.

Hypothesis can afford thousands of these; the tests with a session then only have to show that Spark
calls the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from conformance.rows import ResultRow
from conformance.runners import result_rows
from situ import query
from situ.carry.batch import collect, join_pieces, merge, split_parts
from situ.carry.batch.task import Task
from situ.carry.buckets import labels
from situ.carry.contract import Question, Setting
from situ.operators.questions import deriving, matching
from situ.options import Options
from situ.rows.clock import until_of
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.prepared import Prepared
from situ.rows.read import MASK, TableReader, with_derived
from situ.rows.schema import latest_of, spark_schema
from situ.spark.select.project import SPLIT

SMALL = 1 << 20


def task_for(
    schema: pa.Schema, text: str | Question, options: dict[str, Any], *, kind: str = "match", **settings: Any
) -> Task:
    """A task as the driver makes it, but for RETURN, which on Spark is Spark's to evaluate."""
    question = text
    if isinstance(question, str):
        question = (matching if kind == "match" else deriving)(query(question))
    chosen = Options(**{"ties": "last", **options})
    asked = question.bind(spark_schema(schema), chosen)
    types = with_derived(asked.needs, schema, ansi=True, time_zone="UTC")
    needed = pa.schema([types.field(name) for name in asked.needs.travelling_names])
    operator = asked.operator(needed, Setting(join=chosen.join))
    return task_of(operator, **{"clock": until_of(chosen, asked.needs, needed), **settings})


def task_for_splits(
    splits: Sequence[pa.Table], text: str | Question, options: dict[str, Any], **settings: Any
) -> Task:
    """The same, with the clock of all splits (SEM 11.9), which on Spark comes beside the pieces."""
    task = task_for(splits[0].schema, text, options, **settings)
    if not task.needs.ticks or task.clock is not None:
        return task
    whole = pa.concat_tables(splits)
    read = TableReader(task.needs, whole.schema, on_bad_rows=options.get("on_bad_rows", "error"))
    latest = read.latest(whole, latest_of(read(whole).time))
    return task if latest == LONG_AGO else replace(task, clock=latest)


def task_of(operator: Any, *, limit: int = SMALL, n_buckets: int = 2, **settings: Any) -> Task:
    return Task(operator, False, tuple(labels(n_buckets).tolist()), limit, **settings)


def prepared(task: Task, split: pa.Table, options: dict[str, Any]) -> Prepared:
    """A split's rows as the JVM's select would hand them over."""
    return TableReader(task.needs, split.schema, on_bad_rows=options.get("on_bad_rows", "error"))(split)


def travelling(task: Task, split: pa.Table) -> pa.Table:
    """A split's rows as they reach a worker: the columns of `needs`, then the mask."""
    read = TableReader(task.needs, split.schema)
    events, rows = read.events(split).select([column.name for column in task.needs.columns]), read(split)
    for one in task.needs.derived:
        events = events.append_column(one.name, rows.attributes[one.name])
    return events.append_column(MASK, pa.array(rows.mask))


def shuffle_of(task: Task, pieces: Sequence[pa.RecordBatch]) -> list[list[pa.RecordBatch]]:
    """The pieces of each bucket."""
    wanted = {label: [] for label in task.labels}
    for piece in pieces:
        wanted[piece.column(0)[0].as_py()].append(piece)
    return list(wanted.values())


def run_shuffle(
    splits: Sequence[pa.Table], text: str | Question, options: dict[str, Any], **settings: Any
) -> pa.Table:
    task = task_for_splits(splits, text, options, **settings)
    pieces = _mapped(task, splits, options, collect.pack_prepared)
    return _reduced(task, pieces, merge.merge_rows)


def run_map_side(
    splits: Sequence[pa.Table], text: str | Question, options: dict[str, Any], **settings: Any
) -> pa.Table:
    task = task_for_splits(splits, text, options, **settings)
    pieces = _mapped(task, splits, options, split_parts.condense_rows)
    return _reduced(task, pieces, join_pieces.merge_condensed)


def run_oversized(
    splits: Sequence[pa.Table], text: str, options: dict[str, Any], rows_per_batch: int, **settings: Any
) -> pa.Table:
    """All splits in one task, which holds no more rows at a time than a batch has."""
    task = replace(task_for_splits(splits, text, options, limit=1, **settings), has_splits=True)
    batches = []
    for number, split in enumerate(splits):
        rows = travelling(task, split)
        rows = rows.append_column(SPLIT, pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows))
        batches += rows.combine_chunks().to_batches(max_chunksize=rows_per_batch)
    pieces = list(collect.condense_splits(task, iter(batches)))
    return _reduced(task, pieces, join_pieces.merge_condensed)


def run_slices(
    splits: Sequence[pa.Table],
    text: str | Question,
    options: dict[str, Any],
    n_slices: int,
    least: int = 1,
    **settings: Any,
) -> pa.Table:
    """Unpartitioned input in time slices, each packed and unpacked as on its way to another machine."""
    task = task_for_splits(splits, text, options, n_slices=n_slices, least_rows=least, **settings)
    pieces = _mapped(task, splits, options, split_parts.condense_rows)
    slices = join_pieces.cut(task, iter(pieces))
    return finished(task, list(join_pieces.match_slices(task, slices)))


Entry = Callable[[Task, Any], Iterator[pa.RecordBatch]]


def _mapped(
    task: Task, splits: Sequence[pa.Table], options: dict[str, Any], entry: Entry
) -> list[pa.RecordBatch]:
    return [piece for split in splits for piece in entry(task, prepared(task, split, options))]


def _reduced(task: Task, pieces: Sequence[pa.RecordBatch], entry: Entry) -> pa.Table:
    return finished(task, [batch for own in shuffle_of(task, pieces) for batch in entry(task, iter(own))])


def finished(task: Task, batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """The workers' answers under the names that users see."""
    table = pa.Table.from_batches(batches, task.output)
    keys = [column.name for column in task.needs.partition]
    return table.rename_columns([*keys, *(field.name for field in task.operator.output)])


def rows_of(result: pa.Table, text: str) -> list[ResultRow]:
    return result_rows(result, text)
