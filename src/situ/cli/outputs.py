"""How commands hand over result rows: a table in the terminal, or parquet, CSV or JSON files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situ.cli.common import positive
from situ.errors import OptionError

if TYPE_CHECKING:
    import pyarrow as pa

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
    """Print the first rows of a table or Spark DataFrame, or write all of them; `what` names the rows."""
    import pyarrow as pa

    if args.out is not None:
        _check_free(args.out, args.overwrite)
        count = _write_table(rows, args) if isinstance(rows, pa.Table) else _write_on_spark(rows, args)
        print(f"{count:,} {what} written to {args.out}")
        return
    limit: int = args.limit
    head = rows.slice(0, limit + 1) if isinstance(rows, pa.Table) else rows.limit(limit + 1).toArrow()
    if head.num_rows == 0:
        print(f"No {what}. `situ why` with the same query and input tells what is missing.")
        return
    print_rows(head.slice(0, limit))
    if head.num_rows > limit:
        total = f" of {rows.num_rows:,}" if isinstance(rows, pa.Table) else ""
        print(f"The first {limit:,}{total} {what}; --limit shows more, --out writes all.")
    else:
        print(f"{head.num_rows:,} {what}.")


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


def _check_free(out: Path, overwrite: bool) -> None:
    if out.suffix not in _FORMATS:
        raise OptionError(
            f"{out} names no format situ writes.", hint="end it in .parquet, .csv or .json, or name a folder."
        )
    if out.exists() and not overwrite:
        raise OptionError(f"{out} exists already.", hint="give another name, or --overwrite to replace it.")
    out.parent.mkdir(parents=True, exist_ok=True)


def _write_table(rows: pa.Table, args: argparse.Namespace) -> int:
    import pyarrow.csv
    import pyarrow.parquet as pq

    kind = _FORMATS[args.out.suffix]
    if kind == "parquet":
        pq.write_table(rows, args.out)
    elif kind == "csv":
        pyarrow.csv.write_csv(rows, args.out)
    else:
        rows.to_pandas().to_json(args.out, orient="records", lines=True, date_format="iso")
    n_rows: int = rows.num_rows
    return n_rows


def _write_on_spark(rows: Any, args: argparse.Namespace) -> int:
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    counted = Observation("situ")
    writer = rows.observe(counted, F.count(F.lit(1)).alias("n")).write.mode("overwrite")
    kind = _FORMATS[args.out.suffix]
    (writer.option("header", "true") if kind == "csv" else writer).format(kind).save(str(args.out))
    return int(counted.get["n"])
