"""How far the candidates of a start come, by trying all of them; the automaton is taken as given."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pyarrow as pa

from situ.operators.rowpattern.automaton import END, Automaton

CONDITION, NO_ROWS, WINDOW, ANCHOR = range(4)


class Attempt(NamedTuple):
    """The first candidate with most rows that led to no match."""

    n_rows: int
    last: int | None  # its last position
    reason: int
    failed: frozenset[str]  # variables that the next row was none of


class Tried(NamedTuple):
    is_complete: bool
    furthest: Attempt
    asked: Counter[int]  # by position, each once at a row
    held: Counter[int]


def tried(automaton: Automaton, rows: list[tuple[int, str]], start: int, within: int | None) -> Tried:
    """`rows` are time and the variables that hold, as letters."""
    asked, held = set[tuple[int, int]](), set[tuple[int, int]]()
    attempts: list[Attempt] = []

    def complete(last: int | None, n_rows: int) -> bool:
        reasons, failed = {ANCHOR}, set[str]()
        for way in automaton.start if last is None else automaton.follow[last]:
            row = start + n_rows
            if way.at_first and start > 0:
                continue
            if way.to == END:
                if not (way.at_last and row < len(rows)):
                    return True
                continue
            if row == len(rows):
                reasons.add(NO_ROWS)
            elif within is not None and rows[row][0] > rows[start][0] + within:
                reasons.add(WINDOW)
            else:
                name = automaton.variables[automaton.variable[way.to]]
                asked.add((way.to, row))
                if name not in rows[row][1]:
                    reasons.add(CONDITION)
                    failed.add(name)
                    continue
                held.add((way.to, row))
                if complete(way.to, n_rows + 1):
                    return True
        attempts.append(Attempt(n_rows, last, min(reasons), frozenset(failed)))
        return False

    is_complete = complete(None, 0)
    # Attempts are listed when they have failed, so a longer one stands before those it went on from.
    furthest = (
        max(attempts, key=lambda one: one.n_rows) if attempts else Attempt(0, None, ANCHOR, frozenset())
    )
    return Tried(
        is_complete,
        furthest,
        Counter(position for position, _ in asked),
        Counter(position for position, _ in held),
    )


def table_of(rows: list[tuple[int, str]], variables: tuple[str, ...]) -> pa.Table:
    """One partition: a column of time and a boolean for each variable."""
    columns = {name.lower(): pa.array([name in row for _, row in rows], pa.bool_()) for name in variables}
    return pa.table(
        {"k": ["one"] * len(rows), "t": pa.array([time for time, _ in rows], pa.int64()), **columns}
    )
