"""Parquet read by the tasks themselves: no row passes through the JVM before it is condensed.

A task gets parts of files, reads the row groups that lie in them with Arrow, evaluates the conditions
in process, and goes on exactly as a task that was handed rows by Spark.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from situ.carry.batch.collect import pack_prepared
from situ.carry.batch.opening import open_file, plain
from situ.carry.batch.pieces import SHUFFLED
from situ.carry.batch.ranges import Range, may_be_true, row_group_ranges
from situ.carry.batch.split_parts import condense_split, gathered
from situ.carry.batch.task import Task
from situ.errors import DataError
from situ.expressions import Compiled, compile_condition
from situ.language.text.nodes import Expression
from situ.rows.columns import Columns, mask_of, truths
from situ.rows.needs import OF_WHERE, Needs
from situ.rows.plain import plain_column
from situ.rows.read import MASK, compiled_columns, predicates_of, read_travelling
from situ.rows.small import Predicate

N_BAD_ROWS = "n_bad_rows"
_ROWS_AT_ONCE = 1 << 18
_COUNTED = SHUFFLED.append(pa.field(N_BAD_ROWS, pa.int64()))


@dataclass(frozen=True)
class FilePart:
    """Part of a file: the row groups whose middle lies in the byte range; `folders` are its hive values."""

    path: str
    start: int
    end: int
    folders: dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """What tasks that read files themselves need to know."""

    task: Task
    schema: pa.Schema  # every column the question reads, folders included, in Spark's types
    whole: bool  # are events packed as they are (strategy="shuffle")
    ansi: bool
    time_zone: str
    file_parts: list[list[FilePart]] = field(default_factory=list)  # of each Spark task
    drops: bool = False  # are rows without a time left out and counted
    named: dict[str, str] = field(default_factory=dict)  # columns that have other names in the files
    kept: Expression | None = None  # rows for which this is not true are not there, also for WHERE

    @property
    def needs(self) -> Needs:
        """Of the operator."""
        return self.task.needs

    @cached_property
    def predicates(self) -> list[Predicate]:
        """The conditions, compiled."""
        return predicates_of(self.needs, self.schema, ansi=self.ansi, time_zone=self.time_zone)

    @cached_property
    def derived(self) -> dict[str, Compiled]:
        """The derived columns, compiled."""
        return compiled_columns(self.needs, self.schema, ansi=self.ansi, time_zone=self.time_zone)

    @property
    def filters(self) -> list[Expression]:
        """What decides which rows there are, in the order in which it does."""
        return [one for one in (self.kept, self.needs.where) if one is not None]

    @cached_property
    def compiled_filters(self) -> list[Compiled]:
        """The filters, compiled."""
        return [
            compile_condition(one, self.schema, OF_WHERE, ansi=self.ansi, time_zone=self.time_zone)
            for one in self.filters
        ]

    @cached_property
    def always_read(self) -> frozenset[str]:
        """What is read even where no condition can hold: partition values, times, ties, filters' columns."""
        needs = self.needs
        names = {column.name for column in (*needs.partition, needs.time, *needs.ties)}
        return frozenset(names.union(*(one.columns for one in self.compiled_filters)))

    def in_files(self, name: str) -> str:
        """A column's name in the files, in lower case."""
        return self.named.get(name, name).lower()


@dataclass
class Dropped:
    """How many rows without a time were left out (SEM 1.4)."""

    n_rows: int = 0


def read_units(reading: Reading, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pieces of the file parts that belong to the numbers in the batches, a split for each part.

    Where rows without a time are dropped, a last row without a piece says how many.
    """
    numbers = (number for batch in batches for number in batch.column(0).to_pylist())
    return _read_each(
        reading,
        ((file_part, file_part.path) for number in numbers for file_part in reading.file_parts[number]),
    )


def read_contents(reading: Reading, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same of whole files that Spark has read: each row is a path and the file's content."""
    file_parts = {plain(file_part.path): file_part for group in reading.file_parts for file_part in group}
    return _read_each(
        reading,
        (
            (file_parts[path.as_py()], content.as_buffer())
            for batch in batches
            for path, content in zip(batch.column(0), batch.column(1), strict=True)
        ),
    )


def _read_each(
    reading: Reading, file_parts: Iterable[tuple[FilePart, str | pa.Buffer]]
) -> Iterator[pa.RecordBatch]:
    """Pieces of file parts, each with the path or the content of its file."""
    dropped = Dropped()
    pieces = (
        piece for file_part, file in file_parts for piece in read_file_part(reading, file_part, file, dropped)
    )
    if not reading.drops:
        yield from pieces
        return
    for piece in pieces:
        yield pa.RecordBatch.from_arrays([*piece.columns, pa.nulls(1, pa.int64())], schema=_COUNTED)
    yield pa.RecordBatch.from_pylist([{N_BAD_ROWS: dropped.n_rows}], schema=_COUNTED)


def read_file_part(
    reading: Reading, file_part: FilePart, file: str | pa.Buffer, dropped: Dropped
) -> Iterator[pa.RecordBatch]:
    """One part of a file as one split, whole or condensed, pieces for each bucket."""
    task = reading.task
    try:
        parts = gathered(events_of(reading, file_part, file, dropped), task.limit)
        for part in parts:
            if reading.whole:
                yield from pack_prepared(task, read_travelling(task.needs, part.rows))
            else:
                yield from condense_split(task, itertools.chain([part], parts))
    except DataError as error:
        raise type(error)(f"{file_part.path}: {error.message}", hint=error.hint) from None


def events_of(
    reading: Reading, file_part: FilePart, content: str | pa.Buffer, dropped: Dropped
) -> Iterator[pa.Table]:
    """The events of a part of a file, as the columns that travel and the mask."""
    needs = reading.needs
    with open_file(content) if isinstance(content, str) else pa.BufferReader(content) as source:
        file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
        spelt = {name.lower(): name for name in file.schema_arrow.names}
        positions = _flat_columns(file.metadata)
        own = {name.lower(): reading.in_files(name) for name in reading.schema.names}
        for number in range(file.metadata.num_row_groups):
            row_group = file.metadata.row_group(number)
            if not file_part.start <= _middle(row_group) < file_part.end:
                continue
            found = row_group_ranges(row_group, positions)
            ranges = {name: found[file] for name, file in own.items() if file in found}
            ranges |= folder_ranges(file_part.folders)
            if not all(may_be_true(one, ranges) for one in reading.filters):
                continue
            is_silent = needs.only_where_true and not any(
                may_be_true(condition.expression, ranges) for condition in needs.conditions
            )
            wanted = reading.always_read if is_silent else frozenset(reading.schema.names)
            names = [
                spelt[reading.in_files(name)]
                for name in reading.schema.names
                if name in wanted and reading.in_files(name) in spelt
            ]
            for batch in file.iter_batches(
                _ROWS_AT_ONCE, row_groups=[number], columns=list(dict.fromkeys(names)), use_threads=False
            ):
                yield _events(reading, file_part, batch, dropped, is_silent=is_silent)


def _flat_columns(metadata: Any) -> dict[str, int]:
    """Positions of the columns that are not nested, by lower-case name."""
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    return {path.lower(): i for i, path in enumerate(paths) if "." not in path}


def folder_ranges(folders: dict[str, Any]) -> dict[str, Range]:
    """A folder's value as a range."""
    return {
        name.lower(): Range(value, value, value is None, value is None) for name, value in folders.items()
    }


def _middle(row_group: Any) -> int:
    """Where a row group lies in its file, as Spark decides which split it belongs to."""
    first = row_group.column(0)
    offset = first.dictionary_page_offset or first.data_page_offset
    size = sum(row_group.column(i).total_compressed_size for i in range(row_group.num_columns))
    return int(min(offset, first.data_page_offset) + size // 2)


def _events(
    reading: Reading, file_part: FilePart, batch: pa.RecordBatch, dropped: Dropped, *, is_silent: bool
) -> pa.Table:
    """A batch's events; where no condition can hold nothing is evaluated but WHERE."""
    needs = reading.needs
    table = _in_schema(reading, file_part, batch)
    for condition in reading.compiled_filters:
        table = table.filter(pa.array(truths(condition(Columns(table), table.num_rows)).view(bool)))
    time = table.column(needs.time.name)
    if reading.drops and time.null_count:
        dropped.n_rows += time.null_count
        table = table.filter(pc.is_valid(time))
    predicates = [] if is_silent else reading.predicates
    columns = Columns(table)
    mask = mask_of(predicates, columns, needs.mask_type)
    rows = table.select([column.name for column in needs.columns])
    for name, derived in reading.derived.items():
        rows = rows.append_column(name, derived(columns, columns.n_rows))
    return rows.append_column(MASK, pa.array(mask))


def _in_schema(reading: Reading, file_part: FilePart, batch: pa.RecordBatch) -> pa.Table:
    """The batch with all columns in Spark's types: folders as constants, what was not read as nulls."""
    found = {name.lower(): column for name, column in zip(batch.schema.names, batch.columns, strict=True)}
    columns = []
    for own in reading.schema:
        if own.name in file_part.folders:
            columns.append(pa.repeat(pa.scalar(file_part.folders[own.name], own.type), batch.num_rows))
        elif (name := reading.in_files(own.name)) in found:
            column = plain_column(found[name])
            columns.append(column if column.type == own.type else column.cast(own.type))
        else:
            columns.append(pa.nulls(batch.num_rows, own.type))
    return pa.Table.from_arrays(columns, schema=reading.schema)
