"""The stateful operator: Spark's state store under a bucket, one call per bucket and micro-batch."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from situ.engine.kernels.numbers import LONG_AGO, NEVER
from situ.errors import SituError
from situ.spark import stream_pack
from situ.spark.stream_bucket import Bucket
from situ.spark.stream_header import check_header, new_header
from situ.spark.stream_outcome import Outcome
from situ.spark.stream_program import Program
from situ.spark.stream_rows import gather

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        MapState,
        StatefulProcessorHandle,
        TimerValues,
        ValueState,
    )

_VALUE = "data binary"
_NUMBER = "number int"
_US_PER_MS = 1000


class Processor(StatefulProcessor):
    """Groups are buckets; a negative group holds the header."""

    def __init__(self, program: Program) -> None:
        self._payload = pickle.dumps(program)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._head = handle.getValueState("head", _VALUE)
        self._maps = {
            "cells": handle.getMapState("cells", _NUMBER, _VALUE),
            "pieces": handle.getMapState("pieces", _NUMBER, _VALUE),
        }

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        program = program_of(self._payload)
        if key[0] == stream_pack.HEADER:
            for _ in rows:
                pass
            self._check(program)
            return
        values = [value for frame in rows for value in frame["data"]]
        yield from self._run(program, values, complete_of(program, timerValues))

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        program = program_of(self._payload)
        yield from self._run(program, None, complete_of(program, timerValues))

    def close(self) -> None:
        pass

    def _run(
        self, program: Program, values: list[bytes] | None, complete: int | None
    ) -> Iterator[pd.DataFrame]:
        try:
            bucket = Bucket(program, _SparkShelf(self._head, self._maps))
            before = bucket.next_instant
            if values is not None:
                several, originals = stream_pack.unpack(program, values)
                outcome = bucket.take(gather(several), joined(originals), complete)
            else:
                assert complete is not None
                outcome = bucket.wake(complete) if before <= complete else Outcome()
        except SituError as error:  # a message for the user, who has no use for the way through our code
            raise error.with_traceback(None) from None
        if program.has_watermark:
            self._set_timer(before, bucket.next_instant)
        if not outcome.is_empty:
            yield frame_of(outcome)

    def _set_timer(self, before: int, after: int) -> None:
        """One timer for each bucket: it fires in the first micro-batch whose watermark has reached it."""
        if before != after:
            if before != NEVER:
                self._handle.deleteTimer(_timer(before))
            if after != NEVER:
                self._handle.registerTimer(_timer(after))

    def _check(self, program: Program) -> None:
        found = self._head.get()
        if found is None:
            self._head.update((new_header(program),))
        else:
            check_header(found[0], program)


class _SparkShelf:
    """A bucket's values in Spark's state store: Spark knows which group is being handled."""

    def __init__(self, head: ValueState, maps: dict[str, MapState]) -> None:
        self._head = head
        self._maps = maps

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


def frame_of(outcome: Outcome) -> pd.DataFrame:
    """What the operator gives Spark: packed results, and the counts in the first row."""
    data: list[bytes | None] = [*stream_pack.pack_outcome(outcome)] or [None]
    nothing = [0] * (len(data) - 1)
    counts = {"late_rows": outcome.n_late, "ignored_rows": outcome.n_ignored, "matches": outcome.n_found}
    return pd.DataFrame(
        {"data": pd.Series(data, dtype=object)} | {name: [n, *nothing] for name, n in counts.items()}
    )


@lru_cache(maxsize=8)
def program_of(payload: bytes) -> Program:
    """Workers run many micro-batches of one query: its engine, and what it learnt, stay with them."""
    return pickle.loads(payload)  # type: ignore[no-any-return]
