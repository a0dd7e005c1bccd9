"""Threads: how many a step gets, how work is cut, and that results do not show it."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from conformance.random_events import in_stretches
from situ.machine import threads
from situ.machine.threads import Crew, cut_evenly
from situ.operators.situations.kernels.layout import Rows
from situations.drawing import SCHEMA, engine_of, records


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(1, 9))
def test_cuts_cover_everything_in_order(weights: list[int], parts: int) -> None:
    ranges = cut_evenly(np.array(weights), parts)
    assert len(ranges) <= parts
    assert ranges[0][0] == 0
    assert ranges[-1][1] == len(weights)
    assert all(low < high for low, high in ranges)
    assert all(a[1] == b[0] for a, b in pairwise(ranges))


@given(st.lists(st.integers(1, 50) | st.just(1000), min_size=1, max_size=60), st.integers(1, 9))
def test_no_part_has_more_than_its_share_but_for_the_slot_that_fills_it(
    weights: list[int], parts: int
) -> None:
    """A part ends with the slot that reaches the share, so it exceeds it by less than that one slot."""
    share = sum(weights) / parts
    for low, high in cut_evenly(np.array(weights), parts):
        assert sum(weights[low : high - 1]) < share or high - low == 1


def test_a_skewed_partition_gets_a_thread_of_its_own() -> None:
    weights = np.array([1] * 10 + [1000] + [1] * 10)
    groups = cut_evenly(weights, 4)
    (heavy,) = [group for group in groups if group[0] <= 10 < group[1]]
    assert heavy[1] == 11  # nothing is added after it
    # where it moves to another place, so does its group: cuts are made anew in every step
    assert cut_evenly(weights[::-1], 4) != groups or heavy == (0, 11)


def test_fixed_crews_are_what_was_asked_for() -> None:
    assert [Crew(n).size_for(10**6) for n in (1, 2, 7)] == [1, 2, 7]
    assert Crew(3).size_for(0) == 3


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no processes")
def test_a_tuned_crew_is_no_larger_than_the_cores_it_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    assert Crew("auto").most == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert Crew("auto").most == 1
    finally:
        os.sched_setaffinity(0, allowed)


def tuned(seconds_per_event: dict[int, float], most: int = 8) -> Crew:
    crew = Crew("auto")
    crew.most = most
    crew._seconds_per_event = seconds_per_event
    return crew


def test_a_tuned_crew_measures_alone_first_and_then_grows_with_the_step() -> None:
    assert tuned({}).size_for(10**9) == 1
    crew = tuned({1: 1e-6})
    assert crew.size_for(100) == 1  # 0.1 ms are done sooner than handed over
    assert crew.size_for(5_000) == 3
    assert crew.size_for(10**9) == 8


def test_a_tuned_crew_stays_with_fewer_where_more_did_not_help() -> None:
    assert tuned({1: 1e-6, 8: 1e-6, 7: 1e-6, 6: 2e-7}).size_for(10**9) == 6
    assert tuned({1: 1e-6, **dict.fromkeys(range(2, 9), 1e-6)}).size_for(10**9) == 1


def test_a_tuned_crew_looks_again_now_and_then() -> None:
    crew = tuned({1: 1e-6, **dict.fromkeys(range(2, 9), 1e-6)})
    sizes = [crew.size_for(10**9) for _ in range(2 * threads._LOOK_AGAIN)]
    assert sizes.count(8) == 2
    assert sizes.count(1) == len(sizes) - 2


def test_times_are_remembered_per_size() -> None:
    crew = Crew("auto")
    with crew.measured(1000) as n_threads:
        assert n_threads == 1
    assert crew._seconds_per_event[1] > 0


def test_a_slow_step_is_not_believed_at_once_and_a_fast_one_is() -> None:
    crew = tuned({1: 1e-6})
    crew._remember(1, 1.0)  # a kernel was loaded
    assert crew._seconds_per_event[1] < 1.5e-6
    for _ in range(100):
        crew._remember(1, 8e-6)  # but this is how it is now
    assert crew._seconds_per_event[1] == pytest.approx(8e-6, rel=0.01)
    crew._remember(1, 2e-6)
    assert crew._seconds_per_event[1] == 2e-6


def test_a_tuned_crew_measures_one_thread_now_and_then() -> None:
    crew = tuned({1: 1.0, 8: 1e-6})  # one thread once took long, and more have done well since
    sizes = [crew.size_for(10**9) for _ in range(threads._LOOK_AGAIN)]
    assert sizes.count(1) == 1
    assert sizes.count(8) == len(sizes) - 1


def test_errors_of_a_thread_are_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        Crew(2).run(lambda x: 1 // x, [(1,), (0,)])


def random_table(seed: int, n_rows: int, n_keys: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    flips = rng.random((3, n_rows)) < 0.08
    columns = {name: np.cumsum(flip) % 2 == 1 for name, flip in zip("abc", flips, strict=True)}
    table = pa.table(
        {
            "k": [str(k) for k in rng.integers(0, n_keys, n_rows) ** 2 // n_keys],  # skewed
            "t": np.arange(n_rows) + np.cumsum(rng.random(n_rows) < 0.01) * 50,
            **columns,
            "x": rng.normal(size=n_rows).round(3),
        }
    )
    return table.select([name for name in SCHEMA.names if name in table.column_names])


TEXT = (
    "FROM e {partition} ORDER BY t DEFINE A AS a, B AS b AT LEAST 5, C AS c "
    "PATTERN A overlaps;contains;before;finished-by B AND B followed-by;meets;overlaps C WITHIN 150 "
    "RETURN A.ts AS a, B.ts AS b, C.ts AS c, B.te AS te, sum(A.x) AS s, count(B) AS n, last(C.x) AS l"
)


@pytest.mark.parametrize("n_keys", [1, 40])
@pytest.mark.parametrize("forget_after", [None, 150])
def test_results_do_not_depend_on_the_number_of_threads(n_keys: int, forget_after: int | None) -> None:
    table = random_table(n_keys, 6000, n_keys)
    query = situ.query(TEXT.format(partition="PARTITION BY k" if n_keys > 1 else ""))
    options = {} if forget_after is None else {"forget_after": forget_after}
    alone = situ.match(table, query, **options)
    assert alone.num_rows > 100
    for n_threads in (2, 3, 7, "auto"):
        found = situ.match(table, query, threads=n_threads, **options)
        assert found["match_time"].to_pylist() == sorted(found["match_time"].to_pylist())
        assert records(found.drop_columns("s")) == records(alone.drop_columns("s"))
        assert sorted(found["s"].to_pylist()) == pytest.approx(sorted(alone["s"].to_pylist()))


@pytest.mark.parametrize("n_keys", [1, 40])
def test_pushed_steps_do_not_depend_on_the_number_of_threads(n_keys: int) -> None:
    table = random_table(n_keys + 5, 4000, n_keys)
    query = situ.query(TEXT.format(partition="PARTITION BY k" if n_keys > 1 else ""))
    alone = records(situ.match(table, query).drop_columns("s"))
    operator = query.operator(table.schema, threads=2)
    found = [operator.push(table.slice(i, 700)) for i in range(0, 4000, 700)]
    assert records(pa.concat_tables(found).drop_columns("s")) == alone


CHANGES = st.tuples(st.sampled_from([1, 1, 2, 12]), st.integers(0, 7), st.sampled_from([1, 1, 2, 9]))
HELD = st.none() | st.integers(0, 7)


@given(in_stretches(CHANGES, 30), HELD, st.integers(2, 5), st.sampled_from([None, 9]))
def test_chunks_stitched_together_are_what_one_pass_derives(
    drawn: list[tuple[int, int, int]], held: int | None, n_threads: int, forget_after: int | None
) -> None:
    """Alg. 5.5: one partition cut by time; situations span borders, whole chunks, or none."""
    steps = [(gap, state) for gap, state, n_rows in drawn for _ in range(n_rows)]
    steps += [(1, 0)] * (n_threads - len(steps))  # a chunk has a row at least
    n_rows = len(steps)
    time = np.cumsum([gap for gap, _ in steps])
    mask = np.array([state for _, state in steps], np.uint8)
    rows = Rows(time, mask, np.array([0, n_rows]))
    engine = engine_of(
        "DEFINE A AS a, B AS b AT LEAST 3, C AS c AT MOST 9 PATTERN A followed-by B AND B before C WITHIN 9",
        threads=n_threads,
        forget_after=forget_after,
    )
    known = engine.nothing_known(1)
    if held is not None:  # with something carried over
        first = Rows(time[:2] - 20, np.array([7, held], np.uint8), np.array([0, 2]))
        known = engine.keep(_no_states(engine, first), *engine.derive(first, known), known)
    whole, after = engine.derive(rows, known)
    cut, after_cut = engine.derive(rows, known, n_threads)
    for symbol in range(3):
        used = int(whole.offset[symbol, 1])
        assert cut.offset[symbol].tolist() == whole.offset[symbol].tolist()
        for name in ("ts", "te", "admissible", "first_row", "last_row", "carry"):
            assert (
                getattr(cut, name)[symbol, :used].tolist() == getattr(whole, name)[symbol, :used].tolist()
            ), name
    n_b = int(whole.offset[1, 1])
    assert cut.verdict[0, :n_b].tolist() == whole.verdict[0, :n_b].tolist()
    assert np.array_equal(after, after_cut)


def _no_states(engine, rows):  # type: ignore[no-untyped-def]
    from situ.operators.situations.engine import Input
    from situ.operators.situations.input import attribute_states

    return Input(rows, attribute_states(engine, {}, len(rows.time)))


SPREAD = situ.query(
    "FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A overlaps;meets;during B WITHIN 900"
)


def many_partitions() -> pa.Table:
    rng, n = np.random.default_rng(3), 4000
    return pa.table(
        {"k": rng.integers(0, 50, n), "t": np.arange(n), "a": rng.random(n) < 0.4, "b": rng.random(n) < 0.4}
    )


def _match_and_report(connection: Any) -> None:
    connection.send(situ.match(many_partitions(), SPREAD, threads=2).num_rows)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes can fork")
def test_a_forked_child_has_threads_of_its_own() -> None:
    """The pool its parent made has no threads in the child: it waited for them for ever."""
    wanted = situ.match(many_partitions(), SPREAD, threads=2).num_rows
    assert wanted > 0
    context = multiprocessing.get_context("fork")
    answer, connection = context.Pipe(duplex=False)
    child = context.Process(target=_match_and_report, args=(connection,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks of several threads
        child.start()
    try:
        assert answer.poll(60), "the child does not answer"
        assert answer.recv() == wanted
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
