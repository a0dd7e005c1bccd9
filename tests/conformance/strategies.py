"""Random event tables and random queries over them, as text and as the oracles' neutral question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import reject
from hypothesis import strategies as st

import situ
from conformance.patterns import pattern
from conformance.random_patterns import Span, patterns, return_clause, return_items, spans, star
from oracles.answer import answer, matches_of, partitions, situations_of
from oracles.derive import Situation, in_order
from oracles.question import Question, Row
from situ.engine.schema import spark_schema
from situ.errors import InconsistentPatternError, WindowTooShortError
from situ.language.binder import bind

NAMES = "ABCDEF"
SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("seq", pa.int64()),
        *((name, pa.bool_()) for name in "abcd"),
        ("x", pa.float64()),
        ("n", pa.int64()),
        ("s", pa.string()),
    ]
)


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
AGGREGATES = [
    *((function, "x") for function in ("first", "last", "count", "sum", "avg", "min", "max", "stddev")),
    *((function, "n") for function in ("first", "last", "count", "sum", "avg", "min", "max", "stddev")),
    *((function, "s") for function in ("first", "last", "count", "min", "max")),
    *((function, "a") for function in ("first", "last", "count")),
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
    """The example, unless it is refused because nothing could match: then the oracles find nothing either."""
    try:
        bind(situ.query(example.text), spark_schema(example.schema))
    except (InconsistentPatternError, WindowTooShortError):
        wrongly_refused = bool(answer(example.rows, example.question))
    else:
        return example
    assert not wrongly_refused, example
    return reject()


@st.composite
def event_rows(draw: st.DrawFn, max_events: int = 36, ties: bool | None = None) -> list[Row]:
    """Rows in time order: up to four partitions (one may be the null key), gaps, ties where asked for."""
    keys = draw(st.sampled_from([["p"], ["p"], ["p"], ["p", "q"], ["p", None], ["p", "q", "r", None]]))
    ties = draw(st.booleans()) if ties is None else ties
    n_events = draw(st.integers(max_events // 2, max_events) | st.integers(0, max_events))
    steps = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(keys) - 1),
                st.sampled_from([1, 1, 1, 0, 2, 3, 6]),  # time since the last row
                st.sampled_from(
                    [0, 0, 1, 2, 4, 8, 1, 2, 4, 8, 3, 5, 10, 12, 15]
                ),  # which of a, b, c, d change
                st.sampled_from([0] * 16 + [1, 2, 4, 8]),  # which of them are null
                st.sampled_from([None, 0.5, 1.25, 2.5, 3.0, -4.75]),
                st.sampled_from([None, 0, 1, 2, -3, 40]),
            ),
            min_size=n_events,
            max_size=n_events,
        )
    )
    rows: list[Row] = []
    clock, masks = draw(st.sampled_from([0, 0, -5, 1000])), [draw(st.integers(0, 15)) for _ in keys]
    for i, (key, gap, flips, nulls, x, n) in enumerate(steps):
        clock += gap if ties else max(gap, 1)
        masks[key] ^= flips
        booleans = {
            name: None if nulls >> bit & 1 else bool(masks[key] >> bit & 1) for bit, name in enumerate("abcd")
        }
        order = {"k": keys[key], "t": clock, "seq": i * 7919 % 1009}  # unique, and not in input order
        rows.append(order | booleans | {"x": x, "n": n, "s": None if n is None else f"v{n % 3}"})
    return rows


@st.composite
def questions(draw: st.DrawFn, rows: list[Row], n_symbols: int) -> tuple[str, Question]:
    """A query over these rows, as text and as a question."""
    symbols = tuple(NAMES[:n_symbols])
    pool = st.sampled_from(draw(st.sampled_from([PLAIN, ANY])))
    conditions = {symbol: draw(pool) for symbol in symbols}
    where = draw(st.sampled_from([None, None, None, ("c OR NOT b", negated(both(negated(C), B)))]))
    partition = draw(st.sampled_from([("k",), ("k",), ("k",), (), (), ("k", "d"), ("n",), ("s", "x")]))
    ties = draw(st.sampled_from([(), (), ("seq",), ("s", "seq")]))
    holds = {symbol: condition for symbol, (_, condition) in conditions.items()}
    question = Question(symbols, holds, where=where and where[1], partition=partition, ties=ties)
    written = draw(patterns(draw(witnesses(rows, question))))
    bounds = {symbol: draw(durations(symbol, rows, question)) for symbol in symbols}
    items = draw(return_items(symbols, AGGREGATES))
    question = replace(
        question,
        constraints=pattern(written)[0],
        at_least={symbol: least for symbol, (least, _) in bounds.items() if least},
        at_most={symbol: most for symbol, (_, most) in bounds.items() if most is not None},
        emit=draw(st.sampled_from(["EARLY", "EARLY", "FINAL"])),
        items=items or star(symbols),
    )
    question = replace(question, within=draw(windows(rows, question)))
    defined = (f"{symbol} AS {bounded(text, *bounds[symbol])}" for symbol, (text, _) in conditions.items())
    clauses = [
        "FROM events" + (f" WHERE {where[0]}" if where else ""),
        "PARTITION BY " + ", ".join(partition) if partition else "",
        "ORDER BY " + ", ".join(("t", *ties)),
        "DEFINE " + ", ".join(defined),
        f"PATTERN {written}" if written else "",
        "" if question.within is None else f"WITHIN {question.within}",
        f"EMIT {question.emit}",
        return_clause(items),
    ]
    return "\n".join(filter(None, clauses)), question


@st.composite
def witnesses(draw: st.DrawFn, rows: list[Row], question: Question) -> dict[str, Span]:
    """One situation per symbol, of one partition, near each other; made up where one is missing."""
    parts = [part for _, part in partitions(rows, question)]
    found: dict[str, list[Situation]] = {}
    if parts:
        events = in_order(draw(st.sampled_from(parts)), question.time, question.ties)
        found = situations_of(events, question)
    if not found or not all(found.values()):
        return {symbol: draw(spans()) for symbol in question.symbols}
    centre = draw(st.sampled_from([event[question.time] for event in events]))
    chosen = {}
    for symbol, situations in found.items():
        by_distance = sorted(situations, key=lambda situation: abs(situation.ts - centre))
        one = draw(st.sampled_from(by_distance[:3]))
        later = events[-1][question.time] + draw(st.integers(1, 2))  # some end for one that is open
        chosen[symbol] = (one.ts, later if one.te is None else one.te)
    return chosen


@st.composite
def durations(draw: st.DrawFn, symbol: str, rows: list[Row], question: Question) -> tuple[int, int | None]:
    """(at least, at most), mostly none, which is (0, None); else at or next to what some situation lasts."""
    kind = draw(st.sampled_from(["none"] * 4 * len(question.symbols) + ["least", "most", "both"]))
    if kind == "none":
        return 0, None
    lengths = {
        one.te - one.ts
        for _, part in partitions(rows, question)
        for one in situations_of(in_order(part, question.time, question.ties), question)[symbol]
        if one.te is not None
    }
    near = st.sampled_from(sorted(lengths) or [3]).flatmap(lambda length: st.integers(length - 1, length + 1))
    first, second = draw(near), draw(near)
    least = min(first, second) if kind in ("least", "both") else 0
    return least, max(first, second) if kind in ("most", "both") else None


@st.composite
def windows(draw: st.DrawFn, rows: list[Row], question: Question) -> int | None:
    """None, or a window at or next to what some match needs; never shorter than a minimum (it is refused)."""
    if draw(st.booleans()):
        return None
    needed = {
        at - min(situation.ts for situation in chosen.values())
        for _, part in partitions(rows, question)
        for chosen, at in matches_of(part, question)
    }
    window = draw(st.sampled_from(sorted(needed) or [5])) + draw(st.sampled_from([0, 0, 0, -1, 1, 5]))
    return max(window, 0, *question.at_least.values())


def bounded(condition: str, least: int, most: int | None) -> str:
    """The condition with its bounds."""
    if least and most is not None:
        return f"{condition} BETWEEN {least} AND {most}"
    if most is not None:
        return f"{condition} AT MOST {most}"
    return f"{condition} AT LEAST {least}" if least else condition


@st.composite
def examples(draw: st.DrawFn, shuffled: bool = False, max_symbols: int = 6) -> Example:
    """A table and a query for it; more symbols come with fewer events, as the oracles try everything."""
    n_symbols = min(draw(st.sampled_from([2, 2, 3, 3, 4, 5, 6, 1])), max_symbols)
    rows = draw(event_rows({1: 40, 2: 60, 3: 45, 4: 40, 5: 36, 6: 30}[n_symbols]))
    text, question = draw(questions(rows, n_symbols))
    if shuffled and draw(st.booleans()):
        Random(draw(st.integers(0, 99))).shuffle(rows)
    return accepted(Example(text, question, rows))


@st.composite
def cuts(draw: st.DrawFn, rows: list[Row], between_ties: bool) -> list[list[Row]]:
    """The rows, in order, in pieces of any size; rows of one time stay together unless told otherwise."""
    positions = [i for i in range(1, len(rows)) if between_ties or rows[i]["t"] != rows[i - 1]["t"]]
    if draw(st.integers(0, 3)) == 0:
        chosen = positions  # as small as can be
    else:
        chosen = sorted(draw(st.sets(st.sampled_from(positions), max_size=6))) if positions else []
    edges = [0, *chosen, len(rows)]
    return [rows[i:j] for i, j in pairwise(edges)]


def bounded_by_window(example: Example, within: int) -> Example:
    """The same with a window, where it has none."""
    if example.question.within is not None:
        return example
    within = max(within, 0, *example.question.at_least.values())
    question = replace(example.question, within=within)
    return accepted(replace(example, text=f"{example.text}\nWITHIN {within}", question=question))


@st.composite
def crowds(draw: st.DrawFn) -> Example:
    """Many partitions with a short life each, or one with a long life, and a window: state comes and goes."""
    random = Random(draw(st.integers(0, 10**6)))
    n_keys, n_events = draw(st.sampled_from([(60, 900), (200, 1000), (1, 250)]))
    rows: list[Row] = []
    clock, masks = 0, [0] * n_keys
    for i in range(n_events):
        clock += random.choice([0, 1, 1, 2, 5])
        # Keys come and go: at any time only a few of them send.
        key = (i * n_keys // n_events + random.randrange(4)) % n_keys
        masks[key] ^= random.choice([0, 1, 2, 4, 8, 3, 12])
        booleans = {name: bool(masks[key] >> bit & 1) for bit, name in enumerate("abcd")}
        numbers = {"x": random.choice([None, 0.5, 3.0]), "n": random.randrange(9), "s": "v"}
        rows.append({"k": f"key {key}", "t": clock, "seq": i} | booleans | numbers)
    text, question = draw(questions(rows[:40], draw(st.sampled_from([1, 2, 2, 3]))))
    return bounded_by_window(accepted(Example(text, question, rows)), draw(st.integers(3, 15)))
