"""Whatever is folded, in whatever steps, gives what Spark's definition gives for the events together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregate.samples import TYPES, assert_items, requests, spec_of
from situ.aggregate import States

pytestmark = pytest.mark.nojit

Events = list[list[Any]]


@st.composite
def _triples(draw: st.DrawFn, n_rows: int, n_carries: int) -> list[tuple[int, int, int]]:
    """Requests in any order, with runs that share a start, and empty ones."""
    out: list[tuple[int, int, int]] = []
    for _ in range(draw(st.integers(0, 4))):
        row_from = draw(st.integers(0, n_rows))
        carry = draw(st.integers(-1, n_carries - 1))
        ends = draw(st.lists(st.integers(row_from - 1, n_rows - 1), min_size=1, max_size=3))
        if draw(st.booleans()):
            ends.sort()
        out += [(row_from, row_to, carry) for row_to in ends]
    return out


def _merge(rows: Events, carry: Events, triples: list[tuple[int, int, int]]) -> Events:
    return [
        (carry[k] if k >= 0 else []) + [value for events in rows[first : last + 1] for value in events]
        for first, last, k in triples
    ]


@pytest.mark.parametrize("spark_type", TYPES)
@given(data=st.data())
def test_folds_of_folds_agree_with_the_definition(spark_type: str, data: st.DataObject) -> None:
    arrow, values, functions = TYPES[spark_type]
    column = data.draw(st.lists(st.one_of(st.none(), values), max_size=8), label="column")
    items: list[tuple[str, str | None]] = [(function, "x") for function in functions]
    if data.draw(st.booleans(), label="count(A)"):
        items.append(("count", None))
    spec = spec_of(items, {"x": spark_type}, ansi=False)
    array = pa.array([None, *column], arrow).slice(1)  # an offset into the memory, as batches often have
    rows, row_events = spec.rows({"x": array}), [[value] for value in column]
    carry, carry_events = spec.empty(), list[list[Any]]()
    assert_items(spec, items, spark_type, rows, row_events)
    for level in range(data.draw(st.integers(1, 3), label="levels")):
        triples = data.draw(_triples(len(rows), len(carry)), label=f"requests {level}")
        states, events = (
            spec.fold(rows, carry, *requests(*triples)),
            _merge(row_events, carry_events, triples),
        )
        assert_items(spec, items, spark_type, states, events)
        if data.draw(st.booleans(), label="through bytes"):
            states = spec.from_buffers(spec.to_buffers(states))
        if data.draw(st.booleans(), label="join and take"):
            states, events = States.concat([rows, states, carry]), row_events + events + carry_events
            idx = data.draw(st.lists(st.integers(0, len(events) - 1), max_size=6)) if events else []
            states, events = states.take(np.array(idx, np.int64)), [events[i] for i in idx]
            assert_items(spec, items, spark_type, states, events)
        if data.draw(st.booleans(), label="results become carries"):
            carry, carry_events = states, events
        else:
            rows, row_events = states, events


def test_two_attributes_do_not_mix() -> None:
    items = [("sum", "a"), ("last", "b"), ("avg", "b"), ("count", None), ("max", "a"), ("first", "a")]
    spec = spec_of(items, {"a": "int", "b": "double", "unused": "string"})
    columns = {"a": pa.array([1, None, 3], pa.int32()), "b": pa.array([0.5, 1.5, None])}
    states = spec.fold(spec.rows(columns), spec.empty(), *requests((0, 0, -1), (0, 2, -1), (1, 2, -1)))
    answers = [spec.item(index, states).to_pylist() for index in range(len(items))]
    assert spec.columns == ("a", "b")
    assert answers == [[1, 4, 3], [0.5, None, None], [0.5, 1.0, 1.5], [1, 3, 2], [1, 3, 3], [1, 1, None]]


def test_names_resolve_whatever_their_case() -> None:
    spec = spec_of([("sum", "Speed")], {"speed": "int"})
    assert spec.columns == ("speed",)
    assert spec.item(0, spec.rows({"speed": pa.array([7], pa.int32())})).to_pylist() == [7]


def test_nothing_to_aggregate_costs_no_arrays() -> None:
    spec = spec_of([], {"x": "double"})
    rows = spec.rows({}, length=3)
    states = States.concat([rows, spec.fold(rows, spec.empty(), *requests((0, 2, -1)))]).take(
        np.array([3, 0])
    )
    assert not spec
    assert (len(rows), len(states), states.nbytes) == (3, 2, 0)


def test_events_are_counted_when_asked() -> None:
    spec = spec_of([("min", "x")], {"x": "double"}, with_count=True)
    rows = spec.rows({"x": pa.array([1.0, None, 2.0])})
    first = spec.fold(rows, spec.empty(), *requests((0, 1, -1), (2, 1, -1)))
    assert spec.n_events(rows).tolist() == [1, 1, 1]
    assert spec.n_events(first).tolist() == [2, 0]
    assert spec.n_events(spec.fold(rows, first, *requests((2, 2, 0)))).tolist() == [3]


def test_a_dictionary_column_is_decoded() -> None:
    spec = spec_of([("max", "x"), ("first", "x")], {"x": "string"})
    rows = spec.rows({"x": pa.array(["b", None, "a", "b"]).dictionary_encode()})
    states = spec.fold(rows, spec.empty(), *requests((0, 3, -1), (1, 2, -1)))
    assert spec.item(0, states).to_pylist() == ["b", "a"]
    assert spec.item(1, states).to_pylist() == ["b", None]
    assert spec.item(0, states).type == pa.string()
