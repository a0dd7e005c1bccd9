"""A question on a stream, as its workers know it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from situ.carry.batch.task import Task
from situ.carry.contract import Operator
from situ.carry.stream.keyed import Types
from situ.rows.kernels.numbers import NEVER
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared

LATE, AHEAD = "_late", "_ahead"  # columns that hold rows as they came
IS_AHEAD = "_situ_is_ahead"
_LAYOUT = b"stream 2"  # of cells, pieces and hashes; another one cannot read this one's state
_TIMES_PER_WINDOW = 8  # a silent cell is looked at so often while what it keeps leaves the window
_MILLISECOND = 1000


@dataclass(frozen=True)
class Program:
    """One question on one streaming DataFrame: picklable data, and what is made of it once per worker."""

    task: Task
    facts: Mapping[str, Any]  # what a checkpoint remembers of the question
    delay: int | None  # of the watermark, None where there is none
    late_rows: bool
    output_types: pa.Schema  # of the columns workers give back
    beside: tuple[str, ...] = ()  # of these columns, those that hold rows as they came

    @property
    def operator(self) -> Operator:
        """What is stepped."""
        return self.task.operator

    @property
    def needs(self) -> Needs:
        """Of the operator."""
        return self.task.needs

    @property
    def has_watermark(self) -> bool:
        """Whether rows wait."""
        return self.delay is not None

    @cached_property
    def identity(self) -> bytes:
        """What state belongs to: the operator's, and whether rows wait."""
        own = self.operator.identity + str(self.has_watermark).encode()
        return hashlib.blake2b(own + _LAYOUT, digest_size=16).digest()

    @cached_property
    def types(self) -> Types:
        """Types of the columns that travel and wait."""
        needs, schema = self.needs, self.operator.schema
        return Types(
            tuple(schema.field(column.name).type for column in needs.partition),
            needs.carried(schema),
            tuple(schema.field(column.name).type for column in needs.ties),
        )

    def no_rows(self) -> Prepared:
        """For a step in which only time passes."""
        return Prepared.nothing(self.needs.mask_type, self.types.attributes, self.types.ties)

    def typed(self, rows: Prepared) -> Prepared:
        """Rows with the types that state is read back with: a session's time zone is only a label."""
        types = self.types
        return rows._replace(
            keys=[_cast(column, kind) for column, kind in zip(rows.keys, types.keys, strict=True)],
            attributes={name: _cast(rows.attributes[name], kind) for name, kind in types.attributes.items()},
            ties=[_cast(column, kind) for column, kind in zip(rows.ties, types.ties, strict=True)],
        )

    def rounded_up(self, instant: int) -> int:
        """An instant of purging, put off so that cells are not looked at for every single thing in them."""
        grain = max(_MILLISECOND, (self.needs.window or 0) // _TIMES_PER_WINDOW)
        if instant >= NEVER - grain:
            return int(NEVER)
        return -(-instant // grain) * grain


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column if column.type == kind else column.cast(kind)
