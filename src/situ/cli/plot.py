"""Draw the matches of a query: a timeline for each of the first, and an overview of all.

Writes index.html, an interactive page that needs no network, and a PNG or SVG file for each picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from situ.cli.common import FAILURE, OK, parsed_query, positive
from situ.cli.inputs import add_query_and_input, ask_input, put_inputs_together

EXAMPLES = """\
  situ plot drivers.situ cars/ --out pictures
  situ plot drivers.situ cars/ --out pictures --top 10 --by speed
  situ plot drivers.situ cars.parquet --out pictures --output-format svg html"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ plot`."""
    add_query_and_input(parser)
    drawing = parser.add_argument_group("pictures")
    drawing.add_argument(
        "--out", "--output", type=Path, metavar="FOLDER", required=True, help="folder to write to"
    )
    drawing.add_argument("--top", type=positive(int), default=3, help="matches to draw (default: 3)")
    drawing.add_argument(
        "--by",
        metavar="COLUMN",
        help="draw those with the largest value of this column or measure",
    )
    drawing.add_argument(
        "--output-format",
        nargs="+",
        choices=("html", "png", "svg"),
        metavar="KIND",
        help="html, png, svg (default: html, and png with the extra situ[plot])",
    )


def run(args: argparse.Namespace) -> int:
    """Write the pictures and say where."""
    from situ.cli.progress import watching
    from situ.public import plot

    put_inputs_together(args)
    query = parsed_query(args)
    pictures = ask_input(
        args, query, "matching", lambda rows, options: plot(rows, query, top=args.top, by=args.by, **options)
    )
    if not pictures.n_matches:
        print("No match to draw. `situ why` with the same query and input tells what is missing.")
        return FAILURE
    with watching(pictures, "drawing"):
        written = pictures.save(args.out, args.output_format)
    print(f"{len(pictures):,} of {pictures.n_matches:,} matches drawn.")
    for path in written:
        print(f"  {path}")
    return OK
