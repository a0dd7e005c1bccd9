"""What condensing keeps: cases drawn by hand; random ones are in test_tasks.py."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest

from situ.rows.tied import Tied
from spark.tasks import prepared, rows_of, run_map_side, task_for


def events(n: int, **columns: object) -> pa.Table:
    return pa.table({"t": range(n), **columns})


def cut(table: pa.Table, *borders: int) -> list[pa.Table]:
    edges = [0, *borders, table.num_rows]
    return [table.slice(a, b - a) for a, b in pairwise(edges)]


@pytest.mark.parametrize("borders", [(), (4,), (4, 7), (3, 5, 6), tuple(range(1, 12))])
def test_a_minimum_reached_splits_later(borders: tuple[int, ...]) -> None:
    # t   0 1 2 3 | 4 5 6 | 7 8 9 10 11
    # A       [-----------------)         AT LEAST 5: admissible at 7, one or two splits after its start
    table = events(12, a=[2 <= t < 10 for t in range(12)])
    text = "FROM e ORDER BY t DEFINE A AS a AT LEAST 5 RETURN A.ts AS since"
    assert rows_of(run_map_side(cut(table, *borders), text, {}), text) == [(2, 7)]


def test_the_admissible_instant_is_an_event() -> None:
    # t 0 3 | 6 20 | 30     A holds from 3 on; AT LEAST 10: 13 is no event, 20 is
    table = pa.table({"t": [0, 3, 6, 20, 30], "a": [False, True, True, True, True]})
    text = "FROM e ORDER BY t DEFINE A AS a AT LEAST 10"
    assert rows_of(run_map_side(cut(table, 2, 4), text, {}), text) == [(3, None, 20)]


@pytest.mark.parametrize("border", range(1, 9))
def test_an_average_so_far_over_a_border(border: int) -> None:
    # A   [1-----------9)    v = t
    # B           [5----8)   A.ts < B.ts is certain at 5: the average of 1..5
    table = events(10, a=[1 <= t < 9 for t in range(10)], b=[5 <= t < 8 for t in range(10)], v=range(10))
    pattern = "PATTERN A contains; overlaps; finished-by B"
    text = f"FROM e ORDER BY t DEFINE A AS a, B AS b {pattern} RETURN avg(A.v) AS v"
    assert rows_of(run_map_side(cut(table, border), text, {}), text) == [(3.0, 5)]


def n_condensed(table: pa.Table, text: str, options: dict[str, object] | None = None) -> int:
    task = task_for(table.schema, text, options or {})
    return int(task.operator.condense(prepared(task, table, {}), Tied()).n_rows.sum())


def test_few_rows_are_left() -> None:
    """First and last row, where A begins and ends, and one row for the events of A in between."""
    table = events(1000, a=[300 <= t < 600 for t in range(1000)])
    text = "FROM e ORDER BY t DEFINE A AS a"
    assert n_condensed(table, text) == 4
    assert n_condensed(table, f"{text} RETURN avg(A.t) AS m") == 5
    assert n_condensed(table, f"{text} AT LEAST 50") == 5  # and where it has lasted 50
    assert n_condensed(table, f"{text} AT MOST 900") == 4  # known only at its end
    assert n_condensed(table, f"{text} WITHIN 50", {"forget_after": 100}) <= 4 + 2 * 1000 / 100


def test_rows_that_matches_wait_for_are_left() -> None:
    """Beside those where A or B begins or ends, and the first and the last."""
    table = events(1000, a=[300 <= t < 600 for t in range(1000)], b=[t >= 200 for t in range(1000)])
    text = "FROM e ORDER BY t DEFINE A AS a, B AS b"
    # the row 50 after A's end, and the first 51 rows, as A may have ended before them
    assert n_condensed(table, f"{text} PATTERN A.te + 50 <= B.te") == 51 + 4 + 1
    assert n_condensed(table, f"{text} IGNORING GAPS UP TO 2 EVENTS PATTERN A during B") == 5 + 2
    assert n_condensed(table, f"{text} PATTERN A during B AND NO C after A BY AT MOST 5".replace(
        "B AS b", "B AS b, C AS a AND b")) == 5  # fmt: skip


def test_of_silences_gaps_are_left() -> None:
    """Rows around gaps, and between them a row in so much time that there seems to be none."""
    times = [t for t in range(1000) if not 400 < t < 450]
    table = pa.table({"t": times, "a": [False] * len(times)})
    text = "FROM e ORDER BY t DEFINE quiet AS SILENCE AT LEAST 20"
    assert n_condensed(table, text) <= 4 + 2 * 1000 / 20
    assert rows_of(run_map_side(cut(table, 100, 401, 700), text, {}), text) == [(400, None, 420)]
    aggregated = f"{text} RETURN count(quiet.a) AS n, quiet.ts AS since"
    assert rows_of(run_map_side(cut(table, 100, 401, 700), aggregated, {}), aggregated) == [(1, 400, 420)]


@pytest.mark.parametrize("border", [2, 12, 16, 30])
def test_values_up_to_a_tick(border: int) -> None:
    # A  [3--5)                 no C by 5 + 10: told at 15
    # B  [------------40)       of which the values up to 15 count, though nothing begins or ends there
    table = events(
        50, a=[3 <= t < 5 for t in range(50)], b=[t < 40 for t in range(50)], c=[False] * 50, v=range(50)
    )
    pattern = "PATTERN A during;overlaps;finishes;starts B AND NO C after A BY AT MOST 10"
    text = f"FROM e ORDER BY t DEFINE A AS a, B AS b, C AS c {pattern} RETURN max(B.v) AS v"
    assert rows_of(run_map_side(cut(table, border), text, {}), text) == [(15, 15)]
