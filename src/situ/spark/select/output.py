"""What users get: the types workers give back, and RETURN evaluated by Spark (SEM 5)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_type

from situ.carry.batch.task import key_names
from situ.carry.contract import Asked, Field, Nested, Operator
from situ.errors import BindError
from situ.language.text.nodes import Expression
from situ.spark.select.project import column_named, first_sentence

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

    Columns = Mapping[str, SparkColumn]

# the columns that rows which were left out come in, where they are asked for (SEM 8.2, 8.6)
LATE_ROW, AHEAD_ROW = "late_row", "ahead_row"
_NONE: Columns = MappingProxyType({})
_STRUCT = "_struct"


def fields_of(operator: Operator, schema: T.StructType) -> T.StructType:
    """The columns workers give back, in Spark's types: keys, and what the operator emits."""
    needs = operator.needs
    keys = [
        T.StructField(name, schema[column.name].dataType)
        for name, column in zip(key_names(needs), needs.partition, strict=True)
    ]
    own = [T.StructField(field.name, _type_of(field, schema)) for field in operator.output]
    return T.StructType([*keys, *own])


def _type_of(field: Field, schema: T.StructType) -> T.DataType:
    if field.like is None:
        return from_arrow_type(field.type)
    like = schema[field.like].dataType
    return T.ArrayType(like, containsNull=False) if field.is_list else like


def finished(found: DataFrame, asked: Asked, beside: Columns = _NONE) -> DataFrame:
    """What users see, HAVING and RETURN evaluated by Spark; null where a column `beside` is not."""
    needs = asked.needs
    columns = [
        column_named(name).alias(column.name)
        for name, column in zip(key_names(needs), needs.partition, strict=True)
    ]
    try:
        found = _reported(found, asked, beside)
        for name, of in asked.returned:
            if isinstance(of, Nested):
                found = _with_struct(found, name, of)
                columns.append(column_named(f"{of.prefix}{_STRUCT}").alias(name))
                continue
            value = _value(of)
            for other in () if isinstance(of, str) else beside.values():
                value = F.when(other.isNull(), value)
            columns.append(value.alias(name))
        columns += [column.alias(name) for name, column in beside.items()]
        result = found.select(*columns)
        _ = result.schema  # a Connect session looks at names and types no sooner
    except AnalysisException as error:
        raise BindError(
            f"Spark cannot evaluate {_clauses(asked)}: {first_sentence(error)}",
            hint="check the names of functions and the types of their arguments; _item_<i> is the i-th "
            f"aggregate or endpoint that {_clauses(asked)} mentions",
        ) from None
    return result


def _clauses(asked: Asked) -> str:
    nested = [of.having for _, of in asked.returned if isinstance(of, Nested)]
    return "RETURN" if all(one is None for one in (asked.having, *nested)) else "RETURN or HAVING"


def _reported(found: DataFrame, asked: Asked, beside: Columns) -> DataFrame:
    """Results for which HAVING is true, and the rows that stand beside them."""
    if asked.having is None:
        return found
    is_reported = F.expr(asked.having.sql)
    for other in beside.values():
        is_reported = F.when(other.isNull(), is_reported).otherwise(True)
    return found.filter(is_reported)


def _value(of: Expression | str) -> SparkColumn:
    return column_named(of) if isinstance(of, str) else F.expr(of.sql)


def _with_struct(found: DataFrame, name: str, of: Nested) -> DataFrame:
    """With a struct in place of its own columns, meanwhile under the names that expressions call them."""
    names = found.columns
    own = [column for column in names if column.startswith(of.prefix)]
    others = [column_named(column) for column in names if not column.startswith(of.prefix)]
    parts = []
    for inner, value in of.returned:
        assert not isinstance(value, Nested)
        parts.append(_value(value).alias(inner))
    is_own = column_named(of.switch) == F.lit(name)
    struct = F.when(is_own, F.struct(*parts))
    called = [column_named(column).alias(column.removeprefix(of.prefix)) for column in own]
    found = found.select("*", *called)
    if of.having is not None:
        found = found.filter(F.when(is_own, F.expr(of.having.sql)).otherwise(True))
    return found.select(*others, struct.alias(f"{of.prefix}{_STRUCT}"))
