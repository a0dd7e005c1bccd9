"""An operator of operators: every one steps over its own view of the same rows, and keeps its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from situ.carry.contract import Emitted, Field, Kept, Operator, Skips, Span, Stepped, Work, Works, purged
from situ.operators.several.needs import View
from situ.rows.kernels.numbers import LONG_AGO, NEVER
from situ.rows.kernels.order import telling
from situ.rows.needs import Needs
from situ.rows.order import arrange
from situ.rows.prepared import Flags, Positions, Prepared
from situ.rows.tied import Tied
from situ.saved.codec import Reader, Writer

QUERY = "query"  # the column that says whose a row is


def prefix_of(number: int) -> str:
    """What the emitted columns of a question begin with, so that none clash."""
    return f"_{number}_"


class KeptSeveral(NamedTuple):
    """What each operator keeps of the same slots."""

    parts: tuple[Any, ...]

    @property
    def n_slots(self) -> int:
        """K."""
        return int(self.parts[0].n_slots)

    @property
    def n_entries(self) -> int:
        """Of all."""
        return sum(part.n_entries for part in self.parts)

    @property
    def n_held(self) -> int:
        """Of all."""
        return sum(part.n_held for part in self.parts)

    @property
    def horizon(self) -> Positions:
        """The furthest of all."""
        furthest: Positions = np.maximum.reduce([part.horizon for part in self.parts])
        return furthest

    @property
    def nbytes(self) -> int:
        """Of all."""
        return sum(part.nbytes for part in self.parts)

    def select(self, slots: Positions) -> KeptSeveral:
        """Some of the slots, in this order."""
        return KeptSeveral(tuple(part.select(slots) for part in self.parts))

    def cut(self, borders: Positions) -> list[KeptSeveral]:
        """The slots between each two borders."""
        return [KeptSeveral(parts) for parts in zip(*(part.cut(borders) for part in self.parts), strict=True)]

    def followed_by(self, others: Sequence[KeptSeveral]) -> KeptSeveral:
        """These slots, and behind them those of others."""
        return KeptSeveral(
            tuple(part.followed_by([one.parts[i] for one in others]) for i, part in enumerate(self.parts))
        )


@dataclass(frozen=True)
class OneEmitted:
    """Results of one of several questions."""

    number: int
    name: str
    own: Emitted
    schema: pa.Schema  # of the operator's output

    @property
    def slot(self) -> Positions:
        """The slot of each."""
        return self.own.slot

    def table(self, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """Its columns; those of the others are null."""
        n_keys = len(keys)
        fields = [schema.field(i) for i in range(n_keys)]
        found = self.own.table(keys, pa.schema([*fields, *self.schema])).combine_chunks()
        n = found.num_rows
        prefix = prefix_of(self.number)
        own = {f"{prefix}{field.name}": n_keys + i for i, field in enumerate(self.schema)}
        columns = list(found.columns[:n_keys])
        columns.append(pa.repeat(self.name, n))
        for field in list(schema)[n_keys + 1 :]:
            at = own.get(field.name)
            columns.append(pa.nulls(n, field.type) if at is None else found.column(at))
        return pa.Table.from_arrays(columns, schema=schema)


class SeveralOperator:
    """Operators by name, over the same rows."""

    def __init__(
        self,
        names: tuple[str, ...],
        operators: tuple[Operator, ...],
        needs: Needs,
        views: tuple[View, ...],
        schema: pa.Schema,
    ) -> None:
        self.names = names
        self.operators = operators
        self.needs = needs
        self.views = views
        self.schema = schema
        self._schemas = [pa.schema([(field.name, field.type) for field in own.output]) for own in operators]

    @property
    def output(self) -> list[Field]:
        """Whose a row is, and the columns of every operator under names of their own."""
        own = [
            field._replace(name=f"{prefix_of(i)}{field.name}")
            for i, operator in enumerate(self.operators)
            for field in operator.output
        ]
        return [Field(QUERY, pa.string()), *own]

    @property
    def identity(self) -> bytes:
        """Of all, and of how they share the rows."""
        conditions = [condition.expression.sql for condition in self.needs.conditions]
        text = f"{self.names} {[view[:2] for view in self.views]} {conditions}"
        whole = b"".join(own.identity for own in self.operators) + text.encode()
        return hashlib.blake2b(whole, digest_size=16).digest()

    def nothing(self, n_slots: int, since: int = int(LONG_AGO)) -> KeptSeveral:
        """Partitions never seen before, or forgotten."""
        return KeptSeveral(tuple(own.nothing(n_slots, since) for own in self.operators))

    def write(self, writer: Writer, kept: KeptSeveral) -> None:
        """Add what is kept to saved state."""
        for own, part in zip(self.operators, kept.parts, strict=True):
            own.write(writer, part)

    def read(self, reader: Reader, n_slots: int) -> KeptSeveral:
        """What `write` wrote."""
        return KeptSeveral(tuple(own.read(reader, n_slots) for own in self.operators))

    def describe(self, kept: KeptSeveral) -> Iterator[Span]:
        """What each keeps, under its name."""
        for name, own, part in zip(self.names, self.operators, kept.parts, strict=True):
            for span in own.describe(part):
                yield span._replace(label=f"{name}.{span.label}")

    def step(
        self, kept: KeptSeveral, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Stepped:
        """Step every one over its view of the rows; a row is late if it is for one whose WHERE it passes."""
        stepped, late = [], np.zeros(rows.n_rows, bool)
        for own, view, part in zip(self.operators, self.views, kept.parts, strict=True):
            if not (rows.n_rows or own.needs.ticks or at_end or part.n_held):  # only time has passed
                stepped.append(Stepped(part, ()))
                continue
            seen, places = view.of(rows)
            one = own.step(part, seen, _told(own, complete, at_end), at_end=at_end)
            if one.late is not None:
                late[one.late if places is None else places[one.late]] = True
            stepped.append(one)
        return self._together(stepped)._replace(late=late if late.any() else None)

    def _together(self, stepped: Sequence[Stepped]) -> Stepped:
        tied = [one.tied for one in stepped if one.tied is not None]
        emitted = [
            OneEmitted(i, self.names[i], found, self._schemas[i])
            for i, one in enumerate(stepped)
            for found in one.emitted
        ]
        return Stepped(
            KeptSeveral(tuple(one.kept for one in stepped)),
            emitted,
            # a row that is left out, is left out of every question: it is told of once
            n_ignored=max(one.n_ignored for one in stepped),
            tied=max(tied, key=lambda one: one.n_rows) if tied else None,
        )

    def parts(self, emitted: Sequence[Emitted]) -> Mapping[str, tuple[Operator, list[Emitted]]]:
        """Results by name, each with the operator whose output they are."""
        found: dict[str, tuple[Operator, list[Emitted]]] = {
            name: (own, []) for name, own in zip(self.names, self.operators, strict=True)
        }
        for one in emitted:
            assert isinstance(one, OneEmitted)
            found[one.name][1].append(one.own)
        return found

    def work(self) -> Work:
        """Of all."""
        several = [own.work() for own in self.operators if isinstance(own, Works)]
        return Work("+".join(one.plan for one in several), sum(one.n_candidates for one in several))

    def prune(self, kept: KeptSeveral) -> KeptSeveral:
        """Each by itself."""
        pairs = zip(self.operators, kept.parts, strict=True)
        return KeptSeveral(tuple(own.prune(part) for own, part in pairs))

    def purge(self, kept: KeptSeveral, complete: int) -> tuple[KeptSeveral, Flags]:
        """Each by itself; a partition is forgotten when all can forget it."""
        parts: list[Kept] = []
        gone = np.ones(kept.n_slots, bool)
        for own, part in zip(self.operators, kept.parts, strict=True):
            left, own_gone = purged(own, part, complete)
            gone &= own_gone
            if own_gone.any():
                left = _renewed(own, left, own_gone, complete)
            parts.append(left)
        return KeptSeveral(tuple(parts)), gone

    def next_purge(self, kept: KeptSeveral) -> Positions:
        """The earliest of all; of what has forgotten a partition already nothing can go."""
        when = np.full(kept.n_slots, NEVER)
        for own, part in zip(self.operators, kept.parts, strict=True):
            when = np.minimum(when, np.where(part.horizon == LONG_AGO, NEVER, own.next_purge(part)))
        return when

    def next_due(self, kept: KeptSeveral) -> Positions:
        """The earliest of those whose results come between events."""
        when = np.full(kept.n_slots, NEVER)
        for own, part in zip(self.operators, kept.parts, strict=True):
            if own.needs.ticks:
                when = np.minimum(when, own.next_due(part))
        return when


def _told(operator: Operator, complete: int | None, at_end: bool) -> int | None:
    """The clock at the end of an input is for those whose results come between events."""
    return complete if operator.needs.ticks or not at_end else None


def _renewed(operator: Operator, kept: Kept, gone: Flags, complete: int) -> Kept:
    """With nothing kept of slots that this operator can forget, and others cannot yet."""
    n_slots = kept.n_slots
    order = np.concatenate([np.flatnonzero(~gone), np.flatnonzero(gone)])
    stays = kept.select(order[: n_slots - int(gone.sum())])
    back = np.empty(n_slots, np.int64)
    back[order] = np.arange(n_slots)
    return stays.followed_by([operator.nothing(int(gone.sum()), complete)]).select(back)


class CondensedSeveral(NamedTuple):
    """Each operator's condensed rows of the same slots."""

    parts: tuple[Any, ...]

    @property
    def n_rows(self) -> Positions:
        """Of all, of each slot."""
        total: Positions = np.sum([part.n_rows for part in self.parts], axis=0)
        return total

    @property
    def first(self) -> Positions:
        """The first instant of any."""
        first: Positions = np.minimum.reduce([part.first for part in self.parts])
        return first

    @property
    def last(self) -> Positions:
        """The last instant of any."""
        last: Positions = np.maximum.reduce([part.last for part in self.parts])
        return last

    def select(self, slots: Positions) -> CondensedSeveral:
        """Some of the slots, in this order."""
        return CondensedSeveral(tuple(part.select(slots) for part in self.parts))

    def cut(self, borders: Positions) -> list[CondensedSeveral]:
        """The slots between each two borders."""
        several = zip(*(part.cut(borders) for part in self.parts), strict=True)
        return [CondensedSeveral(parts) for parts in several]

    def followed_by(self, others: Sequence[CondensedSeveral]) -> CondensedSeveral:
        """These slots, and behind them those of others."""
        return CondensedSeveral(
            tuple(part.followed_by([one.parts[i] for one in others]) for i, part in enumerate(self.parts))
        )

    def joined(self, begins: Positions) -> CondensedSeveral:
        """Neighbouring slots as one."""
        return CondensedSeveral(tuple(part.joined(begins) for part in self.parts))

    def write(self, writer: Writer) -> None:
        """Add it to a piece."""
        for part in self.parts:
            part.write(writer)


class Condensing(SeveralOperator):
    """Several that can all do with fewer rows."""

    operators: tuple[Any, ...]

    @cached_property
    def _counted(self) -> int | None:
        """Bits of conditions whose every row some operator needs; None where rows cannot be left out."""
        if self.needs.order == "all":  # each has ties of its own
            return None
        places: set[int] = set()
        for own, view in zip(self.operators, self.views, strict=True):
            counted = own.counted() if isinstance(own, Skips) else None
            if counted is None:
                return None
            places |= {origin for to, origin in enumerate(view.bits) if counted >> to & 1}
        return sum(1 << place for place in places)

    def _thinned(self, rows: Prepared, n_slots: int, tied: Tied) -> Prepared:
        """In order, without rows that say nothing to any: what all share is done once, and little is left."""
        if self._counted is None:
            return rows
        order, offset = arrange(rows, n_slots, self.needs, tied)
        if order is None:
            order = np.arange(rows.n_rows)
        return rows.take(telling(rows.mask, order, offset, rows.mask.dtype.type(self._counted)))

    def step(
        self, kept: KeptSeveral, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Stepped:
        """Where nothing comes after the rows, as few of them as there need be; none can be late then."""
        if not at_end:
            return super().step(kept, rows, complete)
        tied = Tied()
        stepped = super().step(kept, self._thinned(rows, kept.n_slots, tied), complete, at_end=True)
        return stepped._replace(tied=tied) if tied.n_rows else stepped

    def condense(self, rows: Prepared, tied: Tied) -> CondensedSeveral:
        """Each its own."""
        rows = self._thinned(rows, rows.n_slots, tied)
        parts, several = [], []
        for own, view in zip(self.operators, self.views, strict=True):
            several.append(Tied())
            parts.append(own.condense(view.of(rows)[0], several[-1]))
        most = max(several, key=lambda one: one.n_rows)
        tied.note(most.n_rows, most.instants)
        return CondensedSeveral(tuple(parts))

    def read_condensed(self, reader: Reader) -> CondensedSeveral:
        """What condensed rows have written."""
        return CondensedSeveral(tuple(own.read_condensed(reader) for own in self.operators))

    def step_condensed(
        self, kept: KeptSeveral, condensed: CondensedSeveral, *, at_end: bool, complete: int | None = None
    ) -> Stepped:
        """Each its own."""
        parts = zip(self.operators, kept.parts, condensed.parts, strict=True)
        return self._together(
            [
                own.step_condensed(known, rows, at_end=at_end, complete=_told(own, complete, at_end))
                for own, known, rows in parts
            ]
        )


class SeveralSlice(NamedTuple):
    """The n-th slice of every operator that has so many."""

    parts: tuple[Any, ...]  # None where one has fewer

    def write(self, writer: Writer) -> None:
        """Add it to a piece."""
        writer.array(np.array([part is not None for part in self.parts]))
        for part in self.parts:
            if part is not None:
                part.write(writer)


class Slicing(Condensing):
    """Several whose results reach back no further than windows."""

    @property
    def is_sliced(self) -> bool:
        """Whether every one has a window."""
        return all(own.is_sliced for own in self.operators)

    def slices(
        self, condensed: CondensedSeveral, wanted: int, least: int, complete: int | None = None
    ) -> Iterator[SeveralSlice]:
        """As many as the operator with the most has."""
        several = [
            own.slices(part, wanted, least, _told(own, complete, at_end=True))
            for own, part in zip(self.operators, condensed.parts, strict=True)
        ]
        for parts in zip_longest(*several):
            yield SeveralSlice(parts)

    def read_slice(self, reader: Reader) -> SeveralSlice:
        """What a slice has written."""
        has = reader.array(np.bool_, (len(self.operators),))
        pairs = zip(has.tolist(), self.operators, strict=True)
        return SeveralSlice(tuple(own.read_slice(reader) if there else None for there, own in pairs))

    def step_slice(self, one: SeveralSlice) -> list[Emitted]:
        """Each its own."""
        return [
            OneEmitted(i, self.names[i], found, self._schemas[i])
            for i, (own, part) in enumerate(zip(self.operators, one.parts, strict=True))
            if part is not None
            for found in own.step_slice(part)
        ]
