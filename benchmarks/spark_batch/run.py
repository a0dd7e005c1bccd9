"""Spark batch: every way of running one query on one set of files, in one session, best of three.

    python -m benchmarks.spark_batch.run --events 50_000_000
    python -m benchmarks.spark_batch.run --events 2_000_000 --only floor,map-side --output x.json

Results go to benchmarks/results/spark-batch.json, after every way, so that a stop loses one; report.py makes
the page of the documentation from them. Ways run again with --only replace their figures, and the floor is
always measured beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import situ
from benchmarks.machine import ROOT, facts
from benchmarks.spark_batch import data
from benchmarks.spark_batch.queries import SQL, situ_text
from situ.spark.session.tuned import ARROW_BYTES

RESULTS = ROOT / "benchmarks" / "results" / "spark-batch.json"
WORKER = re.compile(rb"-m\0(py|situ\.)spark\.daemon\0")  # the JVM's own command names the module too
DEFAULT_BYTES = "268435456"
ENOUGH_SECONDS = 180  # a way is not repeated once its runs took so long
Asked = situ.Query | dict[str, situ.Query]


def count_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    n_rows = sum(batch.num_rows for batch in batches)
    yield pa.record_batch({"n": pa.array([n_rows], pa.int64())})


class Bench:
    """One session and one set of files."""

    def __init__(self, n_events: int, cores: int) -> None:
        from situ.cli.session import local_spark

        self.folder = data.events(n_events)
        self.thresholds = {name: round(value, 6) for name, value in data.thresholds(self.folder).items()}
        self.spark = local_spark(
            "spark batch benchmark",
            cores=cores,
            spark__driver__memory="6g",
        )
        self.spark.sparkContext.setLogLevel("ERROR")
        self.query = situ.query(situ_text(self.thresholds))
        self.final = situ.query(situ_text(self.thresholds, emit="FINAL"))
        self.lasting = situ.query(situ_text(self.thresholds, lasting=True))
        one = situ_text(self.thresholds).replace("PARTITION BY car_id ORDER BY ts", "ORDER BY tick")
        self.skewed_query = situ.query(
            situ_text(self.thresholds).replace("ORDER BY ts", "ORDER BY tick").replace("5 minutes", "50")
        )
        self.unpartitioned_query = situ.query(one.replace("WITHIN 5 minutes", "WITHIN 50"))

    @property
    def cars(self) -> Any:
        return self.spark.read.parquet(str(self.folder))

    def projected(self) -> Any:
        from situ.operators.questions import matching
        from situ.options import Options
        from situ.spark.select.project import project, schema_of

        return project(self.cars, matching(self.query).bind(schema_of(self.cars), Options()).needs)

    def floor(self) -> int:
        return sum(row.n for row in self.projected().mapInArrow(count_rows, "n bigint").collect())

    def sorted_by_spark(self) -> int:
        events = self.projected().repartition("_c0").sortWithinPartitions("_c0", "_c1")
        return sum(row.n for row in events.mapInArrow(count_rows, "n bigint").collect())

    def measuring(self, way: Callable[[], int]) -> Callable[[], int]:
        """The way with Spark's default limit of bytes, at which it measures a batch after every row."""

        def run() -> int:
            self.spark.conf.set(ARROW_BYTES, DEFAULT_BYTES)
            try:
                return way()
            finally:
                situ.tune(self.spark)

        return run

    def match(self, query: Asked, strategy: str) -> int:
        return int(situ.match(self.cars, query, strategy=strategy).count())

    def direct(self, query: Asked) -> int:
        return int(situ.match_parquet(self.spark, str(self.folder), query).count())

    def spark_sql(self) -> int:
        self.cars.createOrReplaceTempView("cars")
        return int(self.spark.sql(SQL.format(**self.thresholds)).count())

    def duckdb(self) -> int:
        import duckdb

        with duckdb.connect() as connection:
            connection.execute("SET threads = 2")
            connection.execute(f"CREATE VIEW cars AS FROM read_parquet('{self.folder}/*.parquet')")
            return len(connection.execute(SQL.format(**self.thresholds)).fetchall())

    def unpartitioned(self) -> int:
        """All reports as one sequence, each at an instant of its own."""
        events = self.cars.selectExpr("unix_seconds(ts) * 1000 + car_id AS tick", "speed", "accel")
        return int(situ.match(events, self.unpartitioned_query, strategy="map-side").count())

    def skewed(self, strategy: str) -> int:
        """Half of all events belong to one key."""
        events = self.cars.selectExpr(
            "unix_seconds(ts) * 1000 + car_id AS tick",
            "if(car_id % 2 = 0, 0, car_id) AS car_id",
            "speed",
            "accel",
        )
        return int(situ.match(events, self.skewed_query, strategy=strategy).count())

    def ways(self) -> dict[str, Callable[[], int]]:
        def map_side() -> int:
            return self.match(self.query, "map-side")

        def shuffle() -> int:
            return self.match(self.query, "shuffle")

        return {
            "floor": self.floor,
            "map-side": map_side,
            "direct": lambda: self.direct(self.query),
            "auto": lambda: self.match(self.query, "auto"),
            "shuffle": shuffle,
            "repartition, sort, count": self.sorted_by_spark,
            "floor, measured": self.measuring(self.floor),
            "map-side, measured": self.measuring(map_side),
            "shuffle, measured": self.measuring(shuffle),
            "map-side, durations": lambda: self.match(self.lasting, "map-side"),
            "direct, durations": lambda: self.direct(self.lasting),
            "map-side, FINAL": lambda: self.match(self.final, "map-side"),
            "map-side, skewed": lambda: self.skewed("map-side"),
            "shuffle, skewed": lambda: self.skewed("shuffle"),
            "Spark SQL": self.spark_sql,
            "DuckDB": self.duckdb,
        }

    def scaled(self) -> dict[str, Callable[[], int]]:
        """Ways that are run on one core and on two."""
        return {"map-side": self.ways()["map-side"], "unpartitioned": self.unpartitioned}


class Memory(threading.Thread):
    """The largest resident size any Python worker of this session reaches while it runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._stop_asked = threading.Event()

    def run(self) -> None:
        while not self._stop_asked.wait(0.05):
            for process in descendants(os.getpid()):
                try:
                    if WORKER.search((process / "cmdline").read_bytes()):
                        lines = (process / "status").read_text().splitlines()
                        found = next((line for line in lines if line.startswith("VmRSS")), "VmRSS 0 kB")
                        self.peak = max(self.peak, int(found.split()[1]) * 1024)
                except OSError:
                    continue  # it ended while we looked

    def stop(self) -> int:
        self._stop_asked.set()
        self.join()
        return self.peak


def descendants(pid: int) -> list[Path]:
    """The processes that a process has started, and theirs."""
    parents: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(process.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        waiting += children
        found += children
    return [Path("/proc") / str(child) for child in found]


def measure(way: Callable[[], int], repeat: int) -> dict[str, Any]:
    memory = Memory()
    memory.start()
    seconds, answer = [], 0
    while len(seconds) < repeat and sum(seconds) < ENOUGH_SECONDS:
        begin = time.perf_counter()
        answer = way()
        seconds.append(round(time.perf_counter() - begin, 3))
    return {"seconds": min(seconds), "all": seconds, "answer": answer, "worker_bytes": memory.stop()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=lambda text: int(float(text)), default=50_000_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--only", type=lambda text: text.split(","), help="names of ways, separated by commas"
    )
    parser.add_argument("--scaled", help="measure one way and print what was found: a child of this program")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    machine = facts()
    bench = Bench(args.events, args.cores)
    if args.scaled:
        print(json.dumps(measure(bench.scaled()[args.scaled], args.repeat)))
        return
    results: dict[str, Any] = {"ways": {}}
    if args.only and args.output.exists():
        results = json.loads(args.output.read_text())
    results |= {
        "events": args.events,
        "cars": data.N_CARS,
        "machine": machine,
        "thresholds": bench.thresholds,
    }
    bench.match(bench.query, "map-side")  # workers started and kernels loaded, whatever comes first
    floor = 0.0
    for name, way in bench.ways().items():
        if args.only and name not in ("floor", *args.only):
            continue
        found = measure(way, args.repeat)
        floor = floor or found["seconds"]
        results["ways"][name] = {**found, "floor": floor, "commit": machine["commit"]}
        args.output.write_text(json.dumps(results, indent=2) + "\n")
        print(
            f"{name:28} {found['seconds']:8.2f} s {found['seconds'] / floor:6.2f}x {found['answer']:>12,} "
            f"{found['worker_bytes'] / 2**20:6.0f} MB",
            flush=True,
        )
    if not args.only or "situations" in args.only:
        results["situations"] = situ.situations(bench.cars, bench.query, strategy="map-side").count()
    bench.spark.stop()
    if not args.only or "scaling" in args.only:
        results["scaling"] = {
            way: {str(cores): pinned(way, args.events, cores, args.repeat) for cores in (1, 2)}
            for way in bench.scaled()
        }
        results["scaling_commit"] = machine["commit"]
    args.output.write_text(json.dumps(results, indent=2) + "\n")


def pinned(way: str, n_events: int, cores: int, repeat: int) -> dict[str, Any]:
    """In a process of its own, JVM and workers pinned to so many cores."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    command = [sys.executable, "-m", "benchmarks.spark_batch.run", "--scaled", way, "--events", str(n_events)]
    command += ["--cores", str(cores), "--repeat", str(repeat)]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
    )
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
