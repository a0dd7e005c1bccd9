"""SEM 8.1, 8.6, 6.4, 11.9, 13.5: which rows of a stream are applied, late, waiting or ahead, and its clocks.

What a stream has reported is the answer over the rows applied, up to each partition's clock:
`answer(became.applied, question, became.clock)`; behind a last flush it is that of all rows but the late
ones up to `became.clock_of_flush`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from oracles.question import SOURCE, Row


class Outcome(NamedTuple):
    applied: list[Row]  # in arrival order
    late: list[Row]
    waiting: list[Row]  # what `flush` would still apply
    horizon: dict[Hashable, int]  # of each partition: its largest instant applied
    complete: int | None  # the watermark: all before it is complete, in every partition
    seen: int | None  # the largest time of all rows

    def clock(self, key: Hashable) -> int | None:
        """SEM 11.9: how far time has passed in a partition; None for one that has no events yet."""
        known = [] if key not in self.horizon else [self.horizon[key]]
        return max([*known, *([] if self.complete is None else [self.complete - 1])], default=None)

    def clock_of_flush(self, key: Hashable) -> int | None:
        """The same if it is now flushed, of a query with ticks."""
        passed = [at for at in (self.clock(key), self.seen) if at is not None]
        return max(passed, default=None)


class InTime(NamedTuple):
    batches: list[list[Row]]  # what is left of each
    ahead: list[Row]


def in_time(batches: Sequence[Sequence[Row]], instant: Callable[[Row], int], limits: Sequence[int]) -> InTime:
    """SEM 8.6: rows later than their batch's limit, now + max_ahead, are as if they never came."""
    taken = [
        [row for row in batch if instant(row) <= limit] for batch, limit in zip(batches, limits, strict=True)
    ]
    ahead = [
        row for batch, limit in zip(batches, limits, strict=True) for row in batch if instant(row) > limit
    ]
    return InTime(taken, ahead)


def outcome(
    batches: Sequence[Sequence[Row]],
    instant: Callable[[Row], int],
    partition: Callable[[Row], Hashable],
    delay: int | None = None,
    largest_waits: bool = False,
    advances: Mapping[int, int] | None = None,
    flushes: AbstractSet[int] = frozenset(),
    is_event: Callable[[Row], bool] = lambda _: True,
    has_ticks: bool = False,
    sources: Sequence[str] = (),
) -> Outcome:
    """What became of the events after the last batch.

    `advances` says after which batches the clock is moved by hand, and to which instant: all before it is
    complete then, in every partition. After the batches in `flushes` all that waits is applied; with a
    watermark that makes every instant up to the last one so applied complete.

    `delay` makes a watermark: the largest instant of earlier batches minus it, those of rows that are no
    events included. Without one each batch is processed to its end, except that for intervals
    (`largest_waits`) the rows of a partition's largest instant wait for a larger one. With several `sources`
    the watermark is the least of theirs: there is none before all have been heard of.

    A query that `has_ticks` is moved by a flush to the largest time seen.
    """
    horizon: dict[Hashable, int] = {}
    became = Outcome([], [], [], horizon, None, None)
    seen: dict[str | None, int] = {}
    complete = None
    for i, batch in enumerate(batches):
        if delay is not None and seen and all(source in seen for source in sources):
            complete = largest(complete, min(seen.values()) - delay)
        for row in batch:
            source = row.get(SOURCE)
            seen[source] = largest(seen.get(source), instant(row))
            if not is_event(row):
                continue
            passed = delay is None and partition(row) in horizon and instant(row) <= horizon[partition(row)]
            is_late = passed or (complete is not None and instant(row) < complete)
            (became.late if is_late else became.waiting).append(row)
        apply(became, horizon, instant, partition, complete, delay is None, largest_waits)
        if advances and i in advances:
            complete = largest(complete, advances[i])
            apply(became, horizon, instant, partition, complete, False, largest_waits)
        if i in flushes:
            if delay is not None and became.waiting:
                complete = largest(complete, max(map(instant, became.waiting)) + 1)
            if has_ticks and seen:
                complete = largest(complete, max(seen.values()) + 1)
            apply(became, horizon, instant, partition, complete, True, False)
    return became._replace(complete=complete, seen=max(seen.values(), default=None))


def apply(
    became: Outcome,
    horizon: dict[Hashable, int],
    instant: Callable[[Row], int],
    partition: Callable[[Row], Hashable],
    complete: int | None,
    at_once: bool,
    largest_waits: bool,
) -> None:
    """Move from waiting to applied what is before `complete`, and `at_once` what need not wait at all."""
    newest = {key: max(map(instant, rows)) for key, rows in grouped(became.waiting, partition).items()}
    still: list[Row] = []
    for row in became.waiting:
        is_ready = at_once and (not largest_waits or instant(row) < newest[partition(row)])
        if is_ready or (complete is not None and instant(row) < complete):
            became.applied.append(row)
            horizon[partition(row)] = largest(horizon.get(partition(row)), instant(row))
        else:
            still.append(row)
    became.waiting[:] = still


def largest(known: int | None, new: int) -> int:
    return new if known is None else max(known, new)


def grouped(rows: Sequence[Row], key: Callable[[Row], Hashable]) -> dict[Hashable, list[Row]]:
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
