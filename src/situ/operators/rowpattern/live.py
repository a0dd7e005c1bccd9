"""Which positions can reach the end at each row: tests as classes of rows, sets of positions as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from situ.operators.rowpattern.kernels import reach
from situ.operators.rowpattern.kernels.layout import (
    AT_FIRST,
    FAILED,
    TRUE,
    Bools,
    Bytes,
    Histories,
    Rows,
    Shape,
)

if TYPE_CHECKING:
    from situ.operators.rowpattern.engine import Engine

_CLOSED_CELLS = 1 << 12  # of a table that is worked out before the rows: it fits the nearest cache
_MANY_ROWS = 1 << 16  # where that is nothing beside them
_MOST_SETS = 1 << 16  # that rows can be numbered with
_MOST_CELLS = 1 << 22  # of one that grows with the rows; beyond it every row has a set of its own


class Live(NamedTuple):
    """Row i's live positions are the set `sets[at[i]]`, bits in words."""

    shape: Shape
    sets: Any
    at: Any
    ways: Any  # of kernels/reach.py, empty where they are not known
    may_end: Bools
    may_end_last: Bools
    has_failures: bool  # did a test raise somewhere: preferment order must tell whether it is reached

    def hopes(self, histories: Histories) -> Bytes:
        """1 at the rows where a match may start."""
        if len(self.ways):
            can_start: Bytes = (self.ways[:, -1] != reach.TO_NOTHING)[self.at].view(np.uint8)
            return can_start
        hope = np.zeros(len(self.at), np.uint8)
        reach.hopes(self.shape, self.sets, self.at, histories.low, histories.high, histories.begun, hope)
        return hope


def live_rows(engine: Engine, rows: Rows, histories: Histories) -> Live:
    """Go through the rows once, from the back.

    Of tests that read more than neighbours, what they ask of the row alone; the rest is taken to hold.
    """
    shape = engine.shape
    truth, line_of = rows.truth, {test: test for test in range(shape.n_truth)}
    has_failures = bool(len(truth) and truth.max(initial=0) >= FAILED)
    if has_failures:
        truth = np.minimum(truth, TRUE)  # one that raises may hold, as far as hope goes
    if engine.starting is not None:
        guards = engine.starting.guards(rows)
        if guards is None:
            has_failures = True
        elif len(guards[0]):
            truth, line_of = np.concatenate([truth, guards[0]]), line_of | guards[1]
    classes, values = _classes(truth, len(rows.time))
    m, n_words = len(shape.variable), max(1, -(-len(shape.variable) // 64))
    holds = np.zeros((len(values), n_words), np.uint64)
    for q in range(m):
        line = line_of.get(int(shape.test[q]))
        held = np.ones(len(values), bool) if line is None else values[:, line]
        holds[:, q >> 6] |= held.astype(np.uint64) << np.uint64(q & 63)
    may_end, may_end_last = engine.may_end(False), engine.may_end(True)
    last_lead = np.zeros(n_words, np.uint64)
    for q in np.flatnonzero(may_end_last).tolist():
        last_lead[q >> 6] |= np.uint64(1) << np.uint64(q & 63)
    sets, at, ways = _numbered(shape, classes, histories, holds, may_end, last_lead)
    return Live(shape, sets, at, ways, may_end, may_end_last, has_failures)


def _classes(truth: Bytes, n_rows: int) -> tuple[Any, Bools]:
    """Rows on which all tests say the same have the same number; what the tests say there."""
    n_tests = len(truth)
    packed = np.zeros(n_rows, np.uint8)
    if n_tests <= 8:
        reach.pack(truth, 0, n_tests, packed)
        numbers = np.arange(1 << n_tests)
        return packed, (numbers[:, None] >> np.arange(n_tests) & 1).astype(bool)
    classes, chosen = np.zeros(n_rows, np.int64), np.zeros(0, np.int64)
    for first in range(0, n_tests, 8):
        reach.pack(truth, first, min(8, n_tests - first), packed)
        _, chosen, classes = np.unique(classes * 256 + packed, return_index=True, return_inverse=True)
    return classes, truth[:, chosen].T == TRUE


def _numbered(
    shape: Shape, classes: Any, histories: Histories, holds: Any, may_end: Bools, last_lead: Any
) -> tuple[Any, Any, Any]:
    """Sets, the set of each row, and the ways to it."""
    n_words, n_classes, room = holds.shape[1], len(holds), 64
    state = np.array([0, -1, 0, 1])
    sets, lead = (np.zeros((room, n_words), np.uint64) for _ in range(2))
    lead[0] = last_lead
    follows, known = np.full((room, n_classes), -1, np.int32), np.full(2 * room, -1, np.int32)
    at = np.empty(len(classes), np.uint16)
    if len(classes) >= _MANY_ROWS and room * n_classes <= _CLOSED_CELLS:
        code = reach.close(shape, holds, may_end, sets, lead, known, follows, state)
        if code == reach.DONE:
            reach.look_up(classes, histories.low, histories.high, follows.astype(np.uint16), at)
            return sets, at, _ways(shape, sets, int(state[reach.N_SETS]))
        # what is known by now serves the rows as well
    while True:
        code = reach.reach(
            shape,
            classes,
            histories.low,
            histories.high,
            holds,
            may_end,
            sets,
            lead,
            known,
            follows,
            state,
            at,
        )
        if code == reach.DONE:
            return sets, at, _ways(shape, sets, int(state[reach.N_SETS]))
        if 2 * room > _MOST_SETS or 2 * room * n_classes > _MOST_CELLS:
            break
        sets, lead = (np.concatenate([one, np.zeros_like(one)]) for one in (sets, lead))
        follows = np.concatenate([follows, np.full_like(follows, -1)])
        room *= 2
        known = _known_again(sets[: int(state[reach.N_SETS])], room)
    sets = np.empty((len(classes), n_words), np.uint64)
    at = np.empty(len(classes), np.int64)
    reach.simulate(shape, classes, histories.low, histories.high, holds, may_end, last_lead, sets, at)
    return sets, at, reach.ways(shape, sets[:0])


def _ways(shape: Shape, sets: Any, n_sets: int) -> Any:
    """The ways to rows of each set, none where they differ between first rows and others."""
    return reach.ways(shape, sets[: 0 if (shape.flags & AT_FIRST).any() else n_sets])


def _known_again(sets: Any, room: int) -> Any:
    """The table in which sets are looked up, larger; set 0 stands behind last rows and is in no table."""
    known = np.full(2 * room, -1, np.int32)
    reach.enlist(sets, known)
    return known
