"""The page of the documentation from the results: every figure on it is measured, none is typed.

python -m benchmarks.spark_batch.report
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.machine import ROOT
from benchmarks.spark_batch import several
from benchmarks.spark_batch.run import RESULTS

PAGE = ROOT / "docs" / "benchmarks" / "spark-batch.md"
# what a way is held against, and the most it may take of it
TARGETS = (
    ("map-side", "floor", 1.6),
    ("direct", "floor", 0.8),
    ("direct", "map-side", 1 / 1.6),
    ("auto", "direct", 1.2),
    ("shuffle", "floor", 3.5),
    ("shuffle", "repartition, sort, count", 1.0),
    ("map-side, FINAL", "Spark SQL", 1 / 4),
    ("direct", "Spark SQL", 1 / 8),
)
SCALED = {
    "map-side": "`map-side` with PARTITION BY",
    "unpartitioned": "Without PARTITION BY, the same events as one sequence matched in slices of time",
}
ONE_CORE_TO_TWO = 1.3
MOST_WORKER_BYTES = 2**30

WHAT = {
    "floor": "floor: scan and projection, rows counted in `mapInArrow`",
    "map-side": "situ, `map-side`",
    "direct": "situ, `direct` (`match_parquet`)",
    "auto": "situ, `situ.match(spark.read.parquet(...))`, which takes `direct` by itself",
    "floor, measured": "floor, with Spark's default of `spark.sql.execution.arrow.maxBytesPerBatch`",
    "map-side, measured": "situ, `map-side`, with that default",
    "shuffle, measured": "situ, `shuffle`, with that default",
    "shuffle": "situ, `shuffle`",
    "repartition, sort, count": "Spark repartitions and sorts, rows counted in `mapInArrow`, no matching",
    "map-side, durations": "situ, `map-side`, with duration constraints",
    "direct, durations": "situ, `direct`, with duration constraints",
    "map-side, FINAL": "situ, `map-side`, EMIT FINAL",
    "map-side, skewed": "situ, `map-side`, half of all events in one partition",
    "shuffle, skewed": "situ, `shuffle`, half of all events in one partition",
    "Spark SQL": "Spark SQL: gaps and islands, then joins (the matches of EMIT FINAL)",
    "DuckDB": "DuckDB, the same SQL, two threads",
}


def page(results: dict[str, Any], of_several: dict[str, Any] | None = None) -> str:
    """The page as text; `of_several` are the results of several queries in one pass, if there are any."""
    ways, machine = results["ways"], results["machine"]
    counted = ("floor", "floor, measured", "repartition, sort, count")
    lines = [
        "# Spark, batch",
        "",
        f"{results['events']:,} events of {results['cars']:,} cars in 16 Parquet files in time order, "
        f"{results['situations']:,} situations. The query looks for aggressive drivers (dissertation 5.7.2): "
        "strong acceleration, then speed above the 99th percentile, then strong braking, with the average "
        "speed. Each way ran in one session with the floor it is divided by, best of the runs. The session "
        "is one that [`situ.tune`](../how-to/tune.md) has seen, but for the ways that say otherwise.",
        "",
        "| way | seconds | of the floor | matches |",
        "|---|---:|---:|---:|",
    ]
    for name, found in ways.items():
        matches = "" if name in counted else f"{found['answer']:,}"
        ratio = found["seconds"] / found["floor"]
        lines.append(f"| {WHAT[name]} | {found['seconds']:.1f} | {ratio:.2f} | {matches} |")
    versions = machine["versions"]
    return "\n".join(
        [
            *lines,
            "",
            "## What follows",
            "",
            *(f"- {sentence}" for sentence in verdicts(results)),
            "",
            *(several.section(of_several) if of_several else ()),
            "## Where it ran",
            "",
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, Python "
            f"{machine['python']}, PySpark {versions['pyspark']}, PyArrow {versions['pyarrow']}, DuckDB "
            f"{versions['duckdb']}; {commits(results)}; load average before the last run {machine['load']}.",
            "",
            "Repeat it with `python -m benchmarks.spark_batch.run` and then `python -m "
            "benchmarks.spark_batch.report`; the data is made once, under `~/.cache/situ-benchmarks` or "
            "`$SITU_BENCHMARK_DATA`.",
            "",
        ]
    )


def verdicts(results: dict[str, Any]) -> Iterator[str]:
    """How the figures compare with what we ask of them."""
    ways = results["ways"]
    for name, other, most in TARGETS:
        if name in ways and other in ways:
            own, its = (ways[way]["seconds"] / ways[way]["floor"] for way in (name, other))
            verdict = "within" if own <= most * its else "beyond"
            yield f"`{name}` takes {own / its:.2f} of `{other}`, {verdict} the target of {most:.3g}."
    if "Spark SQL" in ways:
        share = ways["Spark SQL"]["floor"] / ways["Spark SQL"]["seconds"]
        yield (
            f"The floor alone takes {share:.2f} of `Spark SQL`: less is not to be had where rows go from the "
            "JVM to Python, which `direct` avoids."
        )
    for way, what in SCALED.items():
        if found := results.get("scaling", {}).get(way):
            one, two = (found[cores]["seconds"] for cores in ("1", "2"))
            verdict = "within" if one / two >= ONE_CORE_TO_TWO else "short of"
            yield (
                f"{what}: {one:.1f} s with JVM and workers pinned to one core, {two:.1f} s on two, "
                f"{one / two:.2f} times as fast, {verdict} the target of {ONE_CORE_TO_TWO}."
            )
    measured = [*ways.values(), *(one for way in results.get("scaling", {}).values() for one in way.values())]
    largest = max((one["worker_bytes"] for one in measured if one.get("worker_bytes")), default=None)
    if largest is None:
        return
    verdict = "within" if largest < MOST_WORKER_BYTES else "beyond"
    yield f"The largest Python worker held {largest / 2**20:,.0f} MB, {verdict} the target of 1 GiB."


def commits(results: dict[str, Any]) -> str:
    """Which version of situ each figure is of: ways can be measured anew one by one."""
    of: dict[str, list[str]] = {}
    for name, found in results["ways"].items():
        of.setdefault(found["commit"], []).append(f"`{name}`")
    of.setdefault(results["scaling_commit"], []).append("one core and two")
    if len(of) == 1:
        return f"situ at {next(iter(of))}"
    return "situ at " + "; ".join(f"{commit} ({', '.join(names)})" for commit, names in of.items())


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    of_several = json.loads(several.RESULTS.read_text()) if several.RESULTS.exists() else None
    PAGE.write_text(page(json.loads(RESULTS.read_text()), of_several))
    print(PAGE)
