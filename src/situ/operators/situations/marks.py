"""Which rows matches wait for, beside those at which conditions begin and end: what condensing must leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from situ.operators.situations.kernels.needed import Marks
from situ.rows.kernels.numbers import NEVER, UNBOUNDED

if TYPE_CHECKING:
    from situ.operators.situations.judged import JudgedEngine

Delay = tuple[int, bool, int]  # a symbol, whether its end, and how long after it a row is needed


def marks_of(engine: JudgedEngine, *, has_several: bool) -> Marks:
    """What the matches of a query wait for, as rows.

    An absent silence may end with any row, and the rows of several sources belong to them all. Runs of
    silences are not those of a condition, so that what waits for their endpoints may wait for any row.
    """
    delays = set(_told(engine))
    if engine.has_aggregates:
        delays |= set(_ticks(engine))
    silent = {silence.symbol for silence in engine.silences}
    counted = [(one.symbol, one.most_events + 1) for one in engine.ignored if one.most_events != UNBOUNDED]
    return Marks(
        delays=np.array(sorted(delays), np.int64).reshape(-1, 3),
        counted=np.array(counted, np.int64).reshape(-1, 2),
        silence=np.int64(min((silence.least for silence in engine.silences), default=0)),
        everything=has_several
        or any(silence.is_absent for silence in engine.silences)
        or any(symbol in silent for symbol, *_ in delays),
    )


def are_some(marks: Marks) -> bool:
    """Whether there is any."""
    return bool(marks.everything or len(marks.delays) or len(marks.counted) or marks.silence)


def _told(engine: JudgedEngine) -> Iterator[Delay]:
    """Rows that make something certain: differences (SEM 9.3), ignored gaps (SEM 14.2)."""
    for symbol, of_end, delay in engine.waits.differences.tolist():
        yield symbol, bool(of_end), delay
    for symbol, longest, _ in engine.ignored:
        if longest != UNBOUNDED:
            yield symbol, True, longest + 1
        least = int(engine.spec.at_least[symbol])
        if least:  # a minimum counts from the first of the runs that are put together
            yield symbol, False, least


def _ticks(engine: JudgedEngine) -> Iterator[Delay]:
    """Rows behind instants at which a NO group may become certain: values cover no more than up to these."""
    waits = engine.waits
    for group, absent in enumerate(waits.absent.tolist()):
        symbols = [absent, *waits.positive[group].tolist()]
        own = waits.bound[waits.choices[group] : waits.choices[group + 1]]
        for node in range(2 * len(symbols)):
            for ticks in np.unique(own[:, :, node]).tolist():
                if 0 <= ticks < NEVER:
                    yield symbols[node // 2], node % 2 == 1, ticks + 1
