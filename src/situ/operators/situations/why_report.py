"""What `situ.why` answers: counts in tables, and the first place where everything is lost, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from situ.algebra.relations import AFTER_ONLY, BEFORE_ONLY, N_ATOMS, names_of, words_of
from situ.language.situations.ast import Difference, Query
from situ.language.situations.printer import absence_text, difference_text
from situ.language.text.nodes import Duration
from situ.plan.explain import describe_duration
from situ.plan.render import Section, Shown, Table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from situ.language.situations.binder import BoundQuery
    from situ.operators.situations.why import Tally
    from situ.rows.tied import Ties

_REPORTED = 0  # of Tally.outcome
_GROUPS = (
    (N_ATOMS, ("overlaps", "finished-by", "contains")),
    (N_ATOMS + 1, ("starts", "equals", "started-by")),
    (N_ATOMS + 2, ("during", "finishes", "overlapped-by")),
)


@dataclass(frozen=True, eq=False)
class ConstraintCounts:
    """How the pairs of situations that one constraint speaks of stand to each other.

    `near` pairs start at most the window apart; `in_time` are those of them that stand as asked and are
    certain before the window is over. `instead` and `far` tell relations and counts.
    """

    text: str
    near: int
    satisfied: int
    in_time: int
    instead: dict[str, int]  # near pairs that do not stand as asked, most frequent first
    far_satisfied: int  # pairs that stand as asked but start too far apart
    narrowest: int | None  # ticks: the smallest window that would let one of the pairs through


@dataclass(frozen=True, eq=False)
class DistanceCounts:
    """How many pairs of situations are as far apart as a distance asks."""

    text: str
    related: int | None  # near pairs that stand as asked by their relations; None where nothing asks for one
    satisfied: int  # those of them that all distances between the two symbols hold for
    missed_by: int | None  # ticks: by how much the nearest pair misses this one


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """What a NO group makes of configurations that stand as asked by all the rest."""

    text: str
    forbidden: int  # a situation fits the group
    uncertain: int  # none does, but one still may when the data ends


@dataclass(frozen=True, eq=False, repr=False)
class Why(Shown):
    """Where candidates are lost: print it, show it in a notebook, or read its parts."""

    query: Query
    bound: BoundQuery
    order: npt.NDArray[np.int64]
    differences: tuple[Difference, ...]  # as the tally has them
    tally: Tally
    ties: Ties | None = None  # what there is to say of rows that were left out
    reported: int | None = None  # how many matches HAVING lets through, where there is one

    @property
    def n_events(self) -> int:
        """How many rows count."""
        return int(self.tally.rows[0])

    @property
    def n_tied_rows(self) -> int:
        """How many rows do not, because a later one of their partition has the same time (SEM 1.3)."""
        return int(self.tally.rows[3])

    @property
    def matches(self) -> int:
        """How many matches there are."""
        return int(self.tally.outcome[_REPORTED]) if self.reported is None else self.reported

    @property
    def rejected(self) -> int:
        """How many more there would be without HAVING."""
        return int(self.tally.outcome[_REPORTED]) - self.matches

    @property
    def situations(self) -> dict[str, int]:
        """How many situations of each symbol can take part in matches."""
        return dict(zip(self.query.symbol_names, self.tally.situations.tolist(), strict=True))

    @property
    def constraints(self) -> tuple[ConstraintCounts, ...]:
        """The pairs of each constraint, counted."""
        return tuple(self._constraint(i) for i in range(len(self.query.constraints)))

    def _constraint(self, i: int) -> ConstraintCounts:
        written, tally = self.query.constraints[i], self.tally
        asked = [_is_asked(b, written.relations) for b in range(tally.near.shape[1])]
        missed = [(int(n), _bin_name(b)) for b, n in enumerate(tally.near[i]) if n and not asked[b]]
        spans = [int(span) for b, span in enumerate(tally.span[i]) if asked[b] and span >= 0]
        return ConstraintCounts(
            text=f"{written.left} {'; '.join(words_of(written.relations))} {written.right}",
            near=int(tally.near[i].sum()),
            satisfied=int(tally.near[i][asked].sum()),
            in_time=int(tally.in_time[i].sum()),
            instead={name: n for n, name in sorted(missed, key=lambda one: (-one[0], one[1]))},
            far_satisfied=int(tally.far[i][asked].sum()),
            narrowest=min(spans, default=None),
        )

    @property
    def distances(self) -> tuple[DistanceCounts, ...]:
        """The pairs that each distance is about, counted."""
        related = {
            frozenset((one.left, one.right)): counted.satisfied
            for one, counted in zip(self.query.constraints, self.constraints, strict=True)
        }
        return tuple(
            DistanceCounts(
                text=difference_text(one),
                related=related.get(frozenset((one.left.symbol, one.right.symbol))),
                satisfied=int(self.tally.apart[q]),
                missed_by=None if self.tally.missed[q] < 0 else int(self.tally.missed[q]),
            )
            for q, one in enumerate(self.differences)
        )

    @property
    def groups(self) -> tuple[GroupCounts, ...]:
        """What each NO group forbids."""
        counts = self.tally.groups.tolist()
        texts = map(absence_text, self.query.absences)
        return tuple(GroupCounts(text, *of_group) for text, of_group in zip(texts, counts, strict=True))

    @property
    def verdict(self) -> str:
        """The first reason that explains the result, in a sentence or two."""
        if self.rejected and not self.matches:
            others = "the only match" if self.rejected == 1 else f"all {self.rejected:,} matches"
            return f"No match. HAVING rejects {others} of the rest of the query."
        if self.matches:
            more = f", and HAVING rejects {self.rejected:,} others" if self.rejected else ""
            return f"{_many(self.matches, 'match', 'matches')}{more}."
        return "No match. " + (
            self._of_rows()
            or self._of_symbols()
            or self._of_pairs()
            or self._of_distances()
            or self._of_outcome()
            or self._of_prefixes()
        )

    def _of_rows(self) -> str | None:
        if self.tally.rows[0]:
            return None
        where = " that satisfies WHERE" if self.query.where is not None else ""
        return f"There is no event{where}."

    def _of_symbols(self) -> str | None:
        tally, names = self.tally, [symbol.name for symbol in self.query.positives]
        lost = [_lost_symbol(self, i) for i in range(len(names)) if not tally.situations[i]]
        if lost:
            return " ".join(lost)
        if not tally.rows[2]:
            keys = ", ".join(self.query.partition_by)
            return (
                f"Every symbol has situations, but in none of {tally.rows[1]:,} partitions (by {keys}) do "
                f"all of them: {', '.join(names)}. Partitions never see each other."
            )
        return None

    def _of_pairs(self) -> str | None:
        for one in self.constraints:
            if not one.satisfied and not one.far_satisfied:
                near = f"None of {_many(one.near, 'pair')}{self._near_words()} stands as asked by {one.text}"
                return near + (f": {_listed(one.instead, 3)}." if one.instead else ".")
        for one in self.constraints:
            if not one.in_time and one.narrowest is not None:
                n = one.satisfied + one.far_satisfied
                stand, any_of = ("stands", "it") if n == 1 else ("stand", "any")
                return (
                    f"{_many(n, 'pair')} {stand} as asked by {one.text}, but the window of "
                    f"{self.ticks(self.bound.within or 0)} is over before {any_of} is certain: "
                    f"the quickest takes {self.ticks(one.narrowest)}."
                )
        return None

    def _of_distances(self) -> str | None:
        for one in self.distances:
            if one.satisfied:
                continue
            nearest = ""
            if one.missed_by is not None:
                nearest = f": the nearest misses it by {self.ticks(one.missed_by)}"
            if one.related:
                stand = "stands" if one.related == 1 else "stand"
                asked = f"{_many(one.related, 'pair')} {stand} as asked, but"
                return f"{asked} {'it has not' if one.related == 1 else 'none has'} {one.text}{nearest}."
            return f"No pair{self._near_words()} has {one.text}{nearest}."
        return None

    def _of_outcome(self) -> str | None:
        """Of configurations that stand as asked, and yet are no matches."""
        _, forbidden, waiting, too_late = (int(n) for n in self.tally.outcome)
        n = forbidden + waiting + too_late
        if not n:
            return None
        told = [f"{self._combinations(n)} as asked, but"]
        if forbidden:
            by = ", ".join(f"{one.text} ({one.forbidden:,})" for one in self.groups if one.forbidden)
            told.append(f"{_of(forbidden, n)} forbidden by {by}")
        if waiting:
            told.append(f"{_of(waiting, n)} not certain yet when the data ends{self._waits_for()}")
        if too_late:
            window = self.ticks(self.bound.within or 0)
            told.append(f"{_of(too_late, n)} not certain within {window}")
        return told[0] + " " + "; ".join(told[1:]) + "."

    def _combinations(self, n: int) -> str:
        names = [symbol.name for symbol in self.query.positives]
        what = "situation" if len(names) == 1 else "combination"
        return f"{_many(n, what)} of {', '.join(names)} {'is' if n == 1 else 'are'}"

    def _waits_for(self) -> str:
        uncertain = [one.text for one in self.groups if one.uncertain]
        if not uncertain:
            return ""
        return f" ({', '.join(uncertain)}): until=... says how far time has come"

    def _of_prefixes(self) -> str:
        tally, names = self.tally, [self.query.symbol_names[i] for i in self.order]
        depth = next(d for d in range(len(names)) if not tally.prefixes[d, 2])
        together = ", ".join(names[:depth])
        candidates, related, _ = (int(n) for n in tally.prefixes[depth])
        if not depth:
            return f"No situation of {names[0]} fits into the window."
        begin = (
            f"Every constraint holds for some pair, but not together: "
            f"{_many(tally.prefixes[depth - 1, 2], 'way')} to fit {together}, "
            f"and then {_many(candidates, 'candidate')} for {names[depth]}"
        )
        if related:
            window = self.ticks(self.bound.within or 0)
            return f"{begin}, of which {related:,} stand as asked, none within {window}."
        return f"{begin}, none of which stands as asked to all of them."

    def ticks(self, value: int) -> str:
        """A length of time in words."""
        return describe_duration(Duration(value, not self.bound.time.counts_ticks))

    def _near_words(self) -> str:
        if self.bound.within is None:
            return ""
        return f" that begin within {self.ticks(self.bound.within)} of each other"

    @property
    def sections(self) -> tuple[Section, ...]:
        """The parts in reading order."""
        _, n_partitions, n_complete, _ = (int(n) for n in self.tally.rows)
        of = f" in {_many(n_partitions, 'partition')}" if self.query.partition_by else ""
        lines = [self.verdict, *self.ties_lines, f"{_many(self.n_events, 'event')}{of}."]
        if self.query.partition_by and len(self.query.positives) > 1:
            absent = " that a match has" if self.query.absences else ""
            lines.append(f"{_many(n_complete, 'partition')} with a situation of every symbol{absent}.")
        parts = [Section("Why", tuple(lines)), self._symbols_section()]
        if self.query.constraints:
            parts.append(self._pairs_section())
        if self.differences:
            parts.append(self._distances_section())
        if len(self.order) > 1:
            parts.append(self._plan_section())
        if self.query.absences:
            parts.append(self._groups_section())
        return tuple(parts)

    @property
    def ties_lines(self) -> tuple[str, ...]:
        """How many rows there are and how many of them count, where not all do."""
        if self.ties is None:
            return ()
        n_rows = _many(self.n_events + self.n_tied_rows, "row")
        return (
            f"{n_rows}, of which {self.n_events:,} count and {self.n_tied_rows:,} are left out, for example "
            f"at {self.ties.where}: of rows that share their time in a partition only the last counts; "
            f"{self.ties.advice}",
        )

    def _symbols_section(self) -> Section:
        tally, rows = self.tally, []
        for i, name in enumerate(self.query.symbol_names):
            n_runs, n_short, n_long = int(tally.runs[i]), int(tally.too_short[i]), int(tally.too_long[i])
            n_not_yet = n_runs - n_short - n_long - int(tally.situations[i])
            counts = (tally.events[i], n_runs, n_short, n_long, n_not_yet, tally.situations[i])
            rows.append((name, *(f"{int(n):,}" for n in counts), self._lengths(i)))
        held = "times it held" if self.query.intervals is None else "intervals"
        columns = ("symbol", "events", held, "too short", "too long", "not yet", "situations", "lasting")
        return Section("Symbols", (), Table(columns, tuple(rows)))

    def _lengths(self, symbol: int) -> str:
        shortest, longest = int(self.tally.shortest[symbol]), int(self.tally.longest[symbol])
        if longest < 0:
            return "-"
        return (
            self.ticks(shortest)
            if shortest == longest
            else f"{self.ticks(shortest)} to {self.ticks(longest)}"
        )

    def _pairs_section(self) -> Section:
        rows = []
        for one in self.constraints:
            counts = (one.near, one.satisfied, one.in_time, one.far_satisfied)
            shown = [f"{n:,}" for n in counts[: 4 if self.bound.within is not None else 2]]
            rows.append((one.text, *shown, _listed(one.instead, 5) or "-"))
        columns: tuple[str, ...] = ("constraint", "pairs", "as asked")
        lines: tuple[str, ...] = ()
        if self.bound.within is not None:
            columns = ("constraint", "pairs near", "as asked", "in time", "as asked, too far")
            lines = (f"Pairs are near that begin within {self.ticks(self.bound.within)} of each other.",)
        return Section("Pairs", lines, Table((*columns, "instead they are"), tuple(rows)))

    def _distances_section(self) -> Section:
        rows = []
        for one in self.distances:
            related = "-" if one.related is None else f"{one.related:,}"
            missed = "-" if one.missed_by is None else self.ticks(one.missed_by)
            rows.append((one.text, related, f"{one.satisfied:,}", missed))
        columns = ("distance", "pairs in an asked relation", "and as far apart as asked", "nearest miss")
        return Section("Distances", (), Table(columns, tuple(rows)))

    def _groups_section(self) -> Section:
        """What comes last: combinations that stand as asked, and what must not be there."""
        reported, forbidden, waiting, too_late = (int(n) for n in self.tally.outcome)
        n = reported + forbidden + waiting + too_late
        lines = (
            f"{self._combinations(n)} as asked by all the rest: "
            f"{forbidden:,} forbidden, {waiting:,} not certain yet, {too_late:,} certain too late, "
            f"{reported:,} reported.",
        )
        rows = [(one.text, f"{one.forbidden:,}", f"{one.uncertain:,}") for one in self.groups]
        return Section(
            "What must be absent", lines, Table(("group", "forbids", "may yet forbid"), tuple(rows))
        )

    def _plan_section(self) -> Section:
        names, rows = [self.query.symbol_names[i] for i in self.order], []
        for depth, counts in enumerate(self.tally.prefixes):
            rows.append((" ".join(names[: depth + 1]), *(f"{int(n):,}" for n in counts)))
        columns = ("put together", "candidates", "as asked", "in time")
        return Section("Where candidates are lost", (), Table(columns, tuple(rows)))


def _lost_symbol(why: Why, i: int) -> str:
    """Why a symbol has no situation."""
    tally, symbol = why.tally, why.bound.query.symbols[i]
    if not tally.runs[i]:
        if symbol.condition is None:
            return f"{symbol.name} never held."
        never = f"{symbol.name} never held: no event satisfies {symbol.condition.sql}"
        if n_left_out := int(tally.left_out[i]):
            do = "row that does is" if n_left_out == 1 else "rows that do are"
            return (
                f"{never}; the {n_left_out:,} {do} left out, because a later row of the partition has the "
                "same time."
            )
        return f"{never}."
    least, most = why.ticks(why.bound.at_least[i] or 0), why.ticks(why.bound.at_most[i] or 0)
    shortest, longest = why.ticks(int(tally.shortest[i])), why.ticks(int(tally.longest[i]))
    if tally.too_short[i] == tally.runs[i] == 1:
        return f"{symbol.name} held once, for {longest}: shorter than {least}."
    if tally.too_short[i] == tally.runs[i]:
        times = _times(tally.runs[i])
        return f"{symbol.name} held {times}, always shorter than {least}; the longest lasted {longest}."
    if tally.too_long[i] == tally.runs[i] == 1:
        return f"{symbol.name} held once, for {shortest}: longer than {most}."
    if tally.too_long[i] == tally.runs[i]:
        times = _times(tally.runs[i])
        return f"{symbol.name} held {times}, always longer than {most}; the shortest lasted {shortest}."
    n_not_yet = int(tally.runs[i] - tally.too_short[i] - tally.too_long[i])
    parts = [(int(tally.too_short[i]), "too short"), (int(tally.too_long[i]), "too long")]
    parts.append((n_not_yet, "still going on when the data ends"))
    told = ", ".join(f"{n:,} {what}" for n, what in parts if n)
    return f"{symbol.name} held {_times(tally.runs[i])}, but never as asked: {told}."


def _is_asked(bin_: int, relations: int) -> bool:
    if bin_ < N_ATOMS:
        return bool(relations >> bin_ & 1)
    group = dict(_GROUPS)[bin_]
    return set(group) <= set(names_of(relations))


def _bin_name(bin_: int) -> str:
    if bin_ == BEFORE_ONLY:
        return "before"
    if bin_ == AFTER_ONLY:
        return "after"
    if bin_ < N_ATOMS:
        return names_of(1 << bin_)[0]
    first, second, third = dict(_GROUPS)[bin_]
    return f"{first}, {second} or {third} (both still open)"


def _listed(counts: dict[str, int], most: int) -> str:
    named = [f"{n:,} {name}" for name, n in list(counts.items())[:most]]
    rest = sum(list(counts.values())[most:])
    return ", ".join(named + ([f"{rest:,} other"] if rest else []))


def _of(n: int, all_: int) -> str:
    """So many of all, and the verb."""
    if n == all_:
        return "it is" if n == 1 else "all of them are"
    return f"{n:,} {'is' if n == 1 else 'are'}"


def _many(n: int, one: str, several: str = "") -> str:
    return f"{int(n):,} {one if n == 1 else several or one + 's'}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{int(n):,} times"
