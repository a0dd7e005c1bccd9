"""HAVING in process: the same as filtering what is returned without it, in any cut (SEM 13.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.aggregate.deciding import real_sum
from situ.errors import ExpressionError, UnsupportedExpressionError

Row = dict[str, Any]
BASE = """FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 5, B AS x < 4 PATTERN A meets;before B WITHIN 20
RETURN A.ts AS a, A.te AS e, B.ts AS b, first(A.x) AS fa, first(B.x) AS fb, sum(A.f) AS s, stddev(A.f) AS d,
avg(B.f) AS m, count(A) AS n"""
ENDS = "FROM t ORDER BY ts DEFINE A AS x > 5, B AS x < 4 PATTERN A meets B WITHIN 20"


def events(n: int = 800, n_keys: int = 4) -> pa.Table:
    random = np.random.default_rng(7)
    return pa.table(
        {
            "ts": np.arange(n) // n_keys,
            "k": np.arange(n) % n_keys,
            "x": random.integers(0, 10, n),
            "f": pa.array(random.normal(size=n), mask=random.random(n) < 0.1),
        }
    )


TABLE = events()


def rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


CONDITIONS: dict[str, Callable[[Row], bool | None]] = {
    "fa = 7 OR fb = 0": lambda row: row["fa"] == 7 or row["fb"] == 0,
    "first(A.x) = first(B.x) + 5": lambda row: row["fa"] == row["fb"] + 5,
    "s > 0.5 AND count(A) > 1": lambda row: row["s"] is not None and row["s"] > 0.5 and row["n"] > 1,
    "NOT (d < 1)": lambda row: row["d"] is not None and not row["d"] < 1,
    "m IS NULL": lambda row: row["m"] is None,
    "NULL": lambda row: None,
    "TRUE": lambda row: True,
}


@pytest.mark.parametrize("condition", list(CONDITIONS))
def test_it_filters_what_is_returned(condition: str) -> None:
    whole = situ.match(TABLE, f"{BASE} HAVING TRUE").to_pylist()
    wanted = [row for row in whole if CONDITIONS[condition](row)]
    # only what HAVING reads is summed exactly: the rest of a row may differ in its last bits
    found = situ.match(TABLE, f"{BASE} HAVING {condition}").to_pylist()
    keys = ("k", "a", "b", "match_time")
    assert sorted([row[key] for key in keys] for row in found) == sorted(
        [row[key] for key in keys] for row in wanted
    )


def test_it_may_read_what_is_not_returned() -> None:
    by_key = ENDS.replace("FROM t", "FROM t PARTITION BY k")
    found = situ.match(TABLE, f"{by_key} HAVING max(B.x) < 3")
    shown = "A.ts AS A_ts, A.te AS A_te, B.ts AS B_ts, B.te AS B_te, max(B.x) AS top"
    whole = situ.match(TABLE, f"{by_key} RETURN {shown}")
    kept = [row for row in whole.to_pylist() if row["top"] < 3]
    assert found.column_names == ["k", "A_ts", "A_te", "B_ts", "B_te", "match_time"]
    assert 0 < len(kept) < whole.num_rows
    assert rows(found) == sorted(repr({n: v for n, v in row.items() if n != "top"}) for row in kept)


@pytest.mark.parametrize("condition", list(CONDITIONS))
@pytest.mark.parametrize("size", [7, 100])
def test_pushes_report_the_same(condition: str, size: int) -> None:
    query = situ.query(f"{BASE} HAVING {condition}")
    operator = query.operator(TABLE.schema, match_id=True)
    found = []
    for at in range(0, TABLE.num_rows, size):
        found.append(operator.push(TABLE.slice(at, size)))
        operator = query.operator(TABLE.schema, state=operator.state(), match_id=True)
    assert rows(pa.concat_tables(found)) == rows(situ.match(TABLE, query, match_id=True))


def test_small_steps_are_filtered_too() -> None:
    """Results that show endpoints as they are take no short cut."""
    table = TABLE.filter(pa.compute.equal(TABLE["k"], 0))
    query = situ.query(f"{ENDS} HAVING A.ts % 2 = 0")
    operator = query.operator(table.schema)
    found = pa.concat_tables([operator.push(table.slice(at, 1)) for at in range(table.num_rows)])
    assert rows(found) == rows(situ.match(table, query))
    assert {row["A_ts"] % 2 for row in found.to_pylist()} == {0}
    assert found.num_rows < situ.match(table, ENDS).num_rows


def test_each_of_several_has_its_own() -> None:
    texts = {"p": f"{BASE} HAVING fa = 7", "q": f"{BASE} HAVING n > 1", "r": BASE}
    found = situ.match(TABLE, texts)
    for name, text in texts.items():
        assert rows(found[name]) == rows(situ.match(TABLE, text))
    assert len({found[name].num_rows for name in texts}) == 3


def test_given_intervals() -> None:
    table = pa.table(
        {"kind": ["A", "B", "A", "B"], "s": [1, 2, 11, 12], "e": [3, 4, 13, 15], "v": [1, 1, 1, 2]}
    )
    text = "FROM INTERVALS t SYMBOL BY kind STARTING s ENDING e PATTERN A overlaps B HAVING A.v = B.v"
    assert situ.match(table, text)["A_ts"].to_pylist() == [1]


def test_situations_are_those_of_the_query_without_it() -> None:
    found = situ.situations(TABLE, f"{BASE} HAVING max(A.f) > 100 AND n > 3")
    assert found == situ.situations(TABLE, BASE)


def test_return_is_not_evaluated_for_what_is_not_reported() -> None:
    table = pa.table({"ts": [1, 2, 3, 4], "x": [6, 0, 7, 0]})
    text = "FROM t ORDER BY ts DEFINE A AS x > 5 RETURN 1 / (first(A.x) - 6) AS q"
    with pytest.raises(ExpressionError):
        situ.match(table, text)
    assert situ.match(table, f"{text} HAVING first(A.x) > 6")["q"].to_pylist() == [1.0]


def test_lists_are_left_to_spark() -> None:
    with pytest.raises(UnsupportedExpressionError, match=r"an expression over collect_list\(A.x\)"):
        situ.match(TABLE, f"{BASE} HAVING size(collect_list(A.x)) > 3")


def test_why_counts_what_it_rejects() -> None:
    n = situ.match(TABLE, BASE).num_rows
    n_kept = situ.match(TABLE, f"{BASE} HAVING n > 1").num_rows
    told = situ.why(TABLE, f"{BASE} HAVING n > 1")
    assert (told.matches, told.rejected) == (n_kept, n - n_kept)
    assert told.verdict == f"{n_kept} matches, and HAVING rejects {n - n_kept:,} others."
    none = situ.why(TABLE, f"{BASE} HAVING n > 1000")
    assert none.verdict == f"No match. HAVING rejects all {n:,} matches of the rest of the query."
    assert situ.explain(TABLE, f"{BASE} HAVING n > 1").actuals.matches == n_kept  # type: ignore[union-attr]
    assert situ.why(TABLE, BASE).rejected == 0


def test_pictures_are_of_what_is_reported() -> None:
    pictures = situ.plot(TABLE, f"{BASE} HAVING n > 1", top=1)
    assert pictures.n_matches == situ.match(TABLE, f"{BASE} HAVING n > 1").num_rows


# -- what decides is rounded once (WIN 5.5)

HOSTILE = [1e16, 1.0, -1e16, 1e-3, 1e100, -1e100, 3.0, 0.1, 0.2, -0.3, 1e16, 1.0]


@pytest.mark.parametrize("size", [1, 5, len(HOSTILE) + 1])
def test_sums_that_decide_are_the_real_sum_rounded_once(size: int) -> None:
    values = np.random.default_rng(3).permutation(HOSTILE).tolist()
    real = float(sum(map(Fraction, values), Fraction(0)))
    table = pa.table({"ts": range(len(values) + 1), "c": [True] * len(values) + [False], "f": [*values, 0.0]})
    text = "FROM t ORDER BY ts DEFINE A AS c EMIT FINAL RETURN sum(A.f) AS s, avg(A.f) AS m, stddev(A.f) AS d"
    text += " HAVING s = :s AND m IS NOT NULL AND d IS NOT NULL"
    operator = situ.query(text, s=real).operator(table.schema)
    found = pa.concat_tables([operator.push(table.slice(at, size)) for at in range(0, table.num_rows, size)])
    mean = real / len(values)
    deviation = math.sqrt(math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1))
    assert found.select(["s", "m", "d"]).to_pylist() == [{"s": real, "m": mean, "d": deviation}]


def test_sums_beyond_numbers() -> None:
    inf = math.inf
    assert real_sum(np.array([1e308, 1e308, -1e308])) == 1e308
    assert real_sum(np.array([1e308, 1e308])) == inf
    assert real_sum(np.array([-1e308, -1e308])) == -inf
    assert real_sum(np.array([inf, 1.0])) == inf
    assert math.isnan(real_sum(np.array([inf, -inf])))
    assert math.isnan(real_sum(np.array([math.nan, 1.0])))
