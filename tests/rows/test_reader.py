"""Small batches are read in Arrow's memory: the same instants and masks as column by column."""

from __future__ import annotations

import gc

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.errors import DataError
from situ.operators.questions import deriving
from situ.options import Options
from situ.rows.read import TableReader
from situ.rows.schema import spark_schema

pytestmark = pytest.mark.nojit


def preparer_of(batch: pa.RecordBatch, n: int, others: str = "", where: str = "") -> TableReader:
    conditions = ", ".join(f"S{i} AS s{i}" for i in range(n))
    query = situ.query(f"FROM e {where} ORDER BY t DEFINE {conditions}{others}")
    needs = deriving(query).bind(spark_schema(batch.schema), Options()).needs
    return TableReader(needs, batch.schema, on_bad_rows="drop")


@st.composite
def batches(draw: st.DrawFn) -> tuple[pa.RecordBatch, int]:
    """A slice of a batch with a time and up to ten boolean columns, with and without nulls."""
    size = draw(st.integers(1, 40))
    n = draw(st.sampled_from([1, 2, 3, 9, 10]))
    kind = draw(st.sampled_from([pa.int64(), pa.timestamp("us", "UTC"), pa.int32(), pa.timestamp("ms")]))
    nulls = draw(st.booleans())
    times = draw(
        st.lists(st.integers(0, 99) | (st.none() if nulls else st.nothing()), min_size=size, max_size=size)
    )
    flags = st.sampled_from([True, False, None]) if draw(st.booleans()) else st.booleans()
    columns = {
        f"s{i}": pa.array(draw(st.lists(flags, min_size=size, max_size=size)), pa.bool_()) for i in range(n)
    }
    names = draw(st.permutations([*columns, "t"]))
    columns["t"] = (
        pa.array(times, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else pa.array(times, kind)
    )
    whole = pa.record_batch({name: columns[name] for name in names})
    first = draw(st.integers(0, size - 1))
    return whole.slice(first, draw(st.integers(1, size))), n


@given(batches())
def test_a_batch_read_at_once_is_what_its_columns_say(drawn: tuple[pa.RecordBatch, int]) -> None:
    batch, n = drawn
    prepared = preparer_of(batch, n)(batch)
    rows = [row for row in batch.to_pylist() if row["t"] is not None]
    times = pa.array([row["t"] for row in rows], batch.schema.field("t").type)
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("us", times.type.tz))
    assert prepared.time.tolist() == times.cast(pa.int64()).to_pylist()
    assert prepared.mask.tolist() == [sum(1 << i for i in range(n) if row[f"s{i}"]) for row in rows]


def test_it_is_read_at_once_unless_a_time_is_null() -> None:
    batch = pa.record_batch({"t": [1, 2, 3], "s0": [True, None, False]})
    reader = preparer_of(batch, 1)._at_once
    found = reader(batch)
    assert found is not None
    time, mask = found
    del batch, found
    gc.collect()  # what was read is a copy
    assert (time.tolist(), mask.tolist()) == ([1, 2, 3], [1, 0, 0])
    assert reader(pa.record_batch({"t": pa.array([1, None]), "s0": [True, True]})) is None
    no_nulls_left = pa.record_batch({"t": pa.array([1, None, 2, 3]), "s0": [True] * 4}).slice(2)
    assert reader(no_nulls_left)[0].tolist() == [2, 3]


def test_other_conditions_and_where_are_looked_at_as_ever() -> None:
    batch = pa.record_batch({"t": [1, 2, 3, 4], "s0": [True, False, True, False], "x": [1.0, 2.0, 3.0, None]})
    prepared = preparer_of(batch, 1, others=", B AS x > 1.5, C AS x > 2.5 OR s0", where="WHERE t <> 2")(batch)
    assert prepared.time.tolist() == [1, 3, 4]
    assert prepared.mask.tolist() == [0b101, 0b111, 0]


def test_a_null_time_is_refused_as_in_large_batches() -> None:
    batch = pa.record_batch({"t": pa.array([1, None]), "s0": [True, True]})
    operator = situ.query("FROM e ORDER BY t DEFINE A AS s0 WITHIN 9").operator(batch.schema)
    with pytest.raises(DataError, match="time column t is null in 1 row"):
        operator.push(batch)


@pytest.mark.parametrize("clause", ["DEFINE A AS s0", "WHERE s0 ORDER BY t DEFINE A AS b"])
def test_a_column_of_nulls_is_true_nowhere(clause: str) -> None:
    """Its type is null, as in a pandas column of None: it has no bits to read."""
    batch = pa.record_batch({"t": [1, 2], "b": [True, True], "s0": pa.nulls(2)})
    query = situ.query(f"FROM e {'ORDER BY t ' if 'ORDER' not in clause else ''}{clause} WITHIN 9")
    assert query.operator(batch.schema).push(batch).num_rows == 0
    assert situ.match(pa.Table.from_batches([batch]), query).num_rows == 0
