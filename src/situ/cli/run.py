"""Match a query in files, standard input or a table, and print or write the matches.

Local files that fit in memory are matched in process, all else on Spark, and a line on standard error says
which and why. Matches are printed as a table, or with --output-format as CSV or JSON. With --out they are
written: the output appears when it is complete, under its final name, or not at all."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING, Any

from situ.cli.common import OK, parsed_query, print_warning
from situ.cli.inputs import (
    add_query_and_input,
    ask_input,
    is_on_spark,
    put_inputs_together,
)
from situ.cli.outputs import add_output, check_output, deliver
from situ.errors import TiesWarning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from situ.language.situations.ast import Query

EXAMPLES = """\
  situ run drivers.situ cars.csv
  situ run "FROM t ORDER BY ts DEFINE A AS x > 9 AT LEAST 5 minutes" t.csv --out hot.csv
  situ run drivers.situ cars/ --output-format json --limit 100
  zcat cars.csv.gz | situ run drivers.situ - --output-format csv | head
  situ run storms.situ weather=w.parquet flights=f.csv
  situ run drivers.situ s3a://lake/cars --out s3a://lake/found --master spark://head:7077"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ run`."""
    add_query_and_input(parser)
    writing = add_output(parser)
    writing.add_argument("--match-id", action="store_true", help="add a column with a deterministic id")


def run(args: argparse.Namespace) -> int:
    """Match, and print or write the matches."""
    put_inputs_together(args)
    check_output(args)
    query = parsed_query(args)
    begin = time.monotonic()

    def matched(rows: Any, options: dict[str, Any]) -> tuple[Any, Any]:
        return _matches(args, rows, query, options), rows

    matches, rows = ask_input(args, query, "matching", matched)
    if is_on_spark(matches):
        _deliver_from_spark(args, matches, rows, begin)
    else:
        deliver(args, matches, "match", "matches", begin)
    return OK


def _matches(args: argparse.Namespace, rows: Any, query: Query, options: dict[str, Any]) -> Any:
    from situ.public import match

    if args.match_id:
        options["match_id"] = True
    return match(rows, query, **options)


def _deliver_from_spark(args: argparse.Namespace, matches: DataFrame, rows: DataFrame, begin: float) -> None:
    """Rows that were left out are told of in the end, all of them, with the columns that tell them apart."""
    from situ.spark.batch.tied import ties_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TiesWarning)
        deliver(args, matches, "match", "matches", begin)
    ties = None if args.ties else ties_of(matches, rows)
    if ties is not None:
        print_warning(str(ties))
