"""Rows of a step in order, and the matches found among them: what measures are taken of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.rows.prepared import Flags, Positions

PatternPositions = npt.NDArray[np.int32]


class Ordered(NamedTuple):
    """N rows by slot and ORDER BY: those kept from before and those that came."""

    slot: Positions  # of each row
    time: Positions  # ticks; zeros where the first ORDER BY column is no time
    columns: dict[str, pa.Array]  # every column that the operator's needs name as attribute, in this order


class Found(NamedTuple):
    """M matches, by slot and in the order of MATCH_NUMBER; rows are places in `Ordered`."""

    slot: Positions
    start: Positions  # the start row, also of an empty match
    low: Positions  # the first row of its history, as far as it is here: PREV sees nothing before it
    high: Positions  # one more than the last: NEXT sees nothing from there on
    number: Positions  # MATCH_NUMBER
    instant: Positions  # match_time in ticks, NEVER where only the end of input decides (ROW 6.6)
    offset: Positions  # M + 1: the rows of match m are row[offset[m]:offset[m + 1]]
    row: Positions
    position: PatternPositions  # of the automaton, of each of these rows
    unmatched: Positions  # rows in no match, by WITH UNMATCHED ROWS only

    @property
    def size(self) -> int:
        """M."""
        return len(self.slot)

    @property
    def is_empty(self) -> Flags:
        """Which matches have no rows."""
        empty: Flags = self.offset[1:] == self.offset[:-1]
        return empty
