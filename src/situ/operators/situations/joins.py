"""Large steps: their matches go to arrays of NumPy's, which asks the system for huge pages.

Memory a kernel gets for itself comes in pages of 4 KiB, and where matches are millions, asking for pages
takes longer than finding matches. And a query can have more matches than there is memory for: room is made
only while what is free allows for the matches and for all that is made of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from situ.errors import TooManyMatchesError
from situ.machine import memory
from situ.operators.situations.kernels.advance import fill_endpoints, is_ascending
from situ.operators.situations.kernels.layout import Runs, Spec
from situ.operators.situations.kernels.match import Matches, Work, new_search, search
from situ.operators.situations.kernels.pairs import pair_search

_FIRST_ROOM = 4096  # matches
_WORTH_A_LOOK = 1 << 20  # matches: fewer fit everywhere
_SHARE = 0.75  # of the memory that is free
_LEAST_GROWTH = 1.1  # less room than that is not worth a copy
_COUNTED_ON = 10  # times as many as there is room for
_Arrays = tuple[npt.NDArray[Any], ...]


class Need(NamedTuple):
    """What a match takes until it is a row of the result; and whether a join finds all matches of a step.

    Several joins at once each see the same free memory: then a match counts as often as there are joins.
    """

    bytes: int
    is_alone: bool = True

    @classmethod
    def of(cls, n_symbols: int, n_components: int, n_joins: int = 1) -> Need:
        """Its place in a join and, sorted, once more; its endpoints; its aggregates, three words each."""
        return cls(n_joins * (8 * (4 * n_symbols + 6) + 24 * n_components), n_joins == 1)


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
            most = most_matches(need, sum(array.nbytes for array in room))
            wanted = min(wanted, most)
            if wanted < _LEAST_GROWTH * found:
                total = found
                while state[0][0] >= 0 and total < _COUNTED_ON * found:  # they are counted, not kept
                    total += search(runs, spec, orders, step, work, state, room, 0)
                _refuse(total, most, is_all=state[0][0] < 0 and need.is_alone)
        more = _room(wanted, n)
        for old, new in zip(room, more, strict=True):
            new[:found] = old
        room = more


def pair_join(runs: Runs, spec: Spec, order: Any, before: Any, work: Work, need: Need = _FEWEST) -> Matches:
    """All matches with an instant after `before`, as `kernels.pairs` finds them.

    Where there is no memory for so many pairs, the other join needs none for them.
    """
    matches: Matches
    matches, is_whole = pair_search(runs, spec, order, before, work, _WORTH_A_LOOK)
    if not is_whole:
        _clear(work)
        matches, is_whole = pair_search(runs, spec, order, before, work, most_matches(need, 0))
    if not is_whole:
        _clear(work)
        step = (before, 0, len(before), 1, 0)
        matches = range_join(runs[:], spec[:], np.array([order]), step, work[:], need)
    return matches


def _clear(work: Work) -> None:
    for counters in work:
        counters[:] = 0


def most_matches(need: Need, n_held: int) -> int:
    """How many matches there is memory for, where those found so far hold so many bytes."""
    free = memory.free_bytes()
    return np.iinfo(np.int64).max if free is None else int(_SHARE * (free + n_held) / need.bytes)


def _refuse(n: int, most: int, *, is_all: bool) -> NoReturn:
    how_many = f"{n:,}" if is_all else f"more than {n:,}"
    raise TooManyMatchesError(
        f"{how_many} matches at once; the memory that is free holds about {most:,}",
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
