"""Matches of a row pattern as situations: spans of time, known as a whole or not yet (SEM 17.2, 17.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from situ.aggregate import AggregateSpec, States
from situ.operators.rowpattern.found import Found, Ordered
from situ.operators.situations.saved import read_states, write_states
from situ.rows.kernels.numbers import NEVER, OPEN, UNBOUNDED
from situ.rows.prepared import Flags, Positions
from situ.saved.checks import are_slots, require
from situ.saved.codec import Reader, Writer


class Spans(NamedTuple):
    """M spans of one symbol, by slot, ts and te."""

    slot: Positions
    ts: Positions
    te: Positions  # OPEN while no event has come behind the match's last row
    certain: Positions  # the match's own match_time
    states: States  # aggregates of the match's rows

    @classmethod
    def nothing(cls, spec: AggregateSpec) -> Spans:
        """No spans."""
        none = np.empty(0, np.int64)
        return cls(none, none, none, none, spec.empty())

    @classmethod
    def of(cls, found: Found, ordered: Ordered, spec: AggregateSpec) -> Spans:
        """Those of matches; `ordered` has every row behind the last one of each."""
        chosen = np.flatnonzero(~found.is_empty & (found.instant != NEVER))
        begin, end = found.offset[:-1][chosen], found.offset[1:][chosen] - 1
        behind = found.row[end] + 1
        is_there = behind < found.high[chosen]
        te = np.full(len(chosen), OPEN)
        te[is_there] = ordered.time[behind[is_there]]
        states = States((), (), len(chosen))
        if spec:
            rows = spec.rows(ordered.columns, len(ordered.time)).take(found.row)
            states = spec.fold(rows, spec.empty(), begin, end, np.full(len(chosen), -1)).condensed()
        ts = ordered.time[found.row[begin]]
        return cls(found.slot[chosen], ts, te, found.instant[chosen], states).in_order()

    @property
    def size(self) -> int:
        """M."""
        return len(self.slot)

    @property
    def nbytes(self) -> int:
        """Memory of it."""
        return sum(array.nbytes for array in self[:4]) + self.states.nbytes

    @property
    def known(self) -> Positions:
        """When each is known as a whole, NEVER where that lies ahead."""
        return np.where(self.te == OPEN, NEVER, np.maximum(self.te, self.certain))

    def take(self, chosen: Positions) -> Spans:
        """Some of them, in this order."""
        states = self.states.take(chosen) if self.states.components else States((), (), len(chosen))
        slot, ts, te, certain = (array[chosen] for array in self[:4])
        return Spans(slot, ts, te, certain, states)

    def keep(self, wanted: Flags) -> Spans:
        """Some of them."""
        return self if wanted.all() else self.take(np.flatnonzero(wanted))

    def in_order(self) -> Spans:
        """By slot, ts and te."""
        return self.take(np.lexsort((self.te, self.ts, self.slot)))

    def closed(self, first: Positions, least: int, most: int) -> Spans:
        """With the ends that the first event of each slot brings, OPEN for none; lengths hold (SEM 2.3)."""
        spans = self._replace(te=np.where(self.te == OPEN, first[self.slot], self.te))
        length = spans.te - spans.ts
        length[length < 0] = NEVER  # longer than 64 bits can say
        fits = (length >= least) & ((most == UNBOUNDED) | (length <= most))
        return spans.keep(fits | (spans.te == OPEN))

    def select(self, slots: Positions, n_slots: int) -> Spans:
        """Those of some slots, in this order."""
        number = np.full(n_slots, -1)
        number[slots] = np.arange(len(slots))
        spans = self.keep(number[self.slot] >= 0)
        return spans._replace(slot=number[spans.slot]).in_order()

    def cut(self, borders: Positions) -> list[Spans]:
        """Those of the slots between each two borders."""
        at = np.searchsorted(self.slot, borders)
        return [
            (one := self.take(np.arange(begin, end)))._replace(slot=one.slot - first)
            for (begin, end), first in zip(pairwise(at), borders, strict=False)
        ]

    @staticmethod
    def concat(several: Sequence[Spans], shifts: Sequence[int]) -> Spans:
        """One after the other, the slots of each moved."""
        moved = [one._replace(slot=one.slot + by) for one, by in zip(several, shifts, strict=True)]
        arrays = zip(*(one[:4] for one in moved), strict=True)
        slot, ts, te, certain = map(np.concatenate, arrays)
        return Spans(slot, ts, te, certain, States.concat([one.states for one in moved]))

    def write(self, writer: Writer, spec: AggregateSpec) -> None:
        """Add them to saved state."""
        for array in self[:4]:
            writer.array(array)
        write_states(writer, spec, self.states)

    @classmethod
    def read(
        cls, reader: Reader, n_slots: int, spec: AggregateSpec, opaque: Mapping[str, pa.DataType]
    ) -> Spans:
        """What `write` wrote, checked."""
        slot = reader.array(np.int64, (None,))
        ts, te, certain = (reader.array(np.int64, (len(slot),)) for _ in range(3))
        states = read_states(reader, spec, opaque)
        require(are_slots(slot, n_slots), "a match is of a partition that is not there")
        require(bool((ts < te).all() and (certain >= ts).all()), "a match ends before it begins")
        order = np.lexsort((te, ts, slot))
        require(bool((order == np.arange(len(slot))).all()), "matches are out of order")
        require(not spec or len(states) == len(slot), "aggregates of other matches")
        return cls(slot, ts, te, certain, states if spec else States((), (), len(slot)))
