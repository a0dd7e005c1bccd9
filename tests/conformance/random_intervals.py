"""Random tables of given intervals (SEM 6) and queries over them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pyarrow as pa
from hypothesis import strategies as st

from conformance.patterns import pattern
from conformance.random_patterns import Span, patterns, return_clause, return_items, spans, star
from conformance.strategies import Example, accepted, windows
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
AGGREGATES = [
    *(
        (function, "level")
        for function in ("first", "last", "count", "sum", "avg", "min", "max", "stddev", "value")
    ),
    ("value", "x"),
    ("avg", "x"),
    ("count", None),
    ("duration", None),
]


@st.composite
def interval_rows(
    draw: st.DrawFn, max_intervals: int, has_ids: bool, per_partition: bool, has_points: bool
) -> list[Row]:
    """With ids (used again in other partitions) some intervals are announced, and of these some stay open."""
    ways = ["plain", "plain", "closed", "announced", "announced", "open"] if has_ids else ["plain"]
    lengths = [1, 2, 3, 4, 6, 9] + [0] * has_points
    n_intervals = draw(st.integers(max_intervals // 2, max_intervals) | st.integers(0, max_intervals))
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["p", "p", "q", None]),
                st.sampled_from("AABBCX"),
                st.integers(0, 14),
                st.sampled_from(lengths),
                st.sampled_from(ways),
                st.sampled_from([None, 1, 2, 7]),
                st.sampled_from([None, 0.5, -2.25]),
            ),
            min_size=n_intervals,
            max_size=n_intervals,
        )
    )
    rows: list[Row] = []
    for i, (k, kind, ts, length, way, level, x) in enumerate(drawn):
        number = sum(other[0] == k for other in drawn[:i]) if per_partition else i
        row = {"k": k, "id": None if way == "plain" else number, "kind": kind, "ts": ts}
        if way in ("announced", "open"):
            rows.append(row | {"te": None, "level": level, "x": x})
        if way != "open":
            rows.append(row | {"te": ts + length, "level": None if level is None else level + 1, "x": x})
    return rows


@st.composite
def interval_examples(draw: st.DrawFn) -> Example:
    """A query over given intervals and its rows in instant order."""
    has_ids, widen = draw(st.booleans()), draw(st.integers(0, 3)) == 0
    n_symbols = draw(st.sampled_from([2, 2, 3, 3, 4, 1]))
    partition = draw(st.sampled_from([("k",), ()]))
    rows = draw(interval_rows({1: 12, 2: 18, 3: 12, 4: 9}[n_symbols], has_ids, bool(partition), widen))
    symbols = tuple("ABCD"[:n_symbols])
    by_kind = n_symbols <= 3 and n_symbols > 1 and draw(st.booleans())
    if by_kind:
        holds = {symbol: (lambda row, symbol=symbol: row["kind"] == symbol) for symbol in symbols}
        bounds = {}
    else:
        conditions = {symbol: draw(st.sampled_from(DEFINITIONS)) for symbol in symbols}
        holds = {symbol: condition for symbol, (_, condition) in conditions.items()}
        bounds = {symbol: draw(st.sampled_from(BOUNDS)) for symbol in symbols}
    where = draw(st.sampled_from([None, None, ("x IS NULL OR x > 0", _has_no_negative)]))
    question = Question(
        symbols,
        holds,
        where=where and where[1],
        at_least={symbol: least for symbol, (least, _) in bounds.items() if least is not None},
        at_most={symbol: most for symbol, (_, most) in bounds.items() if most is not None},
        emit=draw(st.sampled_from(["EARLY", "EARLY", "FINAL"])),
        partition=partition,
        time="ts",
        ending="te",
        id_by="id" if has_ids else None,
        widen_points=widen,
    )
    rows.sort(key=lambda row: instant_of(row, question))
    written = draw(patterns(draw(interval_witnesses(rows, question)), followed=False))
    constraints, met = pattern(written)
    symbols = met if by_kind else symbols  # SEM 6.2: in order of first mention
    items = draw(return_items(symbols, AGGREGATES))
    question = replace(question, symbols=symbols, constraints=constraints, items=items or star(symbols))
    question = replace(question, within=draw(windows(rows, question)))
    clauses = [
        "FROM INTERVALS t STARTING ts ENDING te",
        "SYMBOL BY kind" if by_kind else "",
        "ID BY id" if has_ids else "",
        f"WHERE {where[0]}" if where else "",
        "PARTITION BY k" if question.partition else "",
        ""
        if by_kind
        else "DEFINE " + ", ".join(f"{s} AS {conditions[s][0]}{SPELLED[bounds[s]]}" for s in symbols),
        f"PATTERN {written}" if written else "",
        "" if question.within is None else f"WITHIN {question.within}",
        f"EMIT {question.emit}",
        return_clause(items),
    ]
    return accepted(Example("\n".join(filter(None, clauses)), question, rows, SCHEMA))


def _has_no_negative(row: Row) -> bool:
    return row["x"] is None or row["x"] > 0


SPELLED = {
    (None, None): "",
    (0, None): " AT LEAST 0",
    (2, None): " AT LEAST 2",
    (4, None): " AT LEAST 4",
    (None, 3): " AT MOST 3",
}
BOUNDS = [(None, None)] * 6 + list(SPELLED)


@st.composite
def interval_witnesses(draw: st.DrawFn, rows: list[Row], question: Question) -> dict[str, Span]:
    """One interval of the data per symbol, of one partition; made up where one is missing."""
    parts = [part for _, part in partitions(rows, question)] or [[]]
    found = given(draw(st.sampled_from(parts)), question)
    if not all(found.values()):
        return {symbol: draw(spans()) for symbol in question.symbols}
    chosen = {symbol: draw(st.sampled_from(situations)) for symbol, situations in found.items()}
    return {symbol: (one.ts, 30 if one.te is None else one.te) for symbol, one in chosen.items()}


@st.composite
def interval_crowds(draw: st.DrawFn) -> Example:
    """A long life with a window, so that intervals are forgotten, some of them before they close."""
    random = Random(draw(st.integers(0, 10**6)))
    rows: list[Row] = []
    for number in range(draw(st.sampled_from([60, 150]))):
        ts = number * 2 + random.randrange(8)
        row = {"k": random.choice(["p", "p", "q"]), "id": number, "kind": random.choice("AAB"), "ts": ts}
        row |= {"level": number % 7, "x": random.choice([None, 1.5])}
        if random.random() < 0.5:
            rows.append(row | {"te": None})
        if random.random() < 0.9:
            rows.append(row | {"te": ts + random.choice([1, 2, 5, 9, 30])})
    question = Question(
        ("A", "B"),
        {kind: (lambda row, kind=kind: row["kind"] == kind) for kind in "AB"},
        constraints={},
        within=draw(st.integers(2, 15)),
        emit=draw(st.sampled_from(["EARLY", "FINAL"])),
        items=(*star(("A", "B")), ("value", "A", "level"), ("value", "B", "level")),
        partition=draw(st.sampled_from([("k",), ()])),
        time="ts",
        ending="te",
        id_by="id",
    )
    rows.sort(key=lambda row: instant_of(row, question))
    written = draw(patterns({symbol: draw(spans()) for symbol in "AB"}, followed=False))
    constraints, symbols = pattern(written)
    items = (*star(symbols), ("value", "A", "level"), ("value", "B", "level"))
    question = replace(question, constraints=constraints, symbols=symbols, items=items)
    text = "\n".join(
        [
            "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id",
            "PARTITION BY k" if question.partition else "",
            f"PATTERN {written} WITHIN {question.within} EMIT {question.emit}",
            return_clause(items),
        ]
    )
    return accepted(Example(text, question, rows, SCHEMA))


def shuffled(rows: list[Row], seed: int) -> list[Row]:
    mixed = list(rows)
    Random(seed).shuffle(mixed)
    return mixed
