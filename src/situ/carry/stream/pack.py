"""On the way to the stateful operator and back: rows packed per bucket, results unpacked.

Rows that travel one by one are what a stateful operator in Python is slow at; a bucket's rows as one
binary value are not. The same holds for its results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.carry.batch.collect import packed, tables
from situ.carry.batch.merge import prepared_of
from situ.carry.batch.pieces import unpack_rows
from situ.carry.buckets import buckets_of
from situ.carry.stream.cells import Hashes
from situ.carry.stream.keyed import Keyed
from situ.carry.stream.outcome import Outcome
from situ.carry.stream.program import AHEAD, IS_AHEAD, LATE, Program
from situ.rows.read import read_travelling

HEADER = -1  # the group that holds what the checkpoint was made for; no bucket's label is negative
PACKED = "bucket int, data binary"
OUTCOME = (
    "data binary, late_rows bigint, ignored_rows bigint, tied_rows bigint, matches bigint, "
    "earliest_late bigint, seen bigint"
)
_BYTES_PER_PIECE = 32 << 20
_ROWS_PER_RESULT = 100_000
_HASHES = 1 << 63


def hashes_of(keys: list[pa.Array]) -> Hashes:
    """A number for each partition, from its values alone: the same in every run and on every machine."""
    return buckets_of(keys, _HASHES)


def pack(program: Program, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of an input task, a piece for each bucket; and one row for the header, to be checked by it."""
    task, first = program.task, True
    for table in tables(batches, min(_BYTES_PER_PIECE, task.limit)):
        if first:
            first = False
            yield _row(HEADER, b"")
        yield from _packed(program, table)


def _packed(program: Program, table: pa.Table) -> Iterator[pa.RecordBatch]:
    task = program.task
    if AHEAD in program.beside:
        is_ahead = table.column(IS_AHEAD)
        aside, table = table.column(LATE).filter(is_ahead), table.filter(pc.invert(is_ahead))
        if len(aside):  # no state has a say in them: they only pass through
            yield _row(HEADER, _stream(pa.table({AHEAD: aside})))
    rows = read_travelling(program.needs, table)
    more = [table.column(LATE).combine_chunks()] if program.late_rows else []
    for bucket, data in packed(rows, hashes_of(rows.keys) % task.n_buckets, more):
        yield _row(task.labels[bucket], data)


def _row(label: int, data: bytes) -> pa.RecordBatch:
    columns = [pa.array([label], pa.int32()), pa.array([data], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["bucket", "data"])


def unpack(program: Program, values: Iterable[bytes]) -> tuple[list[Keyed], list[pa.Array]]:
    """The rows that were packed, and the original rows where late ones may be asked for."""
    several, originals = [], []
    for data in values:
        piece = unpack_rows(data)
        if program.late_rows:
            originals.append(piece.columns.pop())
        codes = np.repeat(np.arange(piece.n_slots), np.diff(piece.offset))
        rows = prepared_of(piece, codes, list(program.types.attributes))._replace(keys=piece.keys)
        several.append(Keyed(program.typed(rows), hashes_of(piece.keys)))
    return several, originals


def pack_outcome(outcome: Outcome) -> Iterator[bytes]:
    """Results and late rows as Arrow streams, each a value of moderate size."""
    for table in outcome.tables:
        for start in range(0, table.num_rows, _ROWS_PER_RESULT):
            yield _stream(table.slice(start, _ROWS_PER_RESULT))
    for rows in outcome.late_rows:
        for start in range(0, len(rows), _ROWS_PER_RESULT):
            yield _stream(pa.table({LATE: rows.slice(start, _ROWS_PER_RESULT)}))


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpack_outcomes(program: Program, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Results as rows: one that was left out has null in the columns of a match, and the other way round."""
    names = [*program.task.output.names, *program.beside]
    for batch in batches:
        for value in batch.column("data"):
            if not value.is_valid:
                continue
            with pa.ipc.open_stream(value.as_buffer()) as stream:
                for found in stream:
                    yield _completed(found, names, program.output_types)


def _completed(found: pa.RecordBatch, names: list[str], types: pa.Schema) -> pa.RecordBatch:
    columns = []
    for name in names:
        if name in found.schema.names:
            columns.append(found.column(name))
        else:
            columns.append(pa.nulls(found.num_rows, types.field(name).type))
    return pa.RecordBatch.from_arrays(columns, names=names)
