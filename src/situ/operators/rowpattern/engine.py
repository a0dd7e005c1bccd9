"""From rows and histories to matches: the method that fits the query, and room for what kernels find.

Whole inputs whose tests read the row and its neighbours only are walked (kernels/reach.py, walk.py), in time
linear in the rows; where they also read the match's first row, from each start (starts.py), in time linear in
the rows it reaches. Everything else is searched start by start (kernels/search.py, scan.py). Strategies that
skip rows have kernels of their own. No result depends on the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from situ.language.rows.ast import RowQuery
from situ.operators.rowpattern.automaton import END, Automaton
from situ.operators.rowpattern.conditions import ConditionPlan
from situ.operators.rowpattern.found import PatternPositions
from situ.operators.rowpattern.kernels import every, scan, search, starts, subsequences, walk, words
from situ.operators.rowpattern.kernels.contiguous import rows_of
from situ.operators.rowpattern.kernels.layout import (
    AT_FIRST,
    AT_LAST,
    BY_MEMORY,
    BY_NOTHING,
    BY_STATE,
    FALSE,
    Bytes,
    Histories,
    Memory,
    Path,
    Rows,
    Shape,
    Stack,
)
from situ.operators.rowpattern.live import Live, live_rows
from situ.operators.rowpattern.starting import Starting
from situ.operators.rowpattern.tested import Conditions
from situ.rows.prepared import Positions

A = TypeVar("A", bound="npt.NDArray[Any]")
_SKIPS = {"past last row": scan.PAST_LAST, "next row": scan.TO_NEXT, "first": scan.TO_FIRST_OF,
          "last": scan.TO_LAST_OF}  # fmt: skip
_MEMORY = 1 << 16  # states that one search can remember


class Trouble(NamedTuple):
    """Why a scan cannot go on: one of the codes of kernels/scan.py and every.py, and where."""

    code: int
    history: int
    start: int
    number: int  # of the match in question
    position: int
    row: int
    path: Path  # with what the last test left there


class Matches(NamedTuple):
    """M matches as kernels find them, by history and start; INCREMENTAL by history and end."""

    history: Positions
    start: Positions
    number: Positions
    instant: Positions
    offset: Positions  # M + 1
    row: Positions
    position: PatternPositions
    # [5, N] of starts that the window ended (ROW 8.8): history, start, end of the window, variable, and when
    # that was decided, which NEXT may delay
    ended: Positions
    resume: Positions  # [2, H]: the first start of each history that is undecided, matches before it
    trouble: Trouble | None

    def taken(self, chosen: Any, rows: Any, offset: Positions) -> Matches:
        """Some matches, in the order of `chosen`, with their rows."""
        return self._replace(
            history=self.history[chosen],
            start=self.start[chosen],
            number=self.number[chosen],
            instant=self.instant[chosen],
            offset=offset,
            row=self.row[rows],
            position=self.position[rows],
        )


def shape_of(automaton: Automaton, plan: ConditionPlan, n_truth: int) -> Shape:
    """The automaton as arrays."""
    lists = [*automaton.follow, automaton.start]
    ways = [way for one in lists for way in one]
    return Shape(
        np.cumsum([0, *map(len, lists)]),
        np.array([way.to for way in ways], np.int64),
        np.array([AT_FIRST * way.at_first + AT_LAST * way.at_last for way in ways], np.int64),
        np.array(automaton.variable, np.int64),
        np.array(plan.test, np.int64),
        np.array(plan.lag, np.int64),
        n_truth,
    )


class Engine:
    """A query compiled: the automaton and the tests of its positions."""

    def __init__(
        self, query: RowQuery, plan: ConditionPlan, conditions: Conditions, *, within: int | None,
        ahead: int, most_steps: int, most_matches: int,
    ) -> None:  # fmt: skip
        self.query, self.plan, self.conditions = query, plan, conditions
        self.automaton = plan.automaton
        self.shape = shape_of(self.automaton, plan, conditions.n_truth)
        self.within = -1 if within is None else within
        self.ahead = ahead  # rows behind a match that its measures read
        self.most_steps, self.most_matches = most_steps, most_matches
        self.n_steps = 0
        self.skip = _SKIPS[query.skip.to]
        members = query.members(query.skip.variable) if query.skip.variable else frozenset()
        self.skip_to = np.array([name in members for name in self.automaton.variables], bool)
        self.reads_path = any(one == "path" for one in plan.reads)
        self.is_row_wise = all(one in ("row", "neighbour") for one in plan.reads)
        # kernels are compiled without the machine, which takes long, where no test needs it
        self.programs = conditions.programs if len(plan.reads) > conditions.n_truth else None
        self.memo = BY_STATE
        if self.reads_path or conditions.registers is None:
            self.memo = BY_NOTHING if conditions.registers is None else BY_MEMORY
        # the tables of kernels/starts.py, where it serves: nothing is read but the first row and neighbours
        walks_starts = self.memo == BY_STATE and self.programs is not None and not self.reads_path
        self.starting = Starting(self) if walks_starts and query.mode is None else None
        self.room = Room(self, 64)

    def find(
        self, rows: Rows, histories: Histories, before: Positions, *, in_turn: bool, timed: bool, at_end: bool
    ) -> Matches:
        """The matches that are certain; `before` [H]: up to which instant earlier steps told of them.

        `timed`: whether instants are wanted. `in_turn`: does a start wait for those before it (ROW 8.3).
        """
        run = Run(self, rows, histories)
        strategy, mode = self.query.strategy, self.query.mode
        if strategy != "contiguous":
            hope = self._hopes(rows) if at_end and not timed else np.empty(0, np.uint8)
            if strategy == "next":
                code = run.loop(lambda: run.next(in_turn, at_end, hope))
            else:
                code = run.loop(lambda: run.every(before, at_end, hope))
        elif mode == "incremental":
            code = run.loop(lambda: run.ends(before, at_end))
        else:
            hope = np.empty(0, np.uint8)
            if at_end and not timed and mode is None:
                live = live_rows(self, rows, histories)
                if self.is_row_wise and not live.has_failures:
                    code = run.loop(lambda: run.walk(live))
                    return run.matches(code)
                starting = self.starting
                if starting is not None and len(live.ways) and not live.has_failures:
                    code = run.loop(lambda: run.starts(starting, live))
                    if code != scan.FAILED_TEST:
                        return run.matches(code)
                    run = Run(self, rows, histories)  # a test raised: would preferment order have come to it
                hope = live.hopes(histories)
            code = run.loop(lambda: run.scan(in_turn, at_end, hope))
        return run.matches(code)

    def _hopes(self, rows: Rows) -> Bytes:
        """1 at the rows that the first row of a match may be, as far as that is known; none for all."""
        tests = [self.plan.test[way.to] for way in self.automaton.start if way.to != END]
        if not tests or min(tests) < 0 or max(tests) >= self.shape.n_truth:
            return np.empty(0, np.uint8)
        found: Bytes = (rows.truth[tests] != FALSE).any(axis=0).view(np.uint8)
        return found

    @property
    def method(self) -> str:
        """How it goes about it, in a word."""
        if self.query.strategy != "contiguous":
            return f"skip till {self.query.strategy}"
        if self.starting is not None:
            return "walk each start"
        return "walk" if self.is_row_wise and self.query.mode is None else "search"

    def may_end(self, at_last: bool) -> Any:
        """Of each position whether a match may end there, at a last row also by `$`."""
        return np.array(
            [
                any(way.to == END and (at_last or not way.at_last) for way in ways)
                for ways in self.automaton.follow
            ],
            bool,
        )


class Room:
    """Where searches of an engine work, one after the other: candidates of so many rows."""

    def __init__(self, engine: Engine, depth: int) -> None:
        conditions, m = engine.conditions, engine.automaton.n_positions
        self.depth = depth
        self.n_searches = 0  # that have left their marks in `stack.seen`
        self.path = conditions.path(depth)
        is_contiguous = engine.query.strategy == "contiguous"
        n_seen = depth * m * 2 if engine.memo == BY_STATE and is_contiguous else 0
        listed, place, pending = (np.zeros(depth, np.int64) for _ in range(3))
        self.stack = Stack(listed, place, pending, np.zeros(n_seen, np.int64))
        has_memory = engine.memo == BY_MEMORY and is_contiguous
        reads = conditions.registers if has_memory else None
        reads = np.zeros((0, 3), np.int64) if reads is None else reads
        size = _MEMORY if has_memory else 1
        self.memory = Memory(
            reads, np.zeros((size, 2 + len(reads)), np.int64), np.zeros(size, np.int64), np.zeros(2, np.int64)
        )
        self.told = np.zeros(max(search.N_TOLD, depth), np.int64)
        self.by_depth: tuple[Any, ...] = ()
        if engine.query.strategy == "any":
            self.by_depth = (
                np.empty((depth + 1, m + 1), np.int64),
                np.empty(depth + 1, np.int64),
                np.empty((depth + 1, m + 2), np.int64),
                *(np.empty(depth + 1, np.int64) for _ in range(3)),
            )


class Run:
    """Buffers of one scan, and their growth."""

    def __init__(self, engine: Engine, rows: Rows, histories: Histories) -> None:
        self.engine, self.rows, self.histories = engine, rows, histories
        n_rows = int((histories.high - histories.start).sum()) if len(histories.low) else 0
        self.state = np.zeros(scan.N_STATE, np.int64)
        self.state[scan.START] = -1
        self._match = np.empty((5, max(16, n_rows // 2)), np.int64)
        self._position = np.empty(max(64, n_rows), np.int32)
        self._row = np.empty(0, np.int64)
        self._out = np.empty((5, 16), np.int64)
        self.resume = np.zeros((2, len(histories.low)), np.int64)
        self._has_rows = engine.query.strategy != "contiguous"
        if self._has_rows:
            self._row = np.empty(len(self._position), np.int64)
        self._ends = np.empty((0, 0), np.int64)
        self._stretch = np.zeros(4, np.int64)
        self._reached = np.empty((0, 0), np.uint64)
        self.room = engine.room
        self.state[scan.SEARCH] = self.room.n_searches

    def loop(self, go_on: Callable[[], int]) -> int:
        """Go on until it is done, or cannot be; make room where that is all that is missing."""
        while True:
            code = go_on()
            if code == scan.FULL:
                self._grow()
            elif code == scan.NO_DEPTH and len(self._reached):
                self._reached = np.empty((2 * len(self._reached), self._reached.shape[1]), np.uint64)
            elif code == scan.NO_DEPTH and self._stretch[walk.WANTED]:
                m = self.engine.automaton.n_positions
                self._ends = np.empty((2 * int(self._stretch[walk.WANTED]), m), np.int64)
                self._stretch[walk.WANTED] = 0
            elif code == scan.NO_DEPTH:
                self.engine.room = self.room = Room(self.engine, 2 * self.room.depth)
                self.state[scan.SEARCH] = 0
            else:
                return code

    def _grow(self) -> None:
        n_matches, n_rows, n_out = (int(self.state[at]) for at in (scan.N_MATCHES, scan.N_ROWS, scan.N_OUT))
        begins_anew = self.engine.query.strategy == "any"  # a start whose matches had no room
        no_match, no_out = n_matches == self._match.shape[1], n_out == self._out.shape[1]
        if begins_anew or no_match:
            self._match = _larger(self._match, n_matches)
        if no_out:
            self._out = _larger(self._out, n_out)
        if begins_anew or not (no_match or no_out):
            self._position = _larger(self._position, n_rows)
            if self._has_rows:
                self._row = _larger(self._row, n_rows)

    def scan(self, in_turn: bool, at_end: bool, hope: Any) -> int:
        engine = self.engine
        return int(
            scan.scan(
                engine.shape,
                self.rows,
                engine.programs,
                self.room.path,
                self.room.stack,
                self.room.memory,
                engine.memo,
                self.histories,
                engine.within,
                engine.skip,
                engine.skip_to,
                engine.query.mode == "maximal",
                in_turn,
                engine.ahead,
                engine.most_steps,
                at_end,
                hope,
                self.state,
                self.room.told,
                self._match,
                self._position,
                self._out,
                self.resume,
            ),
        )

    def ends(self, before: Positions, at_end: bool) -> int:
        engine = self.engine
        longest = int((self.histories.high - self.histories.low).max(initial=0))
        if self._ends.size < longest:
            self._ends = np.empty((longest, 1), np.int64)
        return int(
            scan.scan_ends(
                engine.shape,
                self.rows,
                engine.programs,
                self.room.path,
                self.room.stack,
                self.room.memory,
                engine.memo,
                self.histories,
                engine.within,
                engine.ahead,
                engine.most_steps,
                at_end,
                before,
                self.state,
                self.room.told,
                self._match,
                self._position,
                self._ends.reshape(-1),
                self.resume,
            ),
        )

    def walk(self, live: Live) -> int:
        engine = self.engine
        return int(
            walk.walk(
                engine.shape,
                self.rows.time,
                live.sets,
                live.at,
                live.ways,
                live.may_end,
                live.may_end_last,
                self.histories,
                engine.within,
                engine.skip,
                engine.skip_to,
                self.state,
                self._match,
                self._position,
                self._ends,
                self._stretch,
            ),
        )

    def starts(self, starting: Starting, live: Live) -> int:
        engine = self.engine
        if not len(self._reached):
            self._reached = np.empty((256, starting.n_words), np.uint64)
        return int(
            starts.scan_starts(
                engine.shape,
                self.rows,
                engine.programs,
                self.room.path,
                starting.compare,
                starting.follow,
                starting.after,
                starting.before,
                starting.ends,
                starting.ends_last,
                starting.depends,
                live.sets,
                live.at,
                live.ways,
                self.histories,
                engine.within,
                engine.skip,
                engine.skip_to,
                self._reached,
                self.state,
                self._match,
                self._position,
            ),
        )

    def next(self, in_turn: bool, at_end: bool, hope: Bytes) -> int:
        engine = self.engine
        return int(
            subsequences.scan_next(
                engine.shape,
                self.rows,
                engine.programs,
                self.room.path,
                self.histories,
                engine.within,
                engine.skip,
                engine.skip_to,
                in_turn,
                engine.ahead,
                engine.most_steps,
                at_end,
                hope,
                self.state,
                self.room.told,
                self._match,
                self._row,
                self._position,
                self._out,
                self.resume,
            ),
        )

    def every(self, before: Positions, at_end: bool, hope: Bytes) -> int:
        engine, m = self.engine, self.engine.automaton.n_positions
        longest = int((self.histories.high - self.histories.low).max(initial=0))
        if self._ends.shape != (longest, 2 * m):
            self._ends = np.empty((longest, 2 * m), np.int64)
        scan_any: Any = every.scan_any
        return int(
            scan_any(
                engine.shape,
                self.rows,
                engine.programs,
                self.room.path,
                self.histories,
                engine.within,
                engine.ahead,
                engine.most_steps,
                engine.most_matches,
                at_end,
                before,
                hope,
                self.state,
                self.room.told,
                self._match,
                self._row,
                self._position,
                *self.room.by_depth,
                self._ends[:, :m],
                self._ends[:, m:],
                self.resume,
            ),
        )

    def matches(self, code: int) -> Matches:
        """What was found."""
        state = self.state
        self.room.n_searches = int(state[scan.SEARCH])
        self.engine.n_steps += int(state[scan.N_STEPS])
        n_matches, n_rows, n_out = (int(state[at]) for at in (scan.N_MATCHES, scan.N_ROWS, scan.N_OUT))
        history, start, number, instant, at = (self._match[i, :n_matches] for i in range(5))
        offset = np.append(at, n_rows)
        row = self._row[:n_rows]
        if not self._has_rows:
            row = rows_of(start, offset)
        if self._has_rows and any(self.engine.automaton.excluded) and code == scan.DONE:
            words.derive(self.engine.shape, offset, self._position)
        trouble = None
        if code != scan.DONE:
            trouble = Trouble(
                code,
                int(state[scan.HISTORY]),
                int(state[scan.START]),
                int(state[scan.NUMBER]),
                int(state[scan.BLAMED]),
                int(state[scan.BLAMED_ROW]),
                self.room.path,
            )
        return Matches(
            history, start, number, instant, offset, row, self._position[:n_rows], self._out[:, :n_out],
            self.resume, trouble,
        )  # fmt: skip


def _larger(array: A, used: int) -> A:
    """Twice the room, with what is used."""
    larger = np.empty((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    larger[..., :used] = array[..., :used]
    return cast("A", larger)
