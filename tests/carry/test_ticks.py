"""Results that come between events (SEM 11.9): a toy operator in process, pushed, in buckets and in tasks."""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.carry import in_process
from situ.carry.push import PushOperator
from situ.errors import OptionError
from situ.operators.several.question import Several
from spark.tasks import run_map_side, run_shuffle, run_slices
from streaming.in_memory import MemoryStream

sys.path.append(str(Path(__file__).parent))
from alarm import Alarm, CondensedAlarm
from every_nth import EveryNth

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("v", pa.float64())])
Row = tuple[str, int, float]
LAST = {"ties": "last"}
rows = st.lists(
    st.tuples(st.sampled_from("pqrs"), st.integers(0, 60), st.sampled_from([-1.0, 1.0])), max_size=30
)
borders = st.lists(st.integers(0, 30), max_size=6)
gaps = st.integers(1, 12)


def brute(events: list[Row], d: int, clock: int | None = None, *, where: bool = True) -> list[Any]:
    """Every event after which no other came for d, until then or until the clock of the whole input."""
    clock = max((t for _, t, _ in events), default=0) if clock is None else clock
    times: dict[str, set[int]] = defaultdict(set)
    for k, t, v in events:
        if v > 0 or not where:
            times[k].add(t)
    return sorted(
        (k, t, t + d)
        for k, own in times.items()
        for t in own
        if t + d <= clock and not any(t < other <= t + d for other in own)
    )


def table_of(events: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip("ktv", row, strict=True)) for row in events], SCHEMA)


def found(*tables: pa.Table) -> list[Any]:
    return sorted(tuple(row.values()) for table in tables for row in table.to_pylist())


def cut(events: list[Row], borders: list[int]) -> list[list[Row]]:
    """In time order; rows of one instant stay together (SEM 8.3)."""
    ordered = sorted(events, key=lambda row: row[1])
    safe = [i for i in sorted(set(borders)) if 0 < i < len(ordered) and ordered[i - 1][1] != ordered[i][1]]
    return [ordered[a:b] for a, b in itertools.pairwise([0, *safe, len(ordered)])]


def alarm(d: int, **asked: Any) -> Alarm:
    return Alarm(d=d, where="v", **asked)


# in process


@given(rows, gaps)
def test_in_process_the_clock_is_the_largest_time_of_all_rows(events: list[Row], d: int) -> None:
    assert found(in_process.run(table_of(events), alarm(d), LAST)) == brute(events, d)


@given(rows, gaps, st.integers(0, 40))
def test_until_says_how_long_silence_lasted(events: list[Row], d: int, more: int) -> None:
    clock = max((t for _, t, _ in events), default=0) + more
    result = in_process.run(table_of(events), alarm(d), {**LAST, "until": clock})
    assert found(result) == brute(events, d, clock)


def test_until_may_not_be_earlier_than_a_row() -> None:
    table = table_of([("p", 3, 1.0), ("q", 9, -1.0)])
    with pytest.raises(OptionError, match="until is 8, but the input has a row at 9"):
        in_process.run(table, alarm(2), {"until": 8})
    assert found(in_process.run(table, alarm(2), {"until": 9})) == [("p", 3, 5)]
    with pytest.raises(OptionError, match="until='soon' is no time here"):
        in_process.run(table, alarm(2), {"until": "soon"})


def test_until_is_for_queries_that_ask_about_silence() -> None:
    with pytest.raises(OptionError, match="until does nothing here"):
        in_process.run(table_of([("p", 3, 1.0)]), EveryNth(), {"until": 9})


def test_an_empty_table_has_no_clock() -> None:
    assert found(in_process.run(table_of([]), alarm(2), {})) == []
    assert found(in_process.run(table_of([]), alarm(2, key=None), {})) == []


@given(rows, gaps, st.integers(1, 3), borders)
def test_several_in_one_pass(events: list[Row], d: int, n: int, at: list[int]) -> None:
    """Those without a clock get what they get alone."""
    both = Several.of({"alarms": alarm(d), "nth": EveryNth(n=n)})
    table = table_of(events)
    parts = in_process.run(table, both, LAST)
    alone = in_process.run(table, EveryNth(n=n), LAST)
    assert found(parts["alarms"]) == brute(events, d)
    assert found(parts["nth"]) == found(alone)
    operator, results = PushOperator(both, SCHEMA, watermark=3, **LAST), []
    for batch in cut(events, at):
        results.append(operator.push(table_of(batch)))
        operator = PushOperator(both, SCHEMA, state=operator.state(), watermark=3, **LAST)
    results.append(operator.flush())
    told = pa.concat_tables(results).to_pylist()
    assert sorted((r["k"], r["_0_since"], r["_0_at"]) for r in told if r["query"] == "alarms") == brute(
        events, d
    )
    assert sorted((r["k"], r["_1_t"], r["_1_v"]) for r in told if r["query"] == "nth") == found(alone)
    assert operator.late == 0


# push


@given(rows, gaps, borders, st.one_of(st.none(), st.integers(0, 20)), st.booleans())
def test_push_and_flush_is_batch(
    events: list[Row], d: int, at: list[int], watermark: int | None, restores: bool
) -> None:
    operator, results = PushOperator(alarm(d), SCHEMA, watermark=watermark, **LAST), []
    for batch in cut(events, at):
        results.append(operator.push(table_of(batch)))
        if restores:
            operator = PushOperator(alarm(d), SCHEMA, state=operator.state(), watermark=watermark, **LAST)
    results.append(operator.flush())
    assert found(*results) == brute(events, d)
    assert operator.late == 0
    assert operator.flush().num_rows == 0


@given(rows, gaps, borders, st.integers(0, 20))
def test_with_a_watermark_everything_before_it_is_told_at_once(
    events: list[Row], d: int, at: list[int], watermark: int
) -> None:
    """Also of partitions that are silent, and whatever was purged: after each push it is batch before W."""
    operator, results, seen = PushOperator(alarm(d), SCHEMA, watermark=watermark, **LAST), [], []
    for batch in [*cut(events, at), []]:
        complete = max((t for _, t, _ in seen), default=-(10**6)) - watermark
        results.append(operator.push(table_of(batch)))
        seen += batch
        assert found(*results) == [one for one in brute(events, d) if one[2] < complete]


@given(rows, gaps, borders)
def test_without_a_watermark_a_partition_tells_with_its_next_event(
    events: list[Row], d: int, at: list[int]
) -> None:
    operator, results, seen = PushOperator(alarm(d), SCHEMA, **LAST), [], []
    for batch in cut(events, at):
        results.append(operator.push(table_of(batch)))
        seen += batch
        last: dict[str, int] = {}
        for k, t, v in seen:
            if v > 0:
                last[k] = max(t, last.get(k, 0))
        assert found(*results) == [one for one in brute(seen, d, 10**6) if one[2] <= last[one[0]]]


@given(rows, gaps, st.integers(0, 80), st.one_of(st.none(), st.integers(0, 20)))
def test_advance_reaches_silent_partitions(events: list[Row], d: int, to: int, watermark: int | None) -> None:
    operator = PushOperator(alarm(d), SCHEMA, watermark=watermark, **LAST)
    results = [operator.push(table_of([row for row in events if row[1] < to])), operator.advance(to)]
    assert found(*results) == brute([row for row in events if row[1] < to], d, to - 1)
    results += [operator.push(table_of([row for row in events if row[1] >= to])), operator.flush()]
    clock = max(to - 1, *(t for _, t, _ in events), 0)
    assert found(*results) == brute(events, d, clock)
    assert operator.late == 0


def test_after_advance_and_flush_rows_up_to_the_clock_are_late() -> None:
    operator = PushOperator(alarm(3), SCHEMA, late_rows=True)
    operator.push(table_of([("p", 1, 1.0), ("q", 9, -1.0)]))
    assert found(operator.flush()) == [("p", 1, 4)]  # the row that WHERE removes has moved the clock
    assert operator.push(table_of([("p", 9, 1.0), ("new", 5, 1.0)])).num_rows == 0
    assert operator.late == 2
    operator.push(table_of([("p", 10, 1.0)]))
    assert found(operator.advance(14)) == [("p", 10, 13)]
    operator.push(table_of([("q", 13, 1.0)]))
    assert operator.late == 3


def test_a_partition_is_forgotten_when_its_alarm_is_told_and_not_before() -> None:
    operator = PushOperator(alarm(10), SCHEMA)
    operator.push(table_of([("p", 1, 1.0), ("q", 1, 1.0)]))
    operator.push(table_of([("q", 5, 1.0)]))
    assert operator.advance(6).num_rows == 0
    assert operator.n_partitions == 2
    assert found(operator.advance(12)) == [("p", 1, 11)]
    assert operator.n_partitions == 1
    assert found(operator.advance(100)) == [("q", 5, 15)]
    assert operator.n_partitions == 0


def test_a_push_looks_only_at_partitions_that_are_due() -> None:
    stepped: list[int] = []

    class Watched(Alarm):
        def step(self, kept: Any, rows: Any, complete: Any, *, at_end: bool = False) -> Any:
            stepped.append(kept.n_slots)
            return super().step(kept, rows, complete, at_end=at_end)

    operator = PushOperator(Watched(d=1000), SCHEMA, watermark=0)
    operator.push(table_of([(f"p{i}", i, 1.0) for i in range(100)]))
    operator.push(table_of([("p0", 500, 1.0)]))
    stepped.clear()
    operator.push(table_of([("p1", 501, 1.0)]))
    assert stepped == [1]
    operator.push(table_of([("p1", 1010, 1.0)]))
    stepped.clear()
    operator.push(table_of([]))  # W is 1010: the alarms of p2 to p9 are before it
    assert stepped == [1, 8]


# buckets of a stream


@given(rows, gaps, borders, st.integers(0, 20), st.integers(1, 3))
def test_buckets_tell_of_silent_partitions_as_the_watermark_passes(
    events: list[Row], d: int, at: list[int], delay: int, n_buckets: int
) -> None:
    stream = MemoryStream(alarm(d), SCHEMA, LAST, has_watermark=True, n_buckets=n_buckets)
    results, latest = [], -(10**6)
    for batch in [*cut(events, at), []]:
        complete = latest - delay
        results.append(stream.push(table_of(batch), complete))
        latest = max([latest, *(t for _, t, _ in batch)])
        assert found(*results) == [one for one in brute(events, d) if one[2] < complete]
    results.append(stream.advance(200))
    assert found(*results) == brute(events, d, 199)
    assert stream.n_late == 0
    assert stream.n_keys == 0


def test_buckets_without_a_watermark_do_nothing_more() -> None:
    stream = MemoryStream(alarm(3), SCHEMA, LAST)
    assert found(stream.push(table_of([("p", 1, 1.0), ("q", 1, 1.0)]))) == []
    assert found(stream.push(table_of([("q", 9, 1.0)]))) == [("q", 1, 4)]
    assert found(stream.push(table_of([("p", 20, 1.0)]))) == [("p", 1, 4)]


def test_many_partitions_are_due_while_cells_are_split() -> None:
    """Cells that are rewritten only because others are split keep what is due."""
    stream = MemoryStream(alarm(10), SCHEMA, LAST, has_watermark=True, n_buckets=1)
    first = [(f"a{i}", 1, 1.0) for i in range(300)]
    many = [(f"b{i}", 12, 1.0) for i in range(5000)]
    stream.push(table_of(first), 0)
    stream.push(table_of(many), 2)
    results = stream.push(table_of([("c", 50, 1.0)]), 13)
    assert len(found(results)) == 300
    assert len(found(stream.advance(23))) == 5000
    assert len(found(stream.advance(61))) == 1


def test_a_bucket_wakes_at_the_very_instant() -> None:
    stream = MemoryStream(alarm(4001), SCHEMA, LAST, has_watermark=True, n_buckets=1)
    stream.push(table_of([("p", 1, 1.0)]), 0)
    assert stream.next_instant == 2  # the row that waits
    stream.advance(2)
    assert stream.next_instant <= 4003
    assert found(stream.advance(4002)) == []
    assert stream.next_instant == 4003
    assert found(stream.advance(4003)) == [("p", 1, 4002)]


# tasks of a batch


@given(rows, gaps, st.sampled_from([1, 200, 1 << 20]), st.integers(0, 10))
def test_tasks_that_bring_rows_together(events: list[Row], d: int, limit: int, more: int) -> None:
    clock = max((t for _, t, _ in events), default=0) + more
    splits = [table_of(events[::2]), table_of(events[1::2])]
    assert found(run_shuffle(splits, alarm(d), {}, limit=limit, clock=clock)) == brute(events, d, clock)


@given(rows, gaps, borders, st.sampled_from([1, 1 << 20]), st.integers(0, 10))
def test_tasks_that_condense(events: list[Row], d: int, at: list[int], limit: int, more: int) -> None:
    clock = max((t for _, t, _ in events), default=0) + more
    splits = [table_of(part) for part in cut(events, at)]
    question = CondensedAlarm(d=d, where="v")
    assert found(run_map_side(splits, question, {}, limit=limit, clock=clock)) == brute(events, d, clock)


@given(rows, gaps, borders, st.integers(1, 5), st.integers(0, 10))
def test_slices_of_one_partition(events: list[Row], d: int, at: list[int], n_slices: int, more: int) -> None:
    events = [("p", t, v) for _, t, v in events]
    clock = max((t for _, t, _ in events), default=0) + more
    splits = [table_of(part) for part in cut(events, at)]
    result = run_slices(splits, CondensedAlarm(d=d, where="v", key=None), {}, n_slices, clock=clock)
    assert found(result) == [one[1:] for one in brute(events, d, clock)]


@pytest.mark.parametrize("run", [run_shuffle, run_map_side], ids=lambda run: run.__name__)
def test_tasks_refuse_a_clock_that_is_too_early(run: Any) -> None:
    with pytest.raises(OptionError, match=r"until is 8, but the input has a row at 9"):
        run([table_of([("p", 9, 1.0)])], CondensedAlarm(d=1), {}, clock=8)
