"""What Spark's tasks do, run here one after the other: the same functions, without a session.

Hypothesis can afford thousands of these; the tests with a session then only have to show that Spark
calls the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from conformance.rows import ResultRow
from conformance.runners import result_rows
from situ import query
from situ.carry.batch import collect, join_pieces, merge, slices, split_parts
from situ.carry.batch.pieces import unpack_condensed
from situ.carry.batch.runner import Runner
from situ.carry.batch.task import Task
from situ.carry.buckets import labels
from situ.expressions import compile_expression
from situ.language.situations.binder import bind
from situ.operators.situations.interval_engine import IntervalPreparer
from situ.options import Options, check_forget_after
from situ.rows.prepare import Prepared, Preparer
from situ.rows.schema import spark_schema
from situ.spark.select.project import MASK, SPLIT, layout_of

SMALL = 1 << 20


def task_for(
    schema: pa.Schema,
    text: str,
    options: dict[str, Any],
    *,
    kind: str = "match",
    limit: int = SMALL,
    n_buckets: int = 2,
) -> Task:
    """A task as the driver makes it."""
    bound = bind(query(text), spark_schema(schema), time=options.get("time"))
    items = bound.query.items
    names = [f"_key_{i}" for i in range(len(bound.partition))]
    names += (
        [f"_item_{i}" for i in range(len(items))]
        + ["match_time"]
        + ["match_id"] * bool(options.get("match_id"))
    )
    if kind == "situations":
        aggregates = dict.fromkeys(
            (item.function, item.attribute) for item in items if item.attribute is not None
        )
        names = [column.name for column in bound.partition] + ["symbol", "ts", "te", "n_events"]
        names += [f"{function}_{attribute}" for function, attribute in aggregates]
    layout = layout_of(bound)
    return Task(
        bound=bound,
        layout=layout,
        schema=pa.schema([schema.field(column.name) for column in layout.columns]),
        kind=kind,
        ties=options.get("ties", "last"),
        join=options.get("join", "auto"),
        points=options.get("points", "error"),
        forget_after=check_forget_after(options.get("forget_after"), bound),
        match_id=bool(options.get("match_id")),
        ansi=True,
        labels=tuple(labels(n_buckets).tolist()),
        limit=limit,
        output_names=names,
    )


def prepared(task: Task, split: pa.Table, options: dict[str, Any]) -> Prepared:
    """A split's rows as the JVM's select would hand them over."""
    own = {name: value for name, value in options.items() if name in ("on_bad_rows", "ties", "points")}
    kind = Preparer if task.bound.query.intervals is None else IntervalPreparer
    return kind(task.bound, split.schema, task.engine, Options(**own))(split)


def travelling(task: Task, split: pa.Table) -> pa.Table:
    """A split's rows as they reach a worker: the columns of the layout, then the mask."""
    preparer = Preparer(task.bound, split.schema, task.engine, Options())
    events = preparer.events(split).select([column.name for column in task.layout.columns])
    return events.append_column(MASK, pa.array(preparer(split).mask))


def shuffle_of(task: Task, pieces: Sequence[pa.RecordBatch]) -> list[list[pa.RecordBatch]]:
    """The pieces of each bucket."""
    wanted = {label: [] for label in task.labels}
    for piece in pieces:
        wanted[piece.column(0)[0].as_py()].append(piece)
    return list(wanted.values())


def run_shuffle(splits: Sequence[pa.Table], text: str, options: dict[str, Any], **settings: Any) -> pa.Table:
    task = task_for(splits[0].schema, text, options, **settings)
    pieces = [
        piece for split in splits for piece in collect.pack_prepared(task, prepared(task, split, options))
    ]
    found = [batch for own in shuffle_of(task, pieces) for batch in merge.merge_events(task, iter(own))]
    return finished(task, found)


def run_given(splits: Sequence[pa.Table], text: str, options: dict[str, Any], **settings: Any) -> pa.Table:
    """Given intervals, which only ever come together by partition."""
    task = task_for(splits[0].schema, text, options, **settings)
    pieces = [
        piece for split in splits for piece in collect.pack_prepared(task, prepared(task, split, options))
    ]
    found = [batch for own in shuffle_of(task, pieces) for batch in merge.merge_given(task, iter(own))]
    return finished(task, found)


def run_map_side(splits: Sequence[pa.Table], text: str, options: dict[str, Any], **settings: Any) -> pa.Table:
    task = task_for(splits[0].schema, text, options, **settings)
    pieces = [
        piece for split in splits for piece in split_parts.condense_rows(task, prepared(task, split, options))
    ]
    found = [
        batch for own in shuffle_of(task, pieces) for batch in join_pieces.merge_condensed(task, iter(own))
    ]
    return finished(task, found)


def run_oversized(
    splits: Sequence[pa.Table], text: str, options: dict[str, Any], rows_per_batch: int, **settings: Any
) -> pa.Table:
    """All splits in one task, which holds no more rows at a time than a batch has."""
    task = replace(task_for(splits[0].schema, text, options, limit=1, **settings), has_splits=True)
    batches = []
    for number, split in enumerate(splits):
        rows = travelling(task, split)
        rows = rows.append_column(SPLIT, pa.repeat(pa.scalar(number, pa.int32()), rows.num_rows))
        batches += rows.combine_chunks().to_batches(max_chunksize=rows_per_batch)
    pieces = list(collect.condense_splits(task, iter(batches)))
    found = [
        batch for own in shuffle_of(task, pieces) for batch in join_pieces.merge_condensed(task, iter(own))
    ]
    return finished(task, found)


def run_slices(
    splits: Sequence[pa.Table],
    text: str,
    options: dict[str, Any],
    n_slices: int,
    least: int = 1,
    **settings: Any,
) -> pa.Table:
    """Unpartitioned input in time slices, each packed and unpacked as on its way to another machine."""
    task = task_for(splits[0].schema, text, options, **settings)
    engine = task.engine
    data = [
        piece for split in splits for piece in split_parts.condense_rows(task, prepared(task, split, options))
    ]
    pieces = [unpack_condensed(one, engine.aggregates) for one in merge.values(iter(data))]
    if not pieces:
        return finished(task, [])
    whole = join_pieces.joined(engine, pieces, *join_pieces.in_time_order(task, pieces, merge.Registry()))
    runner = Runner(task)
    found = []
    for one in slices.slices_of(engine, whole, n_slices, least):
        found += slices.match_slice(engine, runner, slices.unpacked(engine, slices.packed(engine, one)))
    return finished(task, found)


def finished(task: Task, batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """What the last select makes of the workers' answers."""
    if task.kind == "situations":
        return pa.Table.from_batches(batches) if batches else task.results.situation_schema.empty_table()
    bound, item_schema = task.bound, task.results.item_schema
    fields = [task.schema.field(column.name) for column in bound.partition]
    fields += [*item_schema, pa.field("match_time", task.results.time_type)]
    fields += [pa.field("match_id", pa.string())] * task.match_id
    schema = pa.schema([field.with_name(name) for field, name in zip(fields, task.output_names, strict=True)])
    table = pa.Table.from_batches(batches).cast(schema) if batches else schema.empty_table()
    columns = {name: table[name].combine_chunks() for name in schema.names}
    result = {column.name: columns[f"_key_{i}"] for i, column in enumerate(bound.partition)}
    for item in bound.query.returns:
        compiled = compile_expression(item.expression, item_schema)
        result[item.name] = compiled({name: columns[name] for name in schema.names})
    result["match_time"] = columns["match_time"]
    if task.match_id:
        result["match_id"] = columns["match_id"]
    return pa.table(result)


def rows_of(result: pa.Table, text: str) -> list[ResultRow]:
    return result_rows(result, text)
