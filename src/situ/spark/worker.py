"""What runs in a Python worker: the entry points that `ship` names."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from situ.carry.batch import collect, direct, join_pieces, merge
from situ.carry.batch.task import Task
from situ.carry.stream import pack as stream_pack
from situ.compiled.jit import compile_first
from situ.errors import SituError
from situ.spark.batch import why
from situ.spark.batch.tied import tell

Entry = Callable[[Any, Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

ENTRIES: dict[str, Entry] = {
    "pack": collect.pack,
    "read": direct.read_units,
    "read_contents": direct.read_contents,
    "condense": collect.condense_splits,
    "merge_rows": merge.merge_rows,
    "merge_condensed": join_pieces.merge_condensed,
    "cut": join_pieces.cut,
    "match_slices": join_pieces.match_slices,
    "pack_stream": stream_pack.pack,
    "unpack_stream": stream_pack.unpack_outcomes,
    "why": why.count,
}


compile_first()
# Spark's Python workers collect garbage after every task. What has been imported by now is none, and
# looking through it again each time is most of what a small task costs.
gc.freeze()


def run(
    entry: str, payload: bytes, batches: Iterator[pa.RecordBatch], told: Any = None
) -> Iterator[pa.RecordBatch]:
    """Run one entry over the batches of a Spark task; what it leaves out as ties is told in the end."""
    task = _task(payload)
    own = getattr(task, "task", task)  # of what a task reads itself, or of a stream
    counts = isinstance(own, Task)
    if counts:
        own.tied.drained()  # of a task that failed
    try:
        yield from ENTRIES[entry](task, batches)
        if counts:
            tell(own, told)
    except SituError as error:  # a message for the user, who has no use for the way through our code
        raise error.with_traceback(None) from None


@lru_cache(maxsize=4)
def _task(payload: bytes) -> Any:
    """Workers run many tasks of one query: its engine is made once in each."""
    return pickle.loads(payload)
