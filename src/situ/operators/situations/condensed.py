"""Sorted rows, condensed without loss for one query.

Most rows change nothing: no condition begins or ends at them. Running the engine on what is left, the
condensed rows of a partition one after the other, gives exactly the matches and values that all rows
would give. Situations are one or two orders of magnitude fewer than events, so this is what travels
between machines. A state of aggregates is a sum over events, and so can stand for a whole segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.aggregate import States
from situ.aggregate.codec import to_buffers
from situ.operators.situations.earlier import Earlier
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.input import Ordered, attribute_states
from situ.operators.situations.kernels.condense import segments
from situ.operators.situations.kernels.layout import Rows
from situ.operators.situations.known import Known
from situ.operators.situations.looking import Looking
from situ.rows.kernels.look import ranges
from situ.rows.kernels.numbers import LONG_AGO, NEVER, UNBOUNDED
from situ.rows.narrow import read_times, write_times
from situ.rows.prepared import Flags, Positions
from situ.saved.codec import Reader, Writer

_ZERO = np.zeros(1, np.int64)


class Whole(NamedTuple):
    """Of a query that looks back: the rows that are there with their values.

    They are the first and the last of each slot that was condensed, as many as it looks back. What the first
    ones find there is not known where they are condensed: their conditions are set, until they are decided.
    """

    is_whole: Flags  # of every row
    is_undecided: Flags
    columns: tuple[pa.Array, ...]  # of the rows that are whole

    def take(self, positions: Positions) -> Whole:
        """Of some of the rows."""
        ordinal = np.cumsum(self.is_whole) - 1
        own = pa.array(ordinal[positions[self.is_whole[positions]]])
        columns = tuple(column.take(own) for column in self.columns)
        return Whole(self.is_whole[positions], self.is_undecided[positions], columns)

    @staticmethod
    def concat(several: Sequence[Whole]) -> Whole:
        """The rows of several, one after the other."""
        return Whole(
            np.concatenate([one.is_whole for one in several]),
            np.concatenate([one.is_undecided for one in several]),
            tuple(pa.concat_arrays(list(own)) for own in zip(*(one.columns for one in several), strict=True)),
        )


class CondensedEvents(NamedTuple):
    """Rows by slot, and for each symbol the states of only those rows at which it holds."""

    rows: Rows
    states: tuple[States, ...]
    whole: Whole | None = None  # None: every condition is decided

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
        return CondensedEvents(
            Rows(rows.time[positions], rows.mask[positions], offset),
            tuple(states),
            None if self.whole is None else self.whole.take(positions),
        )

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
                None if self.whole is None else self.whole.take(np.arange(at[n], at[n + 1])),
            )
            for n, (begin, end) in enumerate(pairwise(borders))
        ]

    def followed_by(self, others: Sequence[CondensedEvents]) -> CondensedEvents:
        """These slots, and behind them those of others."""
        if not others:
            return self
        parts = [self, *others]
        whole = [part.whole for part in parts if part.whole is not None]
        return CondensedEvents(
            Rows(
                np.concatenate([part.rows.time for part in parts]),
                np.concatenate([part.rows.mask for part in parts]),
                np.concatenate([[0], np.cumsum(np.concatenate([part.n_rows for part in parts]))]),
            ),
            tuple(States.concat(several) for several in zip(*(part.states for part in parts), strict=True)),
            Whole.concat(whole) if whole else None,
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
        if self.whole is not None:
            writer.array(self.whole.is_whole)
            writer.array(self.whole.is_undecided)
            writer.columns(self.whole.columns)

    def decided(self, looking: Looking | None, kept: Known) -> tuple[CondensedEvents, Earlier | None]:
        """With all that could not be decided without the rows before; and what is kept for those to come."""
        if looking is None or self.whole is None:
            return self, None
        assert kept.earlier is not None
        is_whole, is_undecided, columns = self.whole
        rows, earlier = looking.decided(
            self.rows,
            dict(zip(looking.types, columns, strict=True)),
            kept.earlier,
            kept.horizon,
            wanted=is_undecided,
            has_values=is_whole,
        )
        states = tuple(
            own.take(np.flatnonzero(bits_of(rows.mask, symbol)[holds(self.rows.mask, symbol)]))
            if own.components
            else own
            for symbol, own in enumerate(self.states)
        )
        return CondensedEvents(rows, states), earlier

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


def read_condensed(engine: Engine, reader: Reader, looking: Looking | None = None) -> CondensedEvents:
    """What condensed rows of this query have written; `looking` where they may be undecided."""
    time, offset, mask = read_times(reader), reader.array(), reader.array()
    states = []
    for spec in engine.aggregates:
        n_buffers = len(spec.to_buffers(spec.empty())) if spec else 0
        buffers = [reader.array().tobytes() for _ in range(n_buffers)]
        states.append(spec.from_buffers(buffers) if spec else spec.empty())
    whole = None
    if looking is not None:
        is_whole, is_undecided = reader.array(), reader.array()
        columns = reader.columns(list(looking.types.values()), int(is_whole.sum()))
        whole = Whole(is_whole, is_undecided, tuple(columns))
    return CondensedEvents(Rows(time, mask, offset), tuple(states), whole)


def condense(engine: Engine, ordered: Ordered, looking: Looking | None = None) -> CondensedEvents:
    """The rows at which something can happen, and one row for those in between where values need it."""
    spec, rows = engine.spec, ordered.rows
    is_first = is_whole = np.zeros(0, bool)
    most = 0
    if looking is not None:
        most = looking.most
        is_first, is_whole = _at_ends(rows, most)
        rows = _undecided(rows, ordered.attributes, looking, is_first)
    # with a maximum a situation can be used from its end on, whose row is there anyway
    waits = np.where(spec.at_most == UNBOUNDED, spec.at_least, 0)
    aggregated = np.uint64(sum(1 << i for i, own in enumerate(engine.aggregates) if own))
    alone = engine.rows_needed(rows) if looking is None else is_whole
    if looking is not None and engine.needs_more_rows:  # by runs that are not certain yet: any row may be
        alone = np.ones(len(rows.time), bool)
    first, last, offset = segments(rows, waits, aggregated, spec.forget_after, alone, most)
    mask = rows.mask[last]
    states = attribute_states(engine, ordered.attributes, len(rows.time))
    folded = tuple(
        _folded(engine, symbol, states[symbol], first, last, mask) for symbol in range(engine.n_symbols)
    )
    whole = None
    if looking is not None:
        chosen = pa.array(last[is_whole[last]])
        columns = tuple(ordered.attributes[name].take(chosen) for name in looking.types)
        whole = Whole(is_whole[last], is_first[last], columns)
    return CondensedEvents(Rows(rows.time[last], mask, offset), folded, whole)


def _at_ends(rows: Rows, most: int) -> tuple[Flags, Flags]:
    """Which rows are among the first `most` of their slot, and which among the first or the last ones."""
    counts, position = np.diff(rows.offset), np.arange(len(rows.time))
    is_first = position - np.repeat(rows.offset[:-1], counts) < most
    return is_first, is_first | (np.repeat(rows.offset[1:], counts) - position <= most)


def _undecided(rows: Rows, columns: Mapping[str, pa.Array], looking: Looking, is_first: Flags) -> Rows:
    """The rows with all looks back decided but those that may go beyond the first row of their slot."""
    n_slots = len(rows.offset) - 1
    horizon = np.full(n_slots, LONG_AGO)
    rows, _ = looking.decided(rows, columns, looking.nothing(n_slots), horizon, wanted=~is_first)
    rows.mask[is_first] |= rows.mask.dtype.type(looking.bits)
    return rows


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
