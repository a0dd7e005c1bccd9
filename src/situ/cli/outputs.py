"""How commands hand over result rows: a table in the terminal, or parquet, CSV or JSON files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situ.cli.common import counted, note, positive
from situ.cli.progress import watching
from situ.errors import OptionError
from situ.files import written_whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_DEFAULT_LIMIT = 20
_FORMATS = {".parquet": "parquet", "": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json"}


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add --out, --overwrite and --limit."""
    writing = parser.add_argument_group("output")
    writing.add_argument(
        "--out",
        "--output",
        type=Path,
        metavar="PATH",
        help="write all rows to this parquet, .csv or .json file (on Spark: a folder of files)",
    )
    writing.add_argument("--overwrite", action="store_true", help="replace what is there")
    writing.add_argument(
        "--limit",
        type=positive(int),
        default=_DEFAULT_LIMIT,
        help=f"rows to print (default: {_DEFAULT_LIMIT})",
    )


def deliver(args: argparse.Namespace, rows: Any, what: str) -> None:
    """Print the first rows of a table or Spark DataFrame, or write all of them; `what` is one of them."""
    import pyarrow as pa

    if args.out is not None:
        kind = _kind_of(args.out)
        if isinstance(rows, pa.Table):
            check_free(args.out, args.overwrite)
            write_table(rows, args.out, kind)
            count: int = rows.num_rows
        else:
            count = write_on_spark(rows, args, str(args.out), kind)
        print(f"{counted(count, what)} written to {args.out}")
        return
    limit: int = args.limit
    if isinstance(rows, pa.Table):
        head = rows.slice(0, limit + 1)
    else:
        with watching(rows, what):
            head = rows.limit(limit + 1).toArrow()
    if head.num_rows == 0:
        print(f"No {what}s. `situ why` with the same query and input tells what is missing.")
        return
    print_rows(head.slice(0, limit))
    if head.num_rows > limit:
        total = f" of {rows.num_rows:,}" if isinstance(rows, pa.Table) else ""
        print(f"The first {limit:,}{total} {what}s; --limit shows more, --out writes all.")
    else:
        print(f"{counted(head.num_rows, what)}.")


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


def _kind_of(out: Path) -> str:
    if out.suffix not in _FORMATS:
        raise OptionError(
            f"{out} names no format situ writes.", hint="end it in .parquet, .csv or .json, or name a folder."
        )
    return _FORMATS[out.suffix]


def check_free(out: Path, overwrite: bool) -> None:
    """Refuse to replace what is there, unless told to."""
    if out.exists() and not overwrite:
        raise OptionError(f"{out} exists already.", hint="give another name, or --overwrite to replace it.")


def write_table(rows: pa.Table, out: Path, kind: str) -> None:
    """Write one file of parquet, CSV or JSON."""
    with written_whole(out) as draft:
        _write_file(rows, draft, kind)


def write_folder(rows: pa.Table, out: Path, kind: str) -> None:
    """Write a folder with one file, as Spark writes one with several."""
    with written_whole(out) as draft:
        draft.mkdir()
        _write_file(rows, draft / f"part-0.{kind}", kind)


def _write_file(rows: pa.Table, path: Path, kind: str) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    from situ.cli.text import lists_as_json, times_as_text, write_json

    if kind == "parquet":
        pq.write_table(rows, path)
    elif kind == "csv":
        pyarrow.csv.write_csv(lists_as_json(times_as_text(rows)), path)
    else:
        write_json(rows, path)


def write_on_spark(rows: DataFrame, args: argparse.Namespace, out: str, kind: str) -> int:
    """Write a folder of files, or a table, show the progress, and return the number of rows."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    from situ.spark.batch.write import save_folder, save_table

    counts = Observation("situ written")  # not the name of the one that counts bad rows
    observed = rows.observe(counts, F.count(F.lit(1)).alias("n"))
    with watching(rows, "matching"):
        if kind == "table":
            save_table(observed, out, overwrite=args.overwrite)
        else:
            save_folder(observed, out, kind, overwrite=args.overwrite)
    n_rows = int(counts.get["n"])
    if args.on_bad_rows == "drop":
        from situ.spark.batch.job import n_bad_rows

        note(f"{counted(n_bad_rows(rows), 'row')} without a time, or that could not be read, left out.")
    return n_rows
