"""The page of the documentation from results.json: every figure on it is measured, none is typed.

python benchmarks/spark_batch/report.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "benchmarks" / "spark-batch.md"

WHAT = {
    "floor": "floor: scan and projection, rows counted in `mapInArrow`",
    "map-side": "situ, `map-side`",
    "direct": "situ, `direct` (`match_parquet`)",
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


def page(results: dict[str, Any]) -> str:
    """The page as text."""
    ways, machine = results["ways"], results["machine"]
    floor = ways["floor"]["seconds"]
    counted = ("floor", "repartition, sort, count")
    lines = [
        "# Spark, batch",
        "",
        f"{results['events']:,} events of {results['cars']:,} cars in 16 Parquet files in time order, "
        f"{results['situations']:,} situations. The query looks for aggressive drivers (dissertation 5.7.2): "
        "strong acceleration, then speed above the 99th percentile, then strong braking, with the average "
        f"speed. Every way ran in one session on {machine['cores']} cores (PySpark {machine['pyspark']}, "
        f"Python {machine['python']}), best of the runs; compare figures of this table with each other only.",
        "",
        "| way | seconds | of the floor | matches | largest Python worker |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, found in ways.items():
        matches = "" if name in counted else f"{found['answer']:,}"
        worker = "" if name == "DuckDB" else f"{found['worker_bytes'] / 2**20:,.0f} MB"
        ratio = found["seconds"] / floor
        lines.append(f"| {WHAT[name]} | {found['seconds']:.1f} | {ratio:.2f} | {matches} | {worker} |")
    one, two = (results["unpartitioned"][cores]["seconds"] for cores in ("1", "2"))
    lines += [
        "",
        "## Without PARTITION BY",
        "",
        "The same events as one sequence, matched in slices of time: "
        f"{one:.1f} s with JVM and workers pinned to one core, {two:.1f} s on two, "
        f"{one / two:.2f} times as fast.",
        "",
        "Repeat it with `python benchmarks/spark_batch/run.py` and then `report.py` beside it; "
        "the data is made once, under `~/.cache/situ-benchmarks` or `$SITU_BENCHMARK_DATA`.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(json.loads((HERE / "results.json").read_text())))
    print(PAGE)
