"""Partitions in segments: whatever is written, read, compacted and forgotten, each slot keeps its own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.carry.store import _MOST_SEGMENTS, Store
from situ.operators.situations.kernels.layout import Entries, Slots
from situ.operators.situations.known import Known
from situ.saved.codec import Reader, Writer
from situations.drawing import operator_of

OPERATOR = operator_of("DEFINE A AS a, B AS b PATTERN A followed-by B WITHIN 9 RETURN sum(A.x) AS s")
ENGINE = OPERATOR.engine


def known_of(marks: list[int]) -> Known:
    """One partition per mark, with `mark % 3` entries, all of whose numbers tell the mark."""
    sizes = [mark % 3 for mark in marks]
    values = np.repeat(np.array(marks, np.int64), sizes)
    symbol = np.zeros(len(values), np.int64)
    ts = np.array(starts(marks), np.int64)
    entries = Entries(symbol, ts, ts + 1, ts, values[None, :], np.concatenate([[0], np.cumsum(sizes)]))
    columns = {"x": pa.array(values.astype(float))}
    carry = (ENGINE.aggregates[0].rows(columns, len(values)), ENGINE.aggregates[1].empty())
    horizon = np.array(marks, np.int64)
    held = (horizon % 4).astype(np.uint64)
    return Known.of(Slots(horizon, held, np.stack([horizon, horizon])), entries, carry)


def starts(marks: list[int]) -> list[int]:
    """Of the entries: one after the other, over by the time of the mark."""
    return [mark - 4 + 2 * i for mark in marks for i in range(mark % 3)]


def marks_of(known: Known) -> list[int]:
    """The marks, after a check that everything else tells the same."""
    marks = known.slots.horizon.tolist()
    assert known.slots.mask.tolist() == [mark % 4 for mark in marks]
    assert known.slots.raw_end.tolist() == [marks, marks]
    repeated = [mark for mark in marks for _ in range(mark % 3)]
    assert known.entries.ts.tolist() == starts(marks)
    assert known.entries.verdict.tolist() == [repeated]
    assert known.entries.offset.tolist() == np.cumsum([0] + [mark % 3 for mark in marks]).tolist()
    states = known.carry[0]
    assert len(states) == len(repeated)
    assert ENGINE.aggregates[0].item(0, states).to_pylist() == [float(mark) for mark in repeated]
    return marks


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True), max_size=90), st.data())
def test_slots_keep_what_was_written_last(writes: list[list[int]], data: st.DataObject) -> None:
    store = Store(OPERATOR, [pa.int64()])
    expected: dict[int, int] = {}  # key -> mark
    for mark, keys in enumerate(writes):
        slots = np.sort(store.slots_of([pa.array(keys)]))
        if data.draw(st.integers(0, 30)) == 0:
            store.compact()
        store.write(slots, known_of([mark + 100] * len(slots)))
        expected |= dict.fromkeys(keys, mark + 100)
        if expected and data.draw(st.integers(0, 9)) == 0:
            gone = data.draw(st.sets(st.sampled_from(sorted(expected))))
            number = store.forget(store.slots_of([pa.array(sorted(gone), pa.int64())]))
            for key in gone:
                del expected[key]
            assert len(store) == len(expected) == int(number[-1]) + 1 or not expected
    assert len(store._segments) <= _MOST_SEGMENTS
    if not expected:
        return
    order = data.draw(st.permutations(sorted(expected)))
    slots = store.slots_of([pa.array(order)])
    assert store.keys(slots)[0].to_pylist() == order
    assert marks_of(store.read(slots)) == [expected[key] for key in order]
    writer = Writer(bytes(16))
    store.write_to(writer)
    again = Store(OPERATOR, [pa.int64()])
    again.read_from(Reader(writer.bytes(), bytes(16)))
    assert marks_of(again.read(again.slots_of([pa.array(order)]))) == [expected[key] for key in order]
    assert again.n_entries == store.n_entries == sum(mark % 3 for mark in expected.values())


def test_a_partition_never_written_is_new() -> None:
    store = Store(OPERATOR, [pa.string()])
    slots = store.slots_of([pa.array(["x", None])])
    assert store.read(slots).slots.horizon.tolist() == ENGINE.nothing_known(2).slots.horizon.tolist()
    assert store.n_entries == 0
    assert len(store.known_slots()) == 0


def test_a_single_slot_is_replaced_in_place() -> None:
    store = Store(OPERATOR, [])
    slot = np.zeros(1, np.int64)
    for mark in (1, 2, 3):
        store.write(slot, known_of([mark]))
    assert len(store._segments) == 1
    assert marks_of(store.read(slot)) == [3]


def test_many_single_slots_are_compacted() -> None:
    store = Store(OPERATOR, [pa.int64()])
    for key in range(3 * _MOST_SEGMENTS):
        store.write(store.slots_of([pa.array([key])]), known_of([key]))
    assert len(store._segments) <= _MOST_SEGMENTS
    slots = store.known_slots()
    assert marks_of(store.read(slots)) == list(range(3 * _MOST_SEGMENTS))


def test_a_slot_leaves_no_waste_behind_for_long() -> None:
    """Slots rewritten one by one leave holes in their old segment; memory must not grow with them."""
    store = Store(OPERATOR, [pa.int64()])
    store.write(store.slots_of([pa.array(range(50))]), known_of(list(range(50))))
    once = store.nbytes
    for _ in range(20):
        for key in range(49):  # the last slot keeps the old segment alive
            store.write(store.slots_of([pa.array([key])]), known_of([key]))
    assert store.nbytes < 3 * once


@pytest.mark.parametrize("keys", [[True, 1], [0.0, -0.0]])
def test_keys_are_told_apart_by_value_not_by_identity(keys: list[object]) -> None:
    store = Store(OPERATOR, [pa.float64()])
    slots = store.slots_of([pa.array([float(key) for key in keys])])  # type: ignore[arg-type]
    assert slots[0] == slots[1]
