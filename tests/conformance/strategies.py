"""Random queries over random tables of events, as text and as the oracles' neutral question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import reject
from hypothesis import strategies as st

import situ
from conformance.patterns import pattern
from conformance.random_events import SCHEMA, crowd_rows, event_rows
from conformance.random_extras import ABSENT, BACKS, Back, Extras, extras, ignoring
from conformance.random_patterns import (
    Item,
    Network,
    Span,
    at_share,
    networks,
    return_clause,
    shares,
    some_items,
    spans,
    star,
)
from oracles.answer import answer, fits_any, matches_of, partitions, situations_of
from oracles.derive import Situation, in_order
from oracles.question import Gaps, Question, Row
from oracles.row_items import RowQuestion
from situ.language.situations.binder import bind
from situ.rows.schema import spark_schema

NAMES = "ABCDEF"


def negated(holds):
    return lambda row: None if holds(row) is None else not holds(row)


def both(p, q):
    return lambda row: False if False in (p(row), q(row)) else None if None in (p(row), q(row)) else True


def column(name: str):
    return lambda row: row[name]


A, B, C, D = map(column, "abcd")
CONDITIONS = [
    ("a", A),
    ("b", B),
    ("c", C),
    ("d", D),
    ("NOT a", negated(A)),
    ("a AND b", both(A, B)),
    ("b OR c", negated(both(negated(B), negated(C)))),
    ("c AND NOT d", both(C, negated(D))),
    ("x > 2", lambda row: None if row["x"] is None else row["x"] > 2),
    ("x IS NULL OR d", lambda row: row["x"] is None or D(row)),
]
PLAIN, ANY = CONDITIONS[:4], CONDITIONS  # plain columns overlap more, and so match more
OF_NUMBERS = (
    "first", "last", "count", "sum", "avg", "min", "max", "stddev", "median", "percentile 0.3", "collect_list"
)  # fmt: skip
AGGREGATES = [
    *((function, "x") for function in OF_NUMBERS),
    *((function, "n") for function in OF_NUMBERS),
    *((function, "s") for function in ("first", "last", "count", "min", "max", "collect_list")),
    *((function, "a") for function in ("first", "last", "count", "collect_list")),
    ("count", None),
    ("duration", None),
]


@dataclass(frozen=True)
class Example:
    """A query as text and as a neutral question, and rows in the order they arrive."""

    text: str
    question: Question
    rows: list[Row]
    schema: pa.Schema = SCHEMA

    @property
    def table(self) -> pa.Table:
        return table_of(self.rows, self.schema)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows of a failing example

    def __repr__(self) -> str:
        shown = [name for name in self.schema.names if any(row[name] is not None for row in self.rows)]
        lines = [" ".join(f"{name}={row[name]}" for name in shown) for row in self.rows]
        return "\n".join([self.text, *lines])


def table_of(rows: list[Row], schema: pa.Schema = SCHEMA) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=schema)


def accepted(example: Example) -> Example:
    """The example, unless it is refused because nothing could match: then the oracles find nothing either.

    A NO group that nothing can fit is refused too (SEM 11.6): then there is one that nothing fits.
    """
    if not is_refused(example.text, example.schema):
        return example
    rows, question = example.rows, example.question
    is_empty = any(not fits_any(rows, question, group) for group in question.absences)
    assert is_empty or not answer(rows, question), example
    return reject()


REFUSALS = tuple(
    getattr(situ.errors, name)
    for name in ("InconsistentPatternError", "WindowTooShortError", "DurationBoundsError", "AbsenceError")
    if hasattr(situ.errors, name)
)


@lru_cache(maxsize=1000)
def is_refused(text: str, schema: pa.Schema) -> bool:
    """Kept for a while: an example that shrinks has one query for many tables."""
    try:
        bind(situ.query(text), spark_schema(schema))
    except REFUSALS:
        return True
    except situ.errors.DurationError:
        reject()  # SEM 7: a BETWEEN behind a boolean is the only length of its symbol
    return False


WHERE = [None, None, None, ("c OR NOT b", negated(both(negated(C), B)))]
PARTITIONS = [("k",), ("k",), ("k",), (), (), ("k", "d"), ("n",), ("s", "x")]
Condition = tuple[str, Callable[[Row], bool | None] | RowQuestion]  # the latter of a row pattern (SEM 17)
Derived = list[tuple[list[Row], dict[str, list[Situation]]]]  # events and situations of each partition


class Witnesses(NamedTuple):
    """Which situations a pattern is written around, and what to take where one is missing."""

    partition: int
    centre: int
    nearest: int  # a digit of base 3 for each symbol
    later: int  # how long after the last event one that is open ends
    made_up: tuple[Span, ...]

    def among(self, derived: Derived, symbols: tuple[str, ...]) -> dict[str, Span]:
        """One situation per symbol, of a partition that has all, near each other; else made up."""
        complete = [(events, found) for events, found in derived if all(found[symbol] for symbol in symbols)]
        if not complete:
            return dict(zip(symbols, self.made_up, strict=True))
        events, found = at_share(complete, self.partition)
        centre = at_share(events, self.centre)["t"]
        chosen = {}
        for i, symbol in enumerate(symbols):
            by_distance = sorted(found[symbol], key=lambda situation: abs(situation.ts - centre))[:3]
            one = by_distance[self.nearest // 3**i % len(by_distance)]
            chosen[symbol] = (one.ts, events[-1]["t"] + self.later if one.te is None else one.te)
        return chosen


class Limit(NamedTuple):
    """What bounds a duration: two lengths, each at or next to what some situation lasts."""

    kind: str  # none, least, most, both
    shares: tuple[int, int] = (0, 0)
    offsets: tuple[int, int] = (0, 0)

    def among(self, situations: list[Situation]) -> tuple[int, int | None]:
        """(at least, at most), which is (0, None) for none."""
        lengths = sorted({one.te - one.ts for one in situations if one.te is not None}) or [3]
        ends = [
            at_share(lengths, share) + offset for share, offset in zip(self.shares, self.offsets, strict=True)
        ]
        least = min(ends) if self.kind in ("least", "both") else 0
        return least, max(ends) if self.kind in ("most", "both") else None


Window = tuple[int, int] | None
SOME_WINDOW = st.tuples(shares, st.sampled_from([0, 0, 0, -1, 1, 5]))
WINDOWS: st.SearchStrategy[Window] = st.sampled_from(
    [st.none(), SOME_WINDOW, SOME_WINDOW, SOME_WINDOW]
).flatmap(lambda chosen: chosen)


def window_of(drawn: Window, rows: list[Row], question: Question) -> int | None:
    """None, or a window at or next to what some match needs; never shorter than a minimum (it is refused)."""
    if drawn is None:
        return None
    needed = {
        at - min(situation.ts for situation in chosen.values())
        for _, part in partitions(rows, question)
        for chosen, at in matches_of(part, question)
    }
    share, offset = drawn
    return max(at_share(sorted(needed) or [5], share) + offset, 0, *question.at_least.values())


class Draft(NamedTuple):
    """A query, but for what it takes from the rows it is asked of: relations, durations and a window.

    Nothing is drawn once the rows are known, so that a row can go without anything else being drawn anew.
    """

    conditions: tuple[Condition, ...]
    where: Condition | None
    partition: tuple[str, ...]
    ties: tuple[str, ...]
    network: Network
    witnesses: Witnesses
    limits: tuple[Limit, ...]
    items: tuple[Item, ...]
    emit: str
    window: Window
    extras: Extras = Extras()
    absent: tuple[tuple[Condition, Limit], ...] = ()  # of X and Y

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(NAMES[: len(self.conditions)])

    def defined(self) -> dict[str, Defined]:
        """Every symbol, absent ones on both sides of the others."""
        extras = self.extras
        found = {}
        may_have_gaps = not (extras.absent_is_silent and extras.absent())  # SEM 14.4
        for i, symbol in enumerate(self.symbols):
            is_silent, back = at_place(extras.silent, i), at_place(extras.backs, i)
            if isinstance(self.conditions[i][1], RowQuestion):
                found[symbol] = Defined(self.conditions[i], self.limits[i], False, None)
                continue
            condition = self.conditions[i] if back is None else BACKS[back]
            gaps = at_place(extras.gaps, i) if may_have_gaps and not is_silent else None
            found[symbol] = Defined(condition, self.limits[i], bool(is_silent), gaps)
        for name, (condition, limit) in zip(ABSENT, self.absent, strict=False):
            if name in extras.absent():
                is_silent = extras.absent_is_silent
                one = Defined(condition, limit, is_silent, None if is_silent else extras.absent_gaps)
                found = {name: one, **found} if name == ABSENT[0] else {**found, name: one}
        return found

    def about(self, rows: list[Row]) -> tuple[str, Question]:
        """The query as text and as a question."""
        defined = self.defined()
        patterns = {
            name: one.condition[1]
            for name, one in defined.items()
            if isinstance(one.condition[1], RowQuestion)
        }
        question = Question(
            self.symbols,
            {
                name: one.condition[1]
                for name, one in defined.items()
                if not one.is_silent and name not in patterns
            },
            where=self.where and self.where[1],
            partition=self.partition,
            ties=self.ties,
            silences=frozenset(name for name, one in defined.items() if one.is_silent),
            gaps={name: one.gaps for name, one in defined.items() if one.gaps is not None},
            looks_back=frozenset(name for name, one in defined.items() if one.looks_back),
            patterns=patterns,
        )
        derived = derive(rows, replace(question, symbols=tuple(defined)))
        witness = self.witnesses.among(derived, self.symbols)
        may_follow = not question.silences and not question.gaps and not patterns
        written = self.extras.written(self.network.written(witness, may_follow), witness)
        said = pattern(written)
        bounds = {
            name: one.bounds([situation for _, found in derived for situation in found[name]])
            for name, one in defined.items()
        }
        least = {name: least for name, (least, _) in bounds.items() if least}
        kept = self.extras.kept and self.extras.kept.about(self.symbols)
        question = replace(
            question,
            constraints=said.constraints,
            differences=said.differences,
            absences=said.absences,
            at_least=least | {name: max(bound, least.get(name, 0)) for name, bound in said.at_least.items()},
            at_most={name: most for name, (_, most) in bounds.items() if most is not None},
            emit=self.emit,
            items=self.items or star(self.symbols),
            having=kept and kept[1],
        )
        question = replace(question, within=window_of(self.window, rows, question))
        texts = [f"{name} AS {one.text(*bounds[name])}" for name, one in defined.items()]
        return self.text(written, texts, question.within, kept and kept[0]), question

    def text(self, written: str, defined: list[str], within: int | None, having: str | None) -> str:
        clauses = [
            "FROM events" + (f" WHERE {self.where[0]}" if self.where else ""),
            "PARTITION BY " + ", ".join(self.partition) if self.partition else "",
            "ORDER BY " + ", ".join(("t", *self.ties)),
            "DEFINE " + ", ".join(defined),
            f"PATTERN {written}" if written else "",
            "" if within is None else f"WITHIN {within}",
            f"EMIT {self.emit}",
            return_clause(self.items) or ("RETURN *" if having else ""),
            f"HAVING {having}" if having else "",
        ]
        return "\n".join(filter(None, clauses))


class Defined(NamedTuple):
    """One entry of DEFINE."""

    condition: Condition
    limit: Limit
    is_silent: bool
    gaps: Gaps | None

    @property
    def looks_back(self) -> bool:
        return not self.is_silent and isinstance(self.condition[1], Back)

    def bounds(self, situations: list[Situation]) -> tuple[int, int | None]:
        """(at least, at most); a silence has a minimum that is not 0."""
        if not self.is_silent:
            return self.limit.among(situations)
        kind = {"none": "least", "most": "both"}.get(self.limit.kind, self.limit.kind)
        least, most = self.limit._replace(kind=kind).among(situations)
        return max(least, 1), None if most is None else max(least, most, 1)

    def text(self, least: int, most: int | None) -> str:
        return bounded("SILENCE" if self.is_silent else self.condition[0], least, most) + ignoring(self.gaps)


def at_place(items: Sequence[Any], place: int) -> Any:
    return items[place] if place < len(items) else None


def derive(rows: list[Row], question: Question) -> Derived:
    parts = [in_order(part, question.time, question.ties) for _, part in partitions(rows, question)]
    return [(events, situations_of(events, question)) for events in parts]


def bounded(condition: str, least: int, most: int | None) -> str:
    """The condition with its bounds."""
    if least and most is not None:
        return f"{condition} BETWEEN {least} AND {most}"
    if most is not None:
        return f"{condition} AT MOST {most}"
    return f"{condition} AT LEAST {least}" if least else condition


@cache
def drafts(n_symbols: int) -> st.SearchStrategy[Draft]:
    """Built once: what is put together anew for every example takes longer than the drawing."""
    symbols = tuple(NAMES[:n_symbols])
    pools = [st.tuples(*[st.sampled_from(pool)] * n_symbols) for pool in (PLAIN, ANY)]
    some_limit = st.builds(
        Limit,
        st.sampled_from(["least", "most", "both"]),
        st.tuples(shares, shares),
        st.tuples(st.integers(-1, 1), st.integers(-1, 1)),
    )
    seldom = st.sampled_from([st.just(Limit("none"))] * 4 * n_symbols + [some_limit] * 3)
    some_absent_limit = st.sampled_from([st.just(Limit("none"))] * 2 + [some_limit]).flatmap(
        lambda chosen: chosen
    )
    return st.builds(
        Draft,
        conditions=st.sampled_from(pools).flatmap(lambda chosen: chosen),
        where=st.sampled_from(WHERE),
        partition=st.sampled_from(PARTITIONS),
        ties=st.sampled_from([(), (), ("seq",), ("s", "seq")]),
        network=networks(n_symbols),
        witnesses=st.builds(
            Witnesses,
            partition=shares,
            centre=shares,
            nearest=st.sampled_from(range(3**n_symbols)),
            later=st.integers(1, 2),
            made_up=st.tuples(*[spans] * n_symbols),
        ),
        limits=st.tuples(*[seldom.flatmap(lambda chosen: chosen)] * n_symbols),
        items=some_items(symbols, AGGREGATES),
        emit=st.sampled_from(["EARLY", "FINAL", "EARLY"]),
        window=WINDOWS,
        extras=extras(n_symbols),
        absent=st.tuples(*[st.tuples(st.sampled_from(ANY), some_absent_limit)] * len(ABSENT)),
    )


MOST_ROWS = {1: 40, 2: 60, 3: 45, 4: 40, 5: 36, 6: 30}  # the oracles try everything


@st.composite
def examples(draw: st.DrawFn, shuffled: bool = False, max_symbols: int = 6) -> Example:
    """A table and a query for it."""
    n_symbols = min(draw(N_SYMBOLS), max_symbols)
    draft, rows = draw(drafts(n_symbols)), draw(event_rows(MOST_ROWS[n_symbols], shuffled))
    return accepted(Example(*draft.about(rows), rows))


N_SYMBOLS = st.sampled_from([1, 2, 2, 3, 3, 4, 5, 6])


@st.composite
def cuts(draw: st.DrawFn, rows: list[Row], between_ties: bool) -> list[list[Row]]:
    """The rows, in order, in pieces of any size; rows of one time stay together unless told otherwise."""
    positions = [i for i in range(1, len(rows)) if between_ties or rows[i]["t"] != rows[i - 1]["t"]]
    if draw(st.integers(0, 3)) == 0:
        chosen = positions  # as small as can be
    else:
        drawn = draw(BORDERS)
        chosen = sorted({at_share(positions, share) for share in drawn}) if positions else []
    edges = [0, *chosen, len(rows)]
    return [rows[i:j] for i, j in pairwise(edges)]


BORDERS = st.sets(shares, max_size=6)


@st.composite
def after_some(draw: st.DrawFn, batches: Sequence[object], max_size: int | None = None) -> set[int]:
    """After which batches something happens: none, each, or some of them.

    All and none are drawn in one choice, which holds whatever batches go.
    """
    kind = draw(st.sampled_from(["none", "all", "some", "some", "some"]))
    if kind == "some":
        return draw(st.sets(st.integers(0, len(batches) - 1), max_size=max_size))
    return set(range(len(batches))) if kind == "all" else set()


def bounded_by_window(example: Example, within: int) -> Example:
    """The same with a window, where it has none."""
    if example.question.within is not None:
        return example
    within = max(within, 0, *example.question.at_least.values())
    question = replace(example.question, within=within)
    return accepted(replace(example, text=f"{example.text}\nWITHIN {within}", question=question))


@st.composite
def crowds(draw: st.DrawFn) -> Example:
    """Many partitions or a long life, and a window: state comes and goes."""
    draft = draw(drafts(draw(FEW_SYMBOLS)))
    within = draw(st.integers(3, 15))
    rows = draw(CROWDS)
    return bounded_by_window(accepted(Example(*draft.about(rows[:40]), rows)), within)


FEW_SYMBOLS = st.sampled_from([1, 2, 2, 3])
CROWDS = crowd_rows()
