"""A query on a stream, as its workers know it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.batch.given import read_given
from situ.carry.batch.task import Task
from situ.carry.stream.events import EventKeeper
from situ.carry.stream.intervals import IntervalKeeper
from situ.carry.stream.keyed import Types
from situ.carry.stream.outcome import Stepped
from situ.language.situations.binder import BoundQuery
from situ.operators.situations.interval_engine import IntervalEngine
from situ.rows.kernels.numbers import NEVER, UNBOUNDED
from situ.rows.prepare import Prepared
from situ.saved.codec import Reader, Writer, identity
from situ.spark.select.project import read_batch

LATE, AHEAD = "_late", "_ahead"  # columns that hold rows as they came
IS_AHEAD = "_situ_is_ahead"
_LAYOUT = b"stream 1"  # of cells, pieces and hashes; another one cannot read this one's state
_TIMES_PER_WINDOW = 8  # a silent cell is looked at so often while its situations leave the window
_MILLISECOND = 1000


class Keeper(Protocol):
    """What differs between events and given intervals; `Any` is what is known of some partitions."""

    def nothing(self, n_slots: int) -> Any: ...

    def concat(self, several: Sequence[Any]) -> Any: ...

    def select(self, known: Any, slots: npt.NDArray[np.int64]) -> Any: ...

    def cut(self, known: Any, borders: npt.NDArray[np.int64]) -> list[Any]: ...

    def write(self, writer: Writer, known: Any) -> None: ...

    def read(self, reader: Reader, n_slots: int) -> Any: ...

    def late(self, known: Any, rows: Prepared) -> npt.NDArray[np.bool_]: ...

    def step(self, known: Any, rows: Prepared, complete: int | None) -> Stepped: ...

    def purge(self, known: Any, complete: int) -> tuple[Any, npt.NDArray[np.bool_]]: ...

    def next_purge(self, known: Any) -> npt.NDArray[np.int64]: ...


@dataclass(frozen=True)
class Program:
    """One query on one streaming DataFrame: picklable data, and what is made of it once per worker."""

    task: Task
    delay: int | None  # of the watermark, None where there is none
    late_rows: bool
    output_types: pa.Schema  # of the columns workers give back
    beside: tuple[str, ...] = ()  # of these columns, those that hold rows as they came

    @property
    def has_watermark(self) -> bool:
        """Whether rows wait."""
        return self.delay is not None

    @cached_property
    def keeper(self) -> Keeper:
        """The engine and what it keeps."""
        if self.task.bound.query.intervals is None:
            return EventKeeper(self.task)
        return IntervalKeeper(self.task, self._interval_engine, dict(self.types.attributes))

    def read(self, table: pa.Table) -> Prepared:
        """The columns that travel as the engine's rows; keys are coded within the table."""
        if self.task.bound.query.intervals is None:
            return read_batch(self.task.layout, table, self.task.mask_type)
        return read_given(self.task, self._interval_engine, table)

    @cached_property
    def _interval_engine(self) -> IntervalEngine:
        task, is_match = self.task, self.task.kind == "match"
        bound = task.bound if is_match else replace(task.bound, within=None)  # situations of any age
        return IntervalEngine(
            bound, ansi=task.ansi, forget_after=task.forget_after, join=task.join, with_count=not is_match
        )

    @cached_property
    def identity(self) -> bytes:
        """What state belongs to: the query, its columns, and the options that state depends on."""
        task = self.task
        options = f"{task.kind} {task.forget_after} {task.points} {self.has_watermark}".encode()
        own = identity(task.bound, task.schema)
        return hashlib.blake2b(own + options + _LAYOUT, digest_size=16).digest()

    @cached_property
    def types(self) -> Types:
        """Types of the columns that travel and wait."""
        bound, schema = self.task.bound, self.task.schema
        attributes = {column.name: schema.field(column.name).type for column in bound.attributes}
        if bound.query.intervals is not None:
            own = {"_ts": pa.int64(), "_te": pa.int64()}
            if bound.query.intervals.id_by is not None:
                own["_id"] = schema.field(spelled(bound, bound.query.intervals.id_by)).type
            attributes = own | attributes
        return Types(
            tuple(schema.field(column.name).type for column in bound.partition),
            attributes,
            tuple(schema.field(column.name).type for column in bound.ties),
        )

    @property
    def output_names(self) -> list[str]:
        """Of the columns workers give back, late rows not among them."""
        return self.task.output_names

    def typed(self, rows: Prepared) -> Prepared:
        """Rows with the types that state is read back with: a session's time zone is only a label."""
        types = self.types
        return rows._replace(
            keys=[_cast(column, kind) for column, kind in zip(rows.keys, types.keys, strict=True)],
            attributes={name: _cast(rows.attributes[name], kind) for name, kind in types.attributes.items()},
            ties=[_cast(column, kind) for column, kind in zip(rows.ties, types.ties, strict=True)],
        )

    def rounded_up(self, instant: int) -> int:
        """An instant of purging, put off so that cells are not looked at for every single situation."""
        within = int(self.task.engine.spec.within)
        grain = max(_MILLISECOND, within // _TIMES_PER_WINDOW if within != UNBOUNDED else 0)
        if instant >= NEVER - grain:
            return int(NEVER)
        return -(-instant // grain) * grain


def spelled(bound: BoundQuery, name: str) -> str:
    """The schema's spelling of a column."""
    return next(column.name for column in bound.schema if column.name.lower() == name.lower())


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
