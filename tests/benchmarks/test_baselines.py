"""The papers' algorithms against the brute-force oracle: the same matches, each once, at the same instant."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.baselines.iseq import Deriver, Iseq, stream
from benchmarks.baselines.pattern import Pattern, pattern_of
from benchmarks.baselines.piestream import PieStream
from benchmarks.baselines.tpstream import TPStream
from benchmarks.data import Events, names, query_text

from oracles.answer import matches_of
from oracles.question import Question

ALLEN = (
    *("before", "meets", "overlaps", "finished-by", "contains", "starts", "equals"),
    *("started-by", "during", "finishes", "overlapped-by", "met-by", "after"),
)
PREFIXES = ({"overlaps", "finished-by", "contains"}, {"starts", "equals", "started-by"})
PREFIXES += ({"during", "finishes", "overlapped-by"},)


@st.composite
def patterns(
    draw: st.DrawFn, *, prefix_groups: bool
) -> tuple[int, dict[tuple[str, str], frozenset[str]], int, str]:
    """A connected, consistent pattern of 2 to 4 symbols, its window, and its text."""
    n = draw(st.integers(2, 4))
    symbols = names(n)
    constraints = {}
    for b in range(1, n):
        for a in {draw(st.integers(0, b - 1)), draw(st.integers(0, b - 1))}:
            chosen = draw(st.sets(st.sampled_from(ALLEN), min_size=1, max_size=6))
            if not prefix_groups:
                for group in PREFIXES:
                    if group <= chosen:
                        chosen -= {min(group)}
            constraints[symbols[a], symbols[b]] = frozenset(chosen)
    within = draw(st.integers(3, 40))
    text = " AND ".join(f"{a} {';'.join(sorted(names_))} {b}" for (a, b), names_ in constraints.items())
    return n, constraints, within, text


masks = (
    st.integers(0, 2**32)
    .map(lambda seed: np.random.default_rng(seed))
    .map(lambda rng: np.cumsum(rng.random((60, 4)) < rng.choice([0.1, 0.3, 0.5]), axis=0) % 2 == 1)
)


def events_of(held: np.ndarray, n: int) -> Events:
    bits = (held[:, :n] * (1 << np.arange(n))).sum(axis=1).astype(np.uint8)
    return Events(np.arange(len(held), dtype=np.int64) * 2 + 5, bits)


def expected(question: Question, rows: list[dict]) -> Counter:
    return Counter(
        (*(chosen[s].ts for s in question.symbols), at) for chosen, at in matches_of(rows, question)
    )


def asked(n: int, constraints: dict, within: int, emit: str) -> Question:
    holds = {s: (lambda row, i=i: bool(row["mask"] >> i & 1)) for i, s in enumerate(names(n))}
    return Question(tuple(names(n)), holds, constraints, within=within, emit=emit)


def rows_of(events: Events) -> list[dict]:
    return [{"t": int(t), "mask": int(m)} for t, m in zip(*events, strict=True)]


def published(out: np.ndarray, count: int) -> Counter:
    assert count <= len(out)
    return Counter(map(tuple, out[:count].tolist()))


def consistent(text: str) -> Pattern | None:
    from situ.errors import QueryError

    try:
        return pattern_of(text)
    except QueryError:  # the drawn constraints exclude each other
        return None


def run_in_two(matcher: TPStream | PieStream, events: Events) -> Counter:
    """Push the events in two batches."""
    found: Counter = Counter()
    for part in (slice(0, 23), slice(23, None)):
        count = matcher.step(Events(events.time[part], events.mask[part]))
        found += published(matcher.out, count)
    return found


@given(patterns(prefix_groups=True), masks)
def test_tpstream_finds_what_the_oracle_finds(drawn, held) -> None:
    n, constraints, within, text = drawn
    pattern, events = consistent(query_text(n, text, within)), events_of(held, n)
    if pattern is not None:
        found = run_in_two(TPStream(pattern, published=20_000), events)
        assert found == expected(asked(n, constraints, within, "EARLY"), rows_of(events))


@given(patterns(prefix_groups=False), masks)
def test_piestream_finds_what_the_oracle_finds(drawn, held) -> None:
    n, constraints, within, text = drawn
    pattern, events = consistent(query_text(n, text, within)), events_of(held, n)
    if pattern is not None:
        found = run_in_two(PieStream(pattern, published=20_000), events)
        assert found == expected(asked(n, constraints, within, "EARLY"), rows_of(events))


@pytest.mark.parametrize("variant", ["plain", "index", "punctuations"])
@given(patterns(prefix_groups=True), masks)
def test_iseq_finds_what_the_oracle_finds(variant, drawn, held) -> None:
    n, constraints, within, text = drawn
    pattern, events = consistent(query_text(n, text, within, emit="FINAL")), events_of(held, n)
    if pattern is not None:
        deriver = Deriver(n)
        deriver.step(Events(events.time[:23], events.mask[:23]))
        deriver.step(Events(events.time[23:], events.mask[23:]))
        operator = Iseq(pattern, variant, published=20_000)
        count = operator.run(deriver.intervals(punctuations=variant == "punctuations"))
        question = asked(n, constraints, within, "FINAL")
        assert published(operator.out, count) == expected(question, rows_of(events))


@pytest.mark.parametrize("variant", ["plain", "index", "punctuations"])
@settings(max_examples=50)
@given(patterns(prefix_groups=True), st.integers(0, 2**32))
def test_iseq_takes_intervals_that_overlap_each_other(variant, drawn, seed) -> None:
    n, constraints, within, text = drawn
    pattern = consistent(query_text(n, text, within, emit="FINAL"))
    if pattern is None:
        return
    rng = np.random.default_rng(seed)
    symbol, ts = rng.integers(0, n, 24), rng.integers(0, 40, 24)
    te = ts + rng.integers(1, 12, 24)
    operator = Iseq(pattern, variant, published=200_000)
    count = operator.run(stream(symbol, ts, te, punctuations=variant == "punctuations"))
    holds = {s: (lambda row, i=i: row["symbol"] == i) for i, s in enumerate(names(n))}
    question = Question(
        tuple(names(n)), holds, constraints, within=within, emit="FINAL", time="ts", ending="te"
    )
    rows = [{"symbol": int(s), "ts": int(a), "te": int(b)} for s, a, b in zip(symbol, ts, te, strict=True)]
    assert published(operator.out, count) == expected(question, rows)
