"""The operator of a row pattern: rows in, matches out, each when it is certain (ROW 8.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from situ.carry.contract import Field, Setting, Span, Stepped, Work
from situ.language.rows.ast import MatchNumber
from situ.operators.rowpattern.engine import Engine, Matches
from situ.operators.rowpattern.found import Found, Ordered
from situ.operators.rowpattern.kept import KeptRows, PerSlot
from situ.operators.rowpattern.kernels.layout import FALSE, Rows
from situ.operators.rowpattern.ordering import Sequenced, sequenced
from situ.operators.rowpattern.output import Measures
from situ.operators.rowpattern.ranked import in_order_of_ends
from situ.operators.rowpattern.tells import TellsOfRows
from situ.operators.rowpattern.timeouts import Timeouts, timeouts_of
from situ.operators.rowpattern.trouble import raised
from situ.rows.kernels.numbers import LONG_AGO, NEVER, UNBOUNDED
from situ.rows.needs import Needs
from situ.rows.order import refuse_ties_with_horizon
from situ.rows.prepared import Flags, Positions, Prepared
from situ.rows.schema import refuse_reserved
from situ.saved.codec import Reader, Writer

if TYPE_CHECKING:
    from situ.operators.rowpattern.question import AskedRows


class Advanced(NamedTuple):
    """What a step has found among the rows that were kept and those that came."""

    kept: KeptRows
    found: Found
    ordered: Ordered
    late: Flags | None
    timeouts: Timeouts | None


_FEW_ROWS = 4096  # that may stay in memory as long as some of them are kept
_TRUE = np.ones(1, bool)


class RowOperator(TellsOfRows):
    """A bound row pattern."""

    def __init__(self, asked: AskedRows, schema: pa.Schema, setting: Setting) -> None:
        self.asked, self.schema, self.setting = asked, schema, setting
        self.needs: Needs = asked.needs
        query = asked.bound.query
        self._uses_number = any(isinstance(item, MatchNumber) for item in query.items)
        skips = query.skip.to != "next row"
        self._in_turn = self._uses_number or skips  # does a start wait for those before it (ROW 8.3)
        self._back = max(asked.conditions.back, asked.measures.back)
        looks_around = self._back or asked.measures.lag or any(asked.conditions.lag)
        self._keeps_all_rows = query.strategy == "contiguous" or bool(looks_around)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.asked, self.schema, self.setting)  # what is compiled stays where it is

    @cached_property
    def engine(self) -> Engine:
        """The pattern compiled."""
        asked = self.asked
        return Engine(
            asked.bound.query,
            asked.conditions,
            asked.conditions.compile(self.schema, self.setting),
            within=asked.bound.within,
            ahead=asked.measures.lag,
            most_steps=asked.max_steps,
            most_matches=asked.max_matches,
        )

    @cached_property
    def measures(self) -> Measures:
        """What makes columns of matches."""
        return self.asked.measures.compile(self.schema, self.setting)

    @property
    def output(self) -> Sequence[Field]:
        """What is emitted."""
        return self.measures.output

    @cached_property
    def identity(self) -> bytes:
        """The query, the types of its columns, and options that state depends on."""
        return self.asked.identity(self.schema)

    def work(self) -> Work:
        """How, and the steps of all searches so far."""
        return Work(self.engine.method, self.engine.n_steps)

    def nothing(self, n_slots: int, since: int = int(LONG_AGO)) -> KeptRows:
        """Partitions never seen, or forgotten."""
        return KeptRows.nothing(n_slots, self.needs.mask_type, self._carried)

    @cached_property
    def _carried(self) -> dict[str, pa.DataType]:
        return self.needs.carried(self.schema)

    def write(self, writer: Writer, kept: KeptRows) -> None:
        """Add what is kept to saved state."""
        kept.write(writer)

    def read(self, reader: Reader, n_slots: int) -> KeptRows:
        """What `write` wrote."""
        needs = self.needs
        return KeptRows.read(reader, n_slots, needs.mask_type, self._carried, len(needs.conditions))

    def describe(self, kept: KeptRows) -> Iterator[Span]:
        """Of each partition the rows from the first undecided start on."""
        for slot in range(kept.n_slots):
            begin = int(kept.offset[slot] + kept.slots.start[slot])
            if begin < kept.offset[slot + 1]:
                yield Span(slot, "undecided", int(kept.time[begin]), None)

    def step(self, kept: KeptRows, rows: Prepared, complete: int | None, *, at_end: bool = False) -> Stepped:
        """The matches that the rows make certain."""
        done = self.advanced(kept, rows, complete, at_end=at_end)
        emitted = self.measures.emitted(done.found, done.ordered)
        return Stepped(done.kept, (emitted,) if len(emitted.slot) else (), done.late, timeouts=done.timeouts)

    def advanced(
        self, kept: KeptRows, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Advanced:
        """The same before columns are made of matches."""
        if at_end:
            complete = None  # what only time decides is decided by the end as well
        is_late = self._late(kept, rows, complete)
        if is_late is not None:
            rows = rows.select(~is_late)
        now = sequenced(kept, rows, self.needs, complete, self.asked.forget_after)
        before = kept.slots.told[now.slot]
        timed = self.asked.match_time or not at_end or bool((before > LONG_AGO).any())
        tested, matches = self.searched(now, before, timed=timed, at_end=at_end)
        found = self._found(matches, now, before, timed=timed, at_end=at_end)
        timeouts = self._timeouts(matches, now, before) if self.asked.timeouts else None
        after = kept if at_end else self._kept(kept, matches, now, tested)
        return Advanced(after, found, now.ordered, is_late, timeouts)

    def searched(
        self, now: Sequenced, before: Positions, *, timed: bool, at_end: bool
    ) -> tuple[Rows, Matches]:
        """What tests say of the rows, and the matches that are certain; raises what cannot be decided."""
        tested = self.tested(now)
        matches = self.engine.find(
            tested, now.histories, before, in_turn=self._in_turn, timed=timed, at_end=at_end
        )
        if matches.trouble is not None:
            raise raised(matches.trouble, self, now)
        return tested, matches

    def tested(self, now: Sequenced) -> Rows:
        """The rows with what tests say of them that read no path."""
        histories = now.histories
        return self.engine.conditions.rows(now.ordered, now.mask, histories.low, histories.high, at_end=True)

    def _late(self, kept: KeptRows, rows: Prepared, complete: int | None) -> Flags | None:
        """Rows at or before what was known of their partition."""
        if self.needs.is_timeless:
            return None
        refuse_reserved(rows.time)
        if complete is not None or not (kept.horizon > LONG_AGO).any():
            return None
        horizon = kept.horizon[rows.codes]
        is_late: Flags = rows.time <= horizon
        if not is_late.any():
            return None
        if self.needs.order == "distinct" and not self.needs.ties:
            refuse_ties_with_horizon(rows.time[rows.time == horizon], self.needs.time.told)
        return is_late

    def _found(
        self, matches: Matches, now: Sequenced, before: Positions, *, timed: bool, at_end: bool
    ) -> Found:
        """Those that earlier steps have not told of."""
        histories, h = now.histories, matches.history
        if timed:
            is_due = matches.instant > before[h]
            if not at_end:
                is_due &= (matches.instant <= histories.now[h]) | histories.closed[h]
            matches = _chosen(matches, is_due)
            h = matches.history
        if self.asked.bound.query.strategy == "any":
            matches = in_order_of_ends(
                matches, histories.number, self.engine.shape.variable, numbered=self._uses_number
            )
            h = matches.history
        found = Found(
            now.slot[h],
            matches.start,
            histories.low[h],
            histories.high[h],
            matches.number,
            matches.instant,
            matches.offset,
            matches.row,
            matches.position,
            np.empty(0, np.int64),
        )
        if self.asked.bound.query.empty == "unmatched" and at_end:
            is_in = np.zeros(len(now.ordered.time), bool)
            is_in[found.row] = True
            is_in[found.start[found.is_empty]] = True
            found = found._replace(unmatched=np.flatnonzero(~is_in))
        return found

    def _timeouts(self, matches: Matches, now: Sequenced, before: Positions) -> Timeouts:
        """Starts that earlier steps have not told of."""
        is_due = matches.ended[4] > before[matches.ended[0]]
        return timeouts_of(self, matches.ended[:4, is_due], now.slot, now.ordered.time)

    def _kept(self, kept: KeptRows, matches: Matches, now: Sequenced, tested: Rows) -> KeptRows:
        """The rows from the first undecided start on, and those before it that are looked back at."""
        n_slots, last = kept.n_slots, now.last
        is_plain = self.asked.bound.query.strategy == "contiguous"
        if is_plain and n_slots == 1 and len(now.slot) == 1 and len(now.ordered.time) <= _FEW_ROWS:
            return self._kept_of_one(matches, now)
        has = last >= 0
        h = last[has]
        low, high, resume = now.histories.low[h], now.histories.high[h], matches.resume[0, h]
        begin, start = np.zeros(n_slots, np.int64), np.zeros(n_slots, np.int64)
        end, number = np.zeros(n_slots, np.int64), kept.slots.number.copy()
        begun = kept.slots.begun.copy()
        begin[has] = np.maximum(low, resume - self._back)
        end[has] = high
        start[has] = resume - begin[has]
        number[has] = matches.resume[1, h]
        begun[has] = now.histories.begun[h] | (begin[has] > low)
        if self.asked.bound.query.strategy == "any" and self._uses_number:
            number[has] = now.histories.number[h] + np.bincount(matches.history, minlength=len(now.slot))[h]
        sizes = end - begin
        offset = np.append(0, np.cumsum(sizes))
        rows = np.arange(offset[-1]) + np.repeat(begin - offset[:-1], sizes)
        if not self._keeps_all_rows:
            matters = self._matters(tested, rows)
            rows = rows[matters]
            sizes = np.bincount(np.repeat(np.arange(n_slots), sizes)[matters], minlength=n_slots)
            offset, start = np.append(0, np.cumsum(sizes)), np.zeros(n_slots, np.int64)
        slots = PerSlot(now.horizon, now.now, start, number, begun)
        columns = now.ordered.columns
        if len(rows) == 0:
            taken = {name: column.slice(0, 0) for name, column in columns.items()}
        else:
            chosen = pa.array(rows)
            taken = {name: column.take(chosen) for name, column in columns.items()}
        return KeptRows(slots, offset, now.ordered.time[rows], now.mask[rows], taken)

    def _kept_of_one(self, matches: Matches, now: Sequenced) -> KeptRows:
        """The same of one history with few rows, which need not be copied."""
        resume = int(matches.resume[0, 0])
        begin = max(0, resume - self._back)
        begun = now.histories.begun if begin == 0 else _TRUE
        slots = PerSlot(now.horizon, now.now, np.array([resume - begin]), matches.resume[1, :1], begun)
        time = now.ordered.time[begin:]
        columns = {name: column.slice(begin) for name, column in now.ordered.columns.items()}
        return KeptRows(slots, np.array([0, len(time)]), time, now.mask[begin:], columns)

    def _matters(self, tested: Rows, rows: Positions) -> Flags:
        """Rows that some variable may take: others are in no match to come (ROW 9.7)."""
        engine = self.engine
        tests = np.unique(engine.shape.test)
        if len(tests) == 0 or tests[0] < 0 or tests[-1] >= engine.shape.n_truth:
            return np.ones(len(rows), bool)
        matters: Flags = (tested.truth[:, rows] != FALSE).any(axis=0)
        return matters

    def prune(self, kept: KeptRows) -> KeptRows:
        """Every row kept may be needed."""
        return kept

    def purge(self, kept: KeptRows, complete: int) -> tuple[KeptRows, Flags]:
        """Nothing more goes with time than steps leave behind; partitions of which nothing is left may go."""
        forget_after = self.asked.forget_after
        gone = np.zeros(kept.n_slots, bool)
        if forget_after != UNBOUNDED:
            gone = (kept.horizon < complete - forget_after) & (kept.horizon > LONG_AGO)
        if not self._has_residue:
            gone |= (np.diff(kept.offset) == 0) & (kept.horizon < complete)
        return kept, gone

    def next_purge(self, kept: KeptRows) -> Positions:
        """Once a partition has nothing undecided, or `forget_after` has passed."""
        due = np.full(kept.n_slots, NEVER)
        if self.asked.forget_after != UNBOUNDED:
            due = kept.horizon + 1 + self.asked.forget_after
        if not self._has_residue:
            due = np.where(np.diff(kept.offset) == 0, kept.horizon + 1, due)
        return np.where(kept.horizon == LONG_AGO, NEVER, due)

    @cached_property
    def _has_residue(self) -> bool:
        """Whether something of a silent partition must be known for ever (ROW 8.6)."""
        looks_at_first = any(way.at_first for way in self.engine.automaton.start)
        return bool(self._back) or self._uses_number or looks_at_first

    def next_due(self, kept: KeptRows) -> Positions:
        """When the window of the first undecided start has passed, or if that is not enough its history."""
        due = np.full(kept.n_slots, NEVER)
        within = self.asked.bound.within
        if within is None:
            return due
        first = kept.offset[:-1] + kept.slots.start
        open_ = np.flatnonzero(first < kept.offset[1:])
        limit = kept.time[first[open_]] + within
        limit = np.where(limit < kept.time[first[open_]], NEVER - 1, limit)  # beyond all times
        told = kept.slots.told[open_]
        due[open_] = np.where(limit > told, limit + 1, NEVER)
        if self.asked.forget_after != UNBOUNDED:  # what waits for rows behind it, by NEXT
            over = kept.horizon[open_] + self.asked.forget_after
            due[open_] = np.where((limit <= told) & (over > told), over + 1, due[open_])
        return due


def _chosen(matches: Matches, is_due: Flags) -> Matches:
    """Some of the matches."""
    if is_due.all():
        return matches
    sizes = np.diff(matches.offset)
    rows = np.repeat(is_due, sizes)
    return matches.taken(is_due, rows, np.append(0, np.cumsum(sizes[is_due])))
