"""Random tables of given intervals (SEM 6) and queries over them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple
from zlib import crc32

import pyarrow as pa
from hypothesis import strategies as st

from conformance.patterns import pattern
from conformance.random_events import in_stretches, joined, scattered
from conformance.random_extras import ABSENT, Extras, extras
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
from conformance.strategies import WINDOWS, Condition, Example, Window, accepted, window_of
from oracles.answer import partitions
from oracles.intervals import given, instant_of
from oracles.question import Question, Row

SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("id", pa.int64()),
        ("kind", pa.string()),
        ("ts", pa.int64()),
        ("te", pa.int64()),
        ("level", pa.int64()),
        ("x", pa.float64()),
    ]
)
DEFINITIONS = [
    ("kind = 'A'", lambda row: row["kind"] == "A"),
    ("kind <> 'A'", lambda row: row["kind"] != "A"),
    ("kind IN ('B', 'C')", lambda row: row["kind"] in ("B", "C")),
    ("true", lambda row: True),
]
WHERE: list[Condition | None] = [
    None,
    None,
    ("x IS NULL OR x > 0", lambda row: row["x"] is None or row["x"] > 0),
]
AGGREGATES = [
    *(
        (function, "level")
        for function in ("first", "last", "count", "sum", "avg", "min", "max", "stddev", "value")
    ),
    *((function, "level") for function in ("median", "percentile 0.9", "collect_list")),
    ("collect_list", "x"),
    ("value", "x"),
    ("avg", "x"),
    ("count", None),
    ("duration", None),
]


Bounds = tuple[int | None, int | None]
SPELLED: dict[Bounds, str] = {
    (None, None): "",
    (0, None): " AT LEAST 0",
    (2, None): " AT LEAST 2",
    (4, None): " AT LEAST 4",
    (None, 3): " AT MOST 3",
}
BOUNDS: list[Bounds] = [(None, None)] * 5 + [(None, 3), *SPELLED, (None, 3)]


class Way(NamedTuple):
    """How an interval is told of, how long it is, and the numbers in its rows."""

    told: str
    length: int
    level: int | None
    x: float | None


WAYS = product(
    ["plain", "plain", "closed", "announced", "announced", "open"],
    [1, 2, 3, 4, 6, 9, 0],
    [None, 1, 2, 7],
    [None, 0.5, -2.25],
)
ELEMENTS = st.tuples(
    scattered(product(["p", "p", "q", None], "AABBCX")),
    st.sampled_from(range(15)),
    scattered(Way(*way) for way in WAYS),
)
TABLES = {size: in_stretches(ELEMENTS, size) for size in (9, 12, 18)}


def interval_rows(drawn: list[tuple[Any, ...]], question: Question) -> list[Row]:
    """With ids (used again in other partitions) some intervals are announced, and of these some stay open."""
    rows: list[Row] = []
    for i, ((k, kind), ts, way) in enumerate(drawn):
        told = way.told if question.id_by else "plain"
        length = way.length or int(not question.widen_points)
        number = sum(other[0][0] == k for other in drawn[:i]) if question.partition else i
        row = {"k": k, "id": None if told == "plain" else number, "kind": kind, "ts": ts}
        if told in ("announced", "open"):
            rows.append(row | {"te": None, "level": way.level, "x": way.x})
        if told != "open":
            later = None if way.level is None else way.level + 1
            rows.append(row | {"te": ts + length, "level": later, "x": way.x})
    return in_instant_order(rows, question)


class Draft(NamedTuple):
    """A query, but for what it takes from the rows it is asked of: see `strategies.Draft`."""

    by_kind: bool
    conditions: tuple[Condition, ...]
    bounds: tuple[Bounds, ...]
    where: Condition | None
    has_ids: bool
    widens: bool
    partition: tuple[str, ...]
    network: Network
    share: int  # which partition witnesses are taken from
    chosen: tuple[int, ...]  # which of its intervals, by symbol
    made_up: tuple[Span, ...]
    items: tuple[Item, ...]
    emit: str
    window: Window
    extras: Extras = Extras()
    absent: tuple[tuple[Condition, Bounds], ...] = ()  # of X and Y

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple("ABCD"[: len(self.conditions)])

    def defined(self) -> dict[str, tuple[Condition, Bounds]]:
        """Every symbol, absent ones on both sides of the others."""
        found = dict(zip(self.symbols, zip(self.conditions, self.bounds, strict=True), strict=True))
        for name, one in zip(ABSENT, self.absent, strict=False):
            if name in self.extras.absent():
                found = {name: one, **found} if name == ABSENT[0] else {**found, name: one}
        return found

    def question(self) -> Question:
        defined = self.defined()
        if self.by_kind:
            holds = {symbol: (lambda row, symbol=symbol: row["kind"] == symbol) for symbol in defined}
            bounds: dict[str, Bounds] = {}
        else:
            holds = {symbol: holds for symbol, ((_, holds), _) in defined.items()}
            bounds = {symbol: bound for symbol, (_, bound) in defined.items()}
        return Question(
            self.symbols,
            holds,
            where=self.where and self.where[1],
            at_least={symbol: least for symbol, (least, _) in bounds.items() if least is not None},
            at_most={symbol: most for symbol, (_, most) in bounds.items() if most is not None},
            emit=self.emit,
            partition=self.partition,
            time="ts",
            ending="te",
            id_by="id" if self.has_ids else None,
            widen_points=self.widens,
        )

    def about(self, rows: list[Row]) -> tuple[str, Question]:
        """The query as text and as a question."""
        question = self.question()
        witness = self.witnesses(rows, question)
        written = self.extras.written(self.network.written(witness), witness, are_given=True)
        said = pattern(written)
        symbols = said.positive if self.by_kind else self.symbols  # SEM 6.2: in order of first mention
        items = self.items and star(symbols) + self.items[2 * len(symbols) :]
        kept = self.extras.kept and self.extras.kept.about(symbols)
        least = question.at_least
        question = replace(
            question,
            symbols=symbols,
            constraints=said.constraints,
            differences=said.differences,
            absences=said.absences,
            at_least=least | {name: max(bound, least.get(name, 0)) for name, bound in said.at_least.items()},
            items=items or star(symbols),
            having=kept and kept[1],
        )
        question = replace(question, within=window_of(self.window, rows, question))
        return self.text(written, items, question.within, kept and kept[0]), question

    def witnesses(self, rows: list[Row], question: Question) -> dict[str, Span]:
        """One interval of the data per symbol, of a partition that has all; made up where there is none."""
        parts = [given(part, question) for _, part in partitions(rows, question)]
        complete = [found for found in parts if all(found.values())]
        if not complete:
            return dict(zip(self.symbols, self.made_up, strict=True))
        found = at_share(complete, self.share)
        picked = [
            at_share(found[symbol], share) for symbol, share in zip(self.symbols, self.chosen, strict=True)
        ]
        spans_of = [(one.ts, 30 if one.te is None else one.te) for one in picked]
        return dict(zip(self.symbols, spans_of, strict=True))

    def text(self, written: str, items: tuple[Item, ...], within: int | None, having: str | None) -> str:
        defined = (
            f"{symbol} AS {condition}{SPELLED[bounds]}"
            for symbol, ((condition, _), bounds) in self.defined().items()
        )
        clauses = [
            "FROM INTERVALS t STARTING ts ENDING te",
            "SYMBOL BY kind" if self.by_kind else "",
            "ID BY id" if self.has_ids else "",
            f"WHERE {self.where[0]}" if self.where else "",
            "PARTITION BY k" if self.partition else "",
            "" if self.by_kind else "DEFINE " + ", ".join(defined),
            f"PATTERN {written}" if written else "",
            "" if within is None else f"WITHIN {within}",
            f"EMIT {self.emit}",
            return_clause(items) or ("RETURN *" if having else ""),
            f"HAVING {having}" if having else "",
        ]
        return "\n".join(filter(None, clauses))


@cache
def interval_drafts(n_symbols: int) -> st.SearchStrategy[Draft]:
    return st.builds(
        Draft,
        by_kind=st.booleans() if n_symbols in (2, 3) else st.just(False),
        conditions=st.tuples(*[st.sampled_from(DEFINITIONS)] * n_symbols),
        bounds=st.tuples(*[st.sampled_from(BOUNDS)] * n_symbols),
        where=st.sampled_from(WHERE),
        has_ids=st.booleans(),
        widens=st.sampled_from([False] * 3 + [True]),
        partition=st.sampled_from([(), ("k",)]),
        network=networks(n_symbols, followed=False),
        share=shares,
        chosen=st.tuples(*[shares] * n_symbols),
        made_up=st.tuples(*[spans] * n_symbols),
        items=some_items(tuple("ABCD"[:n_symbols]), AGGREGATES),
        emit=st.sampled_from(["EARLY", "FINAL", "EARLY"]),
        window=WINDOWS,
        extras=extras(n_symbols, are_given=True),
        absent=st.tuples(*[st.tuples(st.sampled_from(DEFINITIONS), st.sampled_from(BOUNDS))] * len(ABSENT)),
    )


@st.composite
def interval_examples(draw: st.DrawFn) -> Example:
    """A query over given intervals and its rows in instant order."""
    n_symbols = draw(N_SYMBOLS)
    draft = draw(interval_drafts(n_symbols))
    rows = interval_rows(draw(TABLES[{1: 12, 2: 18, 3: 12, 4: 9}[n_symbols]]), draft.question())
    return accepted(Example(*draft.about(rows), rows, SCHEMA))


N_SYMBOLS = st.sampled_from([1, 2, 2, 3, 3, 4])


class Life(NamedTuple):
    k: str
    kind: str
    gap: int  # how long after the one before it begins
    told: str
    length: int
    x: float | None


LIVES = product(
    "ppq", "AAB", [2, 0, 1, 4], ["closed"] * 4 + ["announced"] * 5 + ["open"], [1, 2, 5, 9, 30], [None, 1.5]
)
CROWDS = in_stretches(st.lists(scattered(Life(*life) for life in LIVES), min_size=1, max_size=12), 20).map(
    joined
)
PAIRS = networks(2, followed=False)


@st.composite
def interval_crowds(draw: st.DrawFn) -> Example:
    """A long life with a window, so that intervals are forgotten, some of them before they close."""
    written = draw(PAIRS).written({symbol: draw(spans) for symbol in "AB"})
    said = pattern(written)
    symbols = said.met
    items = (*star(symbols), ("value", "A", "level"), ("value", "B", "level"))
    question = Question(
        symbols,
        {kind: (lambda row, kind=kind: row["kind"] == kind) for kind in "AB"},
        constraints=said.constraints,
        within=draw(st.integers(2, 15)),
        emit=draw(st.sampled_from(["EARLY", "FINAL"])),
        items=items,
        partition=draw(st.sampled_from([("k",), ()])),
        time="ts",
        ending="te",
        id_by="id",
    )
    rows: list[Row] = []
    ts = 0
    for number, life in enumerate(draw(CROWDS)):
        ts += life.gap
        row = {"k": life.k, "id": number, "kind": life.kind, "ts": ts, "level": number % 7, "x": life.x}
        if life.told != "closed":
            rows.append(row | {"te": None})
        if life.told != "open":
            rows.append(row | {"te": ts + life.length})
    text = "\n".join(
        [
            "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id",
            "PARTITION BY k" if question.partition else "",
            f"PATTERN {written} WITHIN {question.within} EMIT {question.emit}",
            return_clause(items),
        ]
    )
    return accepted(Example(text, question, in_instant_order(rows, question), SCHEMA))


def in_instant_order(rows: list[Row], question: Question) -> list[Row]:
    return sorted(rows, key=lambda row: instant_of(row, question))


def shuffled(rows: list[Row], seed: int) -> list[Row]:
    """As they are for 0, else by what each holds: a row that goes leaves the others in their order."""
    return sorted(rows, key=lambda row: crc32(repr((seed, row)).encode())) if seed else list(rows)
