"""Equalities of HAVING between symbols prune the join: deeper levels are not visited (SEM 13.1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.operators.situations.equalities import _alike

N = 6_000
TEXT = """FROM t ORDER BY t DEFINE A AS a, B AS b, C AS c PATTERN A before B AND B before C WITHIN 300
RETURN A.ts AS a, B.ts AS b, C.ts AS c, first(A.x) AS x, first(B.y) AS y, first(C.x) AS z"""
SAME, OTHERWISE = "first(A.x) = first(B.y)", "NOT (first(A.x) <> first(B.y)) AND first(A.x) IS NOT NULL"


def table(values: Any) -> pa.Table:
    """A, B and C in turns, ten ticks apart; values of ten kinds."""
    at = np.arange(N)
    kinds = values.take(pa.array(np.random.default_rng(3).integers(0, len(values), 2 * N)))
    columns = {name: at % 30 == 10 * i for i, name in enumerate("abc")}
    return pa.table({"t": at, **columns, "x": kinds[:N], "y": kinds[N:]})


NUMBERS = pa.array([*range(9), None])
KINDS = {
    "integers": NUMBERS,
    "text": NUMBERS.cast(pa.string()),
    "floats": pa.array([0.0, -0.0, math.nan, -math.nan, 1.5, math.inf, None]),
    "dates": NUMBERS.cast(pa.int32()).cast(pa.date32()),
    "booleans": pa.array([True, False, None]),
}


def answered(events: pa.Table, having: str, batch: int, **options: Any) -> tuple[list[dict[str, Any]], int]:
    """The rows that are reported, and how many candidates the joins looked at."""
    operator = situ.query(f"{TEXT} HAVING {having}").operator(events.schema, **options)
    pieces = [operator.push(piece) for piece in events.to_batches(max_chunksize=batch)]
    rows = pa.concat_tables(pieces).sort_by([("a", "ascending"), ("b", "ascending"), ("c", "ascending")])
    return rows.to_pylist(), operator.operator.work().n_candidates


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("join", "batch"), [("range", N), ("range", 70), ("pair", N)])
def test_the_same_matches_from_fewer_candidates(kind: str, join: str, batch: int) -> None:
    """Small pushes set out from C, which begins last: there B and C must agree for A not to be visited."""
    events = table(KINDS[kind])
    same, otherwise = (text.replace("A.x", "C.x") if batch < N else text for text in (SAME, OTHERWISE))
    pruned, n_pruned = answered(events, same, batch, join=join)
    filtered, n_filtered = answered(events, otherwise, batch, join=join)
    assert [repr(row) for row in pruned] == [repr(row) for row in filtered]
    assert len(pruned) > 100
    assert n_pruned < 0.7 * n_filtered, (n_pruned, n_filtered)


@pytest.mark.parametrize("batch", [1, 70, N])
def test_symbols_that_are_not_related_otherwise(batch: int) -> None:
    """A and C must agree; the order may begin with them."""
    events = table(NUMBERS)[:1_500]
    pruned, _ = answered(events, "first(A.x) = first(C.x) AND first(B.y) = first(A.x)", batch)
    whole, _ = answered(events, "TRUE", N)
    assert pruned == [row for row in whole if row["x"] is not None and row["x"] == row["y"] == row["z"]]
    assert pruned


def test_several_equalities_of_one_pair() -> None:
    events = table(NUMBERS)[:3_000]
    events = events.append_column("u", pa.array(np.arange(len(events)) // 30 % 2))
    both, n_both = answered(events, f"{SAME} AND first(A.u) = first(B.u)", N)
    one, n_one = answered(events, f"{SAME} AND (first(A.u) = first(B.u) OR false)", N)
    assert both == one
    assert both
    assert n_both < n_one


def test_with_no_groups_too() -> None:
    events = table(NUMBERS)
    events = events.append_column("d", pa.array(np.arange(N) % 30 == 25))
    text = TEXT.replace("C AS c", "C AS c, D AS d").replace("B before C", "B before C AND NO D during A")
    operators = [situ.query(f"{text} HAVING {one}").operator(events.schema) for one in (SAME, OTHERWISE)]
    found = [
        [one.push(piece).num_rows for piece in events.to_batches(max_chunksize=500)] for one in operators
    ]
    assert found[0] == found[1]
    assert sum(found[0]) > 100
    pruned, filtered = (one.operator.work().n_candidates for one in operators)
    assert pruned < 0.9 * filtered


@pytest.mark.parametrize("having", [OTHERWISE, "first(A.x) = last(B.y)", "first(A.x) = first(B.t)", "TRUE"])
def test_what_is_not_surely_the_same_is_left_to_the_filter(having: str) -> None:
    events = table(NUMBERS.cast(pa.int32()))[:600]
    operator = situ.query(f"{TEXT} HAVING {having}").operator(events.schema)
    assert operator.operator.engine.equalities == []


def test_values_are_equal_as_spark_says() -> None:
    left = pa.array([0.0, -0.0, math.nan, None, 1.0])
    codes = _alike(left, pa.array([-math.nan, 0.0, None, 1.0]))
    assert codes[0] == codes[1] == codes[6]
    assert codes[2] == codes[5]
    assert codes[4] == codes[8]
    assert codes[3] == codes[7] == -1
    assert len(set(codes[[0, 2, 3, 4]].tolist())) == 4


def test_explain_says_which() -> None:
    told = str(situ.query(f"{TEXT} HAVING {SAME} AND count(A) > 0").explain())
    assert "Situations are not joined where first(A.x) = first(B.y) does not hold" in told
    assert "not joined" not in str(situ.query(f"{TEXT} HAVING {OTHERWISE}").explain())
