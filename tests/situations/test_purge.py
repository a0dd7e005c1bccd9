"""What an operator keeps: never too little, so that no match is lost, never too much (SEM 8.4, 8.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import situ
import situ.carry.push as operator_module
import situ.operators.situations.events as situations_module
from conformance.checking import agree
from conformance.runners import result_rows
from conformance.strategies import Example, bounded_by_window, cuts, examples, table_of
from oracles.answer import answer
from situ.operators.situations.purge import prune
from situations.drawing import SCHEMA, events

WINDOW = 50


@pytest.fixture
def pruned_always(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every step prunes; the numbers of dropped situations are noted."""
    dropped: list[int] = []

    def noted(known: Any, spec: Any) -> Any:
        after = prune(known, spec)
        dropped.append(len(known.entries.ts) - len(after.entries.ts))
        return after

    monkeypatch.setattr(operator_module, "_PRUNE_FROM", 0)
    monkeypatch.setattr(situations_module, "prune", noted)
    return dropped


def check_pruning(example: Example, data: st.DataObject) -> None:
    operator = situ.query(example.text).operator(example.schema, ties="last")
    found = []
    for batch in data.draw(cuts(example.rows, between_ties=False)):
        operator._prune_at = 0
        found.append(operator.push(table_of(batch)))
    found.append(operator.flush())
    agree(result_rows(pa.concat_tables(found), example.text), answer(example.rows, example.question), example)


# Of queries whose matches wait nothing is pruned, so that more are asked.
TWICE = settings(max_examples=2 * settings.default.max_examples)


def test_pruning_at_every_step_loses_no_match(pruned_always: list[int]) -> None:
    @TWICE
    @given(examples(), st.data())
    def check(example: Example, data: st.DataObject) -> None:
        check_pruning(example, data)

    check()
    assert sum(pruned_always) > 100, "nothing was pruned, so nothing was tested"


def test_pruning_with_a_window_loses_no_match(pruned_always: list[int]) -> None:
    @TWICE
    @given(examples(), st.integers(1, 12), st.data())
    def check(example: Example, within: int, data: st.DataObject) -> None:
        check_pruning(bounded_by_window(example, within), data)

    check()
    assert sum(pruned_always) > 50


def endless(n_windows: int, seed: int = 1, n_keys: int = 3) -> pa.Table:
    """Situations of 1 to 9 events that come and go for ever, in a few partitions."""
    rng = np.random.default_rng(seed)
    n = n_windows * WINDOW
    flips = rng.random((8, n)) < 0.2
    return pa.table(
        {
            "k": [str(i % n_keys) for i in range(n)],
            "t": np.arange(n),
            **{name: np.cumsum(flip) % 2 == 1 for name, flip in zip("abcdefgh", flips, strict=True)},
            "x": rng.normal(size=n),
        },
        schema=SCHEMA,
    )


PATTERNS = [
    "A before B AND B before C",
    "A overlaps B AND B contains C",
    "A followed-by B AND B meets;overlaps;followed-by C",
    "A before;after;meets;met-by;overlaps;overlapped-by;starts;started-by;during;contains B AND B before C",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("emit", ["EARLY", "FINAL"])
def test_state_stays_flat_on_an_endless_stream(pattern: str, emit: str) -> None:
    query = situ.query(
        f"FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b AT LEAST 2, C AS c PATTERN {pattern} "
        f"WITHIN {WINDOW} EMIT {emit} RETURN avg(A.x) AS x, max(B.k) AS k2, count(C) AS n"
    )
    table = endless(200)
    operator = query.operator(SCHEMA)
    situations, sizes, states = [], [], []
    for window in range(200):
        operator.push(table.slice(window * WINDOW, WINDOW))
        situations.append(operator.n_situations)
        sizes.append(operator.nbytes)
        if window % 20 == 19:
            states.append(len(operator.state()))
    assert max(situations[100:]) <= 1.5 * max(situations[2:50])
    assert max(sizes[100:]) <= 1.5 * max(sizes[2:50])
    assert max(states[5:]) <= 1.5 * max(states[:5])
    assert max(situations) <= 3 * 3 * WINDOW  # no more than fit into a window


@pytest.mark.parametrize("batch", [1, 7])
def test_small_pushes_keep_no_more_than_large_ones(batch: int) -> None:
    query = situ.query(
        f"FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A before B WITHIN {WINDOW}"
    )
    table = endless(20)
    operator = query.operator(SCHEMA)
    for i in range(0, table.num_rows, batch):
        operator.push(table.slice(i, batch))
    assert operator.n_situations <= 2 * 3 * WINDOW
    # A is over at the horizon or open; either way it began within the window
    kept = operator._store.read(operator._store.known_slots()).entries
    assert (kept.ts >= table.num_rows - 1 - WINDOW - 3).all()


def test_the_pattern_drops_what_the_window_would_keep() -> None:
    # A overlaps B: once an a is over without an open b, it is of no use
    table = events("a " + "#." * 200, "b " + ".." * 200)
    query = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A overlaps B WITHIN 100000")
    operator = query.operator(SCHEMA)
    sizes = []
    for i in range(400):
        operator.push(table.slice(i, 1))
        sizes.append(operator.n_situations)
    assert max(sizes) <= operator_module._PRUNE_FROM
    before = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A before B WITHIN 100000").operator(
        SCHEMA
    )
    before.push(table)
    assert before.n_situations == 200


def silent(n: int, marks: str, base: int = 0) -> pa.Table:
    """n partitions with the same few events, and then nothing."""
    drawn = events(marks, "b " + "." * (len(marks) - 2))
    tables = [
        drawn.set_column(0, "k", pa.array([f"key {i:06}"] * drawn.num_rows)) for i in range(base, base + n)
    ]
    return pa.concat_tables(tables)


BEFORE = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A before B WITHIN 10")
FOLLOWS = situ.query(
    "FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A followed-by B WITHIN 10"
)
MANY = situ.query(  # raw ends are kept of A and B only
    "FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b, C AS a, D AS b, E AS a, F AS b, G AS a, H AS b "
    "PATTERN A followed-by B before C before D before E before F before G before H WITHIN 20"
)
QUERIES = pytest.mark.parametrize(
    "query", [BEFORE, FOLLOWS, MANY], ids=["before", "followed-by", "many symbols"]
)


@QUERIES
def test_silent_partitions_are_forgotten_once_no_condition_holds(query: situ.Query) -> None:
    operator = query.operator(SCHEMA, watermark=0)
    operator.push(silent(100, "a .#.."))
    operator.advance(5)
    assert operator.n_partitions == 100  # the window still reaches them
    operator.advance(1000)
    assert (operator.n_partitions, operator.n_situations) == (0, 0)
    assert operator.nbytes == 0


@QUERIES
def test_of_a_silent_partition_with_something_open_a_residue_stays(query: situ.Query) -> None:
    """SEM 8.5: at most 64 bytes beside its key."""
    operator = query.operator(SCHEMA, watermark=0)
    n = 1000
    operator.push(silent(n, "a .##"))
    operator.advance(1000)
    assert (operator.n_partitions, operator.n_situations) == (n, 0)
    key_bytes = sum(column.nbytes for column in operator._store._keys)
    assert (operator.nbytes - key_bytes) / n <= 64
    assert len(operator.state()) / n <= 64 + len("key 000000") + 16
    # and it still knows that the condition holds: no new a starts
    assert operator.push(silent(1, "a ##").set_column(1, "t", pa.array([2000, 2001]))).num_rows == 0
    assert operator.advance(3000).num_rows == 0
    assert operator.n_situations == 0


def test_forget_after_removes_the_residue_too() -> None:
    operator = BEFORE.operator(SCHEMA, watermark=0, forget_after=20)
    operator.push(silent(50, "a .##"))
    operator.advance(22)
    assert operator.n_partitions == 50
    operator.advance(24)
    assert (operator.n_partitions, operator.nbytes) == (0, 0)


def test_a_watermark_sweeps_by_itself() -> None:
    """Partitions that come and go for ever, without a call of advance."""
    operator = BEFORE.operator(SCHEMA, watermark=2)
    counts, sizes = [], []
    for step in range(300):
        batch = silent(5, "a #.", base=5 * step)
        operator.push(batch.set_column(1, "t", pa.array([3 * step, 3 * step + 1] * 5)))
        counts.append(operator.n_partitions)
        sizes.append(operator.nbytes)
    assert max(counts) < 100
    assert max(sizes[150:]) <= 1.5 * max(sizes[:150])


def test_rows_that_wait_keep_their_partition() -> None:
    operator = BEFORE.operator(SCHEMA, watermark=100)
    operator.push(silent(3, "a .#"))
    operator.advance(1)
    assert operator.n_partitions == 3
    assert operator.n_waiting == 3
    assert operator.flush().num_rows == 0
    assert operator.n_situations == 3


def test_without_a_window_everything_is_kept() -> None:
    query = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A before B")
    operator = query.operator(SCHEMA)
    for window in range(20):
        operator.push(endless(20).slice(window * WINDOW, WINDOW))
    assert operator.n_situations == situ.situations(endless(20), query).num_rows
