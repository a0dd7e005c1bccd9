"""What a stream with NO groups keeps: as much as SEM 11.7 says, and no more."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import situ

WINDOW = 20
SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64()), ("a", pa.bool_()), ("c", pa.bool_())])
GIVEN = pa.schema([("kind", pa.string()), ("ts", pa.int64()), ("te", pa.int64())])


def operator(group: str, lasting: str = "", **options: Any) -> Any:
    text = f"FROM e PARTITION BY k ORDER BY t DEFINE A AS a, C AS c{lasting} PATTERN {group} WITHIN {WINDOW}"
    return situ.query(text).operator(SCHEMA, **options)


def rows(*events: tuple[int, int, str]) -> pa.Table:
    """Partition, time and which conditions hold."""
    found = [{"k": k, "t": t, "a": "a" in holds, "c": "c" in holds} for k, t, holds in events]
    return pa.Table.from_pylist(found, SCHEMA)


# C lasts from every even t to the next, so that after t = 2n + 1 the ends are 1, 3, ..., 2n + 1
@pytest.mark.parametrize("n", [100, 200])
@pytest.mark.parametrize(
    ("group", "lasting", "reach"),
    [
        ("NO C during A", "", 0),
        ("NO C while A", "", 0),
        ("NO (C before A AND C.te >= A.ts - 7)", "", 7),
        ("NO C before A BY AT MOST 30", "", 30),
        ("NO C before A BY AT MOST 30 AND NO C meets A", "", 30),
        ("NO C during A", " AT LEAST 2", None),  # all are too short, so none is a C
        ("NO C before A", " AT LEAST 2", None),
    ],
)
def test_absent_situations_leave_with_what_the_group_reaches(
    n: int, group: str, lasting: str, reach: int | None
) -> None:
    op = operator(group, lasting)
    for t in range(2 * n):
        op.push(rows((1, t, "" if t % 2 else "c")))
        now = t
    ends = [t for t in range(1, now + 1, 2) if reach is not None and t >= now - WINDOW - reach]
    assert op.n_situations == len(ends)


@pytest.mark.parametrize("n", [100, 200])
def test_of_any_age_the_oldest_stays(n: int) -> None:
    """Which fits whenever a younger one does."""
    op = operator("NO C before A")
    for t in range(2 * n):
        op.push(rows((1, t, "" if t % 2 else "c")))
    recent = [t for t in range(1, 2 * n, 2) if t >= 2 * n - 1 - WINDOW]
    assert op.n_situations == len(recent) + 1
    assert op.push(rows((1, 2 * n, "a"))).num_rows == 0


def test_an_open_one_stays_whatever_its_age() -> None:
    op = operator("NO C while A")
    op.push(rows((1, 0, "c")))
    for t in range(1, 300):
        op.push(rows((1, t, "c")))
    assert op.n_situations == 1
    assert op.push(rows((1, 300, "ac"))).num_rows == 0


@pytest.mark.parametrize(
    ("group", "stays_for"),
    [("NO C during A", WINDOW), ("NO C before A BY AT MOST 30", WINDOW + 30), ("NO C before A", None)],
)
def test_a_partition_is_forgotten_when_no_c_stays(group: str, stays_for: int | None) -> None:
    op = operator(group)
    op.push(rows((1, 0, "c"), (1, 1, "")))
    op.advance(2 + (10_000 if stays_for is None else stays_for))
    assert (op.n_partitions, op.n_situations) == (1, 1)
    if stays_for is not None:
        op.advance(3 + stays_for)
        assert (op.n_partitions, op.n_situations) == (0, 0)


def test_a_partition_is_not_forgotten_before_its_tick() -> None:
    op = operator("NO C after A BY AT MOST 15")
    op.push(rows((1, 0, "a"), (1, 1, ""), (2, 2, "")))
    assert op.advance(16).num_rows == 0
    assert op.n_partitions >= 1
    assert op.advance(17).to_pylist() == [{"k": 1, "A_ts": 0, "A_te": 1, "match_time": 16}]
    op.advance(WINDOW + 10)
    assert (op.n_partitions, op.n_situations) == (0, 0)


def test_what_another_history_left_is_gone() -> None:
    op = operator("NO C before A", forget_after=40)
    for begin in range(0, 5000, 50):
        op.push(rows((1, begin, "c"), (1, begin + 1, ""), (1, begin + 2, "c")))  # the last stays open
    assert op.n_situations == 2
    op.advance(6000)
    assert (op.n_partitions, op.n_situations) == (0, 0)


@pytest.mark.parametrize(
    ("group", "reach"), [("NO C during A", 0), ("NO (C.te <= A.ts AND C.te >= A.ts - 30)", 30)]
)
@pytest.mark.parametrize("n", [100, 200])
def test_given_intervals(n: int, group: str, reach: int) -> None:
    text = f"FROM INTERVALS e SYMBOL BY kind STARTING ts ENDING te PATTERN {group} WITHIN {WINDOW}"
    op = situ.query(text).operator(GIVEN)
    for i in range(n):
        op.push(pa.Table.from_pylist([{"kind": "C", "ts": 0 if i % 3 else i, "te": i + 1}], GIVEN))
    op.advance(n + 1)
    ends = [i + 1 for i in range(n) if i + 1 >= n - WINDOW - reach]
    assert op.n_situations == len(ends)
    assert op.n_waiting == 0
