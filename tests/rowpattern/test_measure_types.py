"""Types of measures and of the rows that ALL ROWS shows; what fails, and what must not (ROW 3.7, 6.2)."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from situ.aggregate import AggregateOverflowError
from situ.carry.contract import Setting
from situ.errors import ExpressionError, UnsupportedExpressionError
from situ.language.rows.ast import (
    Aggregate,
    Concatenation,
    Item,
    Measure,
    Navigation,
    OrderColumn,
    RowQuery,
    Variable,
)
from situ.language.rows.bound import BoundRows
from situ.language.text.dialect import parse
from situ.language.text.nodes import Expression
from situ.language.text.sql import columns_of
from situ.operators.rowpattern.automaton import Automaton, Way
from situ.operators.rowpattern.found import Found, Ordered
from situ.operators.rowpattern.measures import plan_measures
from situ.operators.rowpattern.output import Extras
from situ.rows.schema import spark_schema, to_ticks

AUTOMATON = Automaton(("A", "B"), (0, 1), (False, False), (Way(0),), ((Way(0), Way(1)),) * 2)


def expression(sql: str) -> Expression:
    return Expression(sql, columns_of(parse(sql)))


def measured(
    table: pa.Table,
    items: list[Item],
    *measures: str,
    rows: Any = "one",
    order: tuple[str, ...] = ("t",),
    taken: tuple[int, ...] = (0, 1, 1),
    extras: Extras | None = None,
    ansi: bool = True,
) -> pa.Table:
    """One match over the first rows of a table without partitions; `taken` are their positions."""
    query = RowQuery(
        source="t",
        order_by=tuple(map(OrderColumn, order)),
        pattern=Concatenation((Variable("A"), Variable("B"))),
        items=tuple(items),
        measures=tuple(Measure(f"m{i}", expression(sql)) for i, sql in enumerate(measures)),
        rows=rows,
    )
    schema = spark_schema(table.schema)
    columns = {column.name: column for column in schema}
    ordering = tuple(columns[name] for name in order)
    bound = BoundRows(query, schema, (), ordering, ordering[0], None)
    plan = plan_measures(bound, AUTOMATON, extras or Extras())
    compiled = plan.compile(table.schema, Setting(ansi=ansi))
    n = len(taken)
    found = Found(
        *(np.array([one]) for one in (0, 0, 0, table.num_rows, 1, 7)),
        np.array([0, n]),
        np.arange(n),
        np.array(taken),
        np.empty(0, np.int64),
    )
    ordered = Ordered(
        np.zeros(table.num_rows, np.int64),
        to_ticks(table.column(order[0]), order[0]),
        {name: table.column(name).combine_chunks() for name in plan.columns},
    )
    output = pa.schema([(field.name, field.type) for field in compiled.output])
    return compiled.emitted(found, ordered).table([], output)


def table_with(values: pa.Array) -> pa.Table:
    return pa.table({"t": pa.array(range(len(values))), "v": values})


LAST = Navigation(Expression("v", ("v",)))
STRUCTS = pa.array([{"a": 1}, {"a": 2}, None])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([1, 2, 3], pa.uint8()), pa.int16()),
        (pa.array([1, 2, 3], pa.float32()), pa.float32()),
        (pa.array(["a", None, "b"]).dictionary_encode(), None),
        (pa.array(["a", "b", "c"], pa.large_string()), None),
        (pa.array([b"a", b"b", b"c"]), None),
        (pa.array([date(2024, 1, 1)] * 3), None),
        (pa.array([datetime(2024, 1, 1, tzinfo=UTC)] * 3, pa.timestamp("ms", "Europe/Berlin")), None),
        (pa.array([Decimal("1.5")] * 3, pa.decimal128(20, 1)), None),
        (STRUCTS, None),
        (pa.array([[1], [], [2]]), None),
    ],
)
def test_a_column_keeps_its_type(values: pa.Array, kind: pa.DataType | None) -> None:
    table = measured(table_with(values), [LAST], "_item_0", rows="all")
    assert table.schema.types == [pa.int64(), kind or values.type, values.type]
    assert table.column("m0").to_pylist() == table.column("v").to_pylist() == values.to_pylist()


def test_nobody_computes_with_a_struct() -> None:
    with pytest.raises(UnsupportedExpressionError, match="struct"):
        measured(table_with(STRUCTS), [LAST], "_item_0 IS NULL")


@pytest.mark.parametrize(
    ("function", "values", "kind", "result"),
    [
        ("sum", pa.array([1, 2, 3], pa.int8()), pa.int64(), 5),
        ("sum", pa.array([1, 2, 3], pa.float32()), pa.float64(), 5.0),
        ("sum", pa.array([Decimal("1.50")] * 3), pa.decimal128(13, 2), Decimal("3.00")),
        ("avg", pa.array([Decimal("1.50")] * 3), pa.decimal128(7, 6), Decimal("1.500000")),
        ("max", pa.array([date(2024, 1, d) for d in (1, 3, 2)]), pa.date32(), date(2024, 1, 3)),
        ("min", pa.array(["x", "b", "a"]).dictionary_encode(), pa.string(), "a"),
        ("array_agg", STRUCTS, pa.list_(STRUCTS.type), [{"a": 2}]),
        ("count", STRUCTS, pa.int64(), 1),
        ("any", pa.array([True, False, None]), pa.bool_(), False),
        ("variance", pa.array([9.0, 1e9 + 1, 1e9 - 1]), pa.float64(), 2.0),
    ],
)
def test_an_aggregate_has_the_type_that_it_has_in_spark(
    function: str, values: pa.Array, kind: pa.DataType, result: Any
) -> None:
    item = Aggregate(function, Expression("v", ("v",)), "B")
    table = measured(table_with(values), [item], "_item_0")
    assert (table.schema.field("m0").type, table["m0"].to_pylist()) == (kind, [result])


def test_a_sum_beyond_64_bits_is_an_error_under_ansi_only() -> None:
    table = table_with(pa.array([2**63 - 1, 2**63 - 1, 0]))
    item = Aggregate("sum", Expression("v", ("v",)))
    with pytest.raises(AggregateOverflowError, match=r"sum"):
        measured(table, [item], "_item_0")
    assert measured(table, [item], "_item_0", ansi=False)["m0"].to_pylist() == [-2]
    # of the rows of B alone there is nothing wrong
    only_b = Aggregate("sum", Expression("v", ("v",)), "B")
    assert measured(table, [only_b], "_item_0")["m0"].to_pylist() == [2**63 - 1]


def test_what_is_distinct_is_what_spark_groups() -> None:
    values = pa.array([0.0, -0.0, math.nan, -math.nan, 1.0, None])
    item = Aggregate("count", Expression("v", ("v",)), is_distinct=True)
    table = measured(table_with(values), [item], "_item_0", rows="all", taken=(0, 1, 0, 1, 0, 1))
    assert table["m0"].to_pylist() == [1, 1, 2, 2, 3, 3]


def test_an_expression_fails_only_for_a_row_that_somebody_reads() -> None:
    table = table_with(pa.array([1, 0, 2]))
    quotient = expression("10 / v")
    first = Navigation(quotient, "A", is_first=True)
    assert measured(table, [first], "_item_0")["m0"].to_pylist() == [10.0]
    with pytest.raises(ExpressionError):
        measured(table, [Navigation(quotient, "B", is_first=True)], "_item_0")
    guarded = Aggregate("sum", quotient, where=expression("v <> 0"))
    assert measured(table, [guarded], "_item_0")["m0"].to_pylist() == [15.0]


def test_the_order_of_columns() -> None:
    table = pa.table({"v": ["a", "b", "c"], "seq": [1, 2, 3], "t": pa.array([1, 2, 3], pa.int32())})
    every = Extras(match_span=True, match_time=True, match_id=True)
    found = measured(table, [LAST], "_item_0", rows="all", order=("t", "seq"), extras=every)
    names = ["t", "seq", "m0", "v", "match_start", "match_end", "match_time", "match_id"]
    assert found.schema.names == names
    assert found.schema.field("match_start").type == found.schema.field("t").type == pa.int32()
    assert found.slice(1, 1).drop_columns(["match_id"]).to_pylist() == [
        {"t": 2, "seq": 2, "m0": "b", "v": "b", "match_start": 1, "match_end": 3, "match_time": 7}
    ]
    one = measured(table, [LAST], "_item_0", order=("t", "seq"), extras=every)
    assert one.schema.names == names[2:3] + names[4:]


def test_times_come_out_as_they_came_in() -> None:
    times = pa.array([datetime(2024, 1, 1, 0, 0, s, tzinfo=UTC) for s in range(3)])
    times = times.cast(pa.timestamp("ns", "Asia/Tokyo"))
    table = pa.table({"t": times, "v": [1, 2, 3]})
    item = Navigation(Expression("t", ("t",)), "B", is_first=True)
    found = measured(table, [item], "_item_0", rows="all")
    assert found.schema.field("m0").type == found.schema.field("t").type == times.type
    assert found["t"].to_pylist() == times.to_pylist()
    assert found["m0"].to_pylist() == [None, times[1].as_py(), times[1].as_py()]
