"""SEM 1 and 2: from the events of one partition to the runs and situations of one symbol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from oracles.question import BadInput, Row


@dataclass(frozen=True)
class Situation:
    ts: int
    te: int | None  # None: open (SEM 2.1)
    admissible: int  # SEM 2.4, and for given intervals the instant they are known from (SEM 6.3)
    events: tuple[tuple[int, Row], ...]  # (instant, row), in order
    is_given: bool = False  # SEM 6.2: however many rows it has, it counts as one event
    undecided: tuple[tuple[int, int | None], ...] = ()  # SEM 14.2: [from, to); None: to the end

    def te_known_at(self, instant: int) -> int | None:
        return self.te if self.te is not None and self.te <= instant else None

    def te_told_at(self, instant: int) -> int | None:
        """SEM 14.3: an end is told once it is known to be one."""
        if any(begin <= instant and (end is None or instant < end) for begin, end in self.undecided):
            return None
        return self.te_known_at(instant)


def in_order(rows: Sequence[Row], time: str, ties: Sequence[str] = (), strict: bool = False) -> list[Row]:
    """SEM 1.2, 1.3: sorted by time; of equal times only the last, by `ties`, else by input order."""
    ordered = sorted(rows, key=lambda row: (row[time], *((row[c] is not None, row[c]) for c in ties)))
    if strict and len({row[time] for row in ordered}) < len(ordered):
        raise BadInput("two rows of one partition have the same time")
    return list({row[time]: row for row in ordered}.values())


def histories(events: Sequence[Row], time: str, forget_after: int | None) -> Iterator[list[Row]]:
    """SEM 8.5: a gap longer than `forget_after` begins a new history; each is matched by itself."""
    history: list[Row] = []
    for event in events:
        if history and forget_after is not None and event[time] - history[-1][time] > forget_after:
            yield history
            history = []
        history.append(event)
    if history:
        yield history


def raw_runs(events: Sequence[Row], holds: Callable[[Row], bool | None]) -> list[list[Row]]:
    """SEM 2.1: the maximal runs of consecutive events that satisfy the condition (null does not, SEM 1.5)."""
    runs: list[list[Row]] = []
    goes_on = False
    for event in events:
        if holds(event) is True:
            if not goes_on:
                runs.append([])
            runs[-1].append(event)
        goes_on = holds(event) is True
    return runs


def situations(
    events: Sequence[Row],
    time: str,
    holds: Callable[[Row], bool | None],
    at_least: int | None = None,
    at_most: int | None = None,
) -> list[Situation]:
    """SEM 2.3, 2.4: the runs that exist for matching, each with the instant it becomes admissible."""
    instants = [event[time] for event in events]
    found = []
    for run in raw_runs(events, holds):
        ts, last = run[0][time], run[-1][time]
        te = next((instant for instant in instants if instant > last), None)
        admissible = admissible_instant(ts, te, instants, at_least, at_most)
        if admissible is not None:
            found.append(Situation(ts, te, admissible, tuple((event[time], event) for event in run)))
    return found


def admissible_instant(
    ts: int, te: int | None, instants: Sequence[int], at_least: int | None, at_most: int | None
) -> int | None:
    """SEM 2.4; None for a situation that violates its bounds, or does not meet them yet."""
    if at_most is not None:
        fits = te is not None and (at_least or 0) <= te - ts <= at_most
        return te if fits else None
    earliest = ts + (at_least or 0)
    reached = (instant for instant in instants if instant >= earliest and (te is None or instant <= te))
    return next(reached, None)
