"""Saved state: restored at any cut it is what it was; anything else is refused with a StateError."""

from __future__ import annotations

import struct
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from conformance.random_events import in_stretches
from situ.errors import StateError
from situ.saved.codec import VERSION, Reader, Writer, sealed
from situations.drawing import SCHEMA, records

QUERY = situ.query(
    "FROM e PARTITION BY k ORDER BY t, x DEFINE A AS a, B AS b PATTERN A followed-by;meets B WITHIN 30 "
    "RETURN A.ts AS a, B.ts AS b, first(A.x) AS f, sum(A.x) AS s, max(B.k) AS m, stddev(B.x) AS d"
)


def rows(n: int) -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "k": [("p", "q", None)[i] for i in rng.integers(0, 3, n)],
            "t": np.arange(n),
            **{name: rng.random(n) < 0.4 for name in "abcdefgh"},
            "x": rng.normal(size=n).round(2),
        },
        schema=SCHEMA,
    )


ROWS = st.tuples(
    st.sampled_from(["p", "q", None]), st.booleans(), st.booleans(), st.sampled_from([0.25, -1.5, 3.0])
)


def run(table: pa.Table, cuts: list[int], options: dict[str, Any], restarted: bool) -> list[tuple[Any, ...]]:
    operator = QUERY.operator(SCHEMA, **options)
    found = []
    for begin, end in zip([0, *cuts], [*cuts, table.num_rows], strict=True):
        found.append(operator.push(table.slice(begin, end - begin)))
        if restarted:
            state = operator.state()
            operator = QUERY.operator(SCHEMA, state=state, **options)
            assert operator.state() == state
    found.append(operator.flush())
    return records(pa.concat_tables(found))


@pytest.mark.parametrize("options", [{}, {"watermark": 4}], ids=["as it comes", "watermark"])
@given(in_stretches(ROWS, 40), st.sets(st.integers(1, 39)))
def test_restarting_changes_nothing(options: dict[str, Any], drawn: list[Any], borders: set[int]) -> None:
    table = pa.Table.from_pylist(
        [{"k": k, "t": t, "a": a, "b": b, "x": x} for t, (k, a, b, x) in enumerate(drawn)], schema=SCHEMA
    )
    cuts = sorted(border for border in borders if border < len(drawn))
    assert run(table, cuts, options, True) == run(table, cuts, options, False)


def saved(**options: Any) -> bytes:
    operator = QUERY.operator(SCHEMA, **options)
    operator.push(rows(30))
    return operator.state()


def test_counters_and_what_waits_are_part_of_it() -> None:
    operator = QUERY.operator(SCHEMA, watermark=5, on_bad_rows="drop")
    operator.push(rows(30))
    operator.push(rows(40).slice(30, 1))
    operator.push(rows(40).slice(0, 2))
    operator.push(rows(1).set_column(1, "t", pa.nulls(1, pa.int64())))
    again = QUERY.operator(SCHEMA, watermark=5, on_bad_rows="drop", state=operator.state())
    for name in ("late", "n_waiting", "n_bad_rows", "n_partitions", "n_situations"):
        assert getattr(again, name) == getattr(operator, name), name
    assert (again.late, again.n_bad_rows) == (2, 1)
    assert records(again.flush()) == records(operator.flush())


def refused(state: bytes, query: situ.Query = QUERY, schema: pa.Schema = SCHEMA) -> str:
    with pytest.raises(StateError) as caught:
        query.operator(schema, state=state)
    return str(caught.value)


def test_other_bytes_and_versions_are_refused() -> None:
    state = saved()
    assert "are not saved state of situ" in refused(b"pickle" * 20)
    assert "of 0 bytes is cut off" in refused(b"")
    newer = state[:4] + struct.pack("<H", VERSION + 1) + state[6:]
    assert f"has version {VERSION + 1}, this situ reads version {VERSION}" in refused(newer)
    assert "of 10 bytes is cut off" in refused(state[:10])
    assert "is damaged or cut off" in refused(state[:-1])
    assert "is damaged or cut off" in refused(state + b"\0")


def test_a_reader_that_stops_early_says_so() -> None:
    writer = Writer(bytes(16))
    writer.array(np.arange(3))
    with pytest.raises(StateError, match="34 bytes too many"):
        Reader(writer.bytes(), bytes(16)).end()


def test_state_of_another_query_or_schema_is_refused() -> None:
    state = saved()
    other = situ.query(str(QUERY).replace("30", "31"))
    assert "of another query or another schema" in refused(state, other)
    wider = SCHEMA.set(SCHEMA.get_field_index("x"), pa.field("x", pa.float32()))
    assert "of another query or another schema" in refused(state, schema=wider)
    spaced = situ.query("\n ".join(str(QUERY).split(" ")))
    assert spaced.operator(SCHEMA, state=state).state() == state  # only its meaning counts


@pytest.mark.parametrize("options", [{}, {"watermark": 9}], ids=["as it comes", "watermark"])
def test_cut_off_anywhere_it_is_refused(options: dict[str, Any]) -> None:
    state = saved(**options)
    for length in [*range(0, len(state), 7), len(state) - 1]:
        refused(state[:length])


@given(st.data())
def test_damage_anywhere_is_refused(data: st.DataObject) -> None:
    """A wrong position in it would not raise: it would crash the process in a kernel or in Arrow."""
    state = bytearray(WHOLE)
    at = data.draw(st.integers(0, len(state) - 1))
    state[at] ^= data.draw(st.integers(1, 255))
    refused(bytes(state))


WHOLE = saved(watermark=9)


def test_arrays_are_little_endian_whatever_they_were() -> None:
    values = np.array([1, 2**40, -3], np.int64)
    little, big = Writer(bytes(16)), Writer(bytes(16))
    little.array(values.astype("<i8"))
    big.array(values.astype(">i8"))
    assert little.bytes() == big.bytes()
    section = struct.pack("<BBQ", 0, 1, 3) + values.astype("<i8").tobytes()
    assert little.bytes() == sealed(bytes(16), section)
    found = Reader(big.bytes(), bytes(16)).array()
    assert found.tolist() == values.tolist()
    assert found.dtype.isnative


@pytest.mark.parametrize("dtype", ["i8", "u8", "f8", "u1", "?", "i4", "u4", "i2", "u2", "i1"])
def test_arrays_of_every_type_and_shape_come_back(dtype: str) -> None:
    writer = Writer(bytes(16))
    arrays = [np.arange(12).astype(dtype).reshape(shape) for shape in ((12,), (3, 4), (2, 3, 2))]
    arrays += [np.empty((0, 5), dtype), np.empty((2, 0), dtype)]
    for array in arrays:
        writer.array(array)
    reader = Reader(writer.bytes(), bytes(16))
    for array in arrays:
        found = reader.array()
        assert found.dtype == array.dtype
        assert found.shape == array.shape
        assert np.array_equal(found, array)
    reader.end()


def test_a_size_that_would_overflow_is_refused() -> None:
    body = struct.pack("<BB2Q", 0, 2, 2**33, 2**33)
    with pytest.raises(StateError, match="damaged near byte 0"):
        Reader(sealed(bytes(16), body), bytes(16)).array()


def test_state_is_compressed() -> None:
    """Small numbers in eight bytes each, as symbols and offsets are, take a fraction of that."""
    writer = Writer(bytes(16))
    writer.array(np.random.default_rng(5).integers(0, 4, 10_000))
    assert len(writer.bytes()) < 10_000 * 8 // 2


def test_no_pickle_is_involved(monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("pickled")

    for name in ("dumps", "dump", "loads", "load"):
        monkeypatch.setattr(pickle, name, refuse)
    QUERY.operator(SCHEMA, state=saved())
    assert b"numpy" not in saved()
    assert b"pyarrow" not in saved()


def test_state_is_compact() -> None:
    """Per kept situation its instants, verdict and aggregates, and little else."""
    operator = QUERY.operator(SCHEMA)
    operator.push(rows(30))
    assert len(operator.state()) < 5000 + 200 * operator.n_situations
    assert sys.getsizeof(operator.state()) < 2 * operator.nbytes + 5000
