"""Streams keep what a push operator keeps: what the pattern rules out is pruned there too (SEM 8.4)."""

from __future__ import annotations

import pyarrow as pa
import pytest

import situ
from situ.carry.stream.bucket import Bucket
from streaming.in_memory import MemoryStream

SCHEMA = pa.schema([("t", pa.int64()), ("a", pa.bool_()), ("b", pa.bool_())])
# A meets B: an A that is over, and at whose end no B began, has no partner any more
TEXT = "FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A meets B WITHIN 1000000"


def events(begin: int, n: int) -> pa.Table:
    """A at every second instant; B never, but for the last instant of all."""
    times = range(begin, begin + n)
    return pa.table(
        {"t": times, "a": [t % 2 == 0 for t in times], "b": [t == 1999 for t in times]}, schema=SCHEMA
    )


@pytest.mark.parametrize("has_watermark", [False, True])
def test_a_stream_keeps_no_more_than_a_push_operator(has_watermark: bool) -> None:
    stream = MemoryStream(TEXT, SCHEMA, has_watermark=has_watermark, n_buckets=1)
    operator = situ.query(TEXT).operator(SCHEMA)
    found = []
    for begin in range(0, 2000, 100):
        found.append(stream.push(events(begin, 100), begin if has_watermark else None))
        operator.push(events(begin, 100))
    if has_watermark:
        found.append(stream.advance(10_000))
    assert [table.num_rows for table in found if table.num_rows] == [1]
    (shelf,) = stream.shelves.values()
    assert len(Bucket(stream.program, shelf).content().spans) <= 2
    assert operator.n_situations < 64 + 100  # it looks when there is much, a stream before it writes


def test_a_row_that_closes_what_went_with_its_partition_is_counted_alike() -> None:
    """SEM 6.3: pushed or on a stream, where the partition was forgotten meanwhile."""
    schema = pa.schema([("k", pa.string()), ("id", pa.int64()), ("kind", pa.string())])
    schema = schema.append(pa.field("ts", pa.int64())).append(pa.field("te", pa.int64()))
    text = "FROM INTERVALS i SYMBOL BY kind STARTING ts ENDING te ID BY id PARTITION BY k "
    text += "PATTERN A overlaps B WITHIN 20"

    def rows(*values: tuple[object, ...]) -> pa.Table:
        return pa.Table.from_pylist([dict(zip(schema.names, one, strict=True)) for one in values], schema)

    begin, end = rows(("p", 1, "A", 90, None)), rows(("p", 1, "A", 90, 2000))
    operator = situ.query(text).operator(schema, watermark=10)
    operator.push(begin)
    operator.advance(1000)
    operator.push(end)
    operator.flush()
    stream = MemoryStream(text, schema, has_watermark=True, n_buckets=1)
    stream.push(begin, 0)
    stream.advance(1000)
    assert stream.n_keys == 0
    stream.push(end, 1000)
    stream.advance(3000)
    assert stream.n_ignored == operator.forgotten == 1
