"""A LazyFrame stays lazy: bound at once, answered when it is collected, of the columns that are needed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import situ

QUERY = situ.query(
    "FROM t PARTITION BY k ORDER BY ts WHERE Y > 0 DEFINE A AS x > 1 RETURN A.ts AS since, max(A.x) AS most"
)
FRAME = pl.DataFrame(
    {
        "ts": [1, 2, 3, 4],
        "x": [0, 5, 6, 0],
        "k": ["a", "b", "a", "b"],
        "y": [1, 1, 1, 1],
        "other": [1, 2, 3, 4],
    }
)
NOON = datetime(2024, 5, 1, 12)


def test_a_lazy_answer_is_what_its_frame_gives() -> None:
    lazy = situ.match(FRAME.lazy(), QUERY)
    assert isinstance(lazy, pl.LazyFrame)
    expected = situ.match(FRAME, QUERY)
    assert expected.height == 2
    for engine in ("in-memory", "streaming"):
        assert_frame_equal(lazy.collect(engine=engine), expected)  # type: ignore[call-overload]
    narrowed = lazy.filter(pl.col("k") == "a").select("most")
    assert_frame_equal(narrowed.collect(), expected.filter(pl.col("k") == "a").select("most"))
    assert_frame_equal(situ.situations(FRAME.lazy(), QUERY).collect(), situ.situations(FRAME, QUERY))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 1))))
def test_lazy_answers_are_those_of_frames(rows: list[tuple[int, int, str, int]]) -> None:
    schema = {"ts": pl.Int64, "x": pl.Int64, "k": pl.String, "y": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    lazy = situ.match(frame.lazy(), QUERY, ties="last", match_id=True)
    assert_frame_equal(lazy.collect(), situ.match(frame, QUERY, ties="last", match_id=True))
    derived = situ.situations(frame.lazy(), QUERY, ties="last")
    assert_frame_equal(derived.collect(), situ.situations(frame, QUERY, ties="last"))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pl.Categorical, ["a", "b"]),
        (pl.Enum(["a", "b"]), ["a", "b"]),
        (pl.Binary, [b"a", b"b"]),
        (pl.Boolean, [True, False]),
        (pl.UInt8, [1, 2]),
        (pl.Date, [date(2024, 1, 1), date(2024, 1, 2)]),
        (pl.Datetime("ns"), [NOON, NOON + timedelta(1)]),
        (pl.Datetime("ms", "Europe/Berlin"), [NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=UTC)]),
        (pl.Decimal(12, 2), [Decimal("1.50"), Decimal("2.25")]),
        (pl.Float32, [1.5, None]),
    ],
)
def test_the_schema_is_known_before_any_row_is_read(kind: Any, values: list[Any]) -> None:
    key = pl.Series("k", values, dtype=kind)
    times = pl.Series("ts", [NOON, NOON + timedelta(seconds=1)], dtype=pl.Datetime("us", "UTC"))
    frame = pl.DataFrame([key, times, pl.Series("x", [5.0, 6.0])])
    text = "DEFINE A AS x > 1 RETURN A.ts AS since, avg(A.x) AS mean, last(A.k) AS key, A.duration AS took"
    partition = "" if kind == pl.Float32 else "PARTITION BY k"
    query = situ.query(f"FROM t {partition} ORDER BY ts {text}")
    lazy = situ.match(frame.lazy(), query)
    assert lazy.collect_schema() == lazy.collect().schema == situ.match(frame, query).schema


def watched(read: list[list[str]]) -> pl.LazyFrame:
    """The frame, noting the columns whenever it is read."""

    def note(frame: pl.DataFrame) -> pl.DataFrame:
        read.append(frame.columns)
        return frame

    return FRAME.lazy().map_batches(note, schema=FRAME.schema)


def test_nothing_is_read_before_it_is_collected() -> None:
    read: list[list[str]] = []
    lazy = situ.match(watched(read), QUERY)
    lazy.collect_schema()
    assert read == []
    lazy.collect()
    assert len(read) == 1


def test_a_scan_reads_the_columns_that_the_query_needs(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "events.parquet")
    lazy = situ.match(pl.scan_parquet(tmp_path / "events.parquet"), QUERY)
    assert "PROJECT 4/5 COLUMNS" in lazy.explain()
    assert lazy.collect().height == 2


def test_names_with_signs_are_columns_not_patterns() -> None:
    frame = FRAME.rename({"x": "^o.*$"})
    query = situ.query("FROM t ORDER BY ts DEFINE A AS `^o.*$` > 1")
    assert situ.match(frame.lazy(), query).collect().height == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda: situ.match(FRAME.lazy(), situ.query("FROM t ORDER BY ts DEFINE A AS nowhere > 1")),
        lambda: situ.match(FRAME.lazy().with_columns(ts=pl.lit("noon")), QUERY),
        lambda: situ.match(FRAME.lazy(), QUERY, watermark=3),  # type: ignore[call-overload]
    ],
)
def test_what_does_not_fit_the_columns_is_refused_at_once(ask: Callable[[], pl.LazyFrame]) -> None:
    with pytest.raises(situ.SituError):
        ask()


def test_what_is_wrong_with_rows_is_told_when_they_are_collected() -> None:
    lazy = situ.match(FRAME.lazy().with_columns(ts=pl.lit(None, pl.Int64)), QUERY)
    with pytest.raises(situ.errors.DataError):
        lazy.collect()


def test_ties_are_told_of_when_they_are_found_and_where_the_call_was_made() -> None:
    tied = FRAME.lazy().with_columns(ts=1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lazy = situ.match(tied, QUERY)
        assert not told
        lazy.collect()
    (warning,) = told
    assert warning.category is situ.TiesWarning
    assert warning.filename == __file__
    assert "situ.why(events, query) tells which" in str(warning.message)
    with pytest.raises(situ.errors.DataError, match=r"situ\.why"):
        situ.match(tied, QUERY, ties="error").collect()


def test_several_queries_read_a_lazy_frame_once_and_at_once() -> None:
    read: list[list[str]] = []
    found = situ.match(watched(read), {"one": QUERY, "two": QUERY})
    assert len(read) == 1
    assert all(isinstance(table, pl.LazyFrame) for table in found.values())
    assert_frame_equal(found["two"].collect(), situ.match(FRAME, QUERY))
