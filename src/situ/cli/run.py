"""Match a query in files or a table with Spark, and write the matches.

The output appears when it is complete, under its final name, or not at all. Parquet input is read by
the tasks themselves where situ can evaluate every condition, which is the fastest way."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situ.cli.common import OK
from situ.cli.inputs import add_query_and_input, format_of, parsed_query, read_input, run_options
from situ.errors import OptionError, UnsupportedExpressionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from situ.language.ast import Query

EXAMPLES = """\
  situ run drivers.situ --input cars/ --output aggressive/
  situ run "FROM t ORDER BY ts DEFINE A AS x > 9 AT LEAST 5 minutes" --input t.csv --output hot.csv
  situ run drivers.situ --input s3a://lake/cars --output s3a://lake/found --master spark://head:7077"""

OUTPUT_FORMATS = ("parquet", "csv", "json", "table")
_SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "json"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ run`."""
    add_query_and_input(parser, input_required=False)
    parser.add_argument(
        "--input",
        dest="named_inputs",
        nargs="+",
        default=[],
        metavar="INPUT",
        help="INPUT, as a named argument",
    )
    writing = parser.add_argument_group("output")
    writing.add_argument(
        "--output",
        required=True,
        metavar="PATH",
        help="folder to write the matches to, or the name of a table",
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
    from pyspark.errors import PySparkException

    from situ.spark.errors import situ_error

    args.inputs = [*args.inputs, *args.named_inputs]
    if not args.inputs:
        raise OptionError("there is nothing to read.", hint="name files, folders or a table with --input.")
    if args.in_process:
        raise OptionError("`situ run` runs on Spark.", hint="leave out --in-process.")
    query = parsed_query(args)
    kind = args.output_format or _SUFFIXES.get(Path(args.output).suffix, "parquet")
    begin = time.monotonic()
    try:
        session = _session(args)
        n_matches = _write(session, args, kind, _matches(session, args, query))
    except PySparkException as error:
        raise situ_error(error) or error from None
    print(f"{n_matches:,} matches written to {args.output} in {time.monotonic() - begin:.1f} s")
    return OK


def _session(args: argparse.Namespace) -> SparkSession:
    from situ.cli.session import local_spark

    settings: dict[str, Any] = {"spark__sql__ansi__enabled": "false"} if args.ansi is False else {}
    if args.time_zone is not None:
        settings["spark__sql__session__timeZone"] = args.time_zone
    return local_spark("situ run", master=args.master, **settings)


def _matches(session: SparkSession, args: argparse.Namespace, query: Query) -> DataFrame:
    """The matches, of Parquet files by the direct way where it applies."""
    from situ.spark import match, match_parquet

    options = run_options(args)
    if args.match_id:
        options["match_id"] = True
    is_parquet = (args.format or format_of(args.inputs)) == "parquet"
    if is_parquet and query.intervals is None:
        try:
            read_input(args)  # says what is wrong with the paths before anything else does
            return match_parquet(session, args.inputs, query, **options)
        except UnsupportedExpressionError:
            pass  # Spark evaluates every function
    return match(read_input(args), query, **options)


def _write(session: SparkSession, args: argparse.Namespace, kind: str, matches: DataFrame) -> int:
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    from situ.cli.progress import progress_of
    from situ.spark.write import save_folder, save_table

    counted = Observation("situ run")
    observed = matches.observe(counted, F.count(F.lit(1)).alias("n"))
    with progress_of(session):
        if kind == "table":
            save_table(observed, args.output, overwrite=args.overwrite)
        else:
            save_folder(observed, args.output, kind, overwrite=args.overwrite)
    return int(counted.get["n"])
