"""What users get: the types workers give back, and RETURN evaluated by Spark (SEM 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from situ.errors import BindError
from situ.language.situations.ast import Item
from situ.language.situations.binder import BoundQuery
from situ.language.text.types import decimal_of
from situ.spark.select.project import column_named, first_sentence

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

    Columns = Mapping[str, SparkColumn]

# the columns that rows which were left out come in, where they are asked for (SEM 8.2, 8.6)
LATE_ROW, AHEAD_ROW = "late_row", "ahead_row"
_NONE: Columns = MappingProxyType({})
_RESULT_TYPES: dict[str, T.DataType] = {
    "bigint": T.LongType(),
    "double": T.DoubleType(),
    "interval day to second": T.DayTimeIntervalType(),
}


def match_fields(bound: BoundQuery, schema: T.StructType, *, match_id: bool) -> T.StructType:
    """The columns workers give back for matches: partition values, items, match_time, match_id."""
    fields = _key_fields(bound, schema)
    fields += [
        T.StructField(f"_item_{i}", _item_type(bound, schema, i)) for i in range(len(bound.query.items))
    ]
    fields.append(T.StructField("match_time", schema[bound.time.name].dataType))
    if match_id:
        fields.append(T.StructField("match_id", T.StringType()))
    return T.StructType(fields)


def matches(
    found: DataFrame,
    bound: BoundQuery,
    *,
    match_id: bool,
    beside: Columns = _NONE,
) -> DataFrame:
    """The columns of SEM 5.1, RETURN expressions evaluated by Spark; null where a column `beside` is not."""
    query = bound.query
    columns = _keys(bound)
    for item in query.returns:
        value = F.expr(item.expression.sql)
        for other in beside.values():
            value = F.when(other.isNull(), value)
        columns.append(value.alias(item.name))
    columns += [F.col("match_time")] + [F.col("match_id")] * match_id
    columns += [column.alias(name) for name, column in beside.items()]
    try:
        result = found.select(*columns)
        _ = result.schema  # a Connect session looks at names and types no sooner
    except AnalysisException as error:
        raise BindError(
            f"Spark cannot evaluate RETURN: {first_sentence(error)}",
            hint="check the names of functions and the types of their arguments; _item_<i> is the i-th "
            "aggregate or endpoint that RETURN mentions",
        ) from None
    return result


def situation_fields(bound: BoundQuery, schema: T.StructType) -> T.StructType:
    """The columns of SEM 5.5, under names that cannot clash."""
    time_type = schema[bound.time.name].dataType
    fields = _key_fields(bound, schema)
    fields += [
        T.StructField("symbol", T.StringType()),
        T.StructField("ts", time_type),
        T.StructField("te", time_type),
        T.StructField("n_events", T.LongType()),
    ]
    fields += [
        T.StructField(f"_value_{i}", _item_type(bound, schema, at))
        for i, at in enumerate(_aggregates(bound).values())
    ]
    return T.StructType(fields)


def situations(found: DataFrame, bound: BoundQuery, *, beside: Columns = _NONE) -> DataFrame:
    """The columns of SEM 5.5; null where a column `beside` is not."""
    columns = _keys(bound) + [F.col(name) for name in ("symbol", "ts", "te", "n_events")]
    columns += [
        F.col(f"_value_{i}").alias(f"{function}_{attribute}")
        for i, (function, attribute) in enumerate(_aggregates(bound))
    ]
    columns += [column.alias(name) for name, column in beside.items()]
    return found.select(*columns)


def _aggregates(bound: BoundQuery) -> dict[tuple[str, str], int]:
    """Every (function, attribute) some symbol asks for, and the last item that does."""
    return {
        (item.function, item.attribute): i
        for i, item in enumerate(bound.query.items)
        if item.attribute is not None
    }


def _key_fields(bound: BoundQuery, schema: T.StructType) -> list[T.StructField]:
    return [T.StructField(f"_key_{i}", schema[c.name].dataType) for i, c in enumerate(bound.partition)]


def _keys(bound: BoundQuery) -> list[SparkColumn]:
    return [column_named(f"_key_{i}").alias(column.name) for i, column in enumerate(bound.partition)]


def _item_type(bound: BoundQuery, schema: T.StructType, i: int) -> T.DataType:
    item, name = bound.query.items[i], bound.item_types[i]
    if item.function in ("ts", "te"):
        return schema[bound.time.name].dataType
    if item.function in ("first", "last", "min", "max", "value"):
        return schema[_spelled(item, schema.names)].dataType  # of any type, nested ones too
    decimal = decimal_of(name)
    return T.DecimalType(*decimal) if decimal else _RESULT_TYPES[name]


def _spelled(item: Item, names: Sequence[str]) -> str:
    attribute = str(item.attribute)
    return attribute if attribute in names else next(n for n in names if n.lower() == attribute.lower())
