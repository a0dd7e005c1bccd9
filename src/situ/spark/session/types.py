"""Spark's types as Arrow's, for what workers make of them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from situ.aggregate.types import value_type
from situ.language.text.types import Column, normal_type
from situ.rows.needs import Needs


def arrow_schema(columns: Sequence[Column], schema: T.StructType) -> pa.Schema:
    """The Arrow types in which these columns of a DataFrame reach a worker."""
    return pa.schema([(column.name, _arrow_type(column, schema)) for column in columns])


def schema_for(needs: Needs, types: T.StructType) -> pa.Schema:
    """The Arrow types in which rows reach a worker; `types` are those of all columns, also derived ones."""
    derived = [Column(one.name, types[one.name].dataType.simpleString()) for one in needs.derived]
    own = [Column(column.name, normal_type(column.type)) for column in derived]
    return arrow_schema([*needs.columns, *own], types)


def ddl(fields: Sequence[T.StructField]) -> str:
    """Names and types as Spark's parser reads them, made without a session.

    >>> ddl([T.StructField("a b", T.ArrayType(T.LongType())), T.StructField("n", T.StructType([]))])
    '`a b` array<bigint>, `n` struct<>'
    """
    return ", ".join(f"{_quoted(field.name)} {_type_text(field.dataType)}" for field in fields)


def _type_text(kind: T.DataType) -> str:
    if isinstance(kind, T.UserDefinedType):
        return _type_text(kind.sqlType())
    if isinstance(kind, T.ArrayType):
        return f"array<{_type_text(kind.elementType)}>"
    if isinstance(kind, T.MapType):
        return f"map<{_type_text(kind.keyType)},{_type_text(kind.valueType)}>"
    if isinstance(kind, T.StructType):
        inner = [f"{_quoted(field.name)}:{_type_text(field.dataType)}" for field in kind.fields]
        return f"struct<{','.join(inner)}>"
    return kind.simpleString()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _arrow_type(column: Column, schema: T.StructType) -> pa.DataType:
    known = value_type(column.type).arrow
    return known if known is not None else _nested_type(schema[column.name])


def _nested_type(field: T.StructField) -> pa.DataType:
    """Of a type that situ keeps as it comes: Spark knows how it travels."""
    one = T.StructType([field])
    try:
        return to_arrow_schema(one, timezone="UTC").field(0).type
    except TypeError:  # PySpark before 4.1 takes no time zone here
        return to_arrow_schema(one).field(0).type
