"""The id of a match is the same however rows come, and no other match has it (ROW 6.6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ

TEXT = (
    "FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY t, s {strategy} PATTERN (A B+ C) WITHIN 10 "
    "DEFINE A AS x > 0, B AS x >= A.x, C AS x < 2)"
)
rows = st.lists(
    st.tuples(st.sampled_from(["a", None]), st.integers(0, 2), st.sampled_from(["p", "q", None])),
    min_size=3,
    max_size=9,
)


def table_of(drawn: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table(
        {
            "k": pa.array([k for k, _, _ in drawn], pa.string()),
            "t": list(range(len(drawn))),
            "s": pa.array([s for _, _, s in drawn], pa.string()),
            "x": [x for _, x, _ in drawn],
        }
    )


@pytest.mark.parametrize("strategy", ["", "STRATEGY SKIP TILL NEXT", "STRATEGY SKIP TILL ANY"])
@given(drawn=rows, cut=st.integers(1, 4))
def test_pushed_in_any_cut_it_is_that_of_the_table(
    strategy: str, drawn: list[tuple[Any, ...]], cut: int
) -> None:
    query = situ.query(TEXT.format(strategy=strategy))
    table = table_of(drawn)
    whole = situ.match(table, query, match_id=True)["match_id"].to_pylist()
    assert len(set(whole)) == len(whole)
    operator = query.operator(table.schema, match_id=True)
    pushed = [operator.push(table.slice(at, cut)) for at in range(0, table.num_rows, cut)]
    pushed.append(operator.finish())
    assert sorted(one for part in pushed for one in part["match_id"].to_pylist()) == sorted(whole)


def test_neither_unit_nor_zone_of_the_time_shows() -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    query = situ.query("FROM e MATCH_RECOGNIZE (ORDER BY t PATTERN (A B))")
    times = pa.array([start + timedelta(seconds=i) for i in range(4)], pa.timestamp("us", "UTC"))
    kinds = [times.type, pa.timestamp("ms", "UTC"), pa.timestamp("ns", "Asia/Tokyo")]
    ids = [situ.match(pa.table({"t": times.cast(kind)}), query, match_id=True) for kind in kinds]
    assert ids[0]["match_id"].to_pylist() == ids[1]["match_id"].to_pylist() == ids[2]["match_id"].to_pylist()
    assert len(set(ids[0]["match_id"].to_pylist())) == 2
