"""The partitions an operator knows, in segments, so that a step costs by what it touches.

A step reads the partitions it has rows for and writes them all anew, as one segment. Where the next
step touches the same partitions (a single one, above all) its segment is taken as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from situ.carry.contract import Kept, Operator
from situ.rows.kernels.numbers import LONG_AGO, NEVER
from situ.rows.keys import Codes, hashable
from situ.rows.prepared import Positions
from situ.saved.checks import are_slots, require, require_ascending
from situ.saved.codec import Reader, Writer

_MOST_SEGMENTS = 64
SLOT_0 = np.zeros(1, np.int64)


class Store:
    """Partition values to slot numbers, and slot numbers to what is known."""

    def __init__(self, operator: Operator, key_types: Sequence[pa.DataType]) -> None:
        self._operator = operator
        self.since = int(LONG_AGO)  # partitions may have been forgotten up to here
        self._slot_of: dict[tuple[Any, ...], int] = {}
        self._keys = [pa.array([], kind) for kind in key_types]
        self._segment_of = np.empty(0, np.int64)  # which segment holds a slot, -1: none
        self._position = np.empty(0, np.int64)  # and where in it
        self._segments: dict[int, Kept] = {}
        self._n_live: dict[int, int] = {}
        self._next_segment = 0
        self._has_ticks = operator.needs.ticks
        self._due = np.empty(0, np.int64)  # of each slot, what must be complete for it to report something
        self._earliest_due = int(NEVER)  # no slot is due before
        if not key_types:
            self._slot_of[()] = 0
            self._grow(1)

    def __len__(self) -> int:
        return len(self._slot_of)

    def slots_of(self, keys: list[pa.Array]) -> Codes:
        """The slot of each partition value, new ones made as needed."""
        if not keys:
            return np.zeros(1, np.int64)
        found: list[int] = []
        fresh: list[int] = []  # rows of partitions never seen before
        for i, key in enumerate(hashable(keys)):
            slot = self._slot_of.get(key)
            if slot is None:
                slot = self._slot_of[key] = len(self._segment_of) + len(fresh)
                fresh.append(i)
            found.append(slot)
        if fresh:
            rows = pa.array(fresh)
            self._keys = [
                pa.concat_arrays([old, new.take(rows).cast(old.type)])
                for old, new in zip(self._keys, keys, strict=True)
            ]
            self._grow(len(fresh))
        return np.array(found, np.int64)

    def _grow(self, by: int) -> None:
        self._segment_of = np.concatenate([self._segment_of, np.full(by, -1, np.int64)])
        self._position = np.concatenate([self._position, np.zeros(by, np.int64)])
        self._due = np.concatenate([self._due, np.full(by, NEVER)])

    def keys(self, slots: Positions) -> list[pa.Array]:
        """The partition values of these slots, one array for each partition column."""
        chosen = pa.array(slots) if self._keys else None
        return [column.take(chosen) for column in self._keys]

    def dense(self, codes: Codes) -> tuple[Positions, Codes]:
        """The slots that occur, ascending, and each row's position among them."""
        if not self._keys:
            return SLOT_0, codes
        if len(codes) == 1 or bool((codes == codes[0]).all()):
            return codes[:1], np.zeros(len(codes), np.int64)
        return np.unique(codes, return_inverse=True)

    def read(self, slots: Positions) -> Kept:
        """What is known of these slots, in this order."""
        if len(slots) == 1:
            known = self._segments.get(self._segment_of.item(slots.item(0)))
            if known is not None and known.n_slots == 1:
                return known  # the way of single events
        segments = self._segment_of[slots]
        first = int(segments[0])
        if bool((segments == first).all()):
            return self._part(first, slots)
        # by segment, then back into the order asked for
        order = np.argsort(segments, kind="stable")
        borders = np.flatnonzero(np.diff(segments[order])) + 1
        parts = [
            self._part(int(self._segment_of[slots[piece[0]]]), slots[piece])
            for piece in np.split(order, borders)
        ]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return parts[0].followed_by(parts[1:]).select(back)

    def _part(self, segment: int, slots: Positions) -> Kept:
        if segment < 0:
            nothing: Kept = self._operator.nothing(len(slots), self.since)
            return nothing
        return self._segments[segment].select(self._position[slots])

    def write(self, slots: Positions, known: Kept) -> None:
        """Replace what is known of these slots."""
        if self._has_ticks:
            self._due[slots] = due = self._operator.next_due(known)
            self._earliest_due = min(self._earliest_due, int(due.min(initial=NEVER)))
        if len(slots) == 1:
            segment = self._segment_of.item(slots.item(0))
            if self._n_live.get(segment) == 1 and self._segments[segment].n_slots == 1:
                self._segments[segment] = known
                return
            self._release(segment, 1)
        else:
            for segment, n in zip(*np.unique(self._segment_of[slots], return_counts=True), strict=True):
                self._release(int(segment), int(n))
        segment = self._next_segment
        self._next_segment += 1
        self._segments[segment] = known
        self._n_live[segment] = len(slots)
        self._segment_of[slots] = segment
        self._position[slots] = np.arange(len(slots))
        if len(self._segments) > _MOST_SEGMENTS:
            self.compact()

    def _release(self, segment: int, n: int) -> None:
        if segment < 0:
            return
        self._n_live[segment] -= n
        if self._n_live[segment] == 0:
            del self._segments[segment], self._n_live[segment]

    def known_slots(self) -> Positions:
        """All slots of which something is known."""
        return np.flatnonzero(self._segment_of >= 0)

    def due_slots(self, complete: int) -> Positions:
        """The slots that report something once instants before `complete` are over."""
        if complete < self._earliest_due or self._earliest_due == NEVER:
            return np.empty(0, np.int64)
        is_due = (self._due <= complete) & (self._due != NEVER)
        self._earliest_due = int(self._due.min(initial=NEVER, where=~is_due))
        return np.flatnonzero(is_due)

    def compact(self) -> None:
        """Everything known in one segment."""
        slots = self.known_slots()
        if len(self._segments) > 1:
            known = self.read(slots)
            self._segments.clear()
            self._n_live.clear()
            self._segment_of[slots] = -1
            self.write(slots, known)

    def forget(self, slots: Positions) -> Positions:
        """Remove partitions: they are new when they come again. Returns each old slot's new number."""
        gone = np.zeros(len(self._segment_of), bool)
        gone[slots] = True
        kept = np.flatnonzero(~gone)
        known_slots = kept[self._segment_of[kept] >= 0]
        known = self.read(known_slots) if len(known_slots) else None
        number = np.cumsum(~gone) - 1
        self._slot_of = {key: int(number[slot]) for key, slot in self._slot_of.items() if not gone[slot]}
        self._keys = self.keys(kept)
        self._segments.clear()
        self._n_live.clear()
        self._segment_of = np.full(len(kept), -1, np.int64)
        self._position = np.zeros(len(kept), np.int64)
        self._due, self._earliest_due = np.full(len(kept), NEVER), int(NEVER)
        if known is not None:
            self.write(number[known_slots], known)
        return number

    def write_to(self, writer: Writer) -> None:
        """Add all keys and what is known of their slots to saved state."""
        slots = self.known_slots()
        writer.columns(self._keys)
        writer.array(slots)
        if len(slots):
            self._operator.write(writer, self.read(slots))

    def read_from(self, reader: Reader) -> None:
        """Take over what `write_to` wrote."""
        if self._keys:
            keys = reader.columns([column.type for column in self._keys])
            self.slots_of(keys)
            require(len(self) == len(keys[0]), "a partition is there twice")
        slots = reader.array(np.int64, (None,))
        require(are_slots(slots, len(self)), "a partition is known that is not there")
        require_ascending(slots, "partitions")
        if len(slots):
            self.write(slots, self._operator.read(reader, len(slots)))

    @property
    def horizon(self) -> Positions:
        """How far each slot has come, LONG_AGO where nothing is known of it."""
        horizon = np.full(len(self), LONG_AGO)
        slots = self.known_slots()
        if len(slots):
            horizon[slots] = self.read(slots).horizon
        return horizon

    @property
    def nbytes(self) -> int:
        """Memory of what is known, keys included."""
        return sum(known.nbytes for known in self._segments.values()) + sum(int(k.nbytes) for k in self._keys)

    @property
    def n_entries(self) -> int:
        """How many things are kept."""
        slots = self.known_slots()
        return self.read(slots).n_entries if len(slots) else 0

    @property
    def n_held(self) -> int:
        """How many rows the operator holds back."""
        slots = self.known_slots()
        return self.read(slots).n_held if len(slots) else 0
