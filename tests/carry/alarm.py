"""A toy operator kind whose results come between events: an alarm where a partition was silent for so long.

It is at `t + d`, where `t` is an event and none came after it until then, that instant included.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from situ.carry.contract import Stepped, TableEmitted
from situ.carry.simple import SimpleKind, SlotNumbers
from situ.language.text.nodes import Expression
from situ.rows.kernels.numbers import LONG_AGO, NEVER
from situ.rows.needs import Needs
from situ.rows.order import arrange
from situ.rows.schema import from_ticks


@dataclass(frozen=True)
class Armed(SlotNumbers):
    is_armed: np.ndarray  # 1 where the alarm after the horizon is still to come


@dataclass(frozen=True)
class Alarm(SimpleKind):
    d: int = 5
    key: str | None = "k"
    where: str | None = None  # a column of numbers that are above 0 where a row is an event
    kept = Armed

    def needed(self, columns):
        where = None if self.where is None else Expression(f"{self.where} > 0", (self.where,))
        partition = () if self.key is None else (columns[self.key],)
        return Needs(columns["t"], partition=partition, where=where, window=self.d, ticks=True)

    def emits(self):
        return {"since": "t", "at": "t"}

    def step(self, kept, rows, complete, *, at_end=False):
        late = np.zeros(rows.n_rows, bool)
        if complete is None:
            late = rows.time <= kept.horizon[rows.codes]
        else:
            assert not rows.n_rows or rows.time.max() < complete
            assert rows.n_rows == 0 or at_end or (rows.time > kept.horizon[rows.codes]).all()
        rows = rows.select(~late)
        order, offset = arrange(rows, kept.n_slots, self.needs)
        time = rows.time if order is None else rows.time[order]
        return self._stepped(kept, time, offset, complete)._replace(late=late if late.any() else None)

    def _stepped(self, kept, time, offset, complete):
        slots, since, horizon, is_armed = [], [], kept.horizon.copy(), kept.is_armed.copy()
        for slot in range(kept.n_slots):
            times = time[offset[slot] : offset[slot + 1]].tolist()
            before = [int(horizon[slot])] if is_armed[slot] else []
            found = [t for t, following in pairwise([*before, *times]) if t + self.d < following]
            if times:
                horizon[slot], is_armed[slot] = times[-1], 1
            if is_armed[slot] and complete is not None and horizon[slot] + self.d < complete:
                found.append(int(horizon[slot]))
                is_armed[slot] = 0
            slots += [slot] * len(found)
            since += found
        return Stepped(Armed(horizon, is_armed), [self._found(slots, since)])

    def _found(self, slots, since):
        kind, unit = self.schema.field("t").type, self.needs.time.unit
        since = np.array(since, np.int64)
        columns = [from_ticks(ticks, kind, unit=unit) for ticks in (since, since + self.d)]
        return TableEmitted(np.array(slots, np.int64), columns)

    def next_due(self, kept):
        return np.where(kept.is_armed == 1, kept.horizon + self.d + 1, NEVER)

    def purge(self, kept, complete):
        return kept, kept.horizon < complete  # whatever is due: carriers look after that

    def next_purge(self, kept):
        return np.where(kept.horizon == LONG_AGO, NEVER, kept.horizon + 1)


@dataclass(frozen=True)
class Times:
    """Condensed rows: their times, by slot."""

    time: np.ndarray
    offset: np.ndarray

    @property
    def n_rows(self):
        return np.diff(self.offset)

    @property
    def first(self):
        return np.array([self.time[a] if a < b else NEVER for a, b in pairwise(self.offset)], np.int64)

    @property
    def last(self):
        return np.array([self.time[b - 1] if a < b else LONG_AGO for a, b in pairwise(self.offset)], np.int64)

    def select(self, slots):
        parts = [self.time[self.offset[slot] : self.offset[slot + 1]] for slot in slots]
        return Times(
            np.concatenate([np.empty(0, np.int64), *parts]), np.cumsum([0, *map(len, parts)], dtype=np.int64)
        )

    def cut(self, borders):
        return [self.select(range(begin, end)) for begin, end in pairwise(borders)]

    def followed_by(self, others):
        several = [self, *others]
        counts = np.concatenate([one.n_rows for one in several])
        return Times(np.concatenate([one.time for one in several]), np.concatenate([[0], np.cumsum(counts)]))

    def joined(self, begins):
        return Times(self.time, np.append(self.offset[begins], self.offset[-1]))

    def write(self, writer):
        writer.array(self.time)
        writer.array(self.offset)


@dataclass(frozen=True)
class Stretch:
    """A slice: its times, the time before them, and what is complete after them."""

    time: np.ndarray
    bounds: np.ndarray

    def write(self, writer):
        writer.array(self.time)
        writer.array(self.bounds)


@dataclass(frozen=True)
class CondensedAlarm(Alarm):
    """The same, which can condense and be cut into slices."""

    is_sliced = True

    def condense(self, rows, tied):
        order, offset = arrange(rows, rows.n_slots, self.needs, tied)
        return Times(rows.time if order is None else rows.time[order], offset)

    def read_condensed(self, reader):
        return Times(reader.array(), reader.array())

    def step_condensed(self, kept, condensed, *, at_end, complete=None):
        assert (complete is not None) == at_end
        return self._stepped(kept, condensed.time, condensed.offset, complete)

    def slices(self, condensed, wanted, least, complete=None):
        time, borders = condensed.time, np.linspace(0, len(condensed.time), wanted + 1).astype(int)
        for begin, end in pairwise(np.unique(borders).tolist()):
            before = time[begin - 1] if begin else LONG_AGO
            yield Stretch(time[begin:end], np.array([before, complete if end == len(time) else LONG_AGO]))

    def read_slice(self, reader):
        return Stretch(reader.array(), reader.array())

    def step_slice(self, one):
        before, complete = one.bounds.tolist()
        kept = Armed(one.bounds[:1], np.array([int(before != LONG_AGO)]))
        offset = np.array([0, len(one.time)])
        return self._stepped(kept, one.time, offset, None if complete == LONG_AGO else complete).emitted
