"""The stateful operator: Spark's state store under a bucket, one call per bucket and micro-batch."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from situ.carry.stream import pack as stream_pack
from situ.carry.stream.bucket import Bucket
from situ.carry.stream.header import check_header, new_header
from situ.carry.stream.keyed import gather
from situ.carry.stream.outcome import Outcome
from situ.carry.stream.program import Program
from situ.compiled.jit import compile_first
from situ.errors import SituError, StateError
from situ.rows.kernels.numbers import LONG_AGO, NEVER

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import (
        MapState,
        StatefulProcessorHandle,
        TimerValues,
        ValueState,
    )

_US_PER_MS = 1000

# as in situ.spark.worker, for workers of a parent that is not ours
compile_first()
gc.freeze()


class StatefulOperator:
    """Groups are buckets; a negative group holds the header.

    Every bucket keeps the header too: Spark runs buckets and the header side by side, so either may be the
    first to find that the checkpoint was made for something else, and both must say it in the same words.
    """

    def __init__(self, payload: bytes, handle: StatefulProcessorHandle, states: dict[str, Any]) -> None:
        self._program = program_of(payload)
        self._handle = handle
        self._made_for: ValueState = states["made_for"]
        self._shelf = _SparkShelf(states)

    def take(self, group: int, rows: Iterator[pd.DataFrame], now: TimerValues) -> Iterator[pd.DataFrame]:
        """Rows of one bucket; the header's group has one without a meaning, and rows that pass through."""
        values = [value for frame in rows for value in frame["data"]]
        if group == stream_pack.HEADER:
            if not self._check():
                self._made_for.update((new_header(self._program),))
            aside = [value for value in values if value]
            if aside:
                yield frame_of(aside, Outcome())
            return
        yield from self._run(values, complete_of(self._program, now))

    def wake(self, now: TimerValues) -> Iterator[pd.DataFrame]:
        """The watermark has passed a bucket's timer."""
        yield from self._run(None, complete_of(self._program, now))

    def _run(self, values: list[bytes] | None, complete: int | None) -> Iterator[pd.DataFrame]:
        program = self._program
        try:
            bucket = Bucket(program, self._shelf)
            if bucket.is_new:
                self._made_for.update((new_header(program),))
            before = bucket.next_instant
            if values is not None:
                several, originals = stream_pack.unpack(program, values)
                outcome = bucket.take(gather(several), joined(originals), complete)
            else:
                assert complete is not None
                outcome = bucket.wake(complete) if before <= complete else Outcome()
        except SituError as error:  # a message for the user, who has no use for the way through our code
            if isinstance(error, StateError):
                self._check()
            raise error.with_traceback(None) from None
        if program.has_watermark:
            self._set_timer(before, bucket.next_instant, has_fired=values is None)
        if not outcome.is_empty:
            yield frame_of([*stream_pack.pack_outcome(outcome)], outcome, self._seen(complete))

    def _seen(self, complete: int | None) -> int:
        """The largest time of earlier micro-batches, as far as the watermark tells."""
        if complete is None or complete == LONG_AGO:
            return int(LONG_AGO)
        return complete + (self._program.delay or 0)

    def _set_timer(self, before: int, after: int, *, has_fired: bool) -> None:
        """One timer for each bucket: it fires in the first micro-batch whose watermark has reached it."""
        if before != after:
            if before != NEVER and not has_fired:  # Spark removes one that has
                self._handle.deleteTimer(_timer(before))
            if after != NEVER:
                self._handle.registerTimer(_timer(after))

    def _check(self) -> bool:
        """Whether this group has a header; one of another query is refused."""
        found = self._made_for.get()
        if found is not None:
            check_header(found[0], self._program)
        return found is not None


class _SparkShelf:
    """A bucket's values in Spark's state store: Spark knows which group is being handled."""

    def __init__(self, states: dict[str, Any]) -> None:
        self._head: ValueState = states["head"]
        self._maps: dict[str, MapState] = states

    def head(self) -> bytes | None:
        found = self._head.get()
        return None if found is None else bytes(found[0])

    def put_head(self, data: bytes) -> None:
        self._head.update((data,))

    def get(self, kind: str, number: int) -> bytes | None:
        found = self._maps[kind].getValue((number,))
        return None if found is None else bytes(found[0])

    def put(self, kind: str, number: int, data: bytes) -> None:
        self._maps[kind].updateValue((number,), (data,))

    def remove(self, kind: str, number: int) -> None:
        self._maps[kind].removeKey((number,))


def _timer(instant: int) -> int:
    """The smallest watermark that has reached an instant."""
    return -(-instant // _US_PER_MS)


def complete_of(program: Program, timer_values: TimerValues) -> int | None:
    """The watermark in ticks; None where the stream has none.

    Spark says 0 before the first rows: then nothing is complete, and rows of 1969 are not late.
    """
    if not program.has_watermark:
        return None
    watermark = timer_values.getCurrentWatermarkInMs()
    return watermark * _US_PER_MS if watermark > 0 else int(LONG_AGO)


def joined(originals: list[pa.Array]) -> pa.Array | None:
    """The original rows of all pieces, None where nobody asks for them."""
    return pa.concat_arrays(originals) if originals else None


def frame_of(packed: list[bytes], outcome: Outcome, seen: int = int(LONG_AGO)) -> pd.DataFrame:
    """What the operator gives Spark: packed results, and the figures in the first row."""
    data: list[bytes | None] = [*packed] or [None]
    figures = {
        "late_rows": (outcome.n_late, 0),
        "ignored_rows": (outcome.n_ignored, 0),
        "tied_rows": (outcome.n_tied, 0),
        "matches": (outcome.n_found, 0),
        "earliest_late": (outcome.earliest_late, int(NEVER)),
        "seen": (seen, int(LONG_AGO)),
    }
    columns = {name: [first] + [nothing] * (len(data) - 1) for name, (first, nothing) in figures.items()}
    return pd.DataFrame({"data": pd.Series(data, dtype=object)} | columns)


@lru_cache(maxsize=8)
def program_of(payload: bytes) -> Program:
    """Workers run many micro-batches of one query: its engine, and what it learnt, stay with them."""
    return pickle.loads(payload)  # type: ignore[no-any-return]
