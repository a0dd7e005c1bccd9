"""Large steps: their matches go to arrays of NumPy's, which asks the system for huge pages.

Memory a kernel gets for itself comes in pages of 4 KiB, and where matches are millions, asking for pages
takes longer than finding matches. And a query can have more matches than there is memory for: room is made
only while what is free allows for the matches and for all that is made of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from situ.engine import memory
from situ.engine.kernels.advance import fill_endpoints, is_ascending
from situ.engine.kernels.layout import Runs, Spec
from situ.engine.kernels.match import Matches, Work, new_search, search
from situ.engine.kernels.pairs import pair_search
from situ.errors import TooManyMatchesError

_FIRST_ROOM = 4096  # matches
_WORTH_A_LOOK = 1 << 20  # matches: fewer fit everywhere
_SHARE = 0.75  # of the memory that is free
_LEAST_GROWTH = 1.1  # less room than that is not worth a copy
_COUNTED_ON = 10  # times as many as there is room for
_Arrays = tuple[npt.NDArray[Any], ...]


class Need(NamedTuple):
    """What a match takes until it is a row of the result; and whether a join sees all matches of a step."""

    bytes: int
    is_alone: bool = True

    @classmethod
    def of(cls, n_symbols: int, n_components: int, is_alone: bool) -> Need:
        """Its place in a join and, sorted, once more; its endpoints; its aggregates, three words each."""
        return cls(8 * (4 * n_symbols + 6) + 24 * n_components, is_alone)


_FEWEST = Need(100)


def range_join(
    runs: _Arrays, spec: tuple[Any, ...], orders: Any, step: Any, work: _Arrays, need: Need = _FEWEST
) -> Matches:
    """All matches of the step, by slot, as `kernels.match.join` finds them."""
    n = len(spec[0])
    state, room, found = new_search(n)[:], _room(_FIRST_ROOM, n), 0
    while True:
        found = search(runs, spec, orders, step, work, state, room, found)
        if state[0][0] < 0:
            return Matches(*(array[:found] for array in room))
        wanted = 2 * found
        if wanted > _WORTH_A_LOOK:
            wanted = min(wanted, most_matches(need, found))
            if wanted < _LEAST_GROWTH * found:
                most, total = _COUNTED_ON * found, found
                while state[0][0] >= 0 and total < most:  # they are counted, not kept
                    total += search(runs, spec, orders, step, work, state, room, 0)
                _refuse(total, need, is_all=state[0][0] < 0 and need.is_alone)
        more = _room(wanted, n)
        for old, new in zip(room, more, strict=True):
            new[:found] = old
        room = more


def pair_join(runs: Runs, spec: Spec, order: Any, before: Any, work: Work, need: Need = _FEWEST) -> Matches:
    """All matches with an instant after `before`, as `kernels.pairs` finds them."""
    matches: Matches
    matches, n_found, is_whole = pair_search(runs, spec, order, before, work, _WORTH_A_LOOK)
    if not is_whole:
        for counters in work:
            counters[:] = 0
        matches, n_found, is_whole = pair_search(runs, spec, order, before, work, most_matches(need, 0))
    if not is_whole:
        _refuse(n_found, need, is_all=False)
    return matches


def most_matches(need: Need, n_held: int) -> int:
    """How many matches there is memory for, `n_held` of which are there already."""
    free = memory.free_bytes()
    return np.iinfo(np.int64).max if free is None else n_held + int(_SHARE * free / need.bytes)


def _refuse(n: int, need: Need, *, is_all: bool) -> NoReturn:
    how_many = f"{n:,}" if is_all else f"more than {n:,}"
    free, taken = (memory.free_bytes() or 0) / 1e9, n * need.bytes / 1e9
    raise TooManyMatchesError(
        f"{how_many} matches at once, which take about {taken:,.1f} GB: {free:,.1f} GB are free",
        hint="say with WITHIN how long a match may take; or run the query on Spark, or as a stream, "
        "which gives its matches away as they come",
    )


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
