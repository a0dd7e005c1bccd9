"""Parquet read by the tasks themselves: no row passes through the JVM before it is condensed.

A task gets parts of files, reads the row groups that lie in them with Arrow, evaluates the conditions
in process, and goes on exactly as a task that was handed rows by Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from situ.engine.expressions import compile_expression
from situ.engine.options import Options
from situ.engine.prepare import Columns, compiled_conditions, mask_of, truths
from situ.errors import DataError
from situ.spark.collect import condense_split, pack_prepared
from situ.spark.files import open_file
from situ.spark.project import MASK, read_batch
from situ.spark.prune import Range, may_be_true, row_group_ranges
from situ.spark.task import Task

_ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class Unit:
    """Part of a file: the row groups whose middle lies in the byte range; `folders` are its hive values."""

    path: str
    start: int
    end: int
    folders: dict[str, str | None]


@dataclass(frozen=True)
class Reading:
    """What tasks that read files themselves need to know."""

    task: Task
    schema: pa.Schema  # every column the query reads, folders included, in Spark's types
    whole: bool  # are events packed as they are (strategy="shuffle")
    time_zone: str
    units: list[list[Unit]] = field(default_factory=list)  # of each Spark task

    @cached_property
    def conditions(self) -> Any:
        """The conditions of all symbols, compiled."""
        return compiled_conditions(self.task.bound, self.schema, self._options)

    @cached_property
    def where(self) -> Any:
        """WHERE, compiled."""
        where = self.task.bound.query.where
        if where is None:
            return None
        return compile_expression(where, self.schema, ansi=self.task.ansi, time_zone=self.time_zone)

    @property
    def _options(self) -> Options:
        return Options(ansi=self.task.ansi, time_zone=self.time_zone)

    @cached_property
    def always_read(self) -> frozenset[str]:
        """What is read even where no condition can hold: partition values, times, ties, WHERE's columns."""
        bound = self.task.bound
        names = {column.name for column in (*bound.partition, bound.time, *bound.ties)}
        return frozenset(names | set(self.where.columns if self.where else ()))


def read_units(reading: Reading, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pieces of the file parts that belong to the numbers in the batches, a split for each part."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for unit in reading.units[number]:
                yield from read_unit(reading, unit)


def read_unit(reading: Reading, unit: Unit) -> Iterator[pa.RecordBatch]:
    """One part of a file, a piece for each bucket; a part larger than the limit comes in several."""
    task = reading.task
    pack = pack_prepared if reading.whole else condense_split
    waiting: list[pa.Table] = []
    size = 0
    try:
        for table in events_of(reading, unit):
            waiting.append(table)
            size += table.nbytes
            if size >= task.limit:
                yield from pack(task, read_batch(task.layout, pa.concat_tables(waiting), task.mask_type))
                waiting, size = [], 0
        if waiting:
            yield from pack(task, read_batch(task.layout, pa.concat_tables(waiting), task.mask_type))
    except DataError as error:
        raise type(error)(f"{unit.path}: {error.message}", hint=error.hint) from None


def events_of(reading: Reading, unit: Unit) -> Iterator[pa.Table]:
    """The events of a part of a file, as the columns of the layout and the mask."""
    bound = reading.task.bound
    conditions = [symbol.condition for symbol in bound.query.symbols if symbol.condition is not None]
    with open_file(unit.path) as source:
        file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
        spelt = {name.lower(): name for name in file.schema_arrow.names}
        positions = _flat_columns(file.metadata)
        for number in range(file.metadata.num_row_groups):
            row_group = file.metadata.row_group(number)
            if not unit.start <= _middle(row_group) < unit.end:
                continue
            ranges = folder_ranges(unit.folders) | row_group_ranges(row_group, positions)
            if bound.query.where is not None and not may_be_true(bound.query.where, ranges):
                continue
            is_silent = not any(may_be_true(condition, ranges) for condition in conditions)
            wanted = reading.always_read if is_silent else frozenset(reading.schema.names)
            names = [
                spelt[name.lower()]
                for name in reading.schema.names
                if name in wanted and name.lower() in spelt
            ]
            for batch in file.iter_batches(
                _ROWS_AT_ONCE, row_groups=[number], columns=names, use_threads=False
            ):
                yield _events(reading, unit, batch, is_silent)


def _flat_columns(metadata: Any) -> dict[str, int]:
    """Positions of the columns that are not nested, by lower-case name."""
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    return {path.lower(): i for i, path in enumerate(paths) if "." not in path}


def folder_ranges(folders: dict[str, str | None]) -> dict[str, Range]:
    """A folder's value as a range; numbers among them are numbers to Spark too."""
    found = {}
    for name, text in folders.items():
        value = None if text is None else int(text) if text.lstrip("-").isdigit() else text
        found[name.lower()] = Range(value, value, text is None, text is None)
    return found


def _middle(row_group: Any) -> int:
    """Where a row group lies in its file, as Spark decides which split it belongs to."""
    first = row_group.column(0)
    offset = first.dictionary_page_offset or first.data_page_offset
    size = sum(row_group.column(i).total_compressed_size for i in range(row_group.num_columns))
    return int(min(offset, first.data_page_offset) + size // 2)


def _events(reading: Reading, unit: Unit, batch: pa.RecordBatch, is_silent: bool) -> pa.Table:
    """A batch's events; where no condition can hold nothing is evaluated but WHERE."""
    task = reading.task
    table = _in_schema(reading, unit, batch)
    if reading.where is not None:
        table = table.filter(pa.array(truths(reading.where(Columns(table))).view(bool)))
    conditions = [] if is_silent else reading.conditions
    mask = mask_of(conditions, Columns(table), task.mask_type)
    names = [column.name for column in task.layout.columns]
    return table.select(names).append_column(MASK, pa.array(mask))


def _in_schema(reading: Reading, unit: Unit, batch: pa.RecordBatch) -> pa.Table:
    """The batch with all columns in Spark's types: folders as constants, what was not read as nulls."""
    found = {name.lower(): column for name, column in zip(batch.schema.names, batch.columns, strict=True)}
    columns = []
    for own in reading.schema:
        if own.name in unit.folders:
            text = unit.folders[own.name]
            value = pa.scalar(None, own.type) if text is None else pa.scalar(text).cast(own.type)
            columns.append(pa.repeat(value, batch.num_rows))
        elif own.name.lower() in found:
            column = found[own.name.lower()]
            columns.append(column if column.type == own.type else column.cast(own.type))
        else:
            columns.append(pa.nulls(batch.num_rows, own.type))
    return pa.Table.from_arrays(columns, schema=reading.schema)
