"""The order of SKIP TILL ANY's matches (ROW 9.6)."""

from __future__ import annotations

import numpy as np

from situ.operators.rowpattern.engine import Matches
from situ.rows.prepared import Positions


def in_order_of_ends(matches: Matches, number: Positions, variable: Positions, *, numbered: bool) -> Matches:
    """By history, last row, rows and variables; with MATCH_NUMBER behind `number` of each history.

    `variable` is that of each position, by first mention.
    """
    if not numbered:
        return matches
    sizes = np.diff(matches.offset)
    n, longest = len(sizes), int(sizes.max(initial=0))
    rows, variables = np.full((longest, n), -1, np.int64), np.full((longest, n), -1, np.int64)
    of = np.repeat(np.arange(n), sizes)
    depth = np.arange(len(of)) - np.repeat(matches.offset[:-1], sizes)
    rows[depth, of], variables[depth, of] = matches.row, variable[matches.position]
    last = matches.row[matches.offset[1:] - 1]
    order = np.lexsort((*variables[::-1], *rows[::-1], last, matches.history))
    offset = np.append(0, np.cumsum(sizes[order]))
    taken = np.arange(offset[-1]) + np.repeat(matches.offset[:-1][order] - offset[:-1], sizes[order])
    ordered = matches.taken(order, taken, offset)
    begins = np.searchsorted(ordered.history, ordered.history)
    return ordered._replace(number=number[ordered.history] + np.arange(n) - begins + 1)
