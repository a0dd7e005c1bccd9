"""Every strategy's tasks over random splits of random tables: the matches are the oracles'."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.features import ON
from conformance.random_intervals import interval_examples, shuffled
from conformance.rows import sort_key
from conformance.strategies import Example, bounded_by_window, examples, table_of
from oracles.answer import answer
from situ.carry.batch import split_parts
from situ.errors import DataError
from situ.operators.situations.given import IntervalOperator
from situ.operators.situations.interval_engine import IntervalEngine
from situ.rows.tied import Tied
from spark.tasks import (
    prepared,
    rows_of,
    run_map_side,
    run_oversized,
    run_shuffle,
    run_slices,
    task_for,
)


def split_at_borders(example: Example, borders: list[int]) -> list[pa.Table]:
    """The rows in time order, cut at these positions; rows of one instant stay together."""
    rows = sorted(example.rows, key=lambda row: row["t"])
    safe = [i for i in sorted(set(borders)) if 0 < i < len(rows) and rows[i - 1]["t"] != rows[i]["t"]]
    cuts = [0, *safe, len(rows)]
    return [table_of(rows[begin:end], example.schema) for begin, end in itertools.pairwise(cuts)]


clocks = st.sampled_from([None, 0, 2, 30])  # how long after the last row the input ends; None: with it


def until(example: Example, later: int | None) -> dict[str, Any]:
    """The option of SEM 11.9, where results can fall between events."""
    if "until" not in ON or later is None or not example.rows or not example.question.has_ticks:
        return {}
    return {"until": max(row["t"] for row in example.rows) + later}


@given(
    examples(),
    st.lists(st.integers(0, 36), max_size=6),
    st.randoms(),
    st.sampled_from([1, 300, 1 << 20]),
    clocks,
)
def test_map_side(example: Example, borders: list[int], random: Any, limit: int, later: int | None) -> None:
    """Splits in any order, rows within a split in any order where no tie depends on it."""
    splits, options = split_at_borders(example, borders), until(example, later)
    random.shuffle(splits)
    result = run_map_side(splits, example.text, options, limit=limit)
    question = replace(example.question, **options)
    agree(rows_of(result, example.text), answer(example.rows, question), example)


@given(examples(shuffled=True), st.integers(1, 5), st.sampled_from([1, 2000, 1 << 20]))
def test_shuffle(example: Example, n_splits: int, limit: int) -> None:
    """Rows of any split in any order; with a low limit every chunk is a file and blocks are small."""
    table = example.table
    size = max(1, -(-table.num_rows // n_splits))
    splits = [table.slice(i, size) for i in range(0, table.num_rows, size)] or [table]
    if not example.question.ties and len({row["t"] for row in example.rows}) < len(example.rows):
        splits = [table]  # which row of an instant is last is promised within a split only
    result = run_shuffle(splits, example.text, {}, limit=limit)
    agree(rows_of(result, example.text), answer(example.rows, example.question), example)


@given(examples(), st.lists(st.integers(0, 36), max_size=2), st.randoms(), st.integers(1, 9))
def test_splits_larger_than_the_limit(
    example: Example, borders: list[int], random: Any, rows_per_batch: int
) -> None:
    """Part by part where the rows are in time order, also with an instant in two parts; sorted where not."""
    splits = split_at_borders(example, borders)
    is_told = bool(example.question.ties) or len({row["t"] for row in example.rows}) == len(example.rows)
    if is_told and random.random() < 0.7:
        splits = [
            split.take(pa.array(random.sample(range(split.num_rows), split.num_rows), pa.int64()))
            for split in splits
        ]
    result = run_oversized(splits, example.text, {}, rows_per_batch)
    agree(rows_of(result, example.text), answer(example.rows, example.question), example)


def test_parts_in_time_order_are_not_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting is for rows that need it; the order holds for each partition by itself."""
    monkeypatch.setattr(split_parts, "SortedFiles", None)
    table = pa.table(
        {"k": ["p", "q"] * 20, "t": [i // 2 for i in range(40)], "a": [True, False, False, True] * 10}
    )
    text = "FROM e PARTITION BY k ORDER BY t DEFINE A AS a"
    expected = situ.match(table, situ.query(text))
    ordered = table.sort_by([("k", "ascending"), ("t", "ascending")])
    assert sorted_rows(run_oversized([ordered], text, {}, 5)) == sorted_rows(expected)
    with pytest.raises(TypeError):
        run_oversized([ordered.take(list(range(39, -1, -1)))], text, {}, 5)


def test_equal_times_in_two_parts_are_found() -> None:
    table = pa.table({"k": ["p"] * 4, "t": [1, 2, 2, 3], "a": [True] * 4})
    text = "FROM e PARTITION BY k ORDER BY t DEFINE A AS a"
    with pytest.raises(DataError, match=r"two rows share the time 2 in partition \('p',\)"):
        run_oversized([table], text, {"ties": "error"}, 2)


@given(interval_examples(), st.integers(1, 4), st.integers(0, 9), st.sampled_from([1, 500, 1 << 20]))
def test_given_intervals(example: Example, n_splits: int, seed: int, limit: int) -> None:
    """A few partitions at a time, begin and closing rows in any split; SEM 6.4: equal rows all count."""
    table = table_of(shuffled(example.rows, seed), example.schema)
    size = max(1, -(-table.num_rows // n_splits))
    splits = [table.slice(i, size) for i in range(0, table.num_rows, size)] or [table]
    options = {"points": "widen"} if example.question.widen_points else {}
    result = run_shuffle(splits, example.text, options, limit=limit)
    agree(rows_of(result, example.text), answer(example.rows, example.question), example)
    listed = run_shuffle(splits, example.text, options, limit=limit, kind="situations")
    expected = situ.situations(table, situ.query(example.text), **options)
    agree(sorted_rows(listed), sorted_rows(expected), example)


def test_of_given_intervals_few_partitions_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call of the engine sees more than a few of many partitions when the limit is low."""
    seen: list[int] = []
    step = IntervalOperator.step

    def counted(self: IntervalOperator, kept: Any, *args: Any, **named: Any) -> Any:
        seen.append(kept.n_slots)
        return step(self, kept, *args, **named)

    monkeypatch.setattr(IntervalOperator, "step", counted)
    n = 400
    table = pa.table(
        {"k": [i % 100 for i in range(n)], "kind": ["A"] * n, "ts": range(n), "te": range(1, n + 1)}
    )
    text = "FROM INTERVALS t STARTING ts ENDING te PARTITION BY k DEFINE A AS kind = 'A'"
    splits = [table.slice(i, 40) for i in range(0, n, 40)]
    assert run_shuffle(splits, text, {}, limit=1, n_buckets=1).num_rows == n
    assert sum(seen) >= 100  # one that goes on in the next block is stepped in both
    assert max(seen) < 50


def test_of_one_key_of_given_intervals_a_window_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call of the engine sees more than a block and a window of the one partition there is."""
    seen: list[int] = []
    spread = IntervalEngine.spread

    def counted(self: IntervalEngine, kept: Any, rows: Any, n_slots: int) -> Any:
        seen.append(len(kept.ts) + len(rows.ts))
        return spread(self, kept, rows, n_slots)

    monkeypatch.setattr(IntervalEngine, "spread", counted)
    n = 8_000
    kinds = ["A" if i % 2 else "B" for i in range(n)]
    table = pa.table(
        {
            "k": ["p"] * n,
            "kind": kinds,
            "ts": [i // 2 * 10 for i in range(n)],
            "te": [i // 2 * 10 + 7 for i in range(n)],
        }
    )
    shuffled_rows = table.take(pa.array(np.random.default_rng(3).permutation(n)))
    splits = [shuffled_rows.slice(i, 1_000) for i in range(0, n, 1_000)]
    text = (
        "FROM INTERVALS t STARTING ts ENDING te PARTITION BY k DEFINE A AS kind = 'A', B AS kind = 'B' "
        "PATTERN A equals B WITHIN 50"
    )
    assert run_shuffle(splits, text, {}, limit=1, n_buckets=1).num_rows == n // 2
    assert sum(seen) >= n
    assert max(seen) < n // 4


@given(examples(), st.lists(st.integers(0, 36), max_size=3), st.integers(1, 8), clocks)
def test_slices(example: Example, borders: list[int], n_slices: int, later: int | None) -> None:
    """Without PARTITION BY, in 1 to 8 slices of time, however few rows each has."""
    example = unpartitioned(bounded_by_window(example, 12))
    options = until(example, later)
    result = run_slices(split_at_borders(example, borders), example.text, options, n_slices)
    question = replace(example.question, **options)
    agree(rows_of(result, example.text), answer(example.rows, question), example)


def unpartitioned(example: Example) -> Example:
    """The same question asked of all rows together."""
    text = re.sub(r"PARTITION BY .*\n", "", example.text)
    return replace(example, text=text, question=replace(example.question, partition=()))


@given(
    examples(),
    st.lists(st.integers(0, 36), max_size=6),
    st.sampled_from([0, 1, 3]),
    st.sampled_from(["map-side", "shuffle", "slices"]),
)
def test_forget_after(example: Example, borders: list[int], longer: int, way: str) -> None:
    """SEM 8.5: a gap begins a new history, wherever the input is cut, and condensing hides or makes none."""
    example = bounded_by_window(example, 2)
    if way == "slices":
        example = unpartitioned(example)
    after = example.question.within + longer
    splits = split_at_borders(example, borders)
    options = {"forget_after": after}
    if way == "slices":
        result = run_slices(splits, example.text, options, 3)
    else:
        result = (run_map_side if way == "map-side" else run_shuffle)(
            splits, example.text, options, limit=300
        )
    question = replace(example.question, forget_after=after)
    agree(rows_of(result, example.text), answer(example.rows, question), example)


@given(examples(), st.lists(st.integers(0, 36), max_size=6), st.sampled_from([1, 1 << 20]))
def test_situations(example: Example, borders: list[int], limit: int) -> None:
    """SEM 5.5: every situation once, with all its events, also where it spans splits and blocks."""
    splits = split_at_borders(example, borders)
    expected = situ.situations(pa.concat_tables(splits), situ.query(example.text), ties="last")
    for run in (run_map_side, run_shuffle):
        result = run(splits, example.text, {}, kind="situations", limit=limit)
        agree(sorted_rows(result), sorted_rows(expected), example)


def sorted_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(rows, key=lambda row: tuple(map(sort_key, row)))


def test_slices_share_the_work() -> None:
    """No slice of two looks at more than 60 % of the candidates, though one half is twice as dense."""
    random = Random(5)
    steps = [random.choice([1, 2, 3]) if i < 20_000 else 1 for i in range(40_000)]
    masks = [random.random() for _ in steps]
    times = list(itertools.accumulate(steps))
    table = pa.table({"t": times, "a": [m < 0.3 for m in masks], "b": [m > 0.6 for m in masks]})
    text = "FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A before B WITHIN 40"
    task = task_for(table.schema, text, {})
    whole = task.operator.condense(prepared(task, table, {}), Tied())
    counts = []
    for one in task.operator.slices(whole, 2, 4096):
        fresh = task_for(table.schema, text, {}).operator
        fresh.step_slice(one)
        counts.append(fresh.work().n_candidates)
    assert len(counts) == 2
    assert min(counts) > 0
    assert max(counts) <= 0.6 * sum(counts)
