"""From a user's table to rows: order, ties, null times, WHERE, truth (SEM 1)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.errors import DataError, UnsupportedExpressionError
from situ.rows.columns import truths
from situations.drawing import records

NAN = float("nan")


def last_of_instant(tie: pa.Array) -> Any:
    """The tie value of the row that counts, of rows of one instant in all orders of input."""
    text = "FROM e ORDER BY t, tie DEFINE A AS a RETURN last(A.tie) AS tie, last(A.n) AS n"
    n = len(tie)
    table = pa.table({"t": [0] * n, "tie": tie, "n": range(n), "a": [True] * n})
    found = set()
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(n)
        (row,) = situ.match(table.take(order), situ.query(text), ties="last").to_pylist()
        found.add(row["n"])
    assert len(found) == 1, "depends on the order of input"
    return tie[found.pop()].as_py()


@pytest.mark.parametrize(
    ("ties", "last"),
    [
        (pa.array([3, None, 1]), 3),
        (pa.array([None, -5], pa.int8()), -5),
        (pa.array(["b", None, "a"]), "b"),
        (pa.array([1.0, None, -np.inf, np.inf]), np.inf),
        (pa.array([True, None, False]), True),
        (pa.array([Decimal("1.5"), None, Decimal("-2")]), Decimal("1.5")),
        (pa.array([b"a", b"b", None]), b"b"),
        (pa.array(["b", None, "a"]).dictionary_encode(), "b"),
        (pa.array([1, 2], pa.int64()).cast(pa.timestamp("us")), None),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_ties_go_by_the_column_asked_for_with_nulls_first(ties: pa.Array, last: Any) -> None:
    found = last_of_instant(ties)
    assert found == (ties[1].as_py() if last is None else last)


def test_a_tie_column_that_has_no_order_is_refused() -> None:
    with pytest.raises(DataError, match="cannot order rows of equal time by a column of type struct"):
        situ.match(STRUCTS, situ.query("FROM e ORDER BY t, tie DEFINE A AS a"))


def test_a_returned_column_that_cannot_be_kept_is_refused_by_its_own_name() -> None:
    with pytest.raises(
        UnsupportedExpressionError, match=r"last\(A.tie\) of Arrow type struct<a: int64> cannot be"
    ):
        situ.match(STRUCTS, situ.query("FROM e ORDER BY t DEFINE A AS a RETURN last(A.tie) AS tie"))


STRUCTS = pa.table({"t": [0, 0], "tie": [{"a": 1}, {"a": 2}], "a": [True, True]})


def test_nan_is_the_largest_tie() -> None:
    assert last_of_instant(pa.array([np.inf, NAN, None, 0.0])) != np.inf


def test_of_equal_ties_the_last_in_input_order_counts() -> None:
    text = "FROM e ORDER BY t, tie DEFINE A AS a RETURN last(A.n) AS n"
    table = pa.table({"t": [1, 1, 0], "tie": [5, 5, 5], "n": [0, 1, 2], "a": [True] * 3})
    assert situ.match(table, situ.query(text), ties="last").to_pylist() == [{"n": 2, "match_time": 0}]
    both = situ.query("FROM e ORDER BY t, tie DEFINE A AS a AT LEAST 1 RETURN last(A.n) AS n")
    assert situ.match(table, both, ties="last")["n"].to_pylist() == [1]


def test_refused_ties_name_time_and_partition() -> None:
    table = pa.table({"k": ["x", "y", "y"], "t": [1, 2, 2], "a": [True] * 3})
    query = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS a")
    with pytest.raises(
        DataError, match=r"two rows share the time 2 in partition \('y',\), and ties=\"error\""
    ):
        situ.match(table, query, ties="error")


def test_null_times_are_refused_with_their_number_and_an_example() -> None:
    table = pa.table({"t": [1, None, None], "a": [True, False, True]})
    query = situ.query("FROM e ORDER BY t DEFINE A AS a")
    with pytest.raises(
        DataError, match=r"time column t is null in 2 rows, for example {'t': None, 'a': False}"
    ):
        situ.match(table, query)
    assert situ.match(table, query, on_bad_rows="drop").num_rows == 1
    one = table.slice(0, 2)
    with pytest.raises(DataError, match="is null in 1 row, for"):
        situ.match(one, query)


def test_null_times_that_where_leaves_out_are_no_events() -> None:
    table = pa.table({"t": [1, None], "a": [True, None]})
    assert situ.match(table, situ.query("FROM e WHERE a ORDER BY t DEFINE A AS a")).num_rows == 1


def test_dropped_rows_are_counted() -> None:
    query = situ.query("FROM e ORDER BY t DEFINE A AS a")
    schema = pa.schema([("t", pa.int64()), ("a", pa.bool_())])
    operator = query.operator(schema, on_bad_rows="drop")
    operator.push(pa.table({"t": [None, 1, None], "a": [True] * 3}, schema=schema))
    operator.push({"t": None, "a": True})
    assert operator.n_bad_rows == 3


@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from([True, False, None])), max_size=30),
    st.integers(0, 9),
)
def test_input_order_does_not_matter_where_times_differ(
    rows: list[tuple[int, bool | None]], seed: int
) -> None:
    unique = list(dict(rows).items())
    table = pa.table(
        {"t": pa.array([t for t, _ in unique], pa.int64()), "a": pa.array([a for _, a in unique], pa.bool_())}
    )
    shuffled = table.take(np.random.default_rng(seed).permutation(len(unique)))
    query = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS NOT a PATTERN A meets B")
    assert records(situ.match(shuffled, query)) == records(situ.match(table, query))


@given(st.lists(st.sampled_from([True, False, None]), max_size=40), st.integers(0, 17))
def test_truth_is_true_and_neither_false_nor_null(values: list[bool | None], skip: int) -> None:
    array = pa.array(values, pa.bool_())[skip:]
    assert truths(array).tolist() == [int(value is True) for value in array.to_pylist()]


def test_where_over_chunked_tables_of_any_cut() -> None:
    whole = pa.table({"t": range(40), "a": [i % 7 < 4 for i in range(40)], "w": [i % 3 for i in range(40)]})
    cut = pa.concat_tables([whole.slice(0, 11), whole.slice(11, 0), whole.slice(11, 20), whole.slice(31)])
    query = situ.query("FROM e WHERE w > 0 ORDER BY t DEFINE A AS a RETURN A.ts AS ts, count(A) AS n")
    assert situ.match(cut, query).to_pylist() == situ.match(whole, query).to_pylist()


def test_a_constant_condition_is_as_long_as_the_table() -> None:
    table = pa.table({"t": [1, 2, 3]})
    query = situ.query("FROM e WHERE 1 = 1 ORDER BY t DEFINE A AS true, B AS 1 > 2 PATTERN A before B")
    assert situ.match(table, query).num_rows == 0
    assert situ.situations(table, query)["symbol"].to_pylist() == ["A"]
