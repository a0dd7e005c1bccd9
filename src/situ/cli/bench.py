"""Run the experiments of docs/benchmarks: situ, the papers' algorithms, other systems.

Writes one JSON file per experiment with machine and versions, and a page with plots and tables for each;
settings that are finished in the files already there are skipped. Runs from a checkout only."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from situ.cli.common import FAILURE, OK, positive
from situ.errors import OptionError

CHECKOUT = Path(__file__).resolve().parents[3]

EXAMPLES = """\
  situ bench --list
  situ bench --quick
  situ bench disconnected peers --out results"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ bench`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments to run (default: all)")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where results and pages go; a smoke run needs none"
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run of small sizes, under two minutes")
    parser.add_argument(
        "--minutes", type=positive(float), help="begin nothing new in an experiment after this time"
    )
    parser.add_argument("--list", action="store_true", help="only name the experiments")


def works() -> bool:
    """Are the experiments there? They are not part of the installed package."""
    return (CHECKOUT / "benchmarks" / "harness.py").exists()


def run(args: argparse.Namespace) -> int:
    """Run the experiments and write results and pages."""
    if not works():
        raise OptionError(
            "situ bench runs from a checkout of situ: the experiments are not part of the installed package.",
            hint="clone the repository and run there: python3 dev.py situ bench --list",
        )
    sys.path.insert(0, str(CHECKOUT))
    harness = importlib.import_module("benchmarks.harness")
    if args.list:
        for name, module in harness.experiments().items():
            print(f"{name:<22} {harness.load(module).title}")
        return OK
    if args.out is None and not args.quick:
        raise OptionError("situ bench needs a folder for its results.", hint="give one with --out DIR.")
    unknown = [name for name in args.names if name not in harness.experiments()]
    if unknown:
        raise OptionError(
            f"unknown experiment: {', '.join(unknown)}.",
            hint=f"one of {', '.join(harness.experiments())}.",
        )
    with tempfile.TemporaryDirectory(prefix="situ-bench-") as folder:
        out = args.out or Path(folder)
        files = harness.run(args.names, out, quick=args.quick, minutes=args.minutes)
        importlib.import_module("benchmarks.render").render(out, harness.pages_of(out))
        failed = harness.failed_points(files)
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return FAILURE if failed else OK
