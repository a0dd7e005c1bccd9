"""Input at its edges and wrong input: right answers, or an error that names what is wrong."""

from __future__ import annotations

import re
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, SituError, TimeColumnError, UnknownColumnError
from situations.drawing import SCHEMA, events, records

MEETS = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A meets B")
BEFORE = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A before B WITHIN 9223372036854775807")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("join", ["range", "pair"])
@pytest.mark.parametrize("query", [MEETS, BEFORE], ids=["partitioned", "not"])
def test_an_empty_table_has_no_matches(query: situ.Query, join: str, threads: int) -> None:
    found = situ.match(SCHEMA.empty_table(), query, join=join, threads=threads, match_id=True)
    assert found.num_rows == 0
    assert "match_id" in found.column_names
    assert situ.situations(SCHEMA.empty_table(), query).num_rows == 0
    no_chunks = pa.Table.from_batches([], schema=SCHEMA)
    assert situ.match(no_chunks, query).num_rows == 0


def test_where_that_leaves_nothing() -> None:
    query = situ.query("FROM e WHERE x > 99 PARTITION BY k ORDER BY t DEFINE A AS a")
    assert situ.match(events("a .#."), query).num_rows == 0


def test_all_null_columns() -> None:
    nulls = events("a ...").set_column(SCHEMA.get_field_index("a"), "a", pa.nulls(3, pa.bool_()))
    assert situ.situations(nulls, MEETS).num_rows == 0
    untyped = pa.table(
        {
            "k": pa.nulls(3),
            "t": [1, 2, 3],
            "a": [True, True, False],
            "b": [False, False, True],
            "x": pa.nulls(3, pa.float64()),
        }
    )
    query = situ.query(str(MEETS) + " RETURN max(A.x) AS x, count(A.x) AS n")
    assert situ.match(untyped, query).to_pylist() == [{"k": None, "x": None, "n": 0, "match_time": 3}]


def test_one_event_partitions() -> None:
    n = 2000
    table = pa.table(
        {"k": [str(i) for i in range(n)], "t": range(n), "a": [i % 2 == 0 for i in range(n)], "b": [True] * n}
    )
    assert situ.match(table, MEETS).num_rows == 0
    starts = situ.query(
        "FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A starts;equals;started-by B"
    )
    assert situ.match(table, starts).num_rows == n // 2


def test_times_at_the_ends_of_int64_do_not_overflow() -> None:
    low, high = -(2**63) + 1, 2**63 - 2
    #          low          0            high
    # a        #            .            .
    # b        .            .            #
    table = pa.table({"t": [low, 0, high], "a": [True, False, False], "b": [False, False, True]})
    # the match is 2**64 - 3 ticks long: longer than any window that can be written
    assert situ.match(table, BEFORE).num_rows == 0
    unbounded = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A before B")
    assert records(situ.match(table, unbounded)) == [(low, 0, high, None, high)]
    operator = BEFORE.operator(table.schema, watermark=2**63 - 1)
    operator.push(table)
    assert operator.flush().num_rows == 0
    near = table.set_column(0, "t", pa.array([high - 2, high - 1, high]))
    assert situ.match(near, BEFORE).num_rows == 1
    duration = situ.query("FROM e ORDER BY t DEFINE A AS NOT b EMIT FINAL RETURN A.duration AS d")
    with pytest.raises(DataError, match="does not fit 64 bits"):
        situ.match(table, duration)


@pytest.mark.parametrize("bad", [2**63 - 1, -(2**63)])
def test_the_reserved_instants_are_refused(bad: int) -> None:
    table = pa.table({"t": [0, bad], "a": [True, False]})
    query = situ.query("FROM e ORDER BY t DEFINE A AS a")
    with pytest.raises(DataError, match='reserves for "not yet" and "before everything"'):
        situ.match(table, query)
    with pytest.raises(DataError, match="reserves"):
        query.operator(table.schema).push(table)


def test_durations_longer_than_the_data() -> None:
    table = events("a ####", "b ...#")
    long = situ.query(
        "FROM e ORDER BY t DEFINE A AS a AT LEAST 1000000, B AS b PATTERN A before;overlaps;contains B"
    )
    assert situ.match(table, long).num_rows == 0
    assert situ.situations(table, long)["symbol"].to_pylist() == ["B"]
    wide = situ.query(
        "FROM e ORDER BY t DEFINE A AS a AT MOST 1000000, B AS NOT a PATTERN A meets B WITHIN 1000000000"
    )
    assert situ.match(events("a ##."), wide).num_rows == 1


def test_unsorted_input_is_sorted_for_the_user() -> None:
    rng = np.random.default_rng(3)
    table = pa.concat_tables([events("a ..##.#..", "b ....##.#", k=key) for key in "xyz"])
    wanted = records(situ.match(table, MEETS))
    assert len(wanted) == 3
    for _ in range(5):
        assert records(situ.match(table.take(rng.permutation(24)), MEETS)) == wanted


def test_dates_are_a_time() -> None:
    table = pa.table({"d": [date(2020, 1, i) for i in (1, 2, 3)], "a": [True, True, False]})
    query = situ.query(
        "FROM e ORDER BY d DEFINE A AS a AT LEAST 2 days RETURN A.te AS te, A.duration AS lasted"
    )
    (row,) = situ.match(table, query).to_pylist()
    assert (row["te"], row["match_time"], row["lasted"].days) == (date(2020, 1, 3), date(2020, 1, 3), 2)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([1.5, 2.5]), "double"),
        (pa.array(["a", "b"]), "string"),
        (pa.array([1, 2], pa.decimal128(10, 2)), "decimal(10,2)"),
        (pa.array([True, False]), "boolean"),
        (pa.array([1, 2], pa.uint64()), "uint64"),
        (pa.array([1, 2], pa.time64("us")), "time64[us]"),
        (pa.nulls(2), "void"),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_a_time_column_of_another_type_is_refused(column: pa.Array, kind: str) -> None:
    table = pa.table({"t": column, "a": [True, False]})
    with pytest.raises(TimeColumnError, match=re.escape(kind)):
        situ.match(table, situ.query("FROM e ORDER BY t DEFINE A AS a"))


def test_missing_columns_are_named_with_what_was_meant() -> None:
    table = pa.table({"time": [1], "speed": [5.0], "car": ["x"]})
    for text, wrong, meant in [
        ("FROM e PARTITION BY cra ORDER BY time DEFINE A AS speed > 1", "cra", "car"),
        ("FROM e ORDER BY tiem DEFINE A AS speed > 1", "tiem", "time"),
        ("FROM e ORDER BY time DEFINE A AS sped > 1", "sped", "speed"),
        ("FROM e WHERE spede > 1 ORDER BY time DEFINE A AS speed > 1", "spede", "speed"),
        ("FROM e ORDER BY time DEFINE A AS speed > 1 RETURN avg(A.sped) AS s", "sped", "speed"),
    ]:
        with pytest.raises(UnknownColumnError) as caught:
            situ.match(table, situ.query(text))
        assert wrong in str(caught.value)
        assert f"did you mean {meant}" in str(caught.value).replace('"', "")


def test_no_error_is_anyone_elses() -> None:
    """Wrong types in conditions, aggregates and partitions: always a SituError."""
    table = pa.table({"t": [1, 2], "s": ["a", "b"], "l": [[1], [2]], "a": [True, False]})
    for text in [
        "FROM e ORDER BY t DEFINE A AS s",
        "FROM e ORDER BY t DEFINE A AS l > 1",
        "FROM e ORDER BY t DEFINE A AS a RETURN sum(A.s) AS x",
        "FROM e ORDER BY t DEFINE A AS a RETURN first(A.l) AS x",
        "FROM e ORDER BY t DEFINE A AS a RETURN max(A.l) AS x",
        "FROM e PARTITION BY l ORDER BY t DEFINE A AS a",
        "FROM e ORDER BY t DEFINE A AS sqrt(s) > 1",
        "FROM e ORDER BY t DEFINE A AS sqrt(t)",
        "FROM e ORDER BY t DEFINE A AS upper(s)",
        "FROM e ORDER BY t DEFINE A AS a, B AS a AND length(s) PATTERN A before B",
        "FROM e WHERE length(s) ORDER BY t DEFINE A AS a",
        "FROM e WHERE s ORDER BY t DEFINE A AS a",
        "FROM e ORDER BY l DEFINE A AS a",
    ]:
        with pytest.raises(SituError):
            situ.match(table, situ.query(text))


def test_a_query_must_be_a_query() -> None:
    with pytest.raises(SituError, match=r"situ\.query"):
        situ.match(events("a .#"), 3)  # type: ignore[arg-type]


def test_text_stands_for_its_query() -> None:
    text = "FROM e ORDER BY t DEFINE A AS a"
    assert situ.match(events("a .#"), text).equals(situ.match(events("a .#"), situ.query(text)))


def test_many_symbols() -> None:
    """Beyond eight the mask is wider; 64 is the most."""
    n = 64
    names = [f"s{i}" for i in range(n)]
    #  each begins one event after the one before and all end together
    table = pa.table(
        {"t": range(n + 1), **{name: [i <= t < n for t in range(n + 1)] for i, name in enumerate(names)}}
    )
    defined = ", ".join(f"{name.upper()} AS {name}" for name in names)
    chain = " AND ".join(f"S{i} finished-by S{i + 1}" for i in range(n - 1))
    found = situ.match(
        table, situ.query(f"FROM e ORDER BY t DEFINE {defined} PATTERN {chain} RETURN S63.ts AS last")
    )
    assert found.to_pylist() == [{"last": 63, "match_time": 64}]
