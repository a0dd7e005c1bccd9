"""Arrow tables as JSON, an object for each row: made column by column, no row is handled in Python."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_TEXT = pa.large_string()
_ROWS_AT_A_TIME = 65_536
_CONTROLS = {chr(code): json.dumps(chr(code))[1:-1] for code in range(32)}


def json_lines(table: pa.Table) -> Iterator[memoryview]:
    """UTF-8, block by block, with an end of line after every object.

    >>> b"".join(json_lines(pa.table({"a": [1, None], "b": ['x"y', "z"], "c": [[0.5], []]}))).decode()
    '{"a":1,"b":"x\\\\"y","c":[0.5]}\\n{"a":null,"b":"z","c":[]}\\n'
    """
    for batch in table.to_batches(max_chunksize=_ROWS_AT_A_TIME):
        if batch.num_rows:
            lines = _joined([_object(batch.schema.names, batch.columns), "\n"])
            _, offsets, data = lines.buffers()
            ends = np.frombuffer(offsets, np.int64)[lines.offset :]
            yield memoryview(data)[ends[0] : ends[len(lines)]]


def json_values(array: Any) -> Any:
    """Every value as JSON; null as `null`."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return json_values(array.cast(kind.value_type))
    if pa.types.is_null(kind):
        return pa.array(["null"] * len(array), _TEXT)
    return pc.fill_null(_text_of(kind, array), "null")


def _text_of(kind: pa.DataType, array: Any) -> Any:
    if pa.types.is_nested(kind):
        return pc.if_else(array.is_valid(), _nested(kind, array), pa.scalar(None, _TEXT))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return array.cast(_TEXT)
    if pa.types.is_floating(kind):
        return _floats(array)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _quoted(_base64(array))
    return _quoted(array.cast(_TEXT))


def _nested(kind: pa.DataType, array: Any) -> Any:
    """Structs as objects, lists as arrays, maps as arrays of their entries."""
    if pa.types.is_struct(kind):
        return _object([field.name for field in kind], array.flatten())
    if pa.types.is_map(kind):
        entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        array = pa.ListArray.from_arrays(array.offsets, entries)
    return _list(array)


def _object(names: list[str], columns: list[Any]) -> Any:
    parts: list[Any] = ["{"]
    for i, (name, column) in enumerate(zip(names, columns, strict=True)):
        parts += [f"{',' if i else ''}{json.dumps(name, ensure_ascii=False)}:", json_values(column)]
    return _joined([*parts, "}"])


def _list(array: Any) -> Any:
    lengths = pc.fill_null(pc.list_value_length(array).cast(pa.int64()), 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    texts = pa.ListArray.from_arrays(pa.array(offsets), json_values(pc.list_flatten(array)))
    return _joined(["[", pc.binary_join(texts, pa.scalar(",", _TEXT)), "]"])


def _floats(array: Any) -> Any:
    """The shortest text that reads back as the same number, with a point or an exponent.

    JSON has no NaN and no infinity: as on Spark these are texts.
    """
    texts = pc.replace_substring_regex(array.cast(_TEXT), r"^(-?\d+)$", r"\1.0")
    for found, written in (("nan", '"NaN"'), ("inf", '"Infinity"'), ("-inf", '"-Infinity"')):
        texts = pc.if_else(pc.equal(texts, found), written, texts)
    return texts


def _quoted(texts: Any) -> Any:
    escaped = pc.replace_substring(pc.replace_substring(texts, "\\", "\\\\"), '"', '\\"')
    if pc.any(pc.match_substring_regex(escaped, r"[\x00-\x1f]")).as_py():
        for char, written in _CONTROLS.items():
            escaped = pc.replace_substring(escaped, char, written)
    return _joined(['"', escaped, '"'])


def _base64(array: Any) -> Any:
    """As Spark writes binaries."""
    encoded = array.dictionary_encode()
    texts = [base64.b64encode(value).decode() for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, _TEXT).take(encoded.indices)


def _joined(parts: list[Any]) -> Any:
    scalars = [pa.scalar(part, _TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*scalars, pa.scalar("", _TEXT))
