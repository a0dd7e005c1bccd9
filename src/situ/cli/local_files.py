"""Files read without Spark, with the columns, types and values that Spark gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from situ.cli.unreadable import no_rows, no_time, unreadable_row
from situ.errors import DataError

_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_ZONE = r"(Z|[+-]\d\d:?\d\d)$"
_TIME = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$"


class Read(NamedTuple):
    """A table, and how many rows were left out of it because they could not be read."""

    table: pa.Table
    n_left_out: int


def read_files(
    kind: str, inputs: Sequence[str], *, times: Sequence[str], time_zone: str = "UTC", drop: bool = False
) -> Read:
    """Files, and the files of folders, as one table; text in the columns `times` is read as times.

    Times without a zone are times of `time_zone` in text files, as they are for Spark.
    """
    parts, n_left_out = [], 0
    for path in (path for name in inputs for path in _files_of(Path(name))):
        part, n_bad = _READERS[kind](path, drop)
        n_left_out += n_bad
        parts.append(_with_folders(part, path))
    try:
        table = pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"the files of {', '.join(inputs)} do not fit together: {error}",
            hint="give a column the same type in all of them.",
        ) from error
    if kind == "parquet":
        return Read(table, n_left_out)
    if not table.num_rows:
        raise no_rows(inputs)
    table, n_untimed = _with_times(table, times, time_zone, drop)
    return Read(table, n_left_out + n_untimed)


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = (one for one in sorted(path.rglob("*")) if one.is_file())
    return [one for one in found if not any(p.startswith(("_", ".")) for p in one.relative_to(path).parts)]


def _read_parquet(path: Path, drop: bool) -> Read:
    try:
        return Read(pq.ParquetFile(path).read(), 0)
    except (pa.ArrowInvalid, OSError) as error:
        raise cannot_read(path, "parquet", error) from error


def _read_csv(path: Path, drop: bool) -> Read:
    left_out = []

    def on_ragged(row: Any) -> str:
        left_out.append(row)
        return "skip" if drop else "error"

    try:
        table = pyarrow.csv.read_csv(
            path,
            parse_options=pyarrow.csv.ParseOptions(invalid_row_handler=on_ragged),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowInvalid, OSError) as error:
        if left_out and not drop:
            raise unreadable_row(path, "csv") from None
        raise cannot_read(path, "csv", error) from error
    return Read(table, len(left_out))


def _read_json(path: Path, drop: bool) -> Read:
    try:
        table = pyarrow.json.read_json(path)
        guessed = [field for field in table.schema if pa.types.is_timestamp(field.type)]
        if guessed:  # JSON has no times: text stays text, whatever it looks like
            as_text = pa.schema([field.with_type(pa.string()) for field in guessed])
            table = pyarrow.json.read_json(
                path, parse_options=pyarrow.json.ParseOptions(explicit_schema=as_text)
            ).select(table.column_names)
        return Read(table, 0)
    except (pa.ArrowInvalid, OSError) as error:
        if not path.stat().st_size or isinstance(error, OSError):
            raise cannot_read(path, "json", error) from error
        raise unreadable_row(path, "json", str(error)) from None


_READERS: dict[str, Callable[[Path, bool], Read]] = {
    "parquet": _read_parquet,
    "csv": _read_csv,
    "json": _read_json,
}


def cannot_read(path: Path, kind: str, error: Exception) -> DataError:
    """The error to raise for a file that is not of the kind its name, or --format, says."""
    if isinstance(error, PermissionError):
        return DataError(f"{path} cannot be read: permission denied.", hint="ask its owner for it.")
    if not path.stat().st_size:
        return DataError(f"{path} is empty.", hint=f"give a {kind} file with rows.")
    return DataError(
        f"{path} cannot be read as {kind}: {str(error).splitlines()[0]}",
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


def _with_times(table: pa.Table, times: Sequence[str], time_zone: str, drop: bool) -> Read:
    wanted, n_untimed = {name.lower() for name in times}, 0
    for i, field in enumerate(table.schema):
        column = table[field.name]
        if pa.types.is_string(field.type) and field.name.lower() in wanted:
            n_null = column.null_count
            column = _times_in(column, field.name, time_zone, drop)
            n_untimed += column.null_count - n_null
        elif pa.types.is_timestamp(field.type):
            has_zone = field.type.tz is not None
            zoned = pa.timestamp(field.type.unit, time_zone)
            column = column.cast(zoned) if has_zone else _in_zone(column, time_zone)
        table = table.set_column(i, field.name, column)
    return Read(table, n_untimed)


def _times_in(texts: pa.ChunkedArray, name: str, time_zone: str, drop: bool) -> pa.ChunkedArray:
    is_time = pc.match_substring_regex(texts, _TIME)
    others = texts.filter(pc.invert(is_time))
    if others.length() and not drop:
        raise no_time(name, others[0].as_py())
    has_zone = pc.match_substring_regex(texts, _ZONE)
    nothing = pa.scalar(None, pa.string())
    zoned = pc.if_else(pc.and_(is_time, has_zone), texts, nothing)
    local = pc.if_else(pc.and_(is_time, pc.invert(has_zone)), texts, nothing)
    try:
        return pc.coalesce(
            zoned.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us", time_zone)),
            _in_zone(local.cast(pa.timestamp("us")), time_zone),
        )
    except pa.ArrowInvalid as error:  # such as the 31st of February
        raise no_time(name, str(error)) from error


def _in_zone(times: pa.ChunkedArray, time_zone: str) -> pa.ChunkedArray:
    return pc.assume_timezone(times, time_zone, ambiguous="earliest", nonexistent="latest")
