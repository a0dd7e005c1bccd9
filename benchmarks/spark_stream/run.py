"""Spark streaming: throughput, the cost of small micro-batches, state, and what one state per key would cost.

    python -m benchmarks.spark_stream.run [--quick]     from a checkout, about 20 minutes on two idle cores

Ratios within one run are what to trust. Results go to benchmarks/results/spark-stream.json, and `report.py`
writes docs/benchmarks/spark-stream.md from them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession

import situ
from benchmarks.machine import facts
from benchmarks.spark_stream import per_key
from benchmarks.spark_stream.data import QUERY, SCHEMA, Cars
from situ.cli.session import local_spark
from situ.spark.session.tuned import ARROW_BYTES, PROVIDER, ROCKSDB

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "spark-stream.json"
ROWS = 6_000_000
WARM_UP = 4  # micro-batches left out: the JVM compiles while they run, and a stream runs for days
Make = Callable[[DataFrame], DataFrame]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows and keys")
    parser.add_argument("--only", nargs="*", help="names of parts")
    args = parser.parse_args()
    scale = 10 if args.quick else 1
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    spark = session()
    results: dict[str, Any] = {"machine": facts(), "rows_per_batch": ROWS // scale, "parts": {}}
    if RESULTS.exists() and args.only:
        results["parts"] = json.loads(RESULTS.read_text())["parts"]
    for part in (throughput, small_batches, active_of_known, one_state_per_key):
        if not args.only or part.__name__ in args.only:
            folder = Path(tempfile.mkdtemp(prefix="situ-bench-"))
            try:
                results["parts"][part.__name__] = part(spark, folder, scale)
                print(part.__name__, json.dumps(results["parts"][part.__name__], indent=1), flush=True)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def session() -> SparkSession:
    settings = {
        PROVIDER: ROCKSDB,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        "spark.driver.memory": "4g",
    }
    named = {name.replace(".", "__"): value for name, value in settings.items()}
    return local_spark("situ bench", cores=2, **named)


def run(spark: SparkSession, folder: Path, make: Make) -> list[dict[str, Any]]:
    """Every file of folder/in as a micro-batch; Spark's reports of them."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    state = tempfile.mkdtemp(dir=folder)
    writer = make(rows).writeStream.format("noop").option("checkpointLocation", state)
    stream = writer.trigger(availableNow=True).start()
    stream.awaitTermination()
    return [dict(report) for report in stream.recentProgress if report["numInputRows"]]


def matches(rows: DataFrame) -> DataFrame:
    return situ.match(rows, situ.query(QUERY))


def seconds(report: dict[str, Any]) -> float:
    return float(report["durationMs"]["triggerExecution"]) / 1000


def rate(reports: list[dict[str, Any]]) -> float:
    """Events/s of the middle micro-batch, once it is warm."""
    return median(report["numInputRows"] / seconds(report) for report in reports[WARM_UP:])


def throughput(spark: SparkSession, folder: Path, scale: int) -> dict[str, Any]:
    """The aggressive driver with few and with many keys; unpartitioned for comparison."""
    found = {}
    for n_keys in (1_000, 100_000):
        n_keys //= 1 if n_keys == 1_000 else scale
        own = folder / str(n_keys)
        cars = Cars(own / "in", n_keys)
        for _ in range(WARM_UP + 6):
            cars.add(max(2, ROWS // scale // n_keys))
        reports = run(spark, own, matches)
        state = reports[-1]["stateOperators"][0]
        found[str(n_keys)] = {
            "events_per_second": round(rate(reports)),
            "seconds": [seconds(report) for report in reports],
            "state_bytes_per_key": round(_state_bytes(state) / n_keys, 1),
        }
    own = folder / "1000"
    text = QUERY.replace("PARTITION BY car_id ", "").replace("ORDER BY ts", "ORDER BY ts, car_id")
    reports = run(spark, own, lambda rows: situ.match(rows, situ.query(text)))
    found["unpartitioned"] = {"events_per_second": round(rate(reports))}
    spark.conf.set(ARROW_BYTES, "268435456")
    try:
        reports = run(spark, own, matches)
    finally:
        situ.tune(spark)
    found["1,000, batches measured by Spark's default"] = {"events_per_second": round(rate(reports))}
    return found


def _state_bytes(state: dict[str, Any]) -> float:
    custom = state["customMetrics"]
    return float(custom.get("rocksdbSstFileSizeBytes") or state["memoryUsedBytes"])


def small_batches(spark: SparkSession, folder: Path, scale: int) -> dict[str, Any]:
    """Ten events each; beside it a query without state."""
    cars = Cars(folder / "in", 10)
    for _ in range(12):
        cars.add(1)
    with_state = [seconds(report) for report in run(spark, folder, matches)][2:]
    without = [seconds(report) for report in run(spark, folder, lambda rows: rows)][2:]
    return {"seconds": median(with_state), "without_state_seconds": median(without)}


def active_of_known(spark: SparkSession, folder: Path, scale: int) -> dict[str, Any]:
    """1,000 active keys, of 1,000 known and of 1,000,000 known."""
    found = {}
    random = np.random.default_rng(1)
    for n_known in (1_000, 1_000_000 // scale):
        own = folder / str(n_known)
        cars = Cars(own / "in", n_known)
        cars.add(2)
        for _ in range(10):
            cars.add(2, np.sort(random.choice(n_known, 1_000, replace=False)))
        reports = run(spark, own, matches)
        found[str(n_known)] = median(seconds(report) for report in reports[3:])
    few, many = found.values()
    return {"seconds": found, "ratio": round(many / few, 2)}


def one_state_per_key(spark: SparkSession, folder: Path, scale: int) -> dict[str, Any]:
    """The same query on the same rows, 1,000 keys, each with a state of its own."""
    cars = Cars(folder / "in", 1_000)
    for _ in range(WARM_UP + 2):
        cars.add(ROWS // scale // 1_000 // 10)
    ways = {
        "situ": matches,
        "applyInPandasWithState": lambda rows: per_key.apply_with_state(rows, QUERY),
        "transformWithStateInPandas": lambda rows: per_key.transform_with_state(rows, QUERY),
    }
    found = {name: round(rate(run(spark, folder, make))) for name, make in ways.items()}
    return {
        "events_per_second": found,
        "times_as_fast": {
            name: round(found["situ"] / other, 2) for name, other in found.items() if name != "situ"
        },
    }


if __name__ == "__main__":
    sys.exit(main())
