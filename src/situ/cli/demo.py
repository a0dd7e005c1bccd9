"""Generate traffic, find the aggressive drivers in it with Spark, and draw them.

A driver is reported who accelerates hard, speeds while or after doing so, and ends on the brakes.
Everything is written to one folder: the reports as parquet, the matches, and the pictures."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situ.cli.common import OK, positive
from situ.errors import OptionError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from rich.console import Console

    from situ.language.ast import Query

EXAMPLES = """\
  situ demo
  situ demo --stream
  situ demo --cars 2000 --hours 8 --out big-demo"""

_MARKER = ".situ-demo"  # a folder that holds it is ours to replace
_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ demo`."""
    parser.add_argument("--cars", type=positive(int), default=420, help="number of cars (default: 420)")
    parser.add_argument("--hours", type=positive(float), default=4.0, help="hours of traffic (default: 4)")
    parser.add_argument("--seed", type=int, default=7, help="other seeds give other traffic (default: 7)")
    parser.add_argument("--top", type=positive(int), default=5, help="matches to draw (default: 5)")
    parser.add_argument("--stream", action="store_true", help="read the reports as a stream, and report live")
    parser.add_argument(
        "--out", type=Path, default=Path("situ-demo"), metavar="FOLDER", help="(default: situ-demo)"
    )


def run(args: argparse.Namespace) -> int:
    """Generate, match, tell, draw."""
    from rich.console import Console

    from situ.cli.demo_stream import stream_matches
    from situ.language import query
    from situ.plotting.matches import with_endpoints
    from situ.sources.queries import AGGRESSIVE_DRIVERS

    console = Console(highlight=False, soft_wrap=True)
    _take(args.out)
    drivers = query(AGGRESSIVE_DRIVERS)
    console.print("Looking for aggressive drivers:\n", style="bold")
    console.print(AGGRESSIVE_DRIVERS, markup=False)
    session = _session()
    cars = args.out / "cars"
    with _timed(console, session, f"Generating {args.hours:g} hours of {args.cars:,} cars"):
        n_events = _generate(session, args, cars)
    reports = session.read.parquet(str(cars))
    if args.stream:
        found = stream_matches(session, cars, with_endpoints(drivers), args.out / "state", console)
    else:
        with _timed(console, session, f"Matching {n_events:,} reports"):
            found = _match(session, cars, with_endpoints(drivers))
    _show(console, found, drivers, n_events, args)
    with _timed(console, session, "Drawing"):
        written = _draw(reports, drivers, found, args)
    console.print(f"\nOpen {written[0].resolve()} in a browser;")
    if len(written) == 1:
        console.print('pip install "situ[plot]" draws each match as a PNG file as well;')
    console.print(f"the pictures, the matches and the reports are in {args.out.resolve()}")
    return OK


def _take(out: Path) -> None:
    if out.exists() and any(out.iterdir()) and not (out / _MARKER).exists():
        raise OptionError(f"{out} holds something else.", hint="name another folder with --out.")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / _MARKER).touch()


def _session() -> SparkSession:
    import os

    from situ.cli.session import local_spark
    from situ.spark.stream import PROVIDER, ROCKSDB

    cores = str(os.cpu_count() or 2)
    settings: dict[str, Any] = {
        PROVIDER.replace(".", "__"): ROCKSDB,
        "spark__sql__shuffle__partitions": cores,
    }
    return local_spark("situ demo", **settings)


@contextmanager
def _timed(console: Console, session: SparkSession, what: str) -> Iterator[None]:
    from situ.cli.progress import progress_of

    begin = time.monotonic()
    console.print(f"{what} ...")
    with progress_of(session):
        yield
    console.print(f"  done in {time.monotonic() - begin:.1f} s", style="dim")


def _generate(session: SparkSession, args: argparse.Namespace, folder: Path) -> int:
    from situ.spark.generate import traffic

    seconds = max(1, round(args.hours * 3600))
    # several files in time order: as a stream, they arrive one after the other
    reports = traffic(session, args.cars, seconds, seed=args.seed, files=max(1, round(args.hours * 6)))
    reports.write.parquet(str(folder))
    return session.read.parquet(str(folder)).count()


def _match(session: SparkSession, folder: Path, query: Query) -> pa.Table:
    from situ.public import match_parquet

    found: DataFrame = match_parquet(session, str(folder), query)
    return found.toArrow()


def _show(console: Console, found: pa.Table, query: Query, n_events: int, args: argparse.Namespace) -> None:
    """The fastest matches as a table, and what was found in words."""
    import pyarrow.parquet as pq

    from situ.cli.outputs import print_rows

    names = [*query.partition_by, *(item.name for item in query.returns), "match_time"]
    pq.write_table(found.select(names), args.out / "matches.parquet")
    console.print()
    if found.num_rows:
        print_rows(found.sort_by([("speed", "descending")]).select(names).slice(0, _SHOWN))
    if found.num_rows > _SHOWN:
        console.print(f"... and {found.num_rows - _SHOWN:,} more in matches.parquet")
    console.print("\n" + in_words(found, n_events, args.cars, args.hours))


def in_words(found: pa.Table, n_events: int, n_cars: int, hours: float) -> str:
    """What was found, for somebody who has not read the query."""
    import pyarrow.compute as pc

    among = f"{n_events:,} reports of {n_cars:,} cars in {hours:g} hours"
    if not found.num_rows:
        return f"Among {among} nobody drove like that."
    n_drivers = pc.count_distinct(found["car_id"]).as_py()
    fastest = found.take(pc.sort_indices(found, sort_keys=[("speed", "descending")])[:1]).to_pylist()[0]
    n_early = found["_situ_2_te"].null_count  # C, the braking, was not over yet
    return (
        f"Among {among}, {n_drivers:,} drivers accelerated hard, went above 31.3 m/s (70 mph) while or "
        f"right after doing so, and ended on the brakes: {found.num_rows:,} times in all. The fastest was "
        f"car {fastest['car_id']}, with {fastest['speed']:.1f} m/s on average before it braked at "
        f"{fastest['braked_at']:%H:%M:%S}. In {n_early:,} of {found.num_rows:,} cases the match was certain, "
        "and reported, while the car was still braking."
    )


def _draw(reports: DataFrame, query: Query, found: pa.Table, args: argparse.Namespace) -> list[Path]:
    from situ.plotting import draw_sample
    from situ.spark.sample import Matches

    by_time, by_speed = found.sort_by("match_time"), found.sort_by([("speed", "descending")])
    pictures = draw_sample(reports, query, Matches(by_time, by_speed.slice(0, args.top), found.num_rows))
    return pictures.save(args.out)
