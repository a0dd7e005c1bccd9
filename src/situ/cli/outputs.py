"""How commands hand over result rows: on the screen, to a pipe, to files, or to a Spark table."""

from __future__ import annotations

import argparse
import io
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situ.cli.common import counted, note, positive
from situ.cli.files import is_remote
from situ.errors import OptionError
from situ.files import written_whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_ON_SCREEN = 20
_ROWS_AT_A_TIME = 50_000
FORMATS = ("table", "csv", "json", "parquet")
_SUFFIXES = {
    "": "parquet",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}


def add_output(parser: argparse.ArgumentParser) -> Any:
    """Add --out, --output-format, --overwrite and --limit; return their group."""
    writing = parser.add_argument_group("output (default: a table on the screen)")
    writing.add_argument(
        "--out",
        "--output",
        metavar="PATH",
        help="write to this .csv, .json or .parquet file, or to a folder (on Spark always a folder), "
        "or to a Spark table",
    )
    writing.add_argument(
        "--output-format",
        choices=FORMATS,
        help="what to print or write (default: a table to print, else told by the name of PATH); "
        "with PATH, table means a Spark table of that name",
    )
    writing.add_argument("--overwrite", action="store_true", help="replace what is there")
    writing.add_argument(
        "--limit",
        type=positive(int),
        help=f"at most so many rows (default: {_ON_SCREEN} in a table, else all)",
    )
    return writing


def check_output(args: argparse.Namespace) -> None:
    """Say what is wrong with the output before anything is read."""
    kind = kind_of_output(args)
    if args.out is None:
        if kind == "parquet" and sys.stdout.isatty():
            raise OptionError(
                "parquet is not for people to read, and standard output is a terminal.",
                hint="write it to a file with --out, or send it to a pipe.",
            )
    elif kind != "table" and not is_remote(args.out):
        check_free(Path(args.out), args.overwrite)


def kind_of_output(args: argparse.Namespace) -> str:
    """One of FORMATS, as told, or by the name that is written to."""
    if args.output_format is not None or args.out is None:
        return args.output_format or "table"
    suffix = Path(args.out).suffix.lower()
    if suffix not in _SUFFIXES:
        raise OptionError(
            f"{args.out} names no format situ writes.",
            hint="end it in .parquet, .csv or .json, name a folder, or say which with --output-format.",
        )
    return _SUFFIXES[suffix]


def deliver(
    args: argparse.Namespace,
    rows: Any,
    one: str,
    several: str | None = None,
    since: float | None = None,
) -> None:
    """Print or write the rows of a table or Spark DataFrame; `one` is one of them, `several` the plural.

    `since` is when the work began, on the clock `time.monotonic`.
    """
    if args.out is not None:
        n_rows = _write(args, rows)
        took = "" if since is None else f" in {time.monotonic() - since:.1f} s"
        print(f"{counted(n_rows, one, several)} written to {args.out}{took}")
        return
    kind = kind_of_output(args)
    limit = args.limit or (_ON_SCREEN if kind == "table" else None)
    found, is_all = _first(args, rows, limit)
    words = _count_told(found, rows, is_all, one, several or f"{one}s")
    if kind == "table":
        if found.num_rows:
            print_rows(found)
        print(words)
    else:
        _print_as(found, kind)
        if not found.num_rows or not is_all:
            note(words)


def _first(args: argparse.Namespace, rows: Any, limit: int | None) -> tuple[pa.Table, bool]:
    """At most `limit` rows, and whether they are all."""
    import pyarrow as pa

    if isinstance(rows, pa.Table):
        head = rows
    else:
        from situ.cli.progress import watching

        with watching(rows, "matching"):
            head = (rows if limit is None else rows.limit(limit + 1)).toArrow()
        if limit is None or head.num_rows <= limit:  # all rows were read
            _tell_bad_rows(args, rows)
    is_all = limit is None or head.num_rows <= limit
    return (head if is_all else head.slice(0, limit)), is_all


def _count_told(found: pa.Table, rows: Any, is_all: bool, one: str, several: str) -> str:
    import pyarrow as pa

    if not found.num_rows:
        return f"No {several}. `situ why` with the same query and input tells what is missing."
    if is_all:
        return f"{counted(found.num_rows, one, several)}."
    total = f" of {rows.num_rows:,}" if isinstance(rows, pa.Table) else ""
    return f"The first {found.num_rows:,}{total} {several}; --limit shows more, --out writes all."


def _print_as(rows: pa.Table, kind: str) -> None:
    """Write all rows to standard output, and nothing else."""
    if kind == "parquet":
        file = io.BytesIO()
        _write_file(rows, file, kind)
        sys.stdout.buffer.write(file.getbuffer())
        return
    for start in range(0, max(1, rows.num_rows), _ROWS_AT_A_TIME):
        block = io.BytesIO()
        _write_file(rows.slice(start, _ROWS_AT_A_TIME), block, kind, header=start == 0)
        sys.stdout.write(block.getvalue().decode())


def print_rows(table: pa.Table) -> None:
    """Print a small table, wide enough for its values; numbers to the right."""
    import pyarrow as pa
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for field in table.schema:
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        grid.add_column(Text(field.name), justify="right" if is_number else "left", no_wrap=True)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        grid.add_row(*(Text(cell_text(value)) for value in row))
    console = Console(highlight=False)
    if not console.is_terminal:  # a pipe has no width to fit into
        console = Console(highlight=False, width=10_000)
        grid.expand = False
    console.print(grid)


def cell_text(value: Any) -> str:
    """A value as a person reads it.

    >>> cell_text(None), cell_text(31.30000001), cell_text(True)
    ('-', '31.3', 'True')
    """
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text.removesuffix("+00:00")


def check_free(out: Path, overwrite: bool) -> None:
    """Refuse to replace what is there, unless told to."""
    if out.exists() and not overwrite:
        raise OptionError(f"{out} exists already.", hint="give another name, or --overwrite to replace it.")


def _write(args: argparse.Namespace, rows: Any) -> int:
    """Write the rows, as many as --limit allows, and return how many there were."""
    import pyarrow as pa

    kind = kind_of_output(args)
    if not isinstance(rows, pa.Table):
        return _write_on_spark(rows, args, kind)
    check_free(Path(args.out), args.overwrite)
    if args.limit is not None:
        rows = rows.slice(0, args.limit)
    write_table(rows, Path(args.out), kind)
    n_rows: int = rows.num_rows
    return n_rows


def write_table(rows: pa.Table, out: Path, kind: str) -> None:
    """Write one file of parquet, CSV or JSON; a name without an ending is a folder, as on Spark."""
    with written_whole(out) as draft:
        if out.suffix:
            _write_file(rows, draft, kind)
        else:
            draft.mkdir()
            _write_file(rows, draft / f"part-0.{kind}", kind)


def _write_file(rows: pa.Table, file: Any, kind: str, *, header: bool = True) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    from situ.cli.text import nested_as_json, times_as_text, write_json

    if kind == "parquet":
        pq.write_table(rows, file)
    elif kind == "csv":
        options = pyarrow.csv.WriteOptions(include_header=header)
        pyarrow.csv.write_csv(nested_as_json(times_as_text(rows)), file, options)
    else:
        write_json(rows, file)


def _write_on_spark(rows: DataFrame, args: argparse.Namespace, kind: str) -> int:
    """Write a folder of files, or a table, show the progress, and return the number of rows."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    from situ.cli.progress import watching
    from situ.spark.batch.write import save_folder, save_table

    counts = Observation("situ written")  # not the name of the one that counts bad rows
    limited = rows if args.limit is None else rows.limit(args.limit)
    observed = limited.observe(counts, F.count(F.lit(1)).alias("n"))
    with watching(rows, "matching"):
        if kind == "table":
            save_table(observed, args.out, overwrite=args.overwrite)
        else:
            save_folder(observed, args.out, kind, overwrite=args.overwrite)
    if args.limit is None:
        _tell_bad_rows(args, rows)
    return int(counts.get["n"])


def _tell_bad_rows(args: argparse.Namespace, rows: DataFrame) -> None:
    if args.on_bad_rows == "drop":
        from situ.spark.batch.job import n_bad_rows

        note(f"{counted(n_bad_rows(rows), 'row')} without a time, or that could not be read, left out.")
