"""One partition matched in parallel: slices of time, with the window as overlap.

Slice i reports the matches of its own instants (lo, hi]. A match reported at td has no start before
td - w, so the slice takes the rows from w before its first instant on. Of what came earlier it needs what
a stream keeps of a silent partition (SEM 8.4): which conditions hold, so that nothing is started anew,
and the ends of raw runs, for followed-by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from situ.operators.situations.condensed import CondensedEvents, bits_of, holds, read_condensed
from situ.operators.situations.engine import Engine
from situ.operators.situations.kernels.layout import Rows, Slots
from situ.operators.situations.known import Known, Positions
from situ.rows.kernels.numbers import LONG_AGO, UNBOUNDED, minus
from situ.saved.codec import Reader, Writer

_ROWS_PER_OVERLAP = 4  # a slice is at least that many times as long as the window before it


class Slice(NamedTuple):
    """Rows of one slice and its overlap, and what is known before them."""

    condensed: CondensedEvents
    before: int  # lo: matches at or before this instant are another slice's
    horizon: int  # the instant of the last row left out, LONG_AGO for none
    mask: int  # which conditions held there
    raw_end: Positions  # int64[R]: ends of the latest raw runs there, of Spec.ending's symbols

    def known(self, engine: Engine) -> Known:
        """What is known before the rows, as the engine takes it."""
        slots = Slots(np.array([self.horizon]), np.array([self.mask], np.uint64), self.raw_end.reshape(-1, 1))
        nothing = engine.nothing_known(1)
        return Known.of(slots, nothing.entries, nothing.carry)

    def write(self, writer: Writer) -> None:
        """Add it to a piece."""
        writer.array(np.array([self.before, self.horizon], np.int64))
        writer.array(np.array([self.mask], np.uint64))
        writer.array(self.raw_end)
        self.condensed.write(writer)


def read_slice(engine: Engine, reader: Reader) -> Slice:
    """What a slice has written."""
    before, horizon = reader.array().tolist()
    (mask,) = reader.array().tolist()
    raw_end = reader.array().astype(np.int64)
    return Slice(read_condensed(engine, reader), before, horizon, mask, raw_end)


def slices_of(engine: Engine, whole: CondensedEvents, wanted: int, least: int) -> Iterator[Slice]:
    """At most `wanted` slices with about equally much to do."""
    time, mask = whole.rows.time, whole.rows.mask
    within = engine.spec.within
    assert within != UNBOUNDED, "without a window a match may reach back to the first row"
    if not len(time):
        return
    borders = borders_of(time, int(within), wanted, least)
    ends = _raw_ends(engine, whole.rows)
    ordinals = [
        np.concatenate([[0], np.cumsum(bits_of(mask, symbol), dtype=np.int64)])
        for symbol in range(engine.n_symbols)
    ]
    for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        start = int(np.searchsorted(time, minus(time[begin], within)))
        own = [np.arange(ordinal[start], ordinal[end]) for ordinal in ordinals]
        states = tuple(
            states.take(chosen) if states.components else states
            for states, chosen in zip(whole.states, own, strict=True)
        )
        rows = Rows(time[start:end], mask[start:end], np.array([0, end - start]))
        yield Slice(
            CondensedEvents(rows, states),
            int(time[begin - 1]) if begin else int(LONG_AGO),
            int(time[start - 1]) if start else int(LONG_AGO),
            int(mask[start - 1]) if start else 0,
            np.array(
                [_latest(own_ends, time[start - 1] if start else LONG_AGO) for own_ends in ends], np.int64
            ),
        )


def borders_of(time: Positions, within: int, wanted: int, least: int) -> Positions:
    """First rows of at most `wanted` slices of at least so many rows, and the number of rows.

    Slices are of about equal work: a row meets the rows that its window reaches back to.
    """
    enough = max(least, _ROWS_PER_OVERLAP * _rows_in(time, within, least))
    n_slices = max(1, min(wanted, len(time) // enough))
    reach = np.maximum(time, LONG_AGO + within) - within
    work = np.cumsum(np.arange(1, len(time) + 1) - np.searchsorted(time, reach))
    wanted = work[-1] * np.arange(1, n_slices) / n_slices
    return np.unique(np.concatenate([[0], np.searchsorted(work, wanted), [len(time)]]))


def _rows_in(time: Positions, within: int, least: int) -> int:
    """How many rows a window holds on average, as far as it matters; 0 where slices may be of any size."""
    if least <= 1:
        return 0
    span = max(1, int(time[-1]) - int(time[0]))
    return int(min(1.0, within / span) * len(time))


def _raw_ends(engine: Engine, rows: Rows) -> list[Positions]:
    """For each of Spec.ending's symbols the instants at which a run of it ends; a gap ends none (SEM 8.5)."""
    ended = rows.mask[:-1] & ~rows.mask[1:]
    if engine.spec.forget_after != UNBOUNDED:
        is_gap = rows.time[1:].view(np.uint64) - rows.time[:-1].view(np.uint64) > np.uint64(
            engine.spec.forget_after
        )
        ended = np.where(is_gap, ended.dtype.type(0), ended)
    return [rows.time[holds(ended, int(symbol)) + 1] for symbol in engine.spec.ending]


def _latest(ends: Positions, instant: Any) -> int:
    at = int(np.searchsorted(ends, instant, side="right"))
    return int(ends[at - 1]) if at else int(LONG_AGO)
