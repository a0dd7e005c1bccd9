"""Write generated event data as parquet: random situations, or cars on an expressway.

synthetic  a boolean column per symbol, true while its situation lasts (one file)
traffic    one report per car and second: car_id, ts, speed (m/s), accel (m/s2), lane, segment, position (m)

The same options and seed give the same rows on every machine."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from situ.cli.common import OK, counted, instant, positive
from situ.cli.inputs import for_spark
from situ.errors import OptionError
from situ.extras import need_spark
from situ.files import written_whole
from situ.sources.clock import DEFAULT_START

EXAMPLES = """\
  situ generate traffic cars/ --cars 400 --hours 4 --seed 7
  situ generate synthetic events.parquet --symbols 4 --events 1_000_000
  situ generate synthetic events.parquet --symbols door,alarm --duration 5 60 --gap 10 600"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ generate`: one sub-command per kind of data."""
    kinds = parser.add_subparsers(metavar="KIND", dest="kind", required=True)

    traffic = kinds.add_parser("traffic", help="cars on an expressway, as time-ordered files")
    traffic.add_argument("out", type=Path, metavar="FOLDER", help="folder to write the parquet files to")
    traffic.add_argument("--cars", type=positive(int), default=400, help="number of cars (default: 400)")
    traffic.add_argument("--hours", type=positive(float), default=4.0, help="hours of traffic (default: 4)")
    traffic.add_argument("--files", type=positive(int), help="number of files (default: by size)")
    traffic.set_defaults(generate=_traffic)

    synthetic = kinds.add_parser("synthetic", help="random situations as boolean columns")
    synthetic.add_argument("out", type=Path, metavar="FILE", help="parquet file to write")
    synthetic.add_argument(
        "--symbols", type=_symbols, default=4, metavar="N|NAMES", help="how many, or a,b,c (default: 4)"
    )
    synthetic.add_argument(
        "--events", type=positive(int), default=1_000_000, help="number of events (default: 1,000,000)"
    )
    for option, least, greatest in (("duration", 10, 100), ("gap", 10, 50)):
        synthetic.add_argument(
            f"--{option}",
            type=positive(int),
            nargs=2,
            default=(least, greatest),
            metavar=("LEAST", "GREATEST"),
            help=f"events in a {option}, uniformly distributed (default: {least} {greatest})",
        )
    synthetic.add_argument("--rate", type=positive(float), default=1.0, help="events per second (default: 1)")
    synthetic.set_defaults(generate=_synthetic)

    for kind in (traffic, synthetic):
        kind.add_argument("--seed", type=int, default=0, help="other seeds give other data (default: 0)")
        kind.add_argument(
            "--start",
            type=instant,
            default=DEFAULT_START,
            help="time of the first event, ISO 8601",
        )
        kind.add_argument("--overwrite", action="store_true", help="replace what is there")


def run(args: argparse.Namespace) -> int:
    """Write the data and say how much it was."""
    out: Path = args.out
    if out.exists() and not args.overwrite:
        raise OptionError(f"{out} exists already.", hint="give another name, or --overwrite to replace it.")
    rows = args.generate(args)
    print(f"{counted(rows, 'event')} written to {out}")
    return OK


def _traffic(args: argparse.Namespace) -> int:
    need_spark("situ generate traffic")
    from situ.cli.progress import progress_of
    from situ.cli.session import local_spark
    from situ.spark.batch.write import save_folder
    from situ.spark.generate import traffic

    seconds = max(1, round(args.hours * 3600))
    spark = local_spark("situ generate")
    cars = traffic(spark, args.cars, seconds, seed=args.seed, start=args.start, files=args.files)
    with progress_of(spark):
        save_folder(cars, str(args.out), "parquet", overwrite=args.overwrite)
    return spark.read.parquet(for_spark(args.out)).count()


def _synthetic(args: argparse.Namespace) -> int:
    import pyarrow.parquet as pq

    from situ.cli.progress import counting
    from situ.sources.synthetic import synthetic_chunks

    chunks = synthetic_chunks(
        args.symbols,
        args.events,
        seed=args.seed,
        duration=tuple(args.duration),
        gap=tuple(args.gap),
        rate_hz=args.rate,
        start=args.start,
    )
    first = next(chunks)  # the options are checked before anything is replaced
    with (
        written_whole(args.out) as draft,
        pq.ParquetWriter(draft, first.schema) as writer,
        counting("events", args.events) as count,
    ):
        for chunk in itertools.chain([first], chunks):
            writer.write_table(chunk)
            count(chunk.num_rows)
    rows: int = args.events
    return rows


def _symbols(text: str) -> int | list[str]:
    return int(text) if text.isdigit() else [name.strip() for name in text.split(",")]
