"""One step of the engine: rows in, matches out, what is known carried on. Operators of situations call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.aggregate import States, specs_of
from situ.carry import contract
from situ.language.situations.binder import BoundQuery
from situ.machine.threads import Crew, cut_evenly
from situ.operators.situations.chunks import derive_chunk, stitch
from situ.operators.situations.earlier import Earlier
from situ.operators.situations.equalities import codes_of, equalities_of, linked
from situ.operators.situations.joins import Need, by_instant, endpoints, pair_join, range_join
from situ.operators.situations.kernels.advance import (
    advance,
    advance_plainly,
    is_ascending,
    is_cheaper_at_once,
)
from situ.operators.situations.kernels.layout import Rows, Runs
from situ.operators.situations.kernels.match import MOST_AT_ONCE, Matches, Work, new_work
from situ.operators.situations.kernels.retain import retain
from situ.operators.situations.kernels.situate import settle, situate
from situ.operators.situations.known import Known, Positions
from situ.operators.situations.program import make_spec, of_positives
from situ.plan.explain import Actuals
from situ.plan.plan import Planner
from situ.rows.kernels.look import rows_at
from situ.rows.kernels.numbers import NEVER, OPEN, UNBOUNDED

# Events between two looks at the plan: more and more while nothing changes, few again once something has.
_FIRST_LOOK, _LOOK_OFTEN, _LOOK_RARELY = 256, 4096, 65536


_WORTH_A_TRIAL, _TRIAL_SHARE = 20_000, 64  # situations; and the part of the first symbol's that is tried


class Input(NamedTuple):
    """A step's rows and what aggregates read of them, one `States` for each symbol."""

    rows: Rows
    states: tuple[States, ...]
    earlier: Earlier | None = None  # what is to be kept of them for conditions that look back


class Derived(NamedTuple):
    """The situations of a step's slots, and the slots' state afterwards (see Known)."""

    runs: Runs
    state: Positions


class Found(NamedTuple):
    """M matches by instant: what results are made from."""

    ends: Positions  # int64[2n + 2, M]: every symbol's ts, every symbol's te, instants, slots
    is_over: npt.NDArray[np.uint8]  # [n, M / 8]: bits, set where te does not lie beyond the match's instant
    states: tuple[States, ...]

    @property
    def size(self) -> int:
        """M."""
        return int(self.ends.shape[1])

    @property
    def ts(self) -> Positions:
        """Row i is symbol i's."""
        return self.ends[: len(self.is_over)]

    @property
    def te(self) -> Positions:
        """Row i is symbol i's; what lies beyond the match's instant is not told."""
        return self.ends[len(self.is_over) : -2]

    @property
    def instant(self) -> Positions:
        """When each match became certain."""
        instant: Positions = self.ends[-2]
        return instant

    @property
    def slot(self) -> Positions:
        """The partition of each match, as a position among the step's."""
        slot: Positions = self.ends[-1]
        return slot

    @property
    def is_open(self) -> npt.NDArray[np.bool_]:
        """Whether te lies beyond the match's instant."""
        is_open: npt.NDArray[np.bool_] = self.te > self.instant
        return is_open


class SymbolValues(NamedTuple):
    """Situations of one symbol; `is_open` where there is no te yet."""

    ts: Positions
    te: Positions
    is_open: npt.NDArray[np.bool_]
    states: States

    def take(self, chosen: Positions) -> SymbolValues:
        """Some of them."""
        states = self.states.take(chosen)
        return SymbolValues(self.ts[chosen], self.te[chosen], self.is_open[chosen], states)


class Group(NamedTuple):
    """The slots from `first` on that one thread takes; a single slot may be shared by `share` threads."""

    first: int
    events: Input
    known: Known
    derived: Derived
    share: int


_NO_ROWS = np.empty(0, np.bool_)


class Engine:
    """A bound query, compiled: pure functions over rows and `Known`."""

    def __init__(
        self,
        bound: BoundQuery,
        *,
        ansi: bool = True,
        forget_after: int | None = None,
        join: str = "auto",
        threads: int | str = 1,
        with_count: bool = False,
    ) -> None:
        self.bound = bound
        self.spec = make_spec(bound, forget_after=forget_after)
        self.n_positive = len(bound.query.positives)  # absent symbols stand behind the others
        self.equalities = equalities_of(bound)
        self.join_spec = linked(of_positives(self.spec, self.n_positive), self.equalities)
        self._plain_spec = self.join_spec[:]
        self.n_state_rows = 2 + len(self.spec.ending)  # of Known.state
        self.aggregates = specs_of(bound, ansi=ansi, with_count=with_count)
        self.n_symbols = len(bound.query.symbols)
        self.mask_type: np.dtype[np.unsignedinteger] = np.dtype(
            np.uint8 if self.n_symbols <= 8 else np.uint64
        )
        self.n_visited = 0  # candidates looked at by all joins the planner has seen
        self._crew = Crew(threads)
        self.has_aggregates = any(self.aggregates)
        n_components = sum(len(own.components) for own in self.aggregates)
        self._need = Need.of(self.n_positive, n_components, self._crew.most)
        self._part_need = self._need._replace(is_alone=False)
        self.planner = Planner(self.join_spec.relations, join=join)  # type: ignore[arg-type]  # checked as an option
        self._work = new_work(self.n_positive)
        self._plain_work = self._work[:]
        self._n_unseen, self._look_after = 0, _FIRST_LOOK
        self._plan_changed()
        self.no_states = tuple(spec.empty() for spec in self.aggregates)
        no_ends = np.empty((2 * self.n_positive + 2, 0), np.int64)
        self._nothing_found = Found(no_ends, np.empty((self.n_positive, 0), np.uint8), self.no_states)

    def nothing_known(self, n_slots: int) -> Known:
        """Partitions never seen before."""
        return Known.nothing(n_slots, self.spec, self.aggregates)

    def check_state(self, known: Known) -> None:
        """Refuse rows of `Known.state` that no step can have left, beside those that all queries have."""

    @property
    def needs_more_rows(self) -> bool:
        """Whether something is told by rows at which no condition begins, ends or reaches its minimum."""
        return False

    @property
    def needs_all_rows(self) -> bool:
        """Whether that may be any row."""
        return False

    def rows_needed(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Which rows are, of no row where none is."""
        return _NO_ROWS

    def step(self, events: Input, known: Known, complete: int | None = None) -> tuple[Found, Known]:
        """The matches the rows complete, and what is known afterwards."""
        n_events = len(events.rows.time)
        by_range = self.planner.plan.join == "range"
        if self._crew.most == 1 and by_range:
            return self._step_alone(events, known, n_events)
        with self._crew.measured(n_events) as n_threads:
            if n_threads == 1 and by_range:
                return self._step_alone(events, known, n_events)
            pieces = self._pieces(events, known, n_threads)
            done = self._crew.run(self._match_and_keep, self._planned(pieces))
        found = [_shifted(found, first) for (first, *_), (found, _, _) in zip(pieces, done, strict=True)]
        self._note([work for _, _, work in done])
        return _merged(found), Known.concat([after for _, after, _ in done])

    def _step_alone(self, events: Input, known: Known, n_events: int) -> tuple[Found, Known]:
        """A step without threads, with as little around the kernels as can be: the way of single events."""
        self._n_unseen += n_events
        if self._n_unseen >= self._look_after:
            return self._step_planned(events, known, n_events)
        if self.equalities:
            return self._step_by_range(events, known)
        everything = (
            events.rows[:], known.state, known.kept, known.offset, self._plain_spec,
            self._full, self._deltas, self._costs, self._plain_work
        )  # fmt: skip
        if not self.has_aggregates:
            (state, kept, offset), ends, is_over = advance_plainly(*everything)
            if ends.shape[1] >= MOST_AT_ONCE:
                return self._step_by_range(events, known)
            return Found(ends, is_over, self.no_states), Known(state, kept, offset, known.carry)
        plain_runs, (state, kept, offset), column, pick, ends, is_over = advance(*everything)
        if len(pick) >= MOST_AT_ONCE:
            return self._step_by_range(events, known)
        runs, found = Runs(*plain_runs), self._nothing_found
        if len(pick):
            found = self._found(events, runs, known, pick, Found(ends, is_over, ()))
        return found, Known(state, kept, offset, self._carried(events, runs, known, kept[0], column))

    def _step_planned(self, events: Input, known: Known, n_events: int) -> tuple[Found, Known]:
        """A step before whose join the planner takes a look."""
        derived = self._coded(events, known, self._situated(events.rows, known))
        self._plan([derived.runs], self._n_unseen)
        if self.n_visited == 0:  # nothing was joined yet: all but the sizes is a guess
            self._try([derived.runs], known.horizon, n_events)
        return self._joined_by_range(events, known, derived)

    def _step_by_range(self, events: Input, known: Known) -> tuple[Found, Known]:
        """A step with more matches than one call of a kernel holds."""
        derived = self._coded(events, known, self._situated(events.rows, known))
        return self._joined_by_range(events, known, derived)

    def _joined_by_range(self, events: Input, known: Known, derived: Derived) -> tuple[Found, Known]:
        runs, state = derived
        before = known.horizon
        orders = self._orders_for(runs, before)
        step = (before, 0, len(before), 1, 0)
        matches = range_join(runs[:], self._plain_spec, orders, step, self._plain_work, self._need)
        return self.values(events, runs, known, matches), self.keep(events, runs, state, known)

    def _orders_for(self, runs: Runs, before: Positions) -> Positions:
        at_once = is_cheaper_at_once(runs[:], before, self._costs, self._full[0, 0])
        return self._full if at_once else self._deltas

    def begun(self, events: Input, known: Known, complete: int | None) -> tuple[Input, Derived]:
        """The rows as situations are derived from them, and these."""
        return events, self.derive(events.rows, known)

    def keep_begun(self, events: Input, begun: Derived, known: Known) -> Known:
        """What later steps need of what `begun` gave."""
        return self.keep(events, *begun, known)

    def find(self, events: Input, known: Known, complete: int | None = None) -> Found:
        """The matches the rows complete, where nothing comes after them."""
        with self._crew.measured(len(events.rows.time)) as n_threads:
            pieces = self._pieces(events, known, n_threads)
            done = self._crew.run(self._match_only, self._planned(pieces))
        self._note([work for _, work in done])
        return _merged([_shifted(found, first) for (first, *_), (found, _) in zip(pieces, done, strict=True)])

    def _pieces(self, events: Input, known: Known, n_threads: int) -> list[Group]:
        """Groups of slots, one for each thread, derived; with a single slot the threads share it."""
        rows = events.rows
        groups = [(0, known.n_slots)]
        if n_threads > 1 and known.n_slots > 1:
            groups = cut_evenly(np.diff(rows.offset) + np.diff(known.offset) + 1, n_threads)
        share = n_threads if len(groups) == 1 else 1
        parts = [(first, *_group(events, known, first, last)) for first, last in groups]
        derived = self._crew.run(self.derive, [(part.rows, of_part, share) for _, part, of_part in parts])
        derived = [
            self._coded(part, of_part, own) for (_, part, of_part), own in zip(parts, derived, strict=True)
        ]
        return [Group(*part, of_part, share) for part, of_part in zip(parts, derived, strict=True)]

    def _planned(self, pieces: Sequence[Group]) -> list[tuple[Group]]:
        """Look at the plan once for all pieces."""
        n_events = sum(len(piece.events.rows.time) for piece in pieces)
        several = [piece.derived.runs for piece in pieces]
        self._plan(several, n_events)
        self._try(several, pieces[0].known.horizon, n_events)
        return [(piece,) for piece in pieces]

    def _try(self, several: Sequence[Runs], before: Positions, n_events: int) -> None:
        """Where there is much to join, join from a few of the first symbol's situations, and plan again.

        A first or only batch has none before it whose statistics would be there. A plan made from a trial
        may rest on pairs that it did not look at, so the next one is tried too, until it stays.
        """
        if sum(int(runs.offset[:, -1].sum()) for runs in several) <= _WORTH_A_TRIAL:
            return
        trial = (before, 0, len(before), _TRIAL_SHARE, _TRIAL_SHARE // 2)
        for _ in range(self.n_symbols):
            range_join(several[0][:], self._plain_spec, self._full, trial, self._plain_work, self._part_need)
            n_changes = self.planner.n_changes
            self._plan(several, n_events)
            if self.planner.n_changes == n_changes:
                break

    def _match_only(self, piece: Group) -> tuple[Found, Work]:
        known, runs = piece.known, piece.derived.runs
        matches, work = self._join(runs, known.horizon, piece.share)
        return self.values(piece.events, runs, known, matches), work

    def _match_and_keep(self, piece: Group) -> tuple[Found, Known, Work]:
        found, work = self._match_only(piece)
        return found, self.keep(piece.events, *piece.derived, piece.known), work

    def derive(self, rows: Rows, known: Known, n_threads: int = 1) -> Derived:
        """Situations of the rows, those carried over first; admissible instants set (SEM 2)."""
        n_rows = len(rows.time)
        if n_threads == 1 or known.n_slots > 1 or n_rows < n_threads:
            return self._situated(rows, known)
        nothing = self.nothing_known(1)
        chunks = cut_evenly(np.ones(n_rows, np.int64), n_threads)
        work = [(rows, self.spec, known, nothing, begin, end) for begin, end in chunks]
        runs, mask = stitch(self._crew.run(derive_chunk, work), [begin for begin, _ in chunks])
        return Derived(runs, settle(rows, runs, known.slots, known.entries, self.spec, mask))

    def _situated(self, rows: Rows, known: Known) -> Derived:
        runs, state = situate(rows[:], known.state, known.kept, known.offset, self._plain_spec)
        return Derived(Runs(*runs), state)

    def _coded(self, events: Input, known: Known, derived: Derived) -> Derived:
        """The same with what the join compares for HAVING."""
        return derived._replace(runs=self.with_codes(events, derived.runs, known))

    def with_codes(self, events: Input, runs: Runs, known: Known) -> Runs:
        """The runs, and codes of the values that must be equal (see equalities.py)."""
        if not self.equalities:
            return runs

        def values(symbol: int, item: int) -> pa.Array:
            column = np.arange(runs.offset[symbol, -1])
            first = runs.first_row[symbol, column]
            begun = first - (runs.carry[symbol, column] >= 0)  # what is carried on has its first event
            states = self._states(symbol, events, runs, known, column, begun)
            return self.aggregates[symbol].item(item, states)

        codes = codes_of(self.equalities, runs.ts.shape[1], values)
        return runs._replace(verdict=np.concatenate([runs.verdict, codes]))

    def match(self, runs: Runs, before: Positions, n_events: int = 1) -> Matches:
        """All matches with an instant after `before`, one for each slot."""
        self._n_unseen += n_events
        if self._n_unseen >= self._look_after:
            self._plan([runs], self._n_unseen)
        matches, work = self._join(runs, before)
        self._note([work])
        return matches

    def _join(self, runs: Runs, before: Positions, share: int = 1) -> tuple[Matches, Work]:
        works = [new_work(self.n_positive) for _ in range(share)]
        if self.planner.plan.join == "pair":
            return pair_join(runs, self.join_spec, self._full[0], before, works[0], self._need), works[0]
        orders = self._orders_for(runs, before)
        pieces = [
            (runs[:], self._plain_spec, orders, (before, 0, len(before), share, part), work[:], self._need)
            for part, work in enumerate(works)
        ]
        done = self._crew.run(range_join, pieces)
        if share == 1:
            return done[0], works[0]
        matches = Matches(*(np.concatenate(parts) for parts in zip(*done, strict=True)))
        return matches, Work(*(np.sum(parts, axis=0) for parts in zip(*works, strict=True)))

    def _plan(self, several: Sequence[Runs], n_events: int) -> None:
        """Let the planner see what joins did since its last look and how many situations there are now."""
        work = self._work
        sizes = sum(self._sizes(runs) for runs in several) / len(several)
        # pairs in range that another constraint ruled out before they were tested say nothing
        known = np.minimum(
            np.divide(work.tested, work.in_range, where=work.in_range > 0, out=np.ones_like(work.tested)), 1.0
        )
        survivors = known * work.in_range * (work.passed / np.maximum(work.tested, 1.0))
        if self.planner.observe(sizes, known * work.in_window, survivors, n_events):
            self._plan_changed()
            self._look_after = _LOOK_OFTEN
        else:
            self._look_after = min(2 * max(self._look_after, _LOOK_OFTEN // 2), _LOOK_RARELY)
            self._costs = np.array(self.planner.plan.costs)  # a plan made anew may differ in these only
        self.n_visited += int(work.visited.sum())
        for counters in work:
            counters[:] = 0
        self._n_unseen = 0

    def actuals(self) -> Actuals:
        """What all joins did so far, and the plan they have come to."""
        visited = self.n_visited + int(self._work.visited.sum())
        return Actuals(visited=visited, plan=self.planner.plan, n_plan_changes=self.planner.n_changes)

    def work_so_far(self) -> contract.Work:
        """The plan, and how many candidates all joins have looked at."""
        plan, names = self.planner.plan, self.bound.query.symbol_names
        order = ">".join(names[symbol] for symbol in plan.full)
        return contract.Work(f"{plan.join}:{order}", self.n_visited + int(self._work.visited.sum()))

    def _sizes(self, runs: Runs) -> npt.NDArray[np.float64]:
        """Situations of each symbol in one window of one slot, on average."""
        count = runs.offset[:, -1]
        per_slot: npt.NDArray[np.float64] = count / max(1, runs.offset.shape[1] - 1)
        most = int(np.argmax(count))
        if self.spec.within == UNBOUNDED or count[most] < 2:
            return per_slot
        begins, ends = runs.offset[most, :-1], runs.offset[most, 1:]
        some = ends > begins
        last, first = runs.ts[most, ends[some] - 1], runs.ts[most, begins[some]]
        span = float((last.astype(np.float64) - first).mean())
        return per_slot * min(1.0, float(self.spec.within) / max(span, 1.0))

    def _plan_changed(self) -> None:
        plan = self.planner.plan
        self._full = np.array([plan.full], np.int64)
        self._deltas = np.array([plan.orders[anchor] for anchor in plan.anchors], np.int64)
        self._costs = np.array(plan.costs)

    def _note(self, works: Sequence[Work]) -> None:
        """Add what joins did to what the planner has not seen yet."""
        for work in works:
            for total, part in zip(self._work, work, strict=True):
                total += part

    def keep(self, events: Input, runs: Runs, state: Positions, known: Known) -> Known:
        """What later steps need of the runs (SEM 8.4); `state` is the slots' afterwards."""
        kept, offset, column = retain(runs[:], self._plain_spec, state[0])
        return Known(state, kept, offset, self._carried(events, runs, known, kept[0], column))

    def _carried(
        self, events: Input, runs: Runs, known: Known, symbols: Positions, column: Positions
    ) -> tuple[States, ...]:
        """Aggregates so far of the runs kept, which stand at these columns of their symbols."""
        if not self.has_aggregates:
            return known.carry
        carry = []
        for symbol, spec in enumerate(self.aggregates):
            own = column[symbols == symbol] if spec else column[:0]
            carry.append(
                self._states(symbol, events, runs, known, own, runs.last_row[symbol, own]).condensed()
            )
        return tuple(carry)

    def values(self, events: Input, runs: Runs, known: Known, matches: Matches) -> Found:
        """Endpoints and aggregates of matches, in order of their instants."""
        matches = by_instant(matches)
        ends, is_over = endpoints(runs[:], matches)
        return self._found(events, runs, known, matches.pick, Found(ends, is_over, ()))

    def _found(self, events: Input, runs: Runs, known: Known, pick: Positions, found: Found) -> Found:
        """Matches of these situations, with the aggregates of them."""
        states = list(self.no_states)
        for symbol, spec in enumerate(self.aggregates):
            if spec:
                column, still = pick[:, symbol], found.te[symbol] > found.instant
                until = runs.last_row[symbol, column]
                if bool(still.any()):
                    until[still] = rows_at(
                        events.rows.time, events.rows.offset, found.slot[still], found.instant[still]
                    )
                states[symbol] = self._states(symbol, events, runs, known, column, until)
        return found._replace(states=tuple(states))

    def situations(
        self, events: Input, runs: Runs, known: Known, symbol: int
    ) -> tuple[Positions, SymbolValues]:
        """Every situation of a symbol that exists by now (SEM 5.5): slots and values."""
        slot, column = self.existing(runs, symbol)
        te = runs.te[symbol, column]
        states = self._states(symbol, events, runs, known, column, runs.last_row[symbol, column])
        return slot, SymbolValues(runs.ts[symbol, column], te, te == OPEN, states)

    def existing(self, runs: Runs, symbol: int) -> tuple[Positions, Positions]:
        """Slots and columns of a symbol's admissible situations."""
        slot = np.repeat(np.arange(runs.offset.shape[1] - 1), np.diff(runs.offset[symbol]))
        column = np.flatnonzero(runs.admissible[symbol, : len(slot)] != NEVER)
        return slot[column], column

    def _states(
        self, symbol: int, events: Input, runs: Runs, known: Known, column: Positions, last_row: Positions
    ) -> States:
        """Aggregates of the runs at these columns over their events up to `last_row`."""
        spec = self.aggregates[symbol]
        if not spec or not len(column):
            return spec.empty() if spec else States((), (), len(column))
        # equal requests are answered once; sorted, those of one run follow each other (see fold)
        n_rows = len(events.states[symbol]) + 1
        request, which = np.unique(column * n_rows + last_row + 1, return_inverse=True)
        column, last_row = request // n_rows, request % n_rows - 1
        entry = runs.carry[symbol, column]
        carried = known.carry[symbol]
        if len(carried):
            entry = np.where(entry < 0, -1, known.ordinals(symbol)[entry])
        states = spec.fold(events.states[symbol], carried, runs.first_row[symbol, column], last_row, entry)
        return states if len(states) == len(which) and len(which) == 1 else states.take(which)


def _group(events: Input, known: Known, first: int, last: int) -> tuple[Input, Known]:
    """Slots [first, last) of a step: offsets are cut, what they point to stays as it is."""
    if first == 0 and last == known.n_slots:
        return events, known
    rows = events.rows._replace(offset=events.rows.offset[first : last + 1])
    state = np.ascontiguousarray(known.state[:, first:last])
    return events._replace(rows=rows), known._replace(state=state, offset=known.offset[first : last + 1])


def _shifted(found: Found, by: int) -> Found:
    if by:
        found.ends[-1] += by
    return found


def _merged(several: Sequence[Found]) -> Found:
    """The matches of several groups, by instant."""
    if len(several) == 1:
        return several[0]
    ends = np.concatenate([found.ends for found in several], axis=1)
    states = [States.concat(parts) for parts in zip(*(found.states for found in several), strict=True)]
    if not is_ascending(ends[-2]):
        order = np.argsort(ends[-2], kind="stable")
        ends, states = ends.take(order, 1), [one.take(order) for one in states]
    n = len(ends) // 2 - 1
    return Found(ends, np.packbits(ends[n:-2] <= ends[-2], axis=1, bitorder="little"), tuple(states))
