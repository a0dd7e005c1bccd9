"""SEM 14: runs that belong together although something lies between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from oracles.derive import Situation, admissible_instant, raw_runs
from oracles.question import Gaps, Row


def bridged(
    events: Sequence[Row],
    time: str,
    holds: Callable[[Row], bool | None],
    ignored: Gaps,
    at_least: int | None = None,
    at_most: int | None = None,
) -> list[Situation]:
    """The situations, each with the times at which it was undecided whether it goes on (SEM 14.2)."""
    instants = [event[time] for event in events]
    found = []
    for group in together(raw_runs(events, holds), instants, time, ignored):
        ts = group[0][0][time]
        ends = [end_of(run, instants, time) for run in group]
        undecided = [(te, run[0][time]) for te, run in zip(ends, group[1:], strict=False)]
        te = ends[-1]
        if te is not None:
            confirmed = confirming_instant(te, instants, ignored)
            undecided.append((te, confirmed))
            te = None if confirmed is None else te
        admissible = admissible_instant(ts, te, instants, at_least, at_most)
        if admissible is not None:
            inside = tuple((event[time], event) for run in group for event in run)
            found.append(Situation(ts, te, admissible, inside, undecided=tuple(undecided)))
    return found


def end_of(run: Sequence[Row], instants: Sequence[int], time: str) -> int | None:
    return next((instant for instant in instants if instant > run[-1][time]), None)


def together(
    runs: Sequence[list[Row]], instants: Sequence[int], time: str, ignored: Gaps
) -> list[list[list[Row]]]:
    """Neighbouring runs whose gap is within the bound (SEM 14.1)."""
    if not runs:
        return []
    groups = [[runs[0]]]
    for before, after in pairwise(runs):
        te, ts = end_of(before, instants, time), after[0][time]
        if ignored.ticks is not None:
            is_bridged = ts - te <= ignored.ticks
        else:
            is_bridged = sum(te <= instant < ts for instant in instants) <= ignored.events
        if is_bridged:
            groups[-1].append(after)
        else:
            groups.append([after])
    return groups


def confirming_instant(te: int, instants: Sequence[int], ignored: Gaps) -> int | None:
    """SEM 14.2, where no run begins within the bound."""
    if ignored.ticks is not None:
        return next((instant for instant in instants if instant > te + ignored.ticks), None)
    behind = [instant for instant in instants if instant >= te]
    return behind[ignored.events] if len(behind) > ignored.events else None
