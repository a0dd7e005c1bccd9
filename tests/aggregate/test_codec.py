"""States as bytes: what is written is read, anything else is refused with its reason."""

from __future__ import annotations

import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from aggregate.samples import requests, spec_of
from situ.aggregate import AggregateSpec, States
from situ.errors import StateError

ITEMS = [("sum", "x"), ("stddev", "x"), ("last", "x"), ("min", "s"), ("first", "s"), ("count", "s")]
TYPES = {"x": "double", "s": "string"}
COLUMNS = {"x": pa.array([1.5, None, 2.5]), "s": pa.array(["b", None, "a"])}


def _states(spec: AggregateSpec) -> States:
    return spec.fold(
        spec.rows(COLUMNS), spec.empty(), *requests((0, 0, -1), (0, 2, -1), (1, 1, -1), (3, 2, -1))
    )


def _answers(spec: AggregateSpec, states: States) -> list[list[object]]:
    return [spec.item(index, states).to_pylist() for index in range(len(ITEMS))]


def test_the_layout_is_fixed() -> None:
    """Saved states must stay readable: a change here needs a new version number."""
    spec = spec_of([("count", None), ("sum", "x"), ("max", "i")], {"x": "double", "i": "bigint"})
    columns = {"x": pa.array([0.5, None]), "i": pa.array([None, 258])}
    states = spec.fold(spec.rows(columns), spec.empty(), *requests((0, 0, -1), (0, 1, -1)))
    header, *arrays = spec.to_buffers(states)
    little = [number.to_bytes(8, "little") for number in (1, 2)]
    assert header[:16] == b"".join(little)  # version 1, two entries
    assert arrays[0] == b"".join(little)  # count(A)
    assert arrays[1] == little[0] * 2  # n, total, rest of sum(A.x)
    assert arrays[2] == bytes.fromhex("000000000000e03f") * 2
    assert arrays[3] == bytes(16)
    assert arrays[4:] == [bytes(8) + (258).to_bytes(8, "little"), b"\x02"]  # max(A.i), validity as bits


def test_bytes_come_back_as_states() -> None:
    spec = spec_of(ITEMS, TYPES)
    states = _states(spec)
    for buffers in (spec.to_buffers(states), [memoryview(b) for b in spec.to_buffers(states)]):
        assert _answers(spec, spec.from_buffers(buffers)) == _answers(spec, states)
    assert len(spec.from_buffers(spec.to_buffers(spec.empty()))) == 0


def test_sums_as_large_as_their_values_can_be_are_restored() -> None:
    """Of a negative sum of many digits nearly all cancels out when its parts are added up."""
    spec = spec_of([("sum", "x")], {"x": "decimal(19,2)"})
    values = [Decimal("-99999977619896412.18"), Decimal("-99999999999999999.99")]
    columns = {"x": pa.array(values, pa.decimal128(19, 2))}
    states = spec.fold(spec.rows(columns), spec.empty(), *requests((0, 1, -1)))
    restored = spec.from_buffers(spec.to_buffers(states))
    assert spec.item(0, restored).to_pylist() == [sum(values)]


def test_unaligned_bytes_are_copied() -> None:
    spec = spec_of([("sum", "x")], TYPES)
    states = spec.fold(spec.rows(COLUMNS), spec.empty(), *requests((0, 2, -1)))
    shifted = [memoryview(b"_" + buffer)[1:] for buffer in spec.to_buffers(states)]
    restored = spec.from_buffers(shifted)
    assert all(array.flags.aligned and not array.flags.writeable for array in restored.parts[0].arrays)
    assert spec.item(0, restored).to_pylist() == [4.0]


def test_what_cannot_be_restored_is_refused() -> None:
    spec = spec_of(ITEMS, TYPES)
    good = spec.to_buffers(_states(spec))
    newer = np.frombuffer(good[0], "<i8").copy()
    newer[0] = 99
    cases = {
        "header of 24 bytes": [b"", *good[1:]],
        "format 99, this version of situ reads format 1": [newer.tobytes(), *good[1:]],
        "buffers, expected": good[:-1],
        "a buffer has 3 bytes": [good[0], b"abc", *good[2:]],
        "damaged": [*good[:-1], good[-1][:40]],
    }
    for message, buffers in cases.items():
        with pytest.raises(StateError, match=message):
            spec.from_buffers(buffers)
    with pytest.raises(StateError, match="other RETURN items or to other column types"):
        spec_of(ITEMS, TYPES | {"x": "float"}).from_buffers(good)


def test_a_specification_travels_to_workers() -> None:
    spec = spec_of(ITEMS, TYPES)
    sent = pickle.loads(pickle.dumps(spec))
    states = _states(spec)
    assert _answers(sent, sent.from_buffers(spec.to_buffers(states))) == _answers(spec, states)
