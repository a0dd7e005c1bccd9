"""Values that conditions read of the path, against values taken from the path by hand (ROW 3, WIN 5.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import situ
from rowpattern.asking import expression, ordered, planned
from situ.carry.contract import Setting
from situ.errors import UnsupportedConditionError
from situ.expressions import compile_condition
from situ.language.rows.ast import (
    CLASSIFIER_COLUMN,
    Aggregate,
    Alternation,
    Item,
    MatchNumber,
    Navigation,
    Repetition,
    Variable,
)
from situ.operators.rowpattern.kernels import layout, machine
from situ.operators.rowpattern.kernels.layout import FAILED, FALSE, TRUE, UNKNOWN
from situ.rows.columns import truths

VARIABLES = "ABC"
ANY = Repetition(Alternation(tuple(map(Variable, VARIABLES))), 0, None)
SUBSETS = {"U": ("A", "B"), "V": ("C",)}
KINDS = {"i": pa.int32(), "f": pa.float64(), "s": pa.string()}

Row = dict[str, Any]
Path = list[tuple[int, str]]  # rows and their variables

values = st.fixed_dictionaries(
    {
        "i": st.sampled_from([None, 0, 1, -3, 2**31 - 1]),
        "f": st.sampled_from([None, 0.1, 0.2, 0.3, 1e16, -1e16, 3.0, math.inf, math.nan, 5e-324]),
        "s": st.sampled_from([None, "", "b", "a", "B"]),
    }
)
groups = st.sampled_from([None, *VARIABLES, *SUBSETS])
navigations = st.builds(
    Navigation,
    st.sampled_from([*map(expression, KINDS), expression(CLASSIFIER_COLUMN)]),
    groups,
    st.booleans(),
    st.integers(0, 2),
    st.integers(-2, 2),
)
aggregates = st.one_of(
    st.builds(lambda group: Aggregate("count", None, group), groups),
    st.builds(
        lambda function, column, group: Aggregate(function, expression(column), group),
        st.sampled_from(["count", "min", "max"]),
        st.sampled_from(list(KINDS)),
        groups,
    ),
    st.builds(
        lambda function, column, group: Aggregate(function, expression(column), group),
        st.sampled_from(["sum", "avg", "stddev", "variance"]),
        st.sampled_from(["i", "f"]),
        groups,
    ),
)
items: st.SearchStrategy[Item] = st.one_of(navigations, aggregates, st.just(MatchNumber()))


def members(group: str | None) -> tuple[str, ...]:
    return tuple(VARIABLES) if group is None else SUBSETS.get(group, (group,))


def navigated(item: Navigation, path: Path, table: list[Row]) -> Any:
    rows = [row for row, variable in path if variable in members(item.variable)]
    if item.offset >= len(rows):
        return None
    row = (rows[item.offset] if item.is_first else rows[-1 - item.offset]) + item.shift
    if item.expression.sql == CLASSIFIER_COLUMN:
        return dict(path).get(row)
    return table[row][item.expression.sql] if 0 <= row < len(table) else None


def aggregated(item: Aggregate, path: Path, table: list[Row]) -> Any:
    rows = [row for row, variable in path if variable in members(item.variable)]
    if item.argument is None:
        return len(rows)
    column = item.argument.sql
    there = [table[row][column] for row in rows if table[row][column] is not None]
    if item.function == "count":
        return len(there)
    if not there or (len(there) == 1 and item.function in ("stddev", "variance")):
        return None
    order: Callable[[Any], Any] = lambda value: (value != value, value)  # noqa: E731
    match item.function:
        case "min":
            return min(there, key=order)
        case "max":
            return max(there, key=order)
        case "sum":
            return real_sum(there) if column == "f" else sum(there)
        case "avg":
            return real_sum(there) / len(there)
        case _:
            average = real_sum(there) / len(there)
            variance = real_sum([(value - average) * (value - average) for value in there]) / (len(there) - 1)
            return variance if item.function == "variance" else math.sqrt(variance)


def real_sum(numbers: list[float]) -> float:
    if any(map(math.isnan, numbers)) or {math.inf, -math.inf} <= set(numbers):
        return math.nan
    if infinite := [number for number in numbers if math.isinf(number)]:
        return infinite[0]
    return float(sum(map(Fraction, numbers)))


def kind_of(item: Item) -> pa.DataType:
    if isinstance(item, MatchNumber) or (isinstance(item, Aggregate) and item.function == "count"):
        return pa.int64()
    if isinstance(item, Navigation):
        return KINDS.get(item.expression.sql, pa.string())
    assert item.argument is not None
    if item.function in ("min", "max"):
        return KINDS[item.argument.sql]
    return pa.int64() if item.function == "sum" and item.argument.sql == "i" else pa.float64()


@settings(max_examples=300)
@given(
    st.lists(values, min_size=1, max_size=8),
    st.lists(items, min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from(VARIABLES), st.integers(0, 1), st.integers(0, 2)), max_size=12),
    st.sampled_from(["contiguous", "next"]),
)
def test_values_are_those_of_the_path(table, read, steps, strategy):
    """Each step takes rows back, skips some and takes one; the values expected come with the rows."""
    path: Path = []
    walked: list[tuple[Path, dict[str, Any]]] = []
    for variable, skipped, back in steps:
        path = path[: max(0, len(path) - back)]
        row = path[-1][0] + 1 + (skipped if strategy == "next" else 0) if path else skipped
        if row >= len(table):
            break
        path = [*path, (row, variable)]
        found = {f"w{k}": expected(item, path, table) for k, item in enumerate(read)}
        walked.append((path, found))
    fields = [("t", pa.int64()), *KINDS.items(), *((f"w{k}", kind_of(item)) for k, item in enumerate(read))]
    schema = pa.schema(fields)
    wanted = [Navigation(expression(f"w{k}")) for k in range(len(read))]
    condition = " AND ".join(f"_item_{k} <=> _item_{len(read) + k}" for k in range(len(read)))
    plan = planned(
        schema,
        (*read, *wanted),
        dict.fromkeys(VARIABLES, condition),
        pattern=ANY,
        subsets=SUBSETS,
        strategy=strategy,
    )
    conditions = plan.compile(schema, Setting())
    for steps_so_far in range(1, len(walked) + 1):
        path, found = walked[steps_so_far - 1]
        rows = [{**row, "t": k, **dict.fromkeys(found)} for k, row in enumerate(table)]
        rows[path[-1][0]] |= found
        before = [one for one, _ in walked[:steps_so_far]]
        assert run(conditions, pa.Table.from_pylist(rows, schema), before) == TRUE


def expected(item: Item, path: Path, table: list[Row]) -> Any:
    match item:
        case Navigation():
            return navigated(item, path, table)
        case Aggregate():
            return aggregated(item, path, table)
        case _:
            return 7


def run(conditions: Any, table: pa.Table, paths: list[Path], *, at_end: bool = True) -> int:
    """What the test of the last row of the last path says."""
    return walked_to(conditions, table, paths, at_end=at_end)[0]


def walked_to(
    conditions: Any, table: pa.Table, paths: list[Path], *, at_end: bool = True
) -> tuple[int, layout.Path]:
    """Walk from path to path, as a search does, and say what the test of the last row says."""
    n = table.num_rows
    low, high = np.array([0]), np.array([n])
    mask = np.zeros(n, np.uint8)
    for bit, (what, condition) in enumerate(conditions.plan.masked):
        mask |= truths(compile_condition(condition, table.schema, what)(ordered(table).columns)) << bit
    rows = conditions.rows(ordered(table), mask, low, high, at_end=at_end)
    room = conditions.path(n)
    programs, taken = conditions.programs, []
    for path in paths:
        while taken != path[: len(taken)]:
            machine.leave(programs, rows, room, len(taken) - 1)
            taken = taken[:-1]
        for row, variable in path[len(taken) :]:
            room.row[len(taken)], room.variable[len(taken)] = row, VARIABLES.index(variable)
            machine.enter(programs, rows, room, len(taken))
            taken = [*taken, (row, variable)]
    automaton = conditions.plan.automaton
    position = automaton.variable.index(automaton.variables.index(taken[-1][1]))
    number = conditions.plan.test[position]
    if number < conditions.n_truth:
        return (TRUE if number < 0 else int(rows.truth[number, taken[-1][0]])), room
    program = number - conditions.n_truth
    with np.errstate(all="ignore"):
        return int(machine.test(programs, program, rows, room, len(taken) - 1, 0, n, at_end, 7)), room


SMALL = pa.schema([("t", pa.int64()), ("i", pa.int64()), ("s", pa.string())])


def verdict(condition: str, read: tuple[Item, ...], numbers: list[int | None], path: str, **more: Any) -> int:
    plan = planned(SMALL, read, dict.fromkeys(VARIABLES, condition), pattern=ANY, subsets=SUBSETS)
    table = pa.table({"t": range(len(numbers)), "i": numbers, "s": list("abcdefgh")[: len(numbers)]}, SMALL)
    return run(plan.compile(SMALL, Setting()), table, [list(enumerate(path))], **more)


def test_a_sum_that_does_not_fit_raises_but_not_one_that_came_back():
    total = (Aggregate("sum", expression("i"), "U"),)
    assert verdict("_item_0 > 0", total, [2**63 - 1, 1], "AA") == FAILED
    assert verdict("_item_0 = 9223372036854775806", total, [2**63 - 1, 1, -2], "AAA") == TRUE


def test_an_argument_that_raises_fails_the_test_that_reads_it():
    total = (Aggregate("sum", expression("10 div i"), "A"),)
    assert verdict("_item_0 > 0", total, [0, 1], "AB") == FAILED
    assert verdict("_item_0 > 0", total, [0, 1], "BA") == TRUE


def test_a_row_yet_to_come_is_unknown():
    ahead = (Navigation(expression("i"), "A", shift=1),)
    assert verdict("_item_0 IS NULL", ahead, [1, 1], "BA") == TRUE
    assert verdict("_item_0 IS NULL", ahead, [1, 1], "BA", at_end=False) == UNKNOWN
    assert verdict("_item_0 = 1", ahead, [1, 1], "AB", at_end=False) == TRUE


def test_texts_of_several_rows_and_variables():
    read = (Navigation(expression("s"), "A"), Navigation(expression("s"), "C", is_first=True))
    assert verdict("_item_0 < _item_1 AND _item_0 < 'z' AND upper(_item_0) = 'A'", read, [0, 0], "AC") == TRUE
    classifier = (Navigation(expression(CLASSIFIER_COLUMN), None, offset=1),)
    assert verdict("_item_0 = 'B' AND _item_0 < 'Bb' AND _item_0 > 'AZ'", classifier, [0, 0], "BA") == TRUE


def test_what_a_lifted_part_is_without_its_row():
    read = (Navigation(expression("i"), "C"),)
    assert verdict("coalesce(_item_0, 5) = 5", read, [1, 1], "AA") == TRUE
    assert verdict("coalesce(_item_0, 5) = 1", read, [1, 1], "CA") == TRUE


def test_a_number_with_digits_times_a_column_of_another_row():
    """Computed of that row alone it has more digits than a register: it is computed when it is needed."""
    read = (Navigation(expression("i"), None, is_first=True), Aggregate("count", None, None))
    assert verdict("0.500000001 * _item_0 > _item_1", read, [5, 0], "AA") == TRUE
    assert verdict("0.399999999 * _item_0 > _item_1", read, [5, 0], "AA") == FALSE


@pytest.mark.parametrize("function", ["array_agg", "percentile", "avg"])
def test_aggregates_that_are_refused_by_name(function):
    read = (Aggregate(function, expression("s"), "A"),)
    with pytest.raises(UnsupportedConditionError, match=function) as caught:
        verdict("_item_0 IS NULL", read, [1], "A")
    assert "Spark" not in str(caught.value)  # which could not evaluate it either


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("_item_0 + _item_1 > 0", "a sum does not fit 64 bits"),
        ("_item_0 > 0 AND 1 / (_item_1 - 1) > 0", "a division is by zero"),
        ("_item_0 < 0 OR CASE WHEN _item_1 = 0 THEN _item_0 % 0 ELSE 1 div (_item_1 - 1) END > 0", "by zero"),
        ("CAST(_item_0 - _item_1 AS INT) > 0", "a number that is cast does not fit int"),
    ],
)
def test_what_raised_is_told(condition, says):
    read = (Navigation(expression("i"), "A"), Navigation(expression("i"), "C"))
    plan = planned(SMALL, read, dict.fromkeys(VARIABLES, condition), pattern=ANY, subsets=SUBSETS)
    conditions = plan.compile(SMALL, Setting())
    table = pa.table({"t": [0, 1], "i": [2**63 - 1, 1], "s": ["", ""]}, SMALL)
    verdict, room = walked_to(conditions, table, [[(0, "A"), (1, "C")]])
    assert verdict == FAILED
    number = next(test for test in plan.test if test >= conditions.n_truth)
    error = conditions.error(number, ordered(table), 1, 0, 2, room)
    assert says in str(error)
    assert "the condition of A" in str(error)


def test_a_search_that_comes_to_it_says_where():
    table = pa.table({"t": range(3), "i": [5, 4, 4]})
    query = situ.query(
        "FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n PATTERN ((A | B)+ C) "
        "DEFINE A AS i > 4, C AS 1 / (LAST(B.i) - i) > 0)"
    )
    with pytest.raises(situ.SituError, match="in the condition of C, a division is by zero, at row"):
        situ.match(table, query)
