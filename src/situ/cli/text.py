"""Times of Arrow tables as text, to the microsecond, in the words that Spark's text sinks use."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.cli.json_lines import json_lines, json_values

_US_PER_DAY = 86_400_000_000


def times_as_text(table: pa.Table) -> pa.Table:
    """The table with its timestamps and durations, also nested ones, as text that reads back exactly.

    >>> from datetime import UTC, datetime, timedelta
    >>> row = {"ts": datetime(2024, 1, 1, 6, 0, 0, 123456, UTC), "lasted": timedelta(days=1, microseconds=5)}
    >>> times_as_text(pa.Table.from_pylist([row])).to_pylist()[0]["ts"]
    '2024-01-01T06:00:00.123456Z'
    >>> times_as_text(pa.Table.from_pylist([row])).to_pylist()[0]["lasted"]
    "INTERVAL '1 00:00:00.000005' DAY TO SECOND"
    """
    columns = [_as_text(column.combine_chunks()) for column in table.columns]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))


def nested_as_json(table: pa.Table) -> pa.Table:
    """The table with lists and other values of several parts as JSON: CSV has none.

    >>> table = pa.table({"speeds": [[1.5, 2.0], [], None], "gates": [["A1", "B2"], None, []]})
    >>> nested_as_json(table).to_pylist()[0]
    {'speeds': '[1.5,2.0]', 'gates': '["A1","B2"]'}
    """
    for i, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            column = _one_array(table.column(i))
            text = pc.if_else(column.is_valid(), json_values(column), pa.scalar(None, pa.large_string()))
            table = table.set_column(i, field.name, text)
    return table


def write_json(table: pa.Table, file: Any) -> None:
    """Write a JSON object for each row, to a path or an open file."""
    with nullcontext(file) if hasattr(file, "write") else open(file, "wb") as out:
        out.writelines(json_lines(times_as_text(table)))


def _as_text(array: Any) -> Any:
    array = _one_array(array)
    kind = array.type
    if pa.types.is_timestamp(kind):
        in_utc = array if kind.tz is None else array.cast(pa.timestamp(kind.unit, "UTC"))
        return pc.replace_substring(in_utc.cast(pa.string()), " ", "T", max_replacements=1)
    if pa.types.is_duration(kind):
        return _intervals(array)
    if pa.types.is_struct(kind):
        fields = [_as_text(field) for field in array.flatten()]
        names = [field.name for field in kind]
        return pa.StructArray.from_arrays(fields, names, mask=array.is_null())
    if pa.types.is_list(kind):
        values = _as_text(array.flatten())
        return pa.ListArray.from_arrays(_offsets(array), values, mask=array.is_null())
    return array


def _one_array(column: Any) -> Any:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _intervals(array: Any) -> Any:
    """Durations as Spark writes them: INTERVAL '1 02:03:04.000005' DAY TO SECOND."""
    ticks = np.asarray(array.cast(pa.duration("us")).cast(pa.int64()).fill_null(0))
    days, of_day = np.divmod(np.abs(ticks), _US_PER_DAY)
    sign = pa.array(np.where(ticks < 0, "-", "")).cast(pa.string())
    clock = pa.array(of_day).cast(pa.time64("us")).cast(pa.string())
    text = pc.binary_join_element_wise(
        pc.binary_join_element_wise("INTERVAL '", sign, pa.array(days).cast(pa.string()), ""),
        pc.binary_join_element_wise(clock, "' DAY TO SECOND", ""),
        " ",
    )
    return pc.if_else(array.is_valid(), text, pa.scalar(None, pa.string()))


def _offsets(array: Any) -> Any:
    lengths = np.asarray(pc.list_value_length(array).fill_null(0))
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
