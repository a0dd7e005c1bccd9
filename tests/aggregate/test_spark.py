"""Result types and values are those of Spark itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from aggregate.samples import PERCENTILES, TYPES, requests, same, spec_of
from situ.aggregate import AggregateOverflowError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

N_GROUPS, GROUP = 60, 7
WIDE = Context(prec=60)
IN_ORDER = ("first", "last", "collect_list")  # Spark promises an order only to windows


def _call(function: str, column: str) -> str:
    name, _, fraction = function.partition(" ")
    return f"{name}({column}{', ' * bool(fraction)}{fraction})"


def _plain(kind: pa.DataType) -> pa.DataType:
    """Spark calls the values of a list otherwise than Arrow, and says that none is null."""
    return pa.list_(kind.value_type) if pa.types.is_list(kind) else kind


def _value(rng: random.Random, spark_type: str, arrow: pa.DataType) -> Any:
    """Of every size, with edge values, but no total beyond its type: that is another test."""
    if rng.random() < 0.15:
        return None
    if pa.types.is_decimal(arrow):
        top = 10 ** min(arrow.precision, 36 if arrow.precision < 38 else 33) - 1
        unscaled = rng.choice([rng.randint(-top, top), rng.randint(-200, 200), top, -top])
        return Decimal(unscaled).scaleb(-arrow.scale, WIDE)
    if pa.types.is_floating(arrow):
        edge = [float("nan"), float("inf"), -0.0]
        value = rng.choice([rng.gauss(0, 1), 1e9 + rng.choice([-1.0, 1.0]), rng.choice(edge)])
        return pa.scalar(value, arrow).as_py()
    if pa.types.is_integer(arrow):
        top = 2 ** (arrow.bit_width - 1) - 1
        return rng.choice([rng.randint(-9, 9), rng.randint(-top, top) // 8, top // 8])
    if spark_type == "string":
        return rng.choice(["", "a", "é", "zz", "\uffff", "\U0001f600"])
    if spark_type == "binary":
        return rng.choice([b"", b"\x7f", b"\x80", b"\xff\x00"])
    if spark_type == "boolean":
        return rng.random() < 0.5
    return (
        pa.scalar(rng.randint(0, 9**4), pa.int32())
        .cast(pa.int64() if arrow.bit_width == 64 else pa.int32())
        .cast(arrow)
        .as_py()
    )


@contextmanager
def _ansi(spark: SparkSession, on: bool) -> Iterator[None]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(on).lower())
    try:
        yield
    finally:
        assert before is not None
        spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.parametrize("ansi", [True, False])
def test_types_and_values_are_sparks(spark: SparkSession, ansi: bool) -> None:
    from pyspark.sql.types import StructType

    rng = random.Random(4)
    types = {name: spark_type for name, spark_type in enumerate(TYPES) if spark_type != "array<int>"}
    n_rows = N_GROUPS * GROUP
    table = pa.table(
        {"g": [i // GROUP for i in range(n_rows)], "i": list(range(n_rows))}
        | {
            f"c{name}": pa.array(
                [_value(rng, spark_type, TYPES[spark_type][0]) for _ in range(n_rows)], TYPES[spark_type][0]
            )
            for name, spark_type in types.items()
        }
    )
    items = [
        (function, f"c{name}")
        for name, spark_type in types.items()
        for function in TYPES[spark_type][2]
        if function != "value"
    ]
    table.validate(full=True)
    ddl = ", ".join(
        ["g bigint", "i bigint", *(f"c{name} {spark_type}" for name, spark_type in types.items())]
    )
    with _ansi(spark, ansi):
        spark.createDataFrame(table, StructType.fromDDL(ddl)).coalesce(1).createOrReplaceTempView(
            "aggregate_samples"
        )
        edge_items = [(f, c) for f, c in items if f in IN_ORDER]
        grouped = ", ".join(f"{_call(f, c)} AS `{f}_{c}`" for f, c in items if f not in IN_ORDER)
        edges = ", ".join(f"{f}({c}) OVER w AS {f}_{c}" for f, c in edge_items)
        theirs = spark.sql(f"SELECT g, {grouped} FROM aggregate_samples GROUP BY g ORDER BY g").toArrow()
        edge_table = spark.sql(
            f"SELECT * FROM (SELECT g, i, {edges} FROM aggregate_samples WINDOW w AS "
            "(PARTITION BY g ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) "
            f"WHERE i % {GROUP} = 0 ORDER BY g"
        ).toArrow()

    spec = spec_of(items, {f"c{name}": spark_type for name, spark_type in types.items()}, ansi=ansi)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    ranges = [(GROUP * g, GROUP * g + GROUP - 1, -1) for g in range(N_GROUPS)]
    states = spec.fold(spec.rows(columns), spec.empty(), *requests(*ranges))
    for index, (function, column) in enumerate(items):
        name = f"{function}_{column}"
        expected = edge_table[name] if function in IN_ORDER else theirs[name]
        found = spec.item(index, states)
        assert _plain(found.type) == _plain(expected.type), (name, types[int(column[1:])])
        for group, (ours, spark_says) in enumerate(zip(found.to_pylist(), expected.to_pylist(), strict=True)):
            values = columns[column].slice(GROUP * group, GROUP).to_pylist()
            size = (
                1e13 * sum(abs(float(v)) for v in values if isinstance(v, int | float))
                if function == "avg"
                else 0.0
            )
            assert same(ours, spark_says, size), (name, types[int(column[1:])], values, ours, spark_says)
            if function in PERCENTILES and spark_says == spark_says:  # not NaN
                assert ours == spark_says, (name, types[int(column[1:])], values, ours, spark_says)


@pytest.mark.parametrize(
    ("function", "spark_type", "values"),
    [
        ("sum", "bigint", [2**63 - 1, 1]),
        ("sum", "bigint", [-(2**63), -1]),
        ("sum", "decimal(38,0)", [Decimal(10**38 - 1), Decimal(1)]),
        ("avg", "decimal(38,0)", [Decimal(10**38 - 1), Decimal(10**38 - 1)]),
        ("avg", "decimal(38,0)", [Decimal(10**34)]),
        ("avg", "decimal(38,37)", [Decimal("9.5")]),
    ],
)
def test_what_does_not_fit_is_refused_or_not_as_in_spark(
    spark: SparkSession, function: str, spark_type: str, values: list[Any]
) -> None:
    from pyspark.errors import ArithmeticException

    array = pa.array(values, TYPES[spark_type][0])
    answers = {}
    for ansi in (True, False):
        spec = spec_of([(function, "x")], {"x": spark_type}, ansi=ansi)
        states = spec.fold(spec.rows({"x": array}), spec.empty(), *requests((0, len(values) - 1, -1)))
        with _ansi(spark, ansi):
            frame = (
                spark.createDataFrame(pa.table({"x": array})).coalesce(1).selectExpr(f"{function}(x) AS y")
            )
            if ansi:
                with pytest.raises(ArithmeticException):
                    frame.collect()
                with pytest.raises(AggregateOverflowError, match=rf"{function}\(A\.x\)"):
                    spec.item(0, states)
            else:
                answers = {
                    "ours": spec.item(0, states).to_pylist(),
                    "Spark's": frame.toArrow()["y"].to_pylist(),
                }
    assert answers["ours"] == answers["Spark's"]
