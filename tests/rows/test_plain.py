"""Columns of unusual Arrow types, pandas' and Polars': the right result, or an error that says what to do."""

from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, TimeColumnError, UnknownColumnError
from situ.rows.plain import plain_table

TIMES = [datetime(2024, 1, 1, hour) for hour in range(6)]
X = [1, 5, 5, 1, 5, 1]
QUERY = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1 RETURN A.ts AS since")
KEYED = situ.query(
    "FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 1 RETURN A.ts AS since, last(A.k) AS key"
)


def table(**columns: Any) -> pa.Table:
    return pa.table({"ts": pa.array(TIMES, pa.timestamp("us")), "x": X} | columns)


def everywhere(events: pa.Table, query: situ.Query, **options: Any) -> pa.Table:
    """What every in-process way finds, which must be the same."""
    found = situ.match(events, query, **options).sort_by("match_time")
    whole, restored = query.operator(events.schema, **options), query.operator(events.schema, **options)
    pushed = [whole.push(events.slice(0, 3))]
    again = query.operator(events.schema, state=whole.state(), **options)
    pushed.append(again.push(events.slice(3).to_batches()[0]))
    single = [restored.push(event) for event in events.to_pylist()]
    for several in (pushed, single):
        assert pa.concat_tables(several).sort_by("match_time").equals(found)
    assert situ.why(events, query).matches == found.num_rows
    assert situ.situations(events, query).num_rows >= found.num_rows
    return found


@pytest.mark.parametrize(
    "times", [pa.array(TIMES, pa.timestamp("ns")), pa.array(range(6)), pa.array(TIMES).cast(pa.date32())]
)
def test_times_in_a_dictionary_are_decoded(times: pa.Array) -> None:
    events = table().set_column(0, "ts", times.dictionary_encode())
    if pa.types.is_date(times.type):
        events = events.slice(0, 1)
        assert situ.match(events, QUERY)["since"].type == pa.date32()
        return
    assert everywhere(events, QUERY)["since"].to_pylist() == [times[1].as_py(), times[4].as_py()]
    assert situ.match(events, QUERY)["since"].type == times.type


KEYS = list("aabbaa")
UUIDS = [uuid.UUID(int=ord(key)) for key in KEYS]


@pytest.mark.parametrize(
    ("keys", "like"),
    [
        (pa.array(KEYS, pa.string_view()), pa.array(KEYS, pa.large_string())),
        (pa.array([k.encode() for k in KEYS], pa.binary_view()), pa.array([k.encode() for k in KEYS])),
        (pa.array([k.encode() for k in KEYS], pa.binary(1)), pa.array([k.encode() for k in KEYS])),
        (pa.array([Decimal(ord(k)) for k in KEYS], pa.decimal256(20, 2)), None),
        (pa.array([Decimal(ord(k)) for k in KEYS], pa.decimal32(6, 2)), None),
        (pa.array(UUIDS, pa.uuid()), pa.array([one.bytes for one in UUIDS])),
        (pa.array(KEYS, pa.json_()), pa.array(KEYS)),
        (pa.RunEndEncodedArray.from_arrays([2, 4, 6], list("aba")), pa.array(KEYS)),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_keys_and_attributes_of_unusual_types_are_taken(keys: pa.Array, like: pa.Array | None) -> None:
    if like is None:
        like = keys.cast(pa.decimal128(keys.type.precision, 2))
    found = everywhere(table(k=keys), KEYED, match_id=True)
    assert found.equals(situ.match(table(k=like), KEYED, match_id=True).sort_by("match_time"))
    assert found["k"].to_pylist() == found["key"].to_pylist() == [like[0].as_py(), like[2].as_py()]


def test_conditions_on_unusual_types() -> None:
    text = "FROM t ORDER BY ts DEFINE A AS {} RETURN A.ts AS since"
    views = table(
        k=pa.array(KEYS, pa.string_view()), d=pa.array([Decimal(x) for x in X], pa.decimal256(9, 1))
    )
    views = views.append_column("o", pa.array([x > 1 for x in X]).cast(pa.int8()).cast(pa.bool8()))
    for condition in ("k = 'b'", "k LIKE 'b%'"):
        assert (
            everywhere(views.drop(["o"]), situ.query(text.format(condition)))["since"].to_pylist()
            == TIMES[2:3]
        )
    for condition in ("d > 1", "o"):
        found = situ.match(views, situ.query(text.format(condition)))
        assert found["since"].to_pylist() == [TIMES[1], TIMES[4]]


class Point(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.int32(), "test.point")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pa.array([Decimal(1)] * 6, pa.decimal256(50, 2)), r"decimal256\(50, 2\), which situ does not read"),
        (pa.ExtensionArray.from_storage(Point(), pa.array(X, pa.int32())), "extension<.*situ does not read"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "PARTITION BY k ORDER BY ts DEFINE A AS x > 1",
        "ORDER BY ts DEFINE A AS k > 1",
        "ORDER BY ts DEFINE A AS x > 1 RETURN max(A.k) AS m",
        "ORDER BY ts, k DEFINE A AS x > 1",
    ],
)
def test_types_without_a_meaning_here_are_refused_by_name(column: pa.Array, says: str, text: str) -> None:
    query, events = situ.query(f"FROM t {text}"), table(k=column)
    for attempt in (situ.match, situ.situations, situ.why, lambda e, q: q.operator(e.schema)):
        with pytest.raises(DataError, match=f"column k is of Arrow type {says}") as caught:
            attempt(events, query)
        assert caught.value.hint
    assert situ.match(events, QUERY).num_rows == 2  # a column nobody asks for does no harm


def not_utf8() -> pa.Array:
    offsets = pa.array(KEYS).buffers()[1]
    return pa.StringArray.from_buffers(6, offsets, pa.py_buffer(b"aa\xff\xffaa"))


def test_keys_that_are_not_utf8_are_values_like_others() -> None:
    events = table(k=not_utf8())
    found = situ.match(events, KEYED, match_id=True)
    assert found["k"].cast(pa.binary()).to_pylist() == [b"a", b"\xff"]
    assert len(set(found["match_id"].to_pylist())) == 2
    operator = KEYED.operator(events.schema, match_id=True)
    assert operator.push(events).equals(found)
    again = KEYED.operator(events.schema, match_id=True, state=operator.state())
    assert again.push(events).num_rows == 0
    assert again.late == 6
    with pytest.raises(DataError, match=r"share the time .* in partition \(b'\\xff',\)"):
        situ.match(pa.concat_tables([events.slice(2, 1)] * 2), KEYED, ties="error")
    nulls = events.set_column(0, "ts", pa.nulls(6, pa.timestamp("us"))).slice(2)
    with pytest.raises(DataError, match=r"for example \{'ts': None, 'x': 5, 'k': b'\\xff'\}"):
        situ.match(nulls, KEYED)


def test_valid_keys_keep_their_ids() -> None:
    (valid,) = set(situ.match(table(k=["a"] * 6), KEYED, match_id=True)["match_id"].to_pylist()[:1])
    assert valid in situ.match(table(k=not_utf8()), KEYED, match_id=True)["match_id"].to_pylist()


FRAME = pd.DataFrame({"ts": TIMES, "x": X})
INDEXED = pd.DataFrame({"x": X}, index=pd.DatetimeIndex(TIMES))
TEXTS = FRAME.assign(ts=FRAME.ts.astype(str))


@pytest.mark.parametrize(
    ("events", "text", "kind", "says"),
    [
        (
            pd.concat([FRAME, FRAME], axis=1),
            "ORDER BY ts",
            DataError,
            "more than one column ts, x.*rename or drop",
        ),
        (
            FRAME.set_index("ts"),
            "ORDER BY ts",
            UnknownColumnError,
            r"ts is in the .* index: give df.reset_index\(\)",
        ),
        (
            FRAME.set_index(["ts", "x"]),
            "ORDER BY ts",
            UnknownColumnError,
            "ts, x are in the DataFrame's index",
        ),
        (INDEXED, "ORDER BY ts", UnknownColumnError, r'give df.rename_axis\("ts"\).reset_index\(\)'),
        (INDEXED, "", TimeColumnError, r'give df.rename_axis\("time"\).reset_index\(\)'),
        (TEXTS, "ORDER BY ts", TimeColumnError, r'df\["ts"\] = pd.to_datetime\(df\["ts"\]\)'),
        (TEXTS, "", TimeColumnError, r'df\["ts"\] = pd.to_datetime\(df\["ts"\]\)'),
        (FRAME.assign(ts="1/2/2024"), "ORDER BY ts", TimeColumnError, r"pd.to_datetime"),
        (pl.from_pandas(TEXTS), "ORDER BY ts", TimeColumnError, r'pl.col\("ts"\).str.to_datetime\(\)'),
        (pa.Table.from_pandas(TEXTS), "ORDER BY ts", TimeColumnError, r"pyarrow.compute.cast"),
        (FRAME.assign(x=[1, "a"] * 3), "ORDER BY ts", DataError, "Conversion failed for column x.*one type"),
        (FRAME.assign(x=pd.arrays.SparseArray(X)), "ORDER BY ts", DataError, "Sparse.*not supported"),
    ],
)
def test_frames_that_cannot_be_taken_say_what_to_type(
    events: Any, text: str, kind: type[Exception], says: str
) -> None:
    query = situ.query(f"FROM t {text} DEFINE A AS x > 1")
    for attempt in (situ.match, situ.why):
        with pytest.raises(kind, match=f"(?s){says}"):
            attempt(events, query)


def test_what_the_hints_say_works() -> None:
    expected = situ.match(FRAME, QUERY).to_dict("list")
    indexed = INDEXED.rename_axis("ts").reset_index()
    dated = TEXTS.assign(ts=pd.to_datetime(TEXTS["ts"]))
    single = pd.concat([FRAME, FRAME], axis=1)
    single = single.loc[:, ~single.columns.duplicated()]
    categorical = FRAME.assign(ts=FRAME.ts.astype("category"))
    for events in (FRAME.set_index("ts").reset_index(), indexed, dated, single, categorical):
        assert situ.match(events, QUERY).to_dict("list") == expected
    polars = pl.from_pandas(TEXTS).with_columns(pl.col("ts").str.to_datetime())
    assert situ.match(polars, QUERY)["since"].to_list() == [TIMES[1], TIMES[4]]


def test_a_plain_table_is_taken_as_it_is() -> None:
    events = table(k=pa.array(KEYS).dictionary_encode(), f=np.arange(6.0))
    assert plain_table(events) is events
