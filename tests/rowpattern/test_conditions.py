"""Conditions as tests of positions: what they read, which masks take, and what they say of rows (ROW 2)."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from rowpattern.asking import expression, ordered, planned
from situ.carry.contract import Setting
from situ.language.rows.ast import Aggregate, Concatenation, Navigation, Repetition, Variable
from situ.operators.rowpattern.kernels.layout import FAILED, FALSE, TRUE, UNKNOWN
from situ.operators.rowpattern.vectors import Bounds, VectorTest

SCHEMA = pa.schema([("t", pa.int64()), ("x", pa.float64()), ("n", pa.int32()), ("s", pa.string())])
NOW = Navigation(expression("x"))
BEFORE = Navigation(expression("x"), shift=-1)
AFTER = Navigation(expression("x"), shift=1)
N_NOW = Navigation(expression("n"))
N_BEFORE = Navigation(expression("n"), shift=-1)


def test_a_condition_of_the_row_alone_becomes_a_bit():
    plan = planned(SCHEMA, (NOW,), {"A": "_item_0 > 1", "B": "_item_0 > 1", "C": "TRUE"})
    assert plan.test == (0, 0, -1)
    assert plan.reads == ("row",)
    assert [condition.expression.sql for condition in plan.masked] == ["x > 1"]
    assert plan.columns == ()
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_a_condition_that_may_raise_is_no_bit():
    plan = planned(SCHEMA, (N_NOW,), {"A": "10 / _item_0 > 1", "B": "_item_0 + 1 > 1"})
    assert plan.masked == ()
    assert plan.reads == ("row", "row")
    assert plan.columns == ("n",)


def test_own_variable_and_no_variable_are_the_same_row():
    own = Navigation(expression("x"), variable="A")
    plan = planned(SCHEMA, (NOW, own), {"A": "_item_1 > 1", "B": "_item_0 > 1"})
    assert plan.test == (0, 0)


def test_neighbours():
    plan = planned(SCHEMA, (NOW, BEFORE, AFTER), {"A": "_item_0 > _item_1", "B": "_item_0 < _item_2"})
    assert plan.reads == ("neighbour", "neighbour")
    assert plan.lag == (0, 1)
    assert plan.back == 1
    assert plan.columns == ("x",)


def test_a_condition_that_is_always_true_or_never():
    plan = planned(SCHEMA, (NOW,), {"A": "1 = 1 OR TRUE", "B": "NULL", "C": "_item_0 > 1"})
    assert plan.test[0] == -1
    assert plan.test[1] != plan.test[2]
    conditions = plan.compile(SCHEMA, Setting())
    rows = conditions.rows(ordered(_table([2.0])), np.array([1], np.uint8), *_one_history(1), at_end=True)
    assert rows.truth[list(plan.test[1:]), 0].tolist() == [FALSE, TRUE]


numbers = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 2.0, float("nan"), float("inf")]))


@given(st.lists(st.lists(numbers, min_size=1, max_size=5), max_size=6), st.booleans())
def test_neighbours_end_with_their_history(histories, at_end):
    plan = planned(
        SCHEMA,
        (NOW, BEFORE, AFTER),
        {"A": "_item_0 > _item_1", "B": "_item_1 IS NULL", "C": "_item_0 <= _item_2"},
    )
    conditions = plan.compile(SCHEMA, Setting())
    values = [value for history in histories for value in history]
    borders = np.cumsum([0, *map(len, histories)])
    low, high = borders[:-1], borders[1:]
    mask = np.zeros(len(values), np.uint8)
    found = conditions.rows(ordered(_table(values)), mask, low, high, at_end=at_end).truth
    a, b, c = plan.test
    row = 0
    for history in histories:
        for i, value in enumerate(history):
            before = history[i - 1] if i else None
            after = history[i + 1] if i + 1 < len(history) else None
            assert found[a, row] == (_less(before, value) is True)
            assert found[b, row] == (before is None)
            unknown = i + 1 == len(history) and not at_end
            assert found[c, row] == (UNKNOWN if unknown else _less(after, value) is False)
            row += 1


def _less(left: float | None, right: float | None) -> bool | None:
    """As Spark compares: NaN is the greatest."""
    if left is None or right is None:
        return None
    return bool(left < right or (right != right and left == left))


@given(st.lists(st.one_of(st.none(), st.integers(-1, 2)), max_size=20))
def test_rows_that_raise_are_marked_and_no_others(values):
    plan = planned(
        SCHEMA, (N_NOW, N_BEFORE), {"A": "10 / _item_0 > 5", "B": "_item_0 <> 0 AND 10 / _item_1 > 5"}
    )
    conditions = plan.compile(SCHEMA, Setting())
    table = _table([None] * len(values), values)
    mask = np.zeros(len(values), np.uint8)
    found = conditions.rows(ordered(table), mask, *_one_history(len(values)), at_end=True).truth
    a, b = plan.test
    for i, value in enumerate(values):
        before = values[i - 1] if i else None
        assert found[a, i] == _division(value)
        assert found[b, i] == (_division(before) if value is None or value != 0 else FALSE) * (
            1 if value is not None or _division(before) == FAILED else 0
        )


def _division(by: int | None) -> int:
    if by is None:
        return FALSE
    return FAILED if by == 0 else TRUE if 10 / by > 5 else FALSE


def test_a_failed_test_tells_its_variable_and_why():
    plan = planned(SCHEMA, (N_NOW,), {"A": "10 / _item_0 > 5"})
    conditions = plan.compile(SCHEMA, Setting())
    table = ordered(_table([1.0, 1.0], [1, 0]))
    error = conditions.error(plan.test[0], table, 1, 0, 2, conditions.path(1))
    assert "the condition of A" in str(error)
    assert "divides by zero" in str(error)


def test_without_ansi_nothing_fails():
    plan = planned(SCHEMA, (N_NOW,), {"A": "10 / _item_0 > 5"})
    conditions = plan.compile(SCHEMA, Setting(ansi=False))
    table = ordered(_table([1.0, 1.0], [1, 0]))
    found = conditions.rows(table, np.zeros(2, np.uint8), *_one_history(2), at_end=True).truth
    assert found[plan.test[0]].tolist() == [TRUE, FALSE]


@pytest.mark.parametrize("ansi", [True, False])
def test_functions_of_a_neighbour(ansi):
    item = Navigation(expression("upper(s)"), shift=-1)
    plan = planned(SCHEMA, (Navigation(expression("s")), item), {"A": "_item_0 = _item_1"})
    conditions = plan.compile(SCHEMA, Setting(ansi=ansi))
    table = ordered(pa.table({"t": [1, 2, 3], "x": [1.0] * 3, "n": [1] * 3, "s": ["a", "A", "b"]}, SCHEMA))
    found = conditions.rows(table, np.zeros(3, np.uint8), *_one_history(3), at_end=True).truth
    assert found[plan.test[0]].tolist() == [FALSE, TRUE, FALSE]


def _table(x: list[float | None], n: list[int | None] | None = None) -> pa.Table:
    n = [None] * len(x) if n is None else n
    return pa.table({"t": range(len(x)), "x": x, "n": n, "s": [None] * len(x)}, SCHEMA)


def _one_history(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array([0]), np.array([n])


A_THEN_RISES = Concatenation((Variable("A"), Repetition(Variable("B"), 1, None)))
OWN, OWN_BEFORE = Navigation(expression("x"), "B"), Navigation(expression("x"), "B", offset=1)


def test_the_row_taken_before_is_the_neighbour():
    rises = {"A": "TRUE", "B": "_item_1 IS NULL OR _item_0 > _item_1"}
    plan = planned(SCHEMA, (OWN, OWN_BEFORE), rises, pattern=A_THEN_RISES)
    prev = planned(SCHEMA, (NOW, BEFORE), {"A": "TRUE", "B": "_item_0 > _item_1"}, pattern=A_THEN_RISES)
    assert plan.automaton.n_positions == 3, "the first B is a position of its own"
    assert [plan.test[0], plan.test[1]] == [-1, -1]
    of_loop = plan.tests[plan.test[2]]
    assert (of_loop.condition.sql, of_loop.reads) == (
        "_read_0 IS NULL OR x > _read_0",  # the row is there, its value need not be
        prev.tests[0].reads,
    )


def test_what_is_always_the_first_row_is_of_the_first_class():
    read = (NOW, Navigation(expression("x"), "A"))
    plan = planned(SCHEMA, read, {"A": "TRUE", "B": "_item_0 > _item_1"}, pattern=A_THEN_RISES)
    assert plan.reads == ("first",)
    skipping = planned(
        SCHEMA, read, {"A": "TRUE", "B": "_item_0 > _item_1"}, pattern=A_THEN_RISES, strategy="next"
    )
    assert skipping.reads == ("first",)


def test_rows_that_are_skipped_are_no_neighbours():
    read = (NOW, Navigation(expression("x"), offset=1))
    conditions = {"A": "TRUE", "B": "_item_0 > _item_1"}
    assert planned(SCHEMA, read, conditions, pattern=A_THEN_RISES).reads == ("neighbour",)
    assert planned(SCHEMA, read, conditions, pattern=A_THEN_RISES, strategy="next").reads == ("path",)


def test_counting_all_rows_needs_no_path():
    counted = (Aggregate("count"),)
    conditions = {"A": "TRUE", "B": "_item_0 < 5"}
    assert planned(SCHEMA, counted, conditions, pattern=A_THEN_RISES).reads == ("first",)
    assert planned(SCHEMA, counted, conditions, pattern=A_THEN_RISES, strategy="any").reads == ("path",)


def test_a_variable_that_comes_later_is_null():
    later = Navigation(expression("x"), "B")
    plan = planned(SCHEMA, (later,), {"A": "_item_0 IS NULL", "B": "TRUE"}, pattern=A_THEN_RISES)
    assert plan.test[0] == -1


def test_its_own_classifier_is_known():
    plan = planned(
        SCHEMA, (Navigation(expression("_classifier")),), {"A": "_item_0 = 'A'", "B": "_item_0 = 'A'"}
    )
    assert plan.reads == ("row", "row")


@pytest.mark.parametrize("longest", [3, 100, 3000])
def test_long_histories_are_worked_on_in_blocks(longest):
    drawn = np.random.default_rng(longest)
    sizes = drawn.integers(1, longest + 1, 6000 // longest + 1)
    n = int(sizes.sum())
    high = np.cumsum(sizes)
    low = high - sizes
    table = _table(
        [None if value > 8 else float(value) for value in drawn.integers(0, 10, n)],
        [None if value > 8 else int(value) for value in drawn.integers(0, 10, n)],
    )
    read = (NOW, BEFORE, Navigation(expression("x"), shift=-3), N_NOW, Navigation(expression("n"), shift=2))
    either = "_item_0 + _item_2 > 9 OR 8 div _item_3 > 1"
    by_item = {"A": "_item_0 > _item_1", "B": either, "C": "_item_4 <=> _item_3"}
    plan = planned(SCHEMA, read, by_item)
    found = plan.compile(SCHEMA, Setting()).rows(
        ordered(table), np.zeros(n, np.uint8), low, high, at_end=True
    )
    for number, test in enumerate(plan.tests):
        vector = VectorTest(test.condition, test.reads, SCHEMA, test.name, Setting())
        assert (found.truth[number] == vector(ordered(table).columns, Bounds(low, high))).all()
    assert {FALSE, TRUE, FAILED} == set(found.truth.ravel().tolist())


def test_numbers_of_more_digits_than_64_bits_in_tests_of_neighbours():
    table = pa.table({"ts": [1, 2, 3, 4], "x": [2**60, 2, 2**60, 2**62]})
    text = """
        FROM t MATCH_RECOGNIZE (
            ORDER BY ts
            MEASURES B.ts AS at
            AFTER MATCH SKIP TO NEXT ROW
            PATTERN (A B)
            DEFINE B AS x < 0.95 * A.x OR 1.25 * A.x < PREV(x, 2) * 3.5
        )
    """
    assert situ.match(table, text)["at"].to_pylist() == [2, 3]


def test_numbers_that_programs_cannot_tell_from_errors_are_told_as_what_they_are():
    table = pa.table({"ts": [1, 2], "x": [2**62, 2**62]})
    text = """
        FROM t MATCH_RECOGNIZE (
            ORDER BY ts
            MEASURES B.ts AS at
            PATTERN (A B)
            DEFINE B AS x < 0.95 * A.x OR 1 / A.x > 0
        )
    """
    with pytest.raises(situ.SituError, match="a number does not fit 64 bits"):
        situ.match(table, text)
