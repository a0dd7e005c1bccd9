"""List the situations that a query's DEFINE derives, one row each, or write them to parquet or CSV."""

from __future__ import annotations

import argparse

from situ.cli.common import OK
from situ.cli.inputs import (
    add_query_and_input,
    parsed_query,
    put_inputs_together,
    read_input,
    run_options,
)
from situ.cli.outputs import add_output, deliver
from situ.cli.progress import watching

EXAMPLES = """\
  situ situations "FROM cars PARTITION BY car_id DEFINE fast AS speed > 31.3 AT LEAST 10 seconds" cars/
  situ situations drivers.situ cars/ --limit 50
  situ situations drivers.situ cars.csv --in-process --out situations.parquet"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ situations`."""
    add_query_and_input(parser)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Print or write the situations."""
    from situ.public import situations

    put_inputs_together(args)
    query = parsed_query(args)
    rows = read_input(args, query)
    with watching(rows, "deriving"):
        found = situations(rows, query, **run_options(args))
    deliver(args, found, "situation")
    return OK
