"""`situ.why` counts what trying everything counts, on random data and patterns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import situ
from oracles.question import Question
from oracles.relations import ALLEN
from situ.errors import QueryError
from situ.operators.situations.why_report import Why
from situ.public import why
from situations.why.brute import Brute, count

SYMBOLS = ("A", "B", "C")
NAMES = [*ALLEN, "followed-by", "follows"]


@st.composite
def patterns(draw: st.DrawFn, *, given_intervals: bool = False) -> tuple[str, dict[str, Any]]:
    """The text after FROM, and the same as fields of a Question."""
    names = ALLEN if given_intervals else NAMES
    pairs = draw(st.sampled_from([(("A", "B"), ("B", "C")), (("A", "B"), ("A", "C"), ("B", "C"))]))
    constraints = {
        pair: draw(st.lists(st.sampled_from(names), min_size=1, max_size=6, unique=True)) for pair in pairs
    }
    at_least = draw(st.dictionaries(st.sampled_from(SYMBOLS), st.integers(1, 4), max_size=2))
    at_most = draw(st.dictionaries(st.sampled_from(SYMBOLS), st.integers(4, 6), max_size=1))
    within = draw(st.none() | st.integers(0, 12))
    emit = draw(st.sampled_from(["EARLY", "FINAL"]))
    lines = []
    for symbol in SYMBOLS:
        bound = f" AT LEAST {at_least[symbol]}" if symbol in at_least else ""
        if symbol in at_most:
            at_least.pop(symbol, None)
            bound = f" AT MOST {at_most[symbol]}"
        condition = f"kind = '{symbol}'" if given_intervals else symbol.lower()
        lines.append(f"{symbol} AS {condition}{bound}")
    text = "DEFINE " + ", ".join(lines) + " PATTERN "
    text += " AND ".join(f"{a} {';'.join(names)} {b}" for (a, b), names in constraints.items())
    text += ("" if within is None else f" WITHIN {within}") + f" EMIT {emit}"
    fields = {
        "constraints": {pair: frozenset(names) for pair, names in constraints.items()},
        "at_least": at_least,
        "at_most": at_most,
        "within": within,
        "emit": emit,
    }
    return text, fields


def check(answer: Why, brute: Brute, n_partitions: int) -> None:
    assert answer.situations == {symbol: brute.situations[symbol] for symbol in SYMBOLS}
    assert answer.tally.runs.tolist() == [brute.runs[symbol] for symbol in SYMBOLS]
    assert answer.tally.rows[1:3].tolist() == [n_partitions, brute.complete]
    for written, counted in zip(answer.query.constraints, answer.constraints, strict=True):
        expected = brute.pairs[written.left, written.right]
        assert counted.near == expected.near
        assert counted.satisfied == expected.satisfied
        assert counted.in_time == expected.in_time
        assert counted.far_satisfied == expected.far_satisfied
        assert counted.instead == expected.instead
        assert counted.narrowest == min(expected.spans, default=None)
    assert answer.tally.prefixes.tolist() == brute.prefixes


rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(1, 3), st.booleans(), st.booleans(), st.booleans()), max_size=30
)


@pytest.mark.nojit
@given(rows, patterns())
def test_events(data: list[tuple[int, int, bool, bool, bool]], pattern: tuple[str, dict[str, Any]]) -> None:
    text, fields = pattern
    now, events = 0, []
    for key, step, a, b, c in data:
        now += step
        events.append({"k": key, "t": now, "a": a, "b": b, "c": c})
    query = _query(f"FROM e PARTITION BY k ORDER BY t {text}")
    question = Question(
        symbols=SYMBOLS,
        holds={symbol: (lambda row, name=symbol: row[name.lower()]) for symbol in SYMBOLS},
        partition=("k",),
        **fields,
    )
    table = pa.Table.from_pylist(
        events, pa.schema([("k", pa.int64()), ("t", pa.int64()), *((n, pa.bool_()) for n in "abc")])
    )
    answer = why(table, query)
    order = [SYMBOLS[i] for i in answer.order]
    check(answer, count(events, question, order), len({event["k"] for event in events}))
    assert answer.matches == (situ.match(table, query).num_rows if events else 0)


intervals = st.lists(
    st.tuples(st.sampled_from(SYMBOLS), st.integers(0, 20), st.integers(1, 8)), min_size=1, max_size=14
)


@settings(max_examples=60)
@given(intervals, patterns(given_intervals=True))
def test_intervals(data: list[tuple[str, int, int]], pattern: tuple[str, dict[str, Any]]) -> None:
    text, fields = pattern
    given_rows = [{"kind": kind, "ts": ts, "te": ts + length} for kind, ts, length in data]
    query = _query(f"FROM INTERVALS e STARTING ts ENDING te {text}")
    question = Question(
        symbols=SYMBOLS,
        holds={symbol: (lambda row, name=symbol: row["kind"] == name) for symbol in SYMBOLS},
        time="ts",
        ending="te",
        **fields,
    )
    table = pa.Table.from_pylist(given_rows)
    answer = why(table, query)
    check(answer, count(given_rows, question, [SYMBOLS[i] for i in answer.order]), 1)
    assert answer.matches == situ.match(table, query).num_rows


def _query(text: str) -> situ.Query:
    try:
        return situ.query(text)
    except QueryError:  # the drawn pattern contradicts itself
        assume(False)
        raise
