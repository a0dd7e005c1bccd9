"""Rows that wait for the watermark: pieces sorted by time, so that releasing some leaves the rest alone.

Every micro-batch adds a piece. Small pieces are merged once there are many, and cut again by time, so that
a row is written a few times however long it waits, and what is released is at the front of few pieces.
Pieces stay in the order in which their rows came: of rows with one time the last one counts (SEM 1.3).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from situ.carry.stream.keyed import Keyed, gather
from situ.rows.kernels.numbers import NEVER
from situ.saved.checks import require

ROWS_PER_PIECE = 16_384
_MOST_SMALL = 12
_SMALL = ROWS_PER_PIECE // 2
_MOST_PIECES = 1 << 30  # numbers are 32 bits wide in the state store

Ticks = npt.NDArray[np.int64]


class Pieces(Protocol):
    """Where pieces are kept, by number."""

    def read(self, number: int) -> Keyed: ...

    def write(self, number: int, rows: Keyed) -> None: ...

    def remove(self, number: int) -> None: ...


class Index(NamedTuple):
    """What is known of the pieces without reading them, in the order in which their rows came."""

    number: Ticks
    first: Ticks  # the earliest instant in the piece
    n_rows: Ticks

    @classmethod
    def empty(cls) -> Index:
        none = np.empty(0, np.int64)
        return cls(none, none, none)


def check_index(index: Index) -> None:
    """Every piece has a number of its own and some rows."""
    number = index.number
    require(len(np.unique(number)) == len(number), "rows that wait are there twice")
    if len(number):
        require(int(number.min()) >= 0 and int(number.max()) < _MOST_PIECES, "rows that wait are misplaced")
        require(int(index.n_rows.min()) >= 1, "there are no rows where some wait")
        require(int(index.n_rows.max()) <= ROWS_PER_PIECE, "more rows wait than there is room for")


class Waiting:
    """The waiting rows of one bucket."""

    def __init__(self, index: Index, pieces: Pieces) -> None:
        self.index = index
        self._pieces = pieces

    @property
    def earliest(self) -> int:
        """The earliest instant that waits, NEVER if none does."""
        return int(self.index.first.min(initial=NEVER))

    @property
    def n_rows(self) -> int:
        return int(self.index.n_rows.sum())

    def add(self, rows: Keyed) -> None:
        """Keep more rows."""
        if rows.n_rows:
            self._insert(len(self.index.number), rows)
            self._merge_small()

    def release(self, complete: int) -> Keyed | None:
        """Take out the rows with instants before `complete`, in the order in which they came."""
        found, done = [], np.zeros(len(self.index.number), bool)
        for at in np.flatnonzero(self.index.first < complete):
            rows = self._pieces.read(int(self.index.number[at]))
            time = rows.rows.time
            is_whole = len(time) == self.index.n_rows[at] and time[0] == self.index.first[at]
            require(
                is_whole and bool((time[1:] >= time[:-1]).all()), "rows that wait are not those there were"
            )
            ready = rows.rows.time < complete
            found.append(rows.select(ready))
            done[at] = bool(ready.all())
            if not done[at]:
                self._write(int(at), rows.select(~ready).used())
        if not found:
            return None
        self._remove(done)
        return gather(found)

    def _merge_small(self) -> None:
        """Make one of neighbouring small pieces where there are many."""
        small = self.index.n_rows < _SMALL
        borders = np.flatnonzero(np.diff(np.concatenate([[False], small, [False]]))).reshape(-1, 2)
        for begin, end in borders[::-1]:  # from the back, so that positions in front stay as they are
            if end - begin > _MOST_SMALL:
                rows = gather([self._pieces.read(int(number)) for number in self.index.number[begin:end]])
                merged = np.zeros(len(self.index.number), bool)
                merged[begin:end] = True
                self._remove(merged)
                self._insert(int(begin), rows)

    def _insert(self, at: int, rows: Keyed) -> None:
        """Write rows as pieces of some thousand rows, cut by time."""
        order = np.argsort(rows.rows.time, kind="stable")
        for start in range(0, len(order), ROWS_PER_PIECE):
            number = int(self.index.number.max(initial=-1)) + 1
            self.index = Index(*(np.insert(column, at, number) for column in self.index))
            self._write(at, rows.take(order[start : start + ROWS_PER_PIECE]))
            at += 1

    def _write(self, at: int, rows: Keyed) -> None:
        """(Re)write a piece, whose rows are sorted by time."""
        self._pieces.write(int(self.index.number[at]), rows)
        self.index.first[at], self.index.n_rows[at] = rows.rows.time[0], rows.n_rows

    def _remove(self, which: npt.NDArray[np.bool_]) -> None:
        for number in self.index.number[which]:
            self._pieces.remove(int(number))
        self.index = Index(*(column[~which] for column in self.index))
