"""Large steps: their matches go to arrays of NumPy's, which asks the system for huge pages.

Memory a kernel gets for itself comes in pages of 4 KiB, and where matches are millions, asking for pages
takes longer than finding matches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from situ.engine.kernels.advance import fill_endpoints, is_ascending
from situ.engine.kernels.match import Matches, new_search, search

_FIRST_ROOM = 4096  # matches
_Arrays = tuple[npt.NDArray[Any], ...]


def range_join(runs: _Arrays, spec: tuple[Any, ...], orders: Any, step: Any, work: _Arrays) -> Matches:
    """All matches of the step, by slot, as `kernels.match.join` finds them."""
    n = len(spec[0])
    state, room, found = new_search(n)[:], _room(_FIRST_ROOM, n), 0
    while True:
        found = search(runs, spec, orders, step, work, state, room, found)
        if state[0][0] < 0:
            return Matches(*(array[:found] for array in room))
        more = _room(2 * found, n)
        for old, new in zip(room, more, strict=True):
            new[:found] = old
        room = more


def by_instant(matches: Matches) -> Matches:
    """The matches in order of their instants, as `kernels.advance.by_instant` gives them."""
    if is_ascending(matches.instant):
        return matches
    order = np.argsort(matches.instant, kind="stable")
    return Matches(*(array.take(order, 0) for array in matches))


def endpoints(runs: _Arrays, matches: Matches) -> _Arrays:
    """Instants and each symbol's ts and te, as `kernels.advance.endpoints` gives them."""
    size, n = matches.pick.shape
    ends = np.empty((2 * n + 2, size), np.int64)
    is_over = np.empty((n, (size + 7) >> 3), np.uint8)
    fill_endpoints(runs, matches, ends, is_over)
    return ends, is_over


def _room(size: int, n: int) -> _Arrays:
    return np.empty((size, n), np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
