"""Match a query in files or a table, and write the matches.

The output appears when it is complete, under its final name, or not at all. Parquet input is read by
the tasks themselves where situ can evaluate every condition, which is the fastest way. With --in-process
nothing runs on Spark: quicker where the data fits in memory."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situ.cli.common import OK, counted, print_warning
from situ.cli.inputs import (
    add_query_and_input,
    for_spark,
    format_of,
    parsed_query,
    put_inputs_together,
    read_input,
    run_options,
)
from situ.cli.outputs import check_free, write_folder, write_on_spark, write_table
from situ.cli.progress import watching
from situ.errors import OptionError, TiesWarning, UnsupportedExpressionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from situ.language.situations.ast import Query

EXAMPLES = """\
  situ run drivers.situ --input cars/ --output aggressive/
  situ run "FROM t ORDER BY ts DEFINE A AS x > 9 AT LEAST 5 minutes" --input t.csv --output hot.csv
  situ run drivers.situ --input cars.parquet --output found.parquet --in-process
  situ run drivers.situ --input s3a://lake/cars --output s3a://lake/found --master spark://head:7077"""

OUTPUT_FORMATS = ("parquet", "csv", "json", "table")
_SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "json"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ run`."""
    add_query_and_input(parser)
    writing = parser.add_argument_group("output")
    writing.add_argument(
        "--output",
        "--out",
        required=True,
        metavar="PATH",
        help="folder to write the matches to, or the name of a table; with --in-process also a file",
    )
    writing.add_argument(
        "--output-format",
        choices=OUTPUT_FORMATS,
        help="what to write (default: told by the name, else parquet)",
    )
    writing.add_argument("--overwrite", action="store_true", help="replace what is there")
    writing.add_argument("--match-id", action="store_true", help="add a column with a deterministic id")
    parser.add_argument(
        "--master",
        default="local[*]",
        help="where Spark runs: local[N], spark://host:7077, yarn (default: local[*])",
    )


def run(args: argparse.Namespace) -> int:
    """Match, write, and say how many matches there are."""
    put_inputs_together(args)
    query = parsed_query(args)
    kind = args.output_format or _SUFFIXES.get(Path(args.output).suffix, "parquet")
    begin = time.monotonic()
    n_matches = _run_in_process(args, query, kind) if args.in_process else _run_on_spark(args, query, kind)
    took = time.monotonic() - begin
    print(f"{counted(n_matches, 'match', 'matches')} written to {args.output} in {took:.1f} s")
    return OK


def _run_in_process(args: argparse.Namespace, query: Query, kind: str) -> int:
    """A name that ends in its format is one file, any other a folder that holds one."""
    from situ.public import match

    if kind == "table":
        raise OptionError("a table is written on Spark only.", hint="leave out --in-process.")
    out = Path(args.output)
    check_free(out, args.overwrite)
    rows = read_input(args, query)
    with watching(rows, "matching"):
        matches = match(rows, query, **_options(args))
    write = write_table if out.suffix in (f".{kind}", *_SUFFIXES) else write_folder
    write(matches, out, kind)
    n_matches: int = matches.num_rows
    return n_matches


def _run_on_spark(args: argparse.Namespace, query: Query, kind: str) -> int:
    """Rows that were left out are told of in the end, all of them, with the columns that tell them apart."""
    from situ.spark.batch.tied import ties_of

    matches = _matches_on_spark(args, query)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TiesWarning)
        n_matches = write_on_spark(matches, args, args.output, kind)
    ties = None if args.ties else ties_of(matches, read_input(args, query))
    if ties is not None:
        print_warning(str(ties))
    return n_matches


def _matches_on_spark(args: argparse.Namespace, query: Query) -> DataFrame:
    """The matches, of Parquet files by the direct way where it applies."""
    from situ.public import match, match_parquet

    options = _options(args)
    rows = read_input(args, query)  # says what is wrong with the paths before anything else does
    is_parquet = (args.format or format_of(args.inputs)) == "parquet"
    if is_parquet:
        try:
            paths = [for_spark(name) for name in args.inputs]
            found: DataFrame = match_parquet(rows.sparkSession, paths, query, **options)
            return found
        except UnsupportedExpressionError:
            pass  # Spark evaluates every function
    matches: DataFrame = match(rows, query, **options)
    return matches


def _options(args: argparse.Namespace) -> dict[str, Any]:
    return run_options(args) | ({"match_id": True} if args.match_id else {})
