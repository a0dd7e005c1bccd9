"""Why a row pattern matches what it matches, or nothing: rows and candidates, counted.

Every count is a sum over partitions and every extreme a maximum, so that carriers add up what they find
apart from each other.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from situ.operators.rowpattern.dump import MOST_SHOWN
from situ.operators.rowpattern.engine import Engine, Matches, Room, Run
from situ.operators.rowpattern.kernels import furthest as far
from situ.operators.rowpattern.kernels import scan, why
from situ.operators.rowpattern.kernels.layout import TRUE, Rows
from situ.operators.rowpattern.ordering import Sequenced, sequenced
from situ.operators.rowpattern.trouble import row_text
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.keys import shown
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared

Counts = npt.NDArray[np.int64]
_KINDS = {"longest": "max", "died": "max"}
_DEPTHS = 64  # candidates are told apart by their number of rows up to here
MOST_STEPS = 50_000_000  # of all candidates; then enough is known


class Furthest(NamedTuple):
    """The candidate that came furthest of all that led to no match, the first of several."""

    partition: tuple[str, ...]
    start: str  # its first row, by ORDER BY values
    n_rows: int
    last: int  # the position of its last row
    reason: int  # of kernels/furthest.py
    wanted: tuple[str, ...]  # the variables that the row it ended at was none of
    row: str | None  # the row at which it ended; None behind the last row


@dataclass(frozen=True)
class RowTally:
    """What was counted of V variables; positions up to MOST_SHOWN."""

    rows: Counts  # [6]: rows, partitions, first rows looked at, those without a match, matches, empty ones
    satisfying: Counts  # [V]: rows for which the condition holds, where the row and its neighbours decide
    asked: Counts  # [positions]: how often a candidate without a match asked for a row there
    held: Counts  # [positions]: and got one
    stopped: Counts  # [V + 1, 4]: candidates by last variable (0: no row at all) and reason
    failed: Counts  # [V + 1, V]: those that a condition stopped, and whose condition it was
    longest: Counts  # [1]: rows of the candidate that came furthest
    died: Counts  # [some]: by number of rows, the latest instant at which one ended, LONG_AGO for none
    furthest: Furthest | None = None  # in process only: a partition's values are no number

    @classmethod
    def nothing(cls, engine: Engine) -> RowTally:
        """Of no rows."""
        v, m = len(engine.automaton.variables), min(engine.automaton.n_positions, MOST_SHOWN)
        return cls(
            rows=np.zeros(6, np.int64),
            satisfying=np.zeros(v, np.int64),
            asked=np.zeros(m, np.int64),
            held=np.zeros(m, np.int64),
            stopped=np.zeros((v + 1, far.N_REASONS), np.int64),
            failed=np.zeros((v + 1, v), np.int64),
            longest=np.zeros(1, np.int64),
            died=np.full(_DEPTHS, LONG_AGO),
        )

    @property
    def n_tied(self) -> int:
        """Every row counts (ROW 1.4)."""
        return 0

    @property
    def tied_at(self) -> Counts:
        """None are left out."""
        return np.empty(0, np.int64)

    def kinds(self) -> list[str]:
        """How each of `to_numbers` adds up with another's."""
        return [_KINDS.get(name, "sum") for name in _NUMBERS for _ in np.ravel(getattr(self, name))]

    def to_numbers(self) -> Counts:
        """All of it in one row."""
        return np.concatenate([np.ravel(getattr(self, name)) for name in _NUMBERS])

    def with_numbers(self, numbers: Counts) -> RowTally:
        """What `to_numbers` gave."""
        found, at = {}, 0
        for name in _NUMBERS:
            like = getattr(self, name)
            found[name] = numbers[at : at + like.size].reshape(like.shape)
            at += like.size
        return replace(self, **found, furthest=None)


_NUMBERS = tuple(field.name for field in fields(RowTally) if field.name != "furthest")


def tally(operator: Any, prepared: Prepared) -> RowTally:
    """Count the rows of whole partitions, and what became of them."""
    engine = operator.engine
    kept = operator.nothing(prepared.n_slots)
    now = sequenced(kept, prepared, operator.needs, None, operator.asked.forget_after)
    histories = now.histories
    tested, matches = operator.searched(now, kept.slots.told[now.slot], timed=False, at_end=True)
    counts = RowTally.nothing(engine)
    state = np.zeros(far.N_STATE, np.int64)
    furthest, wanted = np.full(why.N_FURTHEST, -1, np.int64), np.zeros(len(counts.satisfying), bool)
    if engine.query.strategy != "any":
        run = Run(engine, tested, histories)
        run.room = Room(engine, engine.room.depth)  # in which it leaves marks of its own
        tried, number = _tried(engine, now, matches), _numbers(now, matches)
        mark = np.zeros_like(counts.satisfying)
        told = np.zeros(far.N_TOLD, np.int64)
        needs_rows, is_next = engine.query.mode is not None, engine.query.strategy == "next"
        run.loop(lambda: _code(why.count(
            engine.shape, tested, engine.conditions.programs, run.room.path, run.room.stack,
            run.room.memory, engine.memo, histories, engine.within, tried, number, needs_rows, is_next,
            MOST_STEPS, state, told, mark, counts.asked, counts.held, counts.stopped, counts.failed,
            counts.died, furthest, wanted,
        )))  # fmt: skip
        engine.room = Room(engine, run.room.depth)
    n_starts = len(np.unique(matches.start))
    n_empty = int((np.diff(matches.offset) == 0).sum())
    looked, complete = int(state[far.N_LOOKED]), int(state[far.N_COMPLETE])
    rows = [prepared.n_rows, len(now.slot), looked + n_starts, looked - complete, len(matches.start), n_empty]
    names = tuple(engine.automaton.variables[variable] for variable in np.flatnonzero(wanted))
    best = _furthest(operator.needs, prepared, now, furthest, names) if furthest[why.ROWS] >= 0 else None
    return replace(
        counts,
        rows=np.array(rows),
        satisfying=_satisfying(engine, tested),
        longest=np.array([max(0, int(furthest[why.ROWS]))]),
        furthest=best,
    )


def _code(code: int) -> int:
    return scan.NO_DEPTH if code == why.NO_DEPTH else scan.DONE


def _tried(engine: Engine, now: Sequenced, matches: Matches) -> npt.NDArray[np.bool_]:
    """The rows at which a match was sought and not found; of INCREMENTAL MATCH some may have candidates."""
    n = len(now.ordered.time)
    has_rows = np.diff(matches.offset) > 0
    edges = np.zeros(n + 2, np.int64)
    if engine.skip != scan.TO_NEXT and has_rows.any():
        begins = matches.offset[:-1][has_rows]
        goes_to = matches.row + 1
        if engine.skip != scan.PAST_LAST:
            of_variable = engine.skip_to[engine.shape.variable[matches.position]]
            goes_to = np.where(of_variable, matches.row, n if engine.skip == scan.TO_FIRST_OF else -1)
        pick = np.minimum if engine.skip == scan.TO_FIRST_OF else np.maximum
        resumed = pick.reduceat(goes_to, begins)
        np.add.at(edges, matches.start[has_rows] + 1, 1)
        np.add.at(edges, resumed, -1)
    tried: npt.NDArray[np.bool_] = np.cumsum(edges[:n]) <= 0
    tried[matches.start] = False
    return tried


def _numbers(now: Sequenced, matches: Matches) -> Counts:
    """MATCH_NUMBER of the match that is sought at each row."""
    histories, n = now.histories, len(now.ordered.time)
    before = np.append(0, np.cumsum(np.bincount(matches.start, minlength=n)[:n]))
    sizes = histories.high - histories.low
    base = np.repeat(before[histories.low] - histories.number, sizes)
    return before[:n] - base + 1


def _satisfying(engine: Engine, tested: Rows) -> Counts:
    """Of each variable the rows that some position of it takes, if that can be said of a row."""
    shape, n = engine.shape, len(tested.time)
    found = np.zeros(len(engine.automaton.variables), np.int64)
    for variable in range(len(found)):
        tests = shape.test[shape.variable == variable]
        if (tests < 0).any():
            found[variable] = n
        elif len(tests) and (tests < shape.n_truth).all():
            found[variable] = int((tested.truth[np.unique(tests)] == TRUE).any(axis=0).sum())
    return found


def _furthest(
    needs: Needs, prepared: Prepared, now: Sequenced, found: Counts, wanted: tuple[str, ...]
) -> Furthest:
    n_rows, h, start, last, reason, row = found.tolist()
    slot = int(now.slot[h])
    return Furthest(
        tuple(str(shown(column[slot])) for column in prepared.keys),
        row_text(needs, now, start),
        n_rows,
        last,
        reason,
        wanted,
        row_text(needs, now, row) if row < now.histories.high[h] else None,
    )
