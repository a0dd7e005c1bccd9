"""What a small operator kind need not write itself: state of one number per partition and name, and defaults.

A kind derives from `SimpleKind` and says what it needs, what it emits and how it steps. Nothing it keeps ever
goes with time: a kind whose state has to be bounded overrides `purge` and `next_purge`, and one whose results
come between events (`Needs.ticks`) overrides `next_due`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from situ.carry.contract import Field, Returned, Setting, Span
from situ.language.text.types import Column, Schema
from situ.options import Options
from situ.rows.kernels.numbers import LONG_AGO, NEVER
from situ.rows.needs import Needs
from situ.rows.prepared import Flags, Positions
from situ.saved.codec import Reader, Writer

if TYPE_CHECKING:
    from typing import Self


@dataclass(frozen=True)
class SlotNumbers:
    """A Kept of int64 arrays, one number for each slot; a subclass adds further arrays as fields."""

    horizon: Positions

    @classmethod
    def nothing(cls, n_slots: int) -> Self:
        """Of new slots: no horizon, zeros."""
        rest = [np.zeros(n_slots, np.int64) for _ in fields(cls)[1:]]
        return cls(np.full(n_slots, LONG_AGO), *rest)

    @property
    def arrays(self) -> list[Positions]:
        """All of them."""
        return [getattr(self, field.name) for field in fields(self)]

    @property
    def n_slots(self) -> int:
        """K."""
        return len(self.horizon)

    @property
    def n_entries(self) -> int:
        """Nothing but numbers."""
        return 0

    @property
    def n_held(self) -> int:
        """No rows."""
        return 0

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in self.arrays)

    def select(self, slots: Positions) -> Self:
        """Some of the slots, in this order."""
        return type(self)(*(array[slots] for array in self.arrays))

    def cut(self, borders: Positions) -> list[Self]:
        """The slots between each two borders."""
        return [self.select(np.arange(begin, end)) for begin, end in pairwise(borders)]

    def followed_by(self, others: Sequence[Self]) -> Self:
        """These slots, and behind them those of others."""
        several = zip(*(one.arrays for one in (self, *others)), strict=True)
        return type(self)(*(np.concatenate(parts) for parts in several))


@dataclass(frozen=True)
class SimpleKind:
    """Question, bound question and operator in one; fields of a subclass are what the user asks for.

    A subclass has the attribute `kept`, a kind of SlotNumbers, and defines `needed`, `emits` and `step`.
    """

    needs: Needs | None = None
    schema: pa.Schema | None = None

    all_rows_count = False

    def needed(self, columns: Mapping[str, Column]) -> Needs:
        """What it needs of these columns."""
        raise NotImplementedError

    def emits(self) -> Mapping[str, str]:
        """The columns it emits, each with the column of the input whose type it has."""
        raise NotImplementedError

    @property
    def output(self) -> Sequence[Field]:
        """What it emits."""
        assert self.schema is not None
        return [Field(name, self.schema.field(like).type, like) for name, like in self.emits().items()]

    @property
    def _asked(self) -> str:
        own = [field.name for field in fields(self) if field.name not in ("needs", "schema")]
        return f"{type(self).__name__} {[(name, getattr(self, name)) for name in own]}"

    @property
    def name(self) -> str:
        """From what is asked."""
        return hashlib.blake2b(self._asked.encode(), digest_size=4).hexdigest()

    @property
    def time(self) -> str | None:
        """Not known before it is bound."""
        return None if self.needs is None else self.needs.time.name

    @property
    def facts(self) -> Mapping[str, Any]:
        """What is asked."""
        return {"kind": type(self).__name__, "query": self._asked}

    @property
    def identity(self) -> bytes:
        """What is asked, of which columns."""
        return hashlib.blake2b(f"{self._asked} {self.schema}".encode(), digest_size=16).digest()

    @property
    def returned(self) -> list[Returned]:
        """What it emits, as it is."""
        return [Returned(name, name) for name in self.emits()]

    @property
    def having(self) -> None:
        """All of it."""
        return

    def check_options(self, passed: Mapping[str, Any]) -> None:
        """Any."""

    def check_stream(self) -> None:
        """It can be asked of a stream."""

    def bind(self, schema: Schema, options: Options) -> Self:
        """Find the columns."""
        return replace(self, needs=self.needed({column.name: column for column in schema}))

    def operator(self, schema: pa.Schema, setting: Setting) -> Self:
        """For columns of these types."""
        return replace(self, schema=schema)

    def nothing(self, n_slots: int, since: int = int(LONG_AGO)) -> Any:
        """Partitions never seen."""
        return self.kept.nothing(n_slots)  # type: ignore[attr-defined]

    def write(self, writer: Writer, kept: Any) -> None:
        """The arrays."""
        for array in kept.arrays:
            writer.array(array)

    def read(self, reader: Reader, n_slots: int) -> Any:
        """The arrays."""
        kept = self.kept  # type: ignore[attr-defined]
        return kept(*(reader.array(np.int64, (n_slots,)) for _ in fields(kept)))

    def describe(self, kept: Any) -> Iterable[Span]:
        """There is nothing that lasts."""
        return ()

    def prune(self, kept: Any) -> Any:
        """Everything may be needed."""
        return kept

    def purge(self, kept: Any, complete: int) -> tuple[Any, Flags]:
        """Nothing goes."""
        return kept, np.zeros(kept.n_slots, bool)

    def next_purge(self, kept: Any) -> Positions:
        """Never."""
        return np.full(kept.n_slots, NEVER)

    def next_due(self, kept: Any) -> Positions:
        """Results come with rows."""
        return np.full(kept.n_slots, NEVER)
