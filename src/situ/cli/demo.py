"""Generate traffic, find the aggressive drivers in it with Spark, and draw them.

A driver is reported who accelerates hard, speeds while or after doing so, and ends on the brakes.
Everything is written to one folder: the reports as parquet, the matches, and the pictures."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from situ.cli.common import OK, counted, positive
from situ.cli.inputs import for_spark
from situ.errors import OptionError
from situ.extras import need_spark
from situ.files import written_whole

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from rich.console import Console

    from situ.language.situations.ast import Query

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
    need_spark("situ demo")
    from rich.console import Console

    from situ.cli.demo_stream import stream_matches
    from situ.language import query
    from situ.plotting.matches import with_endpoints
    from situ.sources.queries import AGGRESSIVE_DRIVERS

    console = Console(highlight=False, soft_wrap=True, markup=False)
    _take(args.out)
    drivers = query(AGGRESSIVE_DRIVERS)
    console.print("Looking for aggressive drivers:\n", style="bold")
    console.print(AGGRESSIVE_DRIVERS)
    session = _session()
    cars = args.out / "cars"
    with _timed(console, session, f"Generating {_hours(args.hours)} of {counted(args.cars, 'car')}"):
        n_events = _generate(session, args, cars)
    reports = session.read.parquet(for_spark(cars))
    if args.stream:
        found = stream_matches(session, cars, with_endpoints(drivers), args.out / "state", console)
    else:
        with _timed(console, session, f"Matching {counted(n_events, 'report')}"):
            found = _match(session, cars, with_endpoints(drivers))
    _show(console, found, drivers, n_events, args)
    with _timed(console, session, "Drawing"):
        written = _draw(reports, drivers, found, args)
    tell_where(console, written, args.out)
    return OK


def tell_where(console: Console, written: list[Path], out: Path) -> None:
    """What to look at; no word of it is markup, whatever the folder is called."""
    console.print(f"\nOpen {written[0].resolve()} in a browser;", markup=False)
    if len(written) == 1:
        console.print('pip install "situ[plot]" draws each match as a PNG file as well;', markup=False)
    console.print(f"the pictures, the matches and the reports are in {out.resolve()}", markup=False)


def _take(out: Path) -> None:
    is_taken = out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (out / _MARKER).exists()))
    if is_taken:
        raise OptionError(f"{out} holds something else.", hint="name another folder with --out.")
    with written_whole(out) as folder:
        folder.mkdir()
        (folder / _MARKER).touch()


def _session() -> SparkSession:
    import os

    from situ.cli.session import local_spark

    return local_spark("situ demo", spark__sql__shuffle__partitions=str(os.cpu_count() or 2))


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
    return session.read.parquet(for_spark(folder)).count()


def _match(session: SparkSession, folder: Path, query: Query) -> pa.Table:
    from situ.public import match_parquet

    found: DataFrame = match_parquet(session, for_spark(folder), query)
    return found.toArrow()


def _show(console: Console, found: pa.Table, query: Query, n_events: int, args: argparse.Namespace) -> None:
    """The fastest matches as a table, and what was found in words."""
    from situ.cli.outputs import print_rows, write_table

    names = [*query.partition_by, *(item.name for item in query.returns), "match_time"]
    write_table(found.select(names), args.out / "matches.parquet", "parquet")
    console.print()
    if found.num_rows:
        print_rows(found.sort_by([("speed", "descending")]).select(names).slice(0, _SHOWN))
    if found.num_rows > _SHOWN:
        console.print(f"... and {found.num_rows - _SHOWN:,} more in matches.parquet")
    console.print("\n" + in_words(found, n_events, args.cars, args.hours))


def in_words(found: pa.Table, n_events: int, n_cars: int, hours: float) -> str:
    """What was found, for somebody who has not read the query."""
    import pyarrow.compute as pc

    among = f"{counted(n_events, 'report')} of {counted(n_cars, 'car')} in {_hours(hours)}"
    if not found.num_rows:
        return f"Among {among} nobody drove like that."
    n_drivers = pc.count_distinct(found["car_id"]).as_py()
    fastest = found.take(pc.sort_indices(found, sort_keys=[("speed", "descending")])[:1]).to_pylist()[0]
    n_early = found["_situ_2_te"].null_count  # C, the braking, was not over yet
    return (
        f"Among {among}, {counted(n_drivers, 'driver')} accelerated hard, went above 31.3 m/s (70 mph) "
        f"while or right after doing so, and ended on the brakes: {counted(found.num_rows, 'time')} in all. "
        f"The fastest was car {fastest['car_id']}, with {fastest['speed']:.1f} m/s on average before it "
        f"braked at {fastest['braked_at']:%H:%M:%S}. {_early(n_early, found.num_rows)} certain, and "
        "reported, while the car was still braking."
    )


def _early(n_early: int, n_matches: int) -> str:
    """How many matches were certain early, up to the verb.

    >>> _early(1, 1), _early(3, 4)
    ('The match was', 'Of the 4 matches 3 were')
    """
    if n_matches == 1:
        return "The match was" if n_early else "The match was not"
    return f"Of the {n_matches:,} matches {n_early:,} {'was' if n_early == 1 else 'were'}"


def _hours(hours: float) -> str:
    return "1 hour" if hours == 1 else f"{hours:g} hours"


def _draw(reports: DataFrame, query: Query, found: pa.Table, args: argparse.Namespace) -> list[Path]:
    from situ.plotting import draw_sample
    from situ.spark.batch.sample import Matches

    by_time, by_speed = found.sort_by("match_time"), found.sort_by([("speed", "descending")])
    pictures = draw_sample(reports, query, Matches(by_time, by_speed.slice(0, args.top), found.num_rows))
    return pictures.save(args.out)
