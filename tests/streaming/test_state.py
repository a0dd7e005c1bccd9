"""What a bucket keeps: cells that split and join, and reads and writes that go by the active keys."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.carry.stream.bucket import Bucket
from situ.carry.stream.cells import KEYS_PER_CELL, affected, cells_of, wanted_cells
from situ.carry.stream.pack import hashes_of
from situ.errors import StateError
from streaming.in_memory import MemoryStream

HELD = "FROM s PARTITION BY k ORDER BY t DEFINE A AS x > 0 AT LEAST 5 WITHIN 100"
SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64()), ("x", pa.int64())])
HASHES = [
    0,
    6262535351050502955,
    1100679545284136963,
    2529891317249477581,
    0,
    811240968778649211,
    1100679545284136963,
    8157081389145171668,
    1215319031351907392,
]


def rows(keys: np.ndarray, t: int, x: int) -> pa.Table:
    n = len(keys)
    return pa.table({"k": keys, "t": np.full(n, t), "x": np.full(n, x)}, SCHEMA)


@given(st.integers(1, 200), st.integers(1, 200), st.lists(st.integers(0, 2**63 - 1), max_size=200))
def test_only_affected_cells_change(before: int, after: int, values: list[int]) -> None:
    hashes = np.array(values, np.int64)
    old, new = cells_of(hashes, before), cells_of(hashes, after)
    assert ((new >= 0) & (new < after)).all()
    touched = affected(before, after)
    assert touched <= set(range(before))
    moved = old != new
    assert set(old[moved].tolist()) <= touched
    assert {cell for cell in new[moved].tolist() if cell < before} <= touched


@pytest.mark.parametrize(
    ("n_cells", "n_full", "more", "wanted"),
    [(1, 1, 0, 1), (1, 1, 1, 2), (4, 1, 0, 4), (4, 1, -1, 1), (3, 0, 0, 1)],
)
def test_cells_follow_the_number_of_keys(n_cells: int, n_full: int, more: int, wanted: int) -> None:
    """As many keys as fill `n_full` cells, and some more or less."""
    assert wanted_cells(n_cells, n_full * KEYS_PER_CELL + more) == wanted


def test_hashes_never_change() -> None:
    """State is found again by them: another hash needs another version of the state."""
    numbers = hashes_of([pa.array([0, 1, None, -7], pa.int64())])
    texts = hashes_of([pa.array(["", "car", None, "é"])])
    both = hashes_of([pa.array([1], pa.int32()), pa.array(["car"])])
    assert (numbers[1] == hashes_of([pa.array([1], pa.int8())])[0]).all()
    assert [*numbers.tolist(), *texts.tolist(), *both.tolist()] == HASHES


def test_a_micro_batch_costs_by_its_active_keys() -> None:
    """Reads and writes of the state store, counted: 20 keys of 40,000 known against 20 of 20 known."""
    calls = {}
    for n_known in (20, 40_000):
        stream = MemoryStream(HELD, SCHEMA, n_buckets=2)
        stream.push(rows(np.arange(n_known), 0, 1))
        shelves = stream.shelves.values()
        # cells fill evenly, whatever the number of buckets
        n_cells = sum(len(shelf.values) - 1 for shelf in shelves)
        assert n_cells >= 0.9 * n_known / KEYS_PER_CELL
        before = sum(shelf.n_calls for shelf in shelves)
        stream.push(rows(np.arange(0, n_known, n_known // 20), 1, 1))
        calls[n_known] = sum(shelf.n_calls for shelf in shelves) - before
    assert calls[20] == 2 * 2
    assert calls[40_000] <= 2 * 20


def test_silent_partitions_leave_a_residue_or_nothing() -> None:
    """SEM 8.4, 8.5: 64 bytes beside the key while the condition holds, nothing where it does not."""
    n = 50 * KEYS_PER_CELL
    stream = MemoryStream(HELD, SCHEMA, has_watermark=True, n_buckets=1)
    stream.push(rows(np.arange(n), 0, 0), 0)
    stream.push(rows(np.arange(n), 10, 1), 5)
    assert stream.n_keys == 0  # no condition held
    stream.advance(11)
    assert stream.n_keys == n
    full = stream.nbytes
    stream.advance(10_000)
    assert stream.n_keys == n  # their condition holds
    key_bytes = 8 * n
    assert stream.nbytes - key_bytes < 64 * n
    assert stream.nbytes < full
    assert stream.next_instant == 2**63 - 1
    stream.push(rows(np.arange(n), 20_000, 0), 10_000)
    stream.advance(30_000)
    assert stream.n_keys == 0
    assert set(stream.shelves[0].values) == {"head"}


def test_forget_after_removes_the_residue() -> None:
    stream = MemoryStream(HELD, SCHEMA, {"forget_after": 1_000}, has_watermark=True, n_buckets=1)
    stream.push(rows(np.arange(100), 10, 1), 5)
    stream.advance(900)
    assert stream.n_keys == 100
    stream.advance(2_100)
    assert stream.n_keys == 0


def test_state_of_another_query_is_refused() -> None:
    stream = MemoryStream(HELD, SCHEMA, n_buckets=1)
    stream.push(rows(np.arange(3), 0, 1))
    other = MemoryStream(HELD.replace("100", "99"), SCHEMA, n_buckets=1)
    with pytest.raises(StateError, match="another query"):
        Bucket(other.program, stream.shelves[0])
