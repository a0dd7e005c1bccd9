"""The join: every order, every delta and the pair join find the same matches, each once (SEM 4.3)."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import situ
from conformance.strategies import Example, examples, table_of
from situ.algebra.relations import ALL
from situ.operators.questions import matching
from situ.operators.situations.engine import Engine
from situ.operators.situations.input import by_slot
from situ.operators.situations.joins import pair_join
from situ.operators.situations.judged import JudgedEngine, is_judged
from situ.operators.situations.kernels.layout import Runs
from situ.operators.situations.kernels.match import Matches, Step, Work, join, new_work
from situ.options import Options
from situ.plan.plan import Planner
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN
from situ.rows.read import TableReader
from situ.rows.schema import spark_schema
from situations.drawing import SCHEMA, engine_of, events, rows_of

pytestmark = pytest.mark.nojit

Found = list[tuple[int, ...]]


def found(matches: Matches) -> Found:
    """(slot, instant, columns...) of each match, sorted; a list, so that a match found twice shows."""
    rows = zip(matches.slot.tolist(), matches.instant.tolist(), matches.pick.tolist(), strict=True)
    return sorted((slot, instant, *pick) for slot, instant, pick in rows)


def joined(runs: Runs, engine: Engine, orders: list[tuple[int, ...]], before: np.ndarray) -> Found:
    return range_join(runs, engine, orders, Step(before, 0, len(before), 1, 0), new_work(engine.n_positive))


def derived(example: Example) -> tuple[Engine, Runs, np.ndarray]:
    """The engine of an example, the situations that its join reads, and how long each slot's input is."""
    asked = matching(situ.query(example.text)).bind(spark_schema(example.schema), Options())
    engine = (JudgedEngine if is_judged(asked.bound.query) else Engine)(asked.bound)
    rows = TableReader(asked.needs, example.schema)(example.table)
    known = engine.nothing_known(rows.n_slots)
    given_rows = by_slot(asked.needs, rows, rows.n_slots).input(engine, None, known)
    _, (runs, state, *_) = engine.begun(given_rows, known, None)
    return engine, engine.of_positives(runs) if isinstance(engine, JudgedEngine) else runs, state[0]


@settings(max_examples=60)
@given(examples(max_symbols=4), st.integers(0, 40))
def test_every_order_and_the_pair_join_agree(example: Example, middle: int) -> None:
    engine, runs, horizon = derived(example)
    n = engine.n_positive
    for before in (np.full(len(horizon), LONG_AGO), np.minimum(horizon, middle)):
        first, *others = [joined(runs, engine, [order], before) for order in permutations(range(n))]
        assert all(other == first for other in others)
        assert len(first) == len(set(first))
        connected = [plan for plan in permutations(range(n)) if is_connected(engine, plan)]
        for order in connected:
            pairs = pair_join(runs, engine.join_spec, np.array(order), before, new_work(n))
            assert found(pairs) == first


def is_connected(engine: Engine, order: tuple[int, ...]) -> bool:
    relations = engine.join_spec.relations
    return all(any(relations[a, b] != ALL for a in order[:i]) for i, b in enumerate(order) if i)


@settings(max_examples=60)
@given(examples(max_symbols=4), st.integers(0, 40))
def test_anchors_find_what_came_since(example: Example, middle: int) -> None:
    """A delta join emits exactly the matches after `before`, whatever the anchors' sequence and orders."""
    assume(not is_judged(situ.query(example.text)))  # those join everything, and judge it
    engine, runs, horizon = derived(example)
    n = engine.n_positive
    before = np.minimum(horizon, middle)
    wanted = [
        match
        for match in joined(runs, engine, [tuple(range(n))], np.full(len(horizon), LONG_AGO))
        if match[1] > before[match[0]]
    ]
    for order in permutations(range(n)):
        plan = Planner(engine.join_spec.relations, order=order).plan
        assert joined(runs, engine, [plan.orders[anchor] for anchor in plan.anchors], before) == wanted
        assert joined(runs, engine, [plan.orders[anchor] for anchor in order], before) == wanted


def runs_of(engine: Engine, *slots: list[str]) -> Runs:
    return engine.derive(rows_of(*slots), engine.nothing_known(len(slots))).runs


def range_join(runs: Runs, engine: Engine, orders: list[tuple[int, ...]], step: Step, work: Work) -> Found:
    """`join` takes plain tuples, which are cheaper to hand over."""
    return found(join(tuple(runs), tuple(engine.join_spec), np.array(orders), tuple(step), tuple(work)))


def test_a_delta_sets_out_only_from_what_was_touched() -> None:
    # a  ##.........
    # b  ...##......##     before 9: only the second b is new, and only b.ts can complete a match
    engine = engine_of("DEFINE A AS a, B AS b PATTERN A before B")
    runs = runs_of(engine, ["##...........", "...##......##"])
    work = new_work(2)
    step = Step(np.array([9]), 0, 1, 1, 0)
    assert range_join(runs, engine, [(0, 1), (1, 0)], step, work) == [(0, 11, 0, 1)]
    assert work.visited.tolist() == [1, 1]  # the a is over before 9: not even looked at


def test_shares_of_one_slot_together_are_the_whole() -> None:
    engine = engine_of("DEFINE A AS a, B AS b PATTERN A before B")
    runs = runs_of(engine, ["#.#.#.#.#......", ".........#.#.#."])
    step = Step(np.array([LONG_AGO]), 0, 1, 1, 0)
    whole = range_join(runs, engine, [(0, 1)], step, new_work(2))
    for share in (2, 3, 7):
        parts = [step._replace(share=share, part=part) for part in range(share)]
        pieces = [range_join(runs, engine, [(0, 1)], part, new_work(2)) for part in parts]
        assert sorted(match for piece in pieces for match in piece) == whole
    assert len(whole) == 15 - 1  # the last a meets the first b


def test_more_matches_than_there_is_room_for_at_first() -> None:
    engine = engine_of("DEFINE A AS a, B AS b PATTERN A before B")
    runs = runs_of(engine, ["#." * 20 + "." * 40, "." * 40 + ".#" * 20])
    order = [(0, 1)]
    before = np.array([LONG_AGO])
    assert len(joined(runs, engine, order, before)) == 400
    assert found(pair_join(runs, engine.spec, np.array([1, 0]), before, new_work(2))) == joined(
        runs, engine, order, before
    )


def test_situations_without_a_partner_are_not_looked_at_by_the_pair_join() -> None:
    # a  #.#.#.#.....
    # b  .......#..#.     b meets no a but the last; c is only after the second b
    engine = engine_of("DEFINE A AS a, B AS b, C AS c PATTERN A meets B AND B meets C")
    runs = runs_of(engine, ["#.#.#.#.....", ".......#..#.", "...........#"])
    work = new_work(3)
    assert found(pair_join(runs, engine.spec, np.array([0, 1, 2]), np.array([LONG_AGO]), work)) == []
    assert work.visited.tolist() == [4, 0, 0]


def test_final_waits_for_the_largest_end() -> None:
    # a  ####..
    # b  ..###.
    engine = engine_of("DEFINE A AS a, B AS b PATTERN A overlaps B EMIT FINAL")
    runs = runs_of(engine, ["####..", "..###."])
    assert joined(runs, engine, [(0, 1)], np.array([LONG_AGO])) == [(0, 5, 0, 0)]
    still_open = runs_of(engine, ["####.", "..###"])
    assert joined(still_open, engine, [(0, 1)], np.array([LONG_AGO])) == []


def test_a_window_is_inclusive_and_saturates() -> None:
    # a [0--1)  b [5-
    for within, wanted in ((4, 0), (5, 1), (2**63 - 1, 1)):
        engine = engine_of(f"DEFINE A AS a, B AS b PATTERN A before B WITHIN {within}")
        runs = runs_of(engine, ["#....", "....."], ["#.....", ".....#"])
        assert len(joined(runs, engine, [(0, 1)], np.full(2, LONG_AGO))) == wanted


def test_what_is_not_admissible_takes_no_part() -> None:
    engine = engine_of("DEFINE A AS a AT LEAST 3, B AS b PATTERN A overlaps;contains;finished-by B WITHIN 9")
    runs = runs_of(engine, ["###", ".##"])
    assert runs.admissible[0, 0] == NEVER
    assert runs.te[0, 0] == OPEN
    assert joined(runs, engine, [(0, 1)], np.array([LONG_AGO])) == []


def test_examples_of_the_drawing_helper_are_what_they_say() -> None:
    table = events("a .##", "b #..", k="x")
    assert table.schema == SCHEMA
    assert table["a"].to_pylist() == [False, True, True]
    assert table_of([], SCHEMA).num_rows == 0
