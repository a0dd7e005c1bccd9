"""SEM 17: the matches of a row pattern as situations of a symbol."""

from __future__ import annotations

from collections.abc import Sequence

from oracles.derive import Situation
from oracles.question import Row
from oracles.row_answer import matches
from oracles.row_items import RowQuestion


def situations(
    events: Sequence[Row],
    time: str,
    question: RowQuestion,
    at_least: int | None = None,
    at_most: int | None = None,
) -> list[Situation]:
    """SEM 17.2, 17.3: each from its first row to the event behind its last, known when it is certain too."""
    found = []
    for one in matches(events, question):
        rows = [one.rows[taken.row] for taken in one.match.path]
        if not rows or one.match_time is None:
            continue
        ts = rows[0][time]
        te = next((event[time] for event in events if event[time] > rows[-1][time]), None)
        is_long = te is not None and (at_least or 0) <= te - ts
        if is_long and (at_most is None or te - ts <= at_most):
            known = max(te, one.match_time)
            found.append(Situation(ts, te, known, tuple((row[time], row) for row in rows)))
    return found
