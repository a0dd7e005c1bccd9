"""Tell why a query matches nothing, or so little: where its candidates are lost.

Per symbol, how often it held and how many situations survive its duration; per constraint, how many pairs
stand as asked, in time, and which relation the others have instead; and along the plan, where the last
candidate dies. Of a row pattern: for how many rows each variable held, how far candidates came, and what
stopped them."""

from __future__ import annotations

import argparse

from situ.cli.common import OK, parsed_query
from situ.cli.inputs import add_query_and_input, ask_input, put_inputs_together

EXAMPLES = """\
  situ why drivers.situ cars/
  situ why drivers.situ cars.csv
  situ why "FROM cars DEFINE A AS accel > 3 AT LEAST 9 seconds" my_catalog.cars"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ why`."""
    add_query_and_input(parser)


def run(args: argparse.Namespace) -> int:
    """Print where candidates are lost."""
    from rich.console import Console

    from situ.public import why

    put_inputs_together(args)
    query = parsed_query(args)
    answer = ask_input(args, query, "counting", lambda rows, options: why(rows, query, **options))
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(answer)
    else:
        print(answer)
    return OK
