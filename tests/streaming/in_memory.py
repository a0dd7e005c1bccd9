"""A stream without Spark: its buckets' state in dicts, put away and read back after every micro-batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import situ
from situ.carry.batch.task import Task
from situ.carry.buckets import labels
from situ.carry.contract import Question, Setting
from situ.carry.stream.bucket import Bucket
from situ.carry.stream.keyed import Keyed
from situ.carry.stream.outcome import Outcome
from situ.carry.stream.pack import hashes_of
from situ.carry.stream.program import Program
from situ.operators.questions import deriving, matching
from situ.options import Options
from situ.rows.kernels.numbers import NEVER
from situ.rows.read import TableReader
from situ.rows.schema import spark_schema


class DictShelf:
    """A bucket's state, and how often it was read and written."""

    def __init__(self) -> None:
        self.values: dict[Any, bytes] = {}
        self.n_calls = 0

    def head(self) -> bytes | None:
        return self.values.get("head")

    def put_head(self, data: bytes) -> None:
        self.values["head"] = data

    def get(self, kind: str, number: int) -> bytes | None:
        self.n_calls += 1
        return self.values.get((kind, number))

    def put(self, kind: str, number: int, data: bytes) -> None:
        self.n_calls += 1
        self.values[kind, number] = data

    def remove(self, kind: str, number: int) -> None:
        self.n_calls += 1
        self.values.pop((kind, number), None)

    @property
    def nbytes(self) -> int:
        return sum(map(len, self.values.values()))


class MemoryStream:
    """One query on a stream of tables; `complete` is the watermark, in ticks."""

    def __init__(
        self,
        text: str | Question,
        schema: pa.Schema,
        options: dict[str, Any] | None = None,
        *,
        has_watermark: bool = False,
        n_buckets: int = 2,
        kind: Any = "match",
    ) -> None:
        options = dict(options or {})
        self.late_rows = options.pop("late_rows", False)
        question = text
        if isinstance(question, str):
            question = (matching if kind == "match" else deriving)(situ.query(question))
        chosen = Options(**options)
        asked = question.bind(spark_schema(schema), chosen)
        # evaluated by the operator itself: on Spark RETURN is Spark's
        operator = asked.operator(schema, Setting(join=chosen.join))
        task = Task(operator, chosen.ties == "warn", tuple(labels(n_buckets).tolist()), 1 << 28)
        delay = 0 if has_watermark else None
        self.program = Program(task, question.facts, delay, self.late_rows, pa.schema([]))
        self._read = TableReader(asked.needs, schema, on_bad_rows=chosen.on_bad_rows)
        self.shelves: dict[int, DictShelf] = {}
        self.late: list[dict[str, Any]] = []
        self.n_late = self.n_ignored = self.n_tied = 0

    def push(self, table: pa.Table, complete: int | None = None) -> pa.Table:
        """A micro-batch: first the rows, then the timers of buckets that have none."""
        rows = self._read(table)
        keyed = Keyed(self.program.typed(rows), hashes_of(rows.keys))
        originals = None
        if self.late_rows:
            originals = pa.array(self._read.events(table).to_pylist(), pa.struct(list(table.schema)))
        buckets = (keyed.hashes % self.program.task.n_buckets)[rows.codes] if rows.n_rows else np.empty(0)
        outcomes = []
        for bucket in np.unique(buckets).tolist():
            own = buckets == bucket
            mine = keyed.take(np.flatnonzero(own))
            late = None if originals is None else originals.filter(pa.array(own))
            outcomes.append(Bucket(self.program, self._shelf(bucket)).take(mine, late, complete))
        return self._results(outcomes + ([] if complete is None else self._timers(complete)))

    def advance(self, complete: int) -> pa.Table:
        """A micro-batch without rows."""
        return self._results(self._timers(complete))

    def _shelf(self, bucket: int) -> DictShelf:
        return self.shelves.setdefault(bucket, DictShelf())

    def _timers(self, complete: int) -> list[Outcome]:
        outcomes = []
        for shelf in self.shelves.values():
            bucket = Bucket(self.program, shelf)
            if bucket.next_instant <= complete and bucket.next_instant != NEVER:
                outcomes.append(bucket.wake(complete))
                again = Bucket(self.program, shelf).next_instant
                assert again > complete or again == NEVER, "a bucket must not be woken for nothing"
        return outcomes

    def _results(self, outcomes: list[Outcome]) -> pa.Table:
        for outcome in outcomes:
            self.n_late += outcome.n_late
            self.n_ignored += outcome.n_ignored
            self.n_tied += outcome.n_tied
            self.late += [row for rows in outcome.late_rows for row in rows.to_pylist()]
        found = [table for outcome in outcomes for table in outcome.tables]
        return pa.concat_tables(found) if found else pa.table({})

    @property
    def n_keys(self) -> int:
        return sum(Bucket(self.program, shelf).n_keys for shelf in self.shelves.values())

    @property
    def n_waiting(self) -> int:
        return sum(Bucket(self.program, shelf).n_waiting for shelf in self.shelves.values())

    @property
    def nbytes(self) -> int:
        return sum(shelf.nbytes for shelf in self.shelves.values())

    @property
    def next_instant(self) -> int:
        return min(
            (Bucket(self.program, shelf).next_instant for shelf in self.shelves.values()), default=int(NEVER)
        )
