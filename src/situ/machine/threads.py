"""Spreading a step over threads; kernels run without the GIL.

Partitions are cut into groups of about equal work, anew in every step, so a skewed partition never
stays with an overloaded thread. A single partition is cut by time instead (chunks.py). How many threads
a step is worth follows measured times (dissertation 5.6.4): the time it will take is predicted from the
time per event so far, and a thread must get enough of it to pay for itself.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from math import ceil
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

_WORTH_A_THREAD_S = 0.002  # less work than this is done sooner than handed over
_OVER_PROVISION = 1.2  # beta of 5.9
_SMOOTHING = 0.3
_MOST_GROWTH = 2.0  # of a time from one step to the next
_LOOK_AGAIN = 64  # steps after which a thread count that did badly is tried again, and one thread in between


class Crew:
    """A number of threads, fixed or tuned."""

    def __init__(self, threads: int | str = 1) -> None:
        self.is_tuned = threads == "auto"
        self.most = usable_cores() if threads == "auto" else int(threads)
        self._seconds_per_event: dict[int, float] = {}
        self._n_steps = 0

    def size_for(self, n_events: int) -> int:
        """How many threads a step of this many events should use."""
        if not self.is_tuned or self.most == 1:
            return self.most
        alone = self._seconds_per_event.get(1)
        if alone is None:
            return 1  # the first step is measured, and compiles
        wanted = min(self.most, max(1, ceil(n_events * alone * _OVER_PROVISION / _WORTH_A_THREAD_S)))
        self._n_steps += 1
        if self._n_steps % _LOOK_AGAIN == 0:
            return wanted
        if self._n_steps % _LOOK_AGAIN == _LOOK_AGAIN // 2:
            return 1  # what one thread takes must not be a memory either
        while wanted > 1 and self._seconds_per_event.get(wanted, 0.0) > 0.95 * alone:
            wanted -= 1
        return wanted

    def run(self, work: Callable[..., T], pieces: Sequence[tuple[Any, ...]]) -> list[T]:
        """Do all pieces, each in a thread; a single one in this thread."""
        if len(pieces) == 1:
            return [work(*pieces[0])]
        return list(_pool(self.most).map(lambda piece: work(*piece), pieces))

    @contextmanager
    def measured(self, n_events: int) -> Iterator[int]:
        """How many threads to use for a step; its time is remembered."""
        n_threads = self.size_for(n_events)
        begin = time.perf_counter()
        yield n_threads
        if self.is_tuned:
            self._remember(n_threads, (time.perf_counter() - begin) / max(1, n_events))

    def _remember(self, n_threads: int, seconds: float) -> None:
        """A shorter time is believed at once; a longer one may be a kernel being loaded, or a neighbour."""
        before = self._seconds_per_event.get(n_threads, seconds)
        more = min(seconds, _MOST_GROWTH * before) - before
        self._seconds_per_event[n_threads] = seconds if more < 0 else before + _SMOOTHING * more


def usable_cores() -> int:
    """The cores this process may use, which in a container or a batch system are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="situ")


if hasattr(os, "register_at_fork"):
    # a forked child has the pool but none of its threads, and would wait for them for ever
    os.register_at_fork(after_in_child=_pool.cache_clear)


def cut_evenly(weights: npt.NDArray[np.int64], parts: int) -> list[tuple[int, int]]:
    """Contiguous ranges of about equal weight, at most `parts`, that cover everything."""
    total = np.cumsum(weights)
    wanted = total[-1] * np.arange(1, parts) / parts
    borders = [0, *np.unique(np.searchsorted(total, wanted, side="left") + 1).tolist(), len(weights)]
    return [(low, high) for low, high in itertools.pairwise(borders) if low < high]
