"""Duration constraints, admissible instants and followed-by verdicts (SEM 2.3, 2.4, 3.4, 8.4)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.derive import situations
from situ.operators.situations.kernels.admit import admit, judge_followed, latest_raw_ends
from situ.operators.situations.kernels.derive import derive
from situ.operators.situations.kernels.layout import Entries, Rows, Runs, Slots
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED
from situations.drawing import engine_of, kept, new_slots, no_entries, rows_of, spans, values_of

pytestmark = pytest.mark.nojit

NO_PAIRS = np.empty((0, 2), np.int64)


def admitted(
    rows: Rows,
    at_least: int = 0,
    at_most: int = UNBOUNDED,
    slots: Slots | None = None,
    entries: Entries | None = None,
) -> Runs:
    """The situations of a single symbol."""
    n_slots = len(rows.offset) - 1
    slots = new_slots(n_slots) if slots is None else slots
    entries = no_entries(n_slots) if entries is None else entries
    least, most = np.array([at_least]), np.array([at_most])
    runs, _ = derive(rows, entries, slots, 0, least, most, UNBOUNDED)
    admit(rows, runs, least, most, NO_PAIRS, np.bitwise_or.reduce(slots.mask))
    return runs


def test_at_least_is_reached_at_the_first_event_that_is_late_enough() -> None:
    # t  0  2  5  6         AT LEAST 3: 0 + 3 is no event, 5 is the first from there on
    # a  #  #  #  .
    runs = admitted(rows_of(["###."], t=[[0, 2, 5, 6]]), at_least=3)
    assert spans(runs, 0) == [(0, 6)]
    assert values_of(runs.admissible, runs, 0) == [5]


def test_at_least_may_be_reached_by_the_event_that_ends_it() -> None:
    runs = admitted(rows_of(["##."], t=[[0, 2, 5]]), at_least=3)
    assert values_of(runs.admissible, runs, 0) == [5]


def test_what_is_too_short_does_not_exist_and_the_ranks_close() -> None:
    # a  #.###.##..####
    runs = admitted(rows_of(["#.###.##..####"]), at_least=3)
    assert spans(runs, 0) == [(2, 5), (10, OPEN)]
    assert values_of(runs.admissible, runs, 0) == [5, 13]
    assert values_of(runs.first_row, runs, 0) == [2, 10]


def test_an_open_run_is_not_admissible_before_it_has_lasted() -> None:
    runs = admitted(rows_of(["##"], t=[[0, 2]]), at_least=3)
    assert spans(runs, 0) == [(0, OPEN)]
    assert values_of(runs.admissible, runs, 0) == [NEVER]


def test_at_most_is_known_at_the_end() -> None:
    # a  ##.####.#
    runs = admitted(rows_of(["##.####.#"]), at_most=3)
    assert spans(runs, 0) == [(0, 2), (8, OPEN)]
    assert values_of(runs.admissible, runs, 0) == [2, OPEN]  # OPEN is NEVER: not known yet


def test_between_takes_both_ends() -> None:
    # lengths 1, 2, 3, 4
    runs = admitted(rows_of(["#.##.###.####."]), at_least=2, at_most=3)
    assert spans(runs, 0) == [(2, 4), (5, 8)]


def test_an_admissible_instant_once_known_stays() -> None:
    # kept a [0-- admissible at 4, horizon 5;  rows 6, 7
    before = Slots(np.array([5]), np.array([1], np.uint64), np.empty((0, 1), np.int64))
    rows = rows_of(["#."], t=[[6, 7]])
    known = admitted(rows, 3, slots=before, entries=kept((0, 0, OPEN, 4)))
    assert values_of(known.admissible, known, 0) == [4]
    waiting = admitted(rows, 3, slots=before, entries=kept((0, 4, OPEN, NEVER)))
    assert values_of(waiting.admissible, waiting, 0) == [7]
    rows = rows_of(["."], t=[[6]])
    ended = admitted(rows, 2, slots=before, entries=kept((0, 4, OPEN, NEVER)))
    assert values_of(ended.admissible, ended, 0) == [6]  # reached by the row that ends it
    assert spans(admitted(rows, 3, slots=before, entries=kept((0, 4, OPEN, NEVER))), 0) == []


def test_a_run_from_long_ago_never_exists() -> None:
    before = Slots(np.array([5]), np.array([1], np.uint64), np.empty((0, 1), np.int64))
    assert spans(admitted(rows_of(["#.#"], t=[[6, 7, 8]]), slots=before), 0) == [(8, OPEN)]


def test_bounds_beyond_time_saturate() -> None:
    late = 2**63 - 3
    rows = rows_of(["##."], t=[[late - 1, late, late + 1]])
    assert spans(admitted(rows, at_least=2**62), 0) == []
    assert spans(admitted(rows, at_most=2**63 - 1), 0) == [(late - 1, late + 1)]


@given(
    st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=30),
    st.integers(0, 6),
    st.none() | st.integers(0, 8),
)
def test_derive_and_admit_agree_with_the_definition(
    steps: list[tuple[int, bool]], at_least: int, at_most: int | None
) -> None:
    time = np.cumsum([step for step, _ in steps], dtype=np.int64)
    events = [{"t": int(t), "a": held} for t, (_, held) in zip(time, steps, strict=True)]
    if at_most is not None and at_most < at_least:
        at_most = at_least
    rows = Rows(time, np.array([held for _, held in steps], np.uint8), np.array([0, len(steps)]))
    runs = admitted(rows, at_least, UNBOUNDED if at_most is None else at_most)
    found = [
        (ts, te, admissible)
        for (ts, te), admissible in zip(spans(runs, 0), values_of(runs.admissible, runs, 0), strict=True)
        if admissible != NEVER
    ]
    wanted = situations(events, "t", lambda row: row["a"], at_least, at_most)
    assert found == [(s.ts, OPEN if s.te is None else s.te, s.admissible) for s in wanted]


def verdicts(rows: Rows, forget_after: int | None = None) -> list[int]:
    """For each b of `A followed-by B`: te of the a it follows, LONG_AGO for none."""
    engine = engine_of("DEFINE A AS a, B AS b PATTERN A followed-by B WITHIN 100", forget_after=forget_after)
    n_slots = len(rows.offset) - 1
    runs, _ = engine.derive(rows, engine.nothing_known(n_slots))
    return runs.verdict[0, : int(runs.offset[1, -1])].tolist()


def test_b_follows_the_latest_a_that_is_over() -> None:
    # a  ##..#......
    # b  ......#.#..     the second b has a b between itself and the a
    assert verdicts(rows_of(["##..#......", "......#.#.."])) == [5, LONG_AGO]


def test_b_that_begins_as_a_ends_meets_it_and_does_not_follow() -> None:
    assert verdicts(rows_of(["##...", "..#.."])) == [LONG_AGO]


def test_b_that_goes_on_since_before_the_a_ended_stands_between() -> None:
    # a  ..##....
    # b  ###..#..     b's previous run ended at 3, before a's at 4
    assert verdicts(rows_of(["..##....", "###..#.."])) == [LONG_AGO, 4]
    # a  ..#.....
    # b  ####..#.     it ended at 4, after a's at 3
    assert verdicts(rows_of(["..#.....", "####..#."])) == [LONG_AGO, LONG_AGO]


def test_b_within_a_follows_nothing() -> None:
    assert verdicts(rows_of(["#.####", "...#.."])) == [LONG_AGO]


def test_slots_do_not_follow_each_other() -> None:
    assert verdicts(rows_of(["#..", "..."], ["...", "..#"])) == [LONG_AGO]


def test_an_a_of_an_earlier_history_is_followed_by_nothing_and_hides_nothing() -> None:
    # t  0  1 |  9 10 11 12     forget_after 5: what holds at 1 stays open for ever
    # a  #  # |  #  .  .  .
    # b  .  . |  .  .  #  .
    rows = rows_of(["###...", "....#."], t=[[0, 1, 109, 110, 111, 112]])
    assert verdicts(rows, forget_after=100) == [110]


def test_raw_ends_are_the_latest_of_each_symbol() -> None:
    rows = rows_of(["#.#.", "...#"], ["....", "...."])
    runs, _ = derive(rows, no_entries(2, 1), new_slots(2, 2), 1, np.zeros(2, np.int64), np.full(2, -1), -1)
    ends = np.empty((2, 2), np.int64)
    latest_raw_ends(runs, new_slots(2, 2), np.arange(2), ends)
    assert ends.tolist() == [[3, LONG_AGO], [LONG_AGO, LONG_AGO]]


def test_a_verdict_is_carried_with_its_entry() -> None:
    rows = rows_of([".", "."], t=[[9]])
    entries = Entries(
        np.array([1]), np.array([8]), np.array([OPEN]), np.array([8]), np.array([[5]]), np.array([0, 1])
    )
    slots = Slots(np.array([8]), np.array([2], np.uint64), np.array([[5], [LONG_AGO]]))
    runs, _ = derive(rows, entries, slots, 1, np.zeros(2, np.int64), np.full(2, -1), -1)
    judge_followed(runs, entries, slots, np.array([[0, 1]]), np.arange(2))
    assert runs.verdict[0, :1].tolist() == [5]
