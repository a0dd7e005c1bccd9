"""Spark on one core and on more: partitions side by side; one sequence, cut by time (dissertation 5.7.5)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.spark_batch.queries import situ_text
from benchmarks.verdict import Results, done
from situ.engine.threads import usable_cores

SEED = 7
EVENTS = 20_000_000


def points(quick: bool) -> Iterator[Point]:
    cores = [1] if quick else [n for n in (1, 2, 4, 8) if n <= usable_cores()]
    data = ["partitioned"] if quick else ["partitioned", "unpartitioned"]
    return grid(["situ"], data=data, cores=cores, events=[100_000 if quick else EVENTS])


def run(contender: str, data: str, cores: int, events: int) -> Measured:
    from benchmarks.spark_batch.run import Bench

    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:cores])  # the JVM and its workers inherit it
    bench = Bench(events, cores)
    try:
        way = bench.scaled()["map-side" if data == "partitioned" else "unpartitioned"]
        way()  # workers started, kernels and classes loaded

        def once(watch: Watch) -> tuple[int, int]:
            with watch:
                return events, way()

        return best_of(3 if events == EVENTS else 1, once)
    finally:
        bench.spark.stop()
        os.sched_setaffinity(0, allowed)


def follows(results: Results) -> Iterator[str]:
    """Speed-up over one core."""
    for data in ("partitioned", "unpartitioned"):
        own = {p["parameters"]["cores"]: p for p in done(results) if p["parameters"]["data"] == data}
        for cores, point in sorted(own.items()):
            if cores > 1 and 1 in own:
                yield f"{data}: {own[1]['seconds'] / point['seconds']:.2f} times as fast on {cores} cores."


EXPERIMENT = Experiment(
    name="spark-scaling",
    title="Scaling on Spark: partitioned and unpartitioned",
    source="dissertation 5.7.5, figures 5.15 to 5.17, on Spark in local mode",
    generator="traffic, 1,000 cars, one report a second each, as 16 Parquet files",
    seed=SEED,
    query=situ_text({"push": 1.0, "speed": 40.0, "brake": -1.0}),
    measured="time of situ.match(...).count() in a running session, best of 3, the JVM and its workers "
    "pinned to so many cores. Unpartitioned: all reports as one sequence, cut by time",
    published="Speed-up over 1 to 16 threads: linear to 7 threads on preloaded partitioned data; "
    "unpartitioned data need larger batches the smaller the window.",
    points=points,
    run=run,
    axis="cores",
    series=("data",),
    log_x=False,
    log_y=False,
    follows=follows,
    bytes_limit=16 << 30,
)
