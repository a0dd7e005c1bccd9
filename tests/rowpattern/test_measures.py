"""MEASURES and output of row patterns against brute force (ROW 3, 6)."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowpattern.measured import (
    EXCLUDED,
    EXPRESSIONS,
    LEADING,
    POSITIONS,
    UNIONS,
    VARIABLES,
    Agg,
    Divided,
    Drawn,
    Match,
    Nav,
    aggregates,
    drawn,
    navigations,
    rows_of_output,
    value_of,
)
from situ.carry.contract import Setting
from situ.errors import AggregateTypeError, ExpressionError, UnsupportedExpressionError
from situ.expressions import compile_expression
from situ.language.rows.ast import (
    Aggregate,
    Concatenation,
    Item,
    MatchNumber,
    Measure,
    Navigation,
    OrderColumn,
    RowQuery,
    Subset,
    Variable,
)
from situ.language.rows.bound import BoundRows
from situ.language.text.nodes import Expression
from situ.language.text.types import Column
from situ.operators.rowpattern.automaton import Automaton, Way
from situ.operators.rowpattern.found import Found, Ordered
from situ.operators.rowpattern.measures import plan_measures
from situ.operators.rowpattern.output import Extras
from situ.rows.kernels.numbers import NEVER
from situ.rows.schema import spark_schema

SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("x", pa.int64()),
        ("t", pa.int64()),
        ("f", pa.float64()),
        ("s", pa.string()),
        ("b", pa.bool_()),
    ]
)
ANYWHERE = tuple(Way(position) for position in range(LEADING))
AUTOMATON = Automaton(VARIABLES, POSITIONS, EXCLUDED, (Way(LEADING), *ANYWHERE), (ANYWHERE,) * len(POSITIONS))


def expression(text: str) -> Expression:
    columns = EXPRESSIONS[text][0] if text in EXPRESSIONS else ("x",)
    return Expression(text, columns)


def item_of(tried: Nav | Agg | None) -> Item:
    if tried is None:
        return MatchNumber()
    if isinstance(tried, Nav):
        return Navigation(
            expression(tried.expression),
            tried.variable,
            tried.is_first,
            tried.offset,
            tried.shift,
            tried.is_final,
        )
    return Aggregate(
        tried.function,
        None if tried.argument is None else expression(tried.argument),
        tried.variable,
        tried.is_distinct,
        None if tried.where is None else expression(tried.where),
        tried.is_final,
        tried.more,
    )


def bound_query(
    items: Sequence[Item], measures: Sequence[tuple[str, str]], rows: Any = "one", empty: Any = "show"
) -> BoundRows:
    """`measures` are texts over `_item_<i>`."""
    query = RowQuery(
        source="t",
        order_by=(OrderColumn("t"),),
        pattern=Concatenation(tuple(map(Variable, VARIABLES))),
        partition_by=("k",),
        items=tuple(items),
        measures=tuple(
            Measure(name, Expression(sql, tuple(word for word in sql.split() if word.startswith("_item"))))
            for name, sql in measures
        ),
        subsets=tuple(Subset(name, members) for name, members in UNIONS.items()),
        rows=rows,
        empty=empty,
    )
    schema = spark_schema(SCHEMA)
    time = Column("t", "bigint")
    return BoundRows(query, schema, (Column("k", "string"),), (time,), time, None)


def ordered_of(data: Drawn, columns: Sequence[str]) -> Ordered:
    return Ordered(
        np.array(data.slot, np.int64),
        np.array([row["t"] for row in data.rows], np.int64),
        {name: pa.array([row[name] for row in data.rows], SCHEMA.field(name).type) for name in columns},
    )


def found_of(data: Drawn, *, with_unmatched: bool) -> Found:
    matches = data.matches
    bounds = [data.history(match.slot) for match in matches]
    entries = [entry for match in matches for entry in match.rows]

    def ints(values: Sequence[int]) -> Any:
        return np.array(values, np.int64)

    return Found(
        ints([match.slot for match in matches]),
        ints([match.start for match in matches]),
        ints([low for low, _ in bounds]),
        ints([high for _, high in bounds]),
        ints([match.number for match in matches]),
        ints([NEVER if match.instant is None else match.instant for match in matches]),
        np.concatenate([[0], np.cumsum([len(match.rows) for match in matches])]).astype(np.int64),
        ints([place for place, _ in entries]),
        ints([position for _, position in entries]),
        ints(data.unmatched if with_unmatched else []),
    )


def table_of(
    bound: BoundRows,
    data: Drawn,
    extras: Extras = Extras(),  # noqa: B008
    setting: Setting = Setting(),  # noqa: B008
) -> pa.Table:
    plan = pickle.loads(pickle.dumps(plan_measures(bound, AUTOMATON, extras)))
    measures = plan.compile(SCHEMA, setting)
    found = found_of(data, with_unmatched=bound.query.empty == "unmatched")
    emitted = measures.emitted(found, ordered_of(data, plan.columns))
    schema = pa.schema([SCHEMA.field("k"), *((field.name, field.type) for field in measures.output)])
    keys = [pa.array([f"k{slot}" for slot in emitted.slot], pa.string())]
    table = emitted.table(keys, schema)
    table.validate(full=True)
    if not setting.evaluates:  # as Spark would
        columns = {"k": table.column("k")}
        arrays = {name: table.column(name).combine_chunks() for name in table.schema.names}
        for name, of in plan.returned:
            text = of.sql if isinstance(of, Expression) else of
            if text in arrays:
                columns[name] = arrays[text]
            else:
                columns[name] = compile_expression(of, table.schema)(arrays, table.num_rows)
        return pa.table(columns)
    return table


def is_like(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and expected is not None:
        return bool(found == pytest.approx(float(expected), rel=1e-9, abs=1e-9))
    return bool(found == expected)


def sorted_rows(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    return sorted(rows, key=repr)


tried = st.none() | navigations | aggregates()
outputs = st.sampled_from([("one", "show"), ("all", "show"), ("all", "omit"), ("all", "unmatched")])


@pytest.mark.nojit
@given(drawn(), st.lists(tried, min_size=1, max_size=4), outputs, st.booleans())
def test_every_item_is_what_brute_force_says(
    data: Drawn, items: list[Nav | Agg | None], output: tuple[str, str], evaluates: bool
) -> None:
    rows, empty = output
    has_list = any(isinstance(item, Agg) and item.function == "array_agg" for item in items)
    measures = [(f"m{i}", f"_item_{i}") for i in range(len(items))]
    computed = [("constant", "1 + 1"), ("twice", f"_item_{len(items)} * 2")]
    if not has_list:
        computed.append(("is_null", "_item_0 IS NULL"))
    measures += computed
    bound = bound_query([item_of(item) for item in (*items, None)], measures, rows, empty)
    if not evaluates and has_list and empty == "unmatched":
        return  # CASE of a list is Spark's alone
    expected = []
    try:
        for match, depth, place in rows_of_output(data, rows, empty):
            own = [data.rows[place]["t"]] if rows == "all" else []
            others = [data.rows[place][name] for name in ("x", "f", "s", "b")] if rows == "all" else []
            if match is None:
                values: list[Any] = [None] * len(measures)
            else:
                values = [value_of(item, data, match, depth) for item in items]
                values += [2, 2 * match.number, values[0] is None][: len(computed)]
            expected.append([f"k{data.slot[place]}", *own, *values, *others])
    except Divided:
        with pytest.raises(ExpressionError):
            table_of(bound, data, setting=Setting(evaluates=evaluates))
        return
    table = table_of(bound, data, setting=Setting(evaluates=evaluates))
    found = [list(row.values()) for row in table.to_pylist()]
    assert len(found) == len(expected)
    for one, other in zip(sorted(found, key=_place), sorted(expected, key=_place), strict=True):
        assert all(is_like(a, b) for a, b in zip(one, other, strict=True)), (one, other)


def _place(row: list[Any]) -> str:
    return repr([round(value, 6) if isinstance(value, float) else value for value in row])


EXTRAS = Extras(match_span=True, match_time=True, match_id=True)


@pytest.mark.nojit
@given(drawn(), outputs)
def test_what_options_add(data: Drawn, output: tuple[str, str]) -> None:
    rows, empty = output
    table = table_of(bound_query([MatchNumber()], [("n", "_item_0")], rows, empty), data, EXTRAS)
    assert table.schema.names[-4:] == ["match_start", "match_end", "match_time", "match_id"]
    expected, ids = [], {}
    for match, _, place in rows_of_output(data, rows, empty):
        own = [None] * 4
        if match is not None:
            times = [data.rows[row]["t"] for row, _ in match.rows] or [None]
            own = [match.number, times[0], times[-1], match.instant]
        expected.append((f"k{data.slot[place]}", *own))
    columns = ["k", "n", "match_start", "match_end", "match_time"]
    found = [tuple(row.values()) for row in table.select(columns).to_pylist()]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    for row in table.to_pylist():
        ids.setdefault((row["k"], row["n"]), set()).add(row["match_id"])
    for (_, number), own_ids in ids.items():
        assert len(own_ids) == 1
        assert (own_ids == {None}) == (number is None)
    told = {next(iter(own_ids)) for (_, number), own_ids in ids.items() if number is not None}
    assert len(told) == sum(number is not None for _, number in ids)  # starts differ, so ids do


@given(drawn(), st.sampled_from(["contiguous", "any"]))
def test_ids_do_not_depend_on_what_else_is_there(data: Drawn, strategy: Any) -> None:
    def ids_of(some: Drawn, rows: str) -> dict[tuple[str, int], str]:
        bound = bound_query([MatchNumber()], [("n", "_item_0")], "all")
        bound = replace(bound, query=replace(bound.query, strategy=strategy, rows=rows))
        table = table_of(bound, some, EXTRAS)
        return {(row["k"], row["n"]): row["match_id"] for row in table.to_pylist()}

    together = ids_of(data, "one")
    for match in data.matches:
        [(_, alone)] = ids_of(Drawn(data.rows, data.slot, [match], []), "one").items()
        assert alone == together[f"k{match.slot}", match.number]
    # other columns of the result are another query, hence other ids
    assert not set(together.values()) & set(ids_of(data, "all").values())


def test_under_skip_till_any_ids_tell_rows_and_variables_apart() -> None:
    rows = [{"k": "k0", "t": t, "x": t, "f": None, "s": None, "b": None} for t in range(4)]
    variants = [
        [(0, 0), (1, 1), (3, 2)],
        [(0, 0), (2, 1), (3, 2)],
        [(0, 0), (1, 2), (3, 2)],
        [(0, 0), (3, 2)],
    ]
    matches = [Match(0, 0, variant, number) for number, variant in enumerate(variants, 1)]
    bound = bound_query([MatchNumber()], [("n", "_item_0")])
    data = Drawn(rows, [0] * 4, matches, [])
    contiguous = table_of(bound, data, EXTRAS).column("match_id").to_pylist()
    assert len(set(contiguous)) == 1
    anyhow = replace(bound, query=replace(bound.query, strategy="any"))
    assert len(set(table_of(anyhow, data, EXTRAS).column("match_id").to_pylist())) == 4


@pytest.mark.parametrize(
    ("aggregate", "kind"),
    [
        (Aggregate("count"), pa.int64()),
        (Aggregate("sum", expression("x")), pa.int64()),
        (Aggregate("sum", expression("f")), pa.float64()),
        (Aggregate("avg", expression("x")), pa.float64()),
        (Aggregate("variance", expression("x")), pa.float64()),
        (Aggregate("max", expression("s")), pa.string()),
        (Aggregate("every", expression("b")), pa.bool_()),
        (Aggregate("array_agg", expression("s")), pa.list_(pa.string())),
        (Aggregate("array_agg", expression("x + t")), pa.list_(pa.int64())),
        (Navigation(expression("60 / x"), "A"), pa.float64()),
        (Navigation(expression("_classifier")), pa.string()),
        (MatchNumber(), pa.int64()),
    ],
)
def test_types_are_known_without_rows(aggregate: Item, kind: pa.DataType) -> None:
    nothing = Drawn([], [], [], [])
    table = table_of(bound_query([aggregate], [("m", "_item_0")]), nothing, EXTRAS)
    assert (table.num_rows, table.schema.field("m").type) == (0, kind)


def test_an_aggregate_that_is_not_known_is_named() -> None:
    bound = bound_query([Aggregate("skewness", expression("x"), "B")], [("m", "_item_0")])
    with pytest.raises(UnsupportedExpressionError, match=r"the aggregate skewness\(B\.x\)"):
        plan_measures(bound, AUTOMATON).compile(SCHEMA, Setting())


def test_a_sum_of_text_is_refused() -> None:
    bound = bound_query([Aggregate("sum", expression("s"), "B")], [("m", "_item_0")])
    with pytest.raises(AggregateTypeError, match=r"sum\(B\.s\) needs a number, and s is a string"):
        plan_measures(bound, AUTOMATON).compile(SCHEMA, Setting())


def test_nobody_computes_with_a_list() -> None:
    bound = bound_query([Aggregate("array_agg", expression("x"))], [("m", "SIZE( _item_0 )")])
    with pytest.raises(UnsupportedExpressionError, match=r"an expression over array_agg\(x\)"):
        plan_measures(bound, AUTOMATON).compile(SCHEMA, Setting())


def test_how_far_measures_read_beyond_a_match() -> None:
    def reads(**navigation: Any) -> tuple[int, int]:
        item = Navigation(expression("x"), **navigation)
        plan = plan_measures(bound_query([item], [("m", "_item_0")]), AUTOMATON)
        return plan.back, plan.lag

    assert reads(shift=-3) == (3, 0)
    assert reads(shift=2) == (0, 2)
    assert reads(shift=2, offset=1) == (0, 1)
    assert reads(shift=-3, offset=2, is_first=True) == (1, 0)
    assert reads(shift=3, offset=2, is_first=True) == (0, 3)


def test_items_of_conditions_alone_are_neither_carried_nor_computed() -> None:
    bound = bound_query([Navigation(expression("60 / x"), shift=5), MatchNumber()], [("m", "_item_1")])
    plan = plan_measures(bound, AUTOMATON)
    assert (plan.items, plan.columns, plan.lag) == ((1,), (), 0)
