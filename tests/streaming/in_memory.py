"""A stream without Spark: its buckets' state in dicts, put away and read back after every micro-batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import situ
from situ.carry.batch.task import Task
from situ.carry.buckets import labels
from situ.carry.stream.bucket import Bucket
from situ.carry.stream.keyed import Keyed
from situ.carry.stream.outcome import Outcome
from situ.carry.stream.pack import hashes_of
from situ.carry.stream.program import Program, spelled
from situ.expressions import compile_expression
from situ.language.situations.binder import bind
from situ.operators.situations.engine import Engine
from situ.operators.situations.interval_engine import IntervalEngine, IntervalPreparer
from situ.options import Options, check_forget_after
from situ.rows.kernels.numbers import NEVER
from situ.rows.prepare import Preparer
from situ.rows.schema import spark_schema
from situ.spark.select.project import layout_of


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
        text: str,
        schema: pa.Schema,
        options: dict[str, Any] | None = None,
        *,
        has_watermark: bool = False,
        n_buckets: int = 2,
        kind: Any = "match",
    ) -> None:
        query, options = situ.query(text), dict(options or {})
        self.late_rows = options.pop("late_rows", False)
        chosen = Options(**options)
        bound = bind(query, spark_schema(schema), time=chosen.time)
        columns = [bound.time, *bound.partition, *bound.attributes, *bound.ties]
        needed = [column.name for column in columns]
        if query.intervals is not None and query.intervals.id_by is not None:
            needed.append(spelled(bound, query.intervals.id_by))
        n_keys, n_items = len(bound.partition), len(query.items)
        names = [f"_key_{i}" for i in range(n_keys)]
        names += [f"_item_{i}" for i in range(n_items)] + ["match_time"] if kind == "match" else []
        names += ["match_id"] if chosen.match_id else []
        if kind == "situations":
            names += ["symbol", "ts", "te", "n_events"]
            names += [
                f"_value_{i}"
                for i in range(len({(i.function, i.attribute) for i in query.items if i.attribute}))
            ]
        task = Task(
            bound=bound,
            layout=layout_of(bound),
            schema=pa.schema([schema.field(name) for name in dict.fromkeys(needed)]),
            kind=kind,
            ties=chosen.ties,
            join=chosen.join,
            points=chosen.points,
            forget_after=check_forget_after(chosen.forget_after, bound),
            match_id=chosen.match_id,
            ansi=True,
            labels=tuple(labels(n_buckets).tolist()),
            limit=1 << 28,
            output_names=names,
        )
        self.program = Program(task, 0 if has_watermark else None, self.late_rows, pa.schema([]))
        engine_type, preparer = (
            (Engine, Preparer) if query.intervals is None else (IntervalEngine, IntervalPreparer)
        )
        self._prepare = preparer(bound, schema, engine_type(bound), chosen)
        self.shelves: dict[int, DictShelf] = {}
        self.late: list[dict[str, Any]] = []
        self.n_late = self.n_ignored = self.n_tied = 0

    def push(self, table: pa.Table, complete: int | None = None) -> pa.Table:
        """A micro-batch: first the rows, then the timers of buckets that have none."""
        rows = self._prepare(table)
        keyed = Keyed(self.program.typed(rows), hashes_of(rows.keys))
        originals = pa.array(self._prepare.events(table).to_pylist(), pa.struct(list(table.schema)))
        buckets = (keyed.hashes % self.program.task.n_buckets)[rows.codes] if rows.n_rows else np.empty(0)
        outcomes = []
        for bucket in np.unique(buckets).tolist():
            own = buckets == bucket
            mine = keyed.take(np.flatnonzero(own))
            late = originals.filter(pa.array(own)) if self.late_rows else None
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
        return pa.concat_tables([self._returned(table) for table in found]) if found else pa.table({})

    def _returned(self, table: pa.Table) -> pa.Table:
        """RETURN, which on Spark is Spark's to evaluate."""
        task = self.program.task
        if task.kind == "situations":
            return table
        items = table.select([f"_item_{i}" for i in range(len(task.bound.query.items))]).combine_chunks()
        columns = {name: items.column(name).combine_chunks() for name in items.column_names}
        results = {f"_key_{i}": table.column(f"_key_{i}") for i in range(len(task.bound.partition))}
        for item in task.bound.query.returns:
            results[item.name] = compile_expression(item.expression, items.schema)(columns)
        for name in ("match_time", "match_id"):
            if name in table.column_names:
                results[name] = table.column(name)
        return pa.table(results)

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
