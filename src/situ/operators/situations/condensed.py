"""Sorted rows, condensed without loss for one query.

Most rows change nothing: no condition begins or ends at them. Running the engine on what is left, the
condensed rows of a partition one after the other, gives exactly the matches and values that all rows
would give. Situations are one or two orders of magnitude fewer than events, so this is what travels
between machines. A state of aggregates is a sum over events, and so can stand for a whole segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.aggregate import States
from situ.aggregate.codec import to_buffers
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.kernels.condense import segments
from situ.operators.situations.kernels.layout import Rows
from situ.rows.kernels.look import ranges
from situ.rows.kernels.numbers import LONG_AGO, NEVER, UNBOUNDED
from situ.rows.narrow import read_times, write_times
from situ.rows.prepared import Positions
from situ.saved.codec import Reader, Writer

_ZERO = np.zeros(1, np.int64)


class CondensedEvents(NamedTuple):
    """Rows by slot, and for each symbol the states of only those rows at which it holds."""

    rows: Rows
    states: tuple[States, ...]

    @property
    def n_rows(self) -> Positions:
        """Of each slot."""
        return np.diff(self.rows.offset)

    @property
    def first(self) -> Positions:
        """The first instant of each slot, NEVER for none."""
        time, offset = self.rows.time, self.rows.offset
        padded = np.append(time, NEVER)  # an empty slot may begin behind the last row
        return np.where(self.n_rows > 0, padded[offset[:-1]], NEVER)

    @property
    def last(self) -> Positions:
        """The last instant of each slot, LONG_AGO for none."""
        time, offset = self.rows.time, self.rows.offset
        padded = np.append(time, LONG_AGO)
        return np.where(self.n_rows > 0, padded[offset[1:] - 1], LONG_AGO)

    def select(self, slots: Positions) -> CondensedEvents:
        """Some of the slots, in this order."""
        rows = self.rows
        if len(slots) == len(rows.offset) - 1 and bool((slots == np.arange(len(slots))).all()):
            return self
        positions, offset = ranges(rows.offset, slots)
        states = []
        for symbol, own in enumerate(self.states):
            if not own.components:
                states.append(own)
                continue
            is_own = bits_of(rows.mask, symbol)
            ordinal = np.cumsum(is_own) - 1
            states.append(own.take(ordinal[positions[is_own[positions]]]))
        return CondensedEvents(Rows(rows.time[positions], rows.mask[positions], offset), tuple(states))

    def cut(self, borders: Positions) -> list[CondensedEvents]:
        """The slots between each two borders, group by group."""
        time, mask, offset = self.rows
        at = offset[borders]
        places = [  # of the groups' first rows in `states`
            np.concatenate([[0], np.cumsum(bits_of(mask, symbol))])[at] if own.components else at
            for symbol, own in enumerate(self.states)
        ]
        return [
            CondensedEvents(
                Rows(time[at[n] : at[n + 1]], mask[at[n] : at[n + 1]], offset[begin : end + 1] - at[n]),
                tuple(
                    own.take(np.arange(of[n], of[n + 1])) if own.components else own
                    for own, of in zip(self.states, places, strict=True)
                ),
            )
            for n, (begin, end) in enumerate(pairwise(borders))
        ]

    def followed_by(self, others: Sequence[CondensedEvents]) -> CondensedEvents:
        """These slots, and behind them those of others."""
        if not others:
            return self
        parts = [self, *others]
        return CondensedEvents(
            Rows(
                np.concatenate([part.rows.time for part in parts]),
                np.concatenate([part.rows.mask for part in parts]),
                np.concatenate([[0], np.cumsum(np.concatenate([part.n_rows for part in parts]))]),
            ),
            tuple(States.concat(several) for several in zip(*(part.states for part in parts), strict=True)),
        )

    def joined(self, begins: Positions) -> CondensedEvents:
        """Neighbouring slots as one."""
        offset = np.concatenate([self.rows.offset[begins], self.rows.offset[-1:]])
        return self._replace(rows=self.rows._replace(offset=offset))

    def write(self, writer: Writer) -> None:
        """Add it to a piece."""
        write_times(writer, self.rows.time)
        writer.array(self.rows.offset)
        writer.array(self.rows.mask)
        for states in self.states:
            for buffer in to_buffers(states) if states.components else ():
                writer.array(np.frombuffer(buffer, np.uint8))

    def expanded(self, engine: Engine) -> Input:
        """As the engine takes rows: a state for every row."""
        n_rows = len(self.rows.time)
        states = []
        for symbol, spec in enumerate(engine.aggregates):
            own = self.states[symbol]
            if not spec:
                states.append(States((), (), n_rows))
                continue
            nothing = spec.fold(own, spec.empty(), _ZERO, _ZERO - 1, _ZERO - 1)  # a request for no rows
            place = np.full(n_rows, len(own), np.int64)
            place[holds(self.rows.mask, symbol)] = np.arange(len(own))
            states.append(States.concat([own, nothing]).take(place))
        return Input(self.rows, tuple(states))


def read_condensed(engine: Engine, reader: Reader) -> CondensedEvents:
    """What condensed rows of this query have written."""
    time, offset, mask = read_times(reader), reader.array(), reader.array()
    states = []
    for spec in engine.aggregates:
        n_buffers = len(spec.to_buffers(spec.empty())) if spec else 0
        buffers = [reader.array().tobytes() for _ in range(n_buffers)]
        states.append(spec.from_buffers(buffers) if spec else spec.empty())
    return CondensedEvents(Rows(time, mask, offset), tuple(states))


def condense(engine: Engine, events: Input) -> CondensedEvents:
    """The rows at which something can happen, and one row for those in between where values need it."""
    spec = engine.spec
    # with a maximum a situation can be used from its end on, whose row is there anyway
    waits = np.where(spec.at_most == UNBOUNDED, spec.at_least, 0)
    aggregated = np.uint64(sum(1 << i for i, own in enumerate(engine.aggregates) if own))
    first, last, offset = segments(
        events.rows, waits, aggregated, spec.forget_after, engine.rows_needed(events.rows)
    )
    mask = events.rows.mask[last]
    states = tuple(
        _folded(engine, symbol, events.states[symbol], first, last, mask)
        for symbol in range(engine.n_symbols)
    )
    return CondensedEvents(Rows(events.rows.time[last], mask, offset), states)


def _folded(
    engine: Engine,
    symbol: int,
    states: States,
    first: Positions,
    last: Positions,
    mask: npt.NDArray[np.unsignedinteger],
) -> States:
    spec = engine.aggregates[symbol]
    if not spec:
        return spec.empty()
    own = holds(mask, symbol)
    first, last = first[own], last[own]
    return spec.fold(states, spec.empty(), first, last, np.full(len(first), -1, np.int64))


def bits_of(mask: npt.NDArray[np.unsignedinteger], symbol: int) -> npt.NDArray[np.bool_]:
    """Whether a symbol's condition is true, row by row."""
    return np.asarray(mask >> mask.dtype.type(symbol) & mask.dtype.type(1), bool)


def holds(mask: npt.NDArray[np.unsignedinteger], symbol: int) -> Positions:
    """The rows at which a symbol's condition is true."""
    return np.flatnonzero(mask >> mask.dtype.type(symbol) & mask.dtype.type(1))
