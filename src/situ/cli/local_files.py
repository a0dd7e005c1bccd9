"""Files read without Spark, with the columns, types and values that Spark gives them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from situ.cli.files import files_in, shown
from situ.cli.time_format import ISO, TimePattern
from situ.cli.times import in_zone, read_times
from situ.cli.unreadable import no_rows, no_text, no_time, not_utf8, unreadable_row
from situ.errors import DataError

_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_LARGEST_BLOCK = 2**31 - 2


class Wanted(NamedTuple):
    """How files are to be read."""

    times: Sequence[str]  # the columns that hold times
    time_zone: str = "UTC"  # of times in text that name none, as they are for Spark
    time_format: TimePattern | None = None  # how times are written; ISO 8601 by default
    drop: bool = False  # leave out rows that cannot be read, and count them

    def is_time(self, name: str) -> bool:
        """Is this the name of a time column? Upper and lower case are the same to Spark."""
        return name.lower() in {time.lower() for time in self.times}


class Read(NamedTuple):
    """A table, how many rows were left out because they could not be read, and what was made of text."""

    table: pa.Table
    n_left_out: int
    said: tuple[str, ...] = ()


def read_files(kind: str, inputs: Sequence[str], wanted: Wanted) -> Read:
    """Files, and the files of folders, as one table; text in time columns is read as times."""
    parts, n_left_out = [], 0
    for path in files_in(inputs):
        part = _READERS[kind](path, wanted)
        n_left_out += part.n_left_out
        parts.append(_with_folders(part.table, path))
    try:
        table = pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"the files of {', '.join(map(shown, inputs))} do not fit together: {error}",
            hint="give a column the same type in all of them.",
        ) from error
    if not table.num_rows and kind in ("csv", "json"):
        raise no_rows(inputs)
    read = _with_times(table, wanted, is_text=kind in ("csv", "json"))
    return read._replace(n_left_out=n_left_out + read.n_left_out)


def _read_parquet(path: Path, wanted: Wanted) -> Read:
    try:
        return Read(pq.ParquetFile(path).read(), 0)
    except (pa.ArrowInvalid, OSError) as error:
        raise cannot_read(path, "parquet", error) from error


def _read_arrow(path: Path, wanted: Wanted) -> Read:
    """The file format and the stream format of Arrow; Feather files are the former."""
    try:
        with pa.memory_map(str(path)) as source:
            try:
                return Read(pa.ipc.open_file(source).read_all(), 0)
            except pa.ArrowInvalid:
                source.seek(0)
                return Read(pa.ipc.open_stream(source).read_all(), 0)
    except (pa.ArrowInvalid, OSError) as error:
        raise cannot_read(path, "arrow", error) from error


def _read_csv(path: Path, wanted: Wanted) -> Read:
    """Types are told by the first megabyte, and by the whole file where that was not enough."""
    left_out: list[Any] = []

    def on_ragged(row: Any) -> str:
        left_out.append(row)
        return "skip" if wanted.drop else "error"

    def read(**options: Any) -> pa.Table:
        left_out.clear()
        return pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(**options),
            parse_options=pyarrow.csv.ParseOptions(invalid_row_handler=on_ragged),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=[""], strings_can_be_null=True, column_types=_as_text(path, wanted)
            ),
        )

    try:
        try:
            table = read()
        except pa.ArrowInvalid as error:
            if "conversion error" not in str(error):
                raise
            table = read(block_size=_LARGEST_BLOCK)
    except (pa.ArrowInvalid, OSError) as error:
        if left_out and not wanted.drop:
            raise unreadable_row(path, "csv") from None
        raise cannot_read(path, "csv", error) from error
    for field in table.schema:
        if pa.types.is_binary(field.type):  # what Arrow makes of text that is not in UTF-8
            raise not_utf8(path, field.name)
    return Read(table, len(left_out))


def _as_text(path: Path, wanted: Wanted) -> dict[str, Any]:
    """Times in a format of their own may look like numbers: those columns stay text."""
    if wanted.time_format is None:
        return {}
    with pyarrow.csv.open_csv(path, parse_options=_skipping()) as file:
        return {name: pa.string() for name in file.schema.names if wanted.is_time(name)}


def _skipping() -> Any:
    return pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip")


def _read_json(path: Path, wanted: Wanted) -> Read:
    try:
        return Read(_json_table(path), 0)
    except (pa.ArrowInvalid, OSError) as error:
        if not path.stat().st_size or isinstance(error, OSError):
            raise cannot_read(path, "json", error) from error
        if not wanted.drop:
            raise unreadable_row(path, "json", str(error)) from None
    lines, n_left_out = _objects_in(path)
    try:
        return Read(_json_table(lines), n_left_out)
    except pa.ArrowInvalid as error:
        raise unreadable_row(path, "json", str(error)) from None


def _json_table(source: Path | bytes) -> pa.Table:
    def read(**options: Any) -> pa.Table:
        file = io.BytesIO(source) if isinstance(source, bytes) else source
        return pyarrow.json.read_json(file, parse_options=pyarrow.json.ParseOptions(**options))

    table = read()
    guessed = [field for field in table.schema if pa.types.is_timestamp(field.type)]
    if guessed:  # JSON has no times: text stays text, whatever it looks like
        as_text = pa.schema([field.with_type(pa.string()) for field in guessed])
        table = read(explicit_schema=as_text).select(table.column_names)
    return table


def _objects_in(path: Path) -> tuple[bytes, int]:
    """The lines that are JSON objects, and how many are not.

    Arrow's reader stops at the first; lines are looked at one by one only where there is one.
    """
    with pa.input_stream(str(path)) as stream:
        lines = [line for line in stream.read().splitlines() if line.strip()]
    objects = [line for line in lines if _is_object(line)]
    return b"\n".join(objects), len(lines) - len(objects)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


_READERS: dict[str, Callable[[Path, Wanted], Read]] = {
    "parquet": _read_parquet,
    "csv": _read_csv,
    "json": _read_json,
    "arrow": _read_arrow,
}


def cannot_read(path: Path, kind: str, error: Exception) -> DataError:
    """The error to raise for a file that is not of the kind its name, or --format, says."""
    if isinstance(error, PermissionError):
        return DataError(f"{shown(path)} cannot be read: permission denied.", hint="ask its owner for it.")
    if not path.stat().st_size:
        return DataError(f"{shown(path)} is empty.", hint=f"give a {kind} file with rows.")
    return DataError(
        f"{shown(path)} cannot be read as {kind}: {str(error).splitlines()[0]}",
        hint="name the format it has with --format, or mend the file.",
    )


def _with_folders(table: pa.Table, path: Path) -> pa.Table:
    """Folders such as `day=2024-01-01` are columns."""
    for part in path.parts[:-1]:
        name, is_column, value = part.partition("=")
        name = unquote(name)
        if is_column and name and name not in table.column_names:
            text = None if value == _NULL_FOLDER else unquote(value)
            table = table.append_column(name, _typed(pa.array([text] * table.num_rows, pa.string())))
    return table


def _typed(values: pa.Array) -> pa.Array:
    """Text as the first type that all of it can be read as."""
    for kind in (pa.int32(), pa.int64(), pa.float64(), pa.date32()):
        try:
            return values.cast(kind)
        except pa.ArrowInvalid:
            continue
    return values


def _with_times(table: pa.Table, wanted: Wanted, *, is_text: bool) -> Read:
    """Text in time columns as times; in files of text also what Arrow took for times gets its zone."""
    said, n_untimed = [], 0
    for i, field in enumerate(table.schema):
        column, kind, is_time = table[i], field.type, wanted.is_time(field.name)
        if is_time and wanted.time_format is not None and pa.types.is_integer(kind) and is_text:
            column, kind = column.cast(pa.string()), pa.string()  # 20240131 in JSON
        if is_time and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            n_null = column.null_count
            column, has_zones = _times_in(column, field.name, wanted)
            n_untimed += column.null_count - n_null
            pattern = wanted.time_format or ISO
            said.append(text_read(field.name, pattern, _zone_text(has_zones, wanted)))
        elif is_time and wanted.time_format is not None:
            raise no_text(field.name, str(kind))
        elif is_text and pa.types.is_timestamp(kind):
            has_zone = kind.tz is not None
            zoned = pa.timestamp(kind.unit, wanted.time_zone)
            column = column.cast(zoned) if has_zone else in_zone(column, wanted.time_zone)
            if is_time:
                said.append(text_read(field.name, ISO, _zone_text(has_zone, wanted)))
        table = table.set_column(i, field.name, column)
    return Read(table, n_untimed, tuple(said))


def text_read(name: str, pattern: TimePattern, zone: str) -> str:
    """What is said of a column of text that was read as times."""
    return f"column {name}: text read as {pattern.name} times, {zone}."


def _zone_text(has_zones: bool, wanted: Wanted) -> str:
    return "zones as written" if has_zones else f"zone {wanted.time_zone}"


def _times_in(texts: pa.ChunkedArray, name: str, wanted: Wanted) -> tuple[pa.ChunkedArray, bool]:
    times, has_zones = read_times(texts, wanted.time_format or ISO, wanted.time_zone)
    if not wanted.drop and times.null_count > texts.null_count:
        others = texts.filter(pc.and_(times.is_null(), pc.is_valid(texts)))
        raise no_time(name, others[0].as_py(), wanted.time_format)
    return times, has_zones
