"""Which rows come out of matches, and what each of them sees (ROW 3.4, 6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from situ.operators.rowpattern.found import Found
from situ.operators.rowpattern.kernels.shown import rows_of_matches
from situ.rows.prepared import Flags, Positions


class Shown(NamedTuple):
    """R rows of output, by match; entries are places in `Found.row`."""

    match: Positions  # of each
    begin: Positions  # the first entry of its match
    end: Positions  # one more than the last that is visible to RUNNING
    final: Positions  # and to FINAL
    row: Positions  # the row of the input that it is, with ALL ROWS


def one_row(found: Found) -> Shown:
    """A row for each match, at its last row."""
    match = np.arange(found.size)
    return Shown(match, found.offset[:-1], found.offset[1:], found.offset[1:], found.start)


def all_rows(found: Found, excluded: Flags, *, shows_empty: bool) -> Shown:
    """A row for each row of each match, and one for an empty match; `excluded` says which positions are."""
    return Shown(
        *rows_of_matches(found.offset, found.start, found.row, found.position, excluded, shows_empty)
    )
