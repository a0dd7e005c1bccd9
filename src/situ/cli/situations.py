"""List the situations that a query's DEFINE derives, one row each, or write them to a file."""

from __future__ import annotations

import argparse
import time

from situ.cli.common import OK, parsed_query
from situ.cli.inputs import add_query_and_input, ask_input, put_inputs_together
from situ.cli.outputs import add_output, check_output, deliver

EXAMPLES = """\
  situ situations "FROM cars PARTITION BY car_id DEFINE fast AS speed > 31.3 AT LEAST 10 seconds" cars/
  situ situations drivers.situ cars/ --limit 50
  situ situations drivers.situ cars.csv --out situations.parquet"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ situations`."""
    add_query_and_input(parser)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Print or write the situations."""
    from situ.public import situations

    put_inputs_together(args)
    check_output(args)
    query = parsed_query(args)
    begin = time.monotonic()
    found = ask_input(args, query, "deriving", lambda rows, options: situations(rows, query, **options))
    deliver(args, found, "situation", since=begin)
    return OK
