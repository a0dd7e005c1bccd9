"""Writes docs/benchmarks/spark-stream.md from the results: no figure on that page is typed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.spark_stream.data import QUERY
from benchmarks.spark_stream.run import RESULTS, ROOT

LEAST_EVENTS_PER_SECOND = {"1000": 1_000_000, "100000": 700_000}
PAGE = ROOT / "docs" / "benchmarks" / "spark-stream.md"


def main() -> None:
    results = json.loads(RESULTS.read_text())
    machine, parts = results["machine"], results["parts"]
    load, n_rows = machine["load"], f"{results['rows_per_batch']:,}"
    lines = [
        "# Spark streaming",
        "",
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB, "
        f"PySpark {machine['versions']['pyspark']}, situ at {machine['commit']}, load {load} at the start; "
        f"micro-batches of {n_rows} rows, the first four left out as warm-up, RocksDB state store, 2 shuffle "
        "partitions, no-op sink. "
        "Written by `benchmarks/spark_stream/report.py`; ratios within the run are what to trust.",
        "",
        "The query is the aggressive driver:",
        "",
        "```sql",
        QUERY.strip(),
        "```",
        "",
    ]
    if "throughput" in parts:
        lines += ["## Throughput", "", "| keys | events/s | state bytes per key |", "|---|---|---|"]
        for keys, found in parts["throughput"].items():
            name = f"{int(keys):,}" if keys.isdigit() else keys
            state = found.get("state_bytes_per_key", "")
            lines.append(f"| {name} | {found['events_per_second']:,} | {state} |")
        lines.append("")
    if "one_state_per_key" in parts:
        found = parts["one_state_per_key"]
        lines += [
            "## Against one state per key",
            "",
            "The same query and rows, 1,000 keys, the same engine called once for each key and micro-batch.",
            "",
            "| way | events/s | situ is faster by |",
            "|---|---|---|",
        ]
        for name, events in found["events_per_second"].items():
            times = found["times_as_fast"].get(name)
            lines.append(f"| {name} | {events:,} | {f'{times}x' if times else ''} |")
        lines.append("")
    if "small_batches" in parts:
        small = parts["small_batches"]
        lines += [
            "## An almost empty micro-batch",
            "",
            f"{small['seconds']:.2f} s for ten events, "
            f"and {small['without_state_seconds']:.2f} s for a query without state.",
            "",
        ]
    if "active_of_known" in parts:
        known = parts["active_of_known"]
        lines += ["## 1,000 active keys", "", "| keys known | s per micro-batch |", "|---|---|"]
        lines += [f"| {int(n):,} | {found:.2f} |" for n, found in known["seconds"].items()]
        lines += ["", f"Ratio: {known['ratio']}.", ""]
    if "kafka_latency" in parts:
        latency = parts["kafka_latency"]
        shown = ", ".join(f"{name} {value} s" for name, value in latency["seconds"].items())
        lines += ["## From Kafka to Kafka", "", f"Append of a record to append of its match: {shown}.", ""]
    lines += ["## What follows", "", *(f"- {sentence}" for sentence in verdicts(parts)), ""]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(lines))


def verdicts(parts: dict[str, Any]) -> Iterator[str]:
    """How the figures compare with what we ask of them."""
    for keys, least in LEAST_EVENTS_PER_SECOND.items():
        if found := parts.get("throughput", {}).get(keys):
            yield _sentence(f"{int(keys):,} keys", found["events_per_second"], least, "events/s")
    if found := parts.get("one_state_per_key"):
        slower, faster = sorted(found["times_as_fast"].values(), reverse=True)
        yield _sentence("Against the faster way with one state per key", faster, 2.5, "times as fast")
        yield _sentence("Against the slower one", slower, 5, "times as fast")
    if found := parts.get("small_batches"):
        yield _sentence("An almost empty micro-batch", found["seconds"], 1, "s", at_most=True)
    if found := parts.get("active_of_known"):
        text = "1,000 active keys of 1,000,000 known against 1,000 known"
        yield _sentence(text, found["ratio"], 2, "times the time", at_most=True)


def _sentence(what: str, found: float, target: float, unit: str, *, at_most: bool = False) -> str:
    met = found <= target if at_most else found >= target
    wanted = "at most" if at_most else "at least"
    shown = f"{found:,.2f}" if found < 100 else f"{found:,.0f}"
    return f"{what}: {shown} {unit}, {'within' if met else 'short of'} the target of {wanted} {target:,}."


if __name__ == "__main__":
    main()
