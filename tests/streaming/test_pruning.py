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
    kept = Bucket(stream.program, shelf).kept()
    assert kept.n_entries <= 2
    assert operator.n_situations < 64 + 100  # it looks when there is much, a stream before it writes
