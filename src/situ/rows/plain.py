"""Arrow types that say the same in another way, as the one type the engine reads."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import DataError
from situ.rows.needs import Needs

_MOST_DIGITS = 38  # of a decimal, in Spark as in decimal128


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type the engine reads values of `kind` in: its own, unless another says the same.

    >>> plain_type(pa.dictionary(pa.int32(), pa.timestamp("us"))), plain_type(pa.decimal256(20, 2))
    (TimestampType(timestamp[us]), Decimal128Type(decimal128(20, 2)))
    """
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()  # of more than 2 GB too
    if types.is_binary_view(kind) or types.is_fixed_size_binary(kind):
        return pa.binary()
    if types.is_dictionary(kind):
        inner = plain_type(kind.value_type)
        return kind if inner == kind.value_type and _is_text(inner) else inner
    if types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if types.is_decimal(kind) and not types.is_decimal128(kind) and kind.precision <= _MOST_DIGITS:
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, pa.UuidType | pa.JsonType):
        return plain_type(kind.storage_type)
    return pa.bool_() if isinstance(kind, pa.Bool8Type) else kind


def _is_text(kind: pa.DataType) -> bool:
    """Is it worth a dictionary, as names are that come again and again?"""
    types = pa.types
    tests = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(test(kind) for test in tests)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of `plain_table`; the very same one where nothing changes."""
    if all(field.type == plain_type(field.type) for field in schema):
        return schema
    return pa.schema([field.with_type(plain_type(field.type)) for field in schema], schema.metadata)


def event_schema(schema: pa.Schema) -> pa.Schema:
    """The schema in which Arrow takes values of Python: only it makes bytes of a UUID."""
    own = [f if isinstance(f.type, pa.UuidType) else f.with_type(plain_type(f.type)) for f in schema]
    return pa.schema(own, schema.metadata)


def plain_table(table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
    """The table in types the engine reads."""
    before = table.schema
    schema = plain_schema(before)
    if schema is before:
        return table
    columns = [plain_column(column) for column in table.columns]
    return type(table).from_arrays(columns, schema=schema)


def plain_column(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The column in the type the engine reads."""
    kind = plain_type(column.type)
    if kind == column.type:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([plain_column(chunk) for chunk in column.chunks], kind)
    if isinstance(column, pa.ExtensionArray):
        return plain_column(column.storage).cast(kind)
    if pa.types.is_dictionary(column.type):
        return plain_column(column.dictionary_decode())
    if pa.types.is_run_end_encoded(column.type):
        return plain_column(pc.run_end_decode(column))
    return column.cast(kind)


def refuse_types(needs: Needs, schema: pa.Schema) -> None:
    """Say which column that is needed is of a type that means nothing here, before anything reads it."""
    spelt = {name.lower() for name in needs.all_names}
    for field in schema:
        if field.name.lower() not in spelt:
            continue
        if isinstance(field.type, pa.BaseExtensionType):
            hint = f"give what it stores, a {field.type.storage_type}, or values made from it"
        elif pa.types.is_decimal256(field.type):
            hint = f"cast it to a decimal128, which has at most {_MOST_DIGITS} digits, or to a double"
        else:
            continue
        what = f"column {field.name} is of Arrow type {field.type}, which situ does not read"
        raise DataError(what, hint=hint)
