"""Show what situ understood of a query: symbols, constraints, when each becomes certain, the plan.

With INPUT the query is also run on it, and what the run did stands beside the estimates."""

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
from situ.cli.progress import watching

EXAMPLES = """\
  situ explain drivers.situ
  situ explain "FROM cars PARTITION BY car_id DEFINE A AS accel > 3, B AS speed > 31 PATTERN A overlaps B"
  situ explain drivers.situ cars/
  cat drivers.situ | situ explain -"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ explain`."""
    add_query_and_input(parser)


def run(args: argparse.Namespace) -> int:
    """Print the explanation of the query."""
    put_inputs_together(args, required=False)
    query = parsed_query(args)
    if not args.inputs:
        print(query.explain())
        return OK
    from situ.public import explain

    rows = read_input(args, query)
    with watching(rows, "running"):
        explained = explain(rows, query, **run_options(args))
    print(explained)
    return OK
