"""Spark batch: eight queries in one pass, against one of them and against eight calls.

    python -m benchmarks.spark_batch.several
    python -m benchmarks.spark_batch.several --events 2_000_000 --only direct --output x.json

Results go to benchmarks/results/spark-several.json, after every carrier; report.py makes a section of the
page on Spark batch from them. The queries read the same columns, with sixteen different conditions and two
windows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import situ
from benchmarks.machine import ROOT, facts
from benchmarks.spark_batch.queries import several_texts
from benchmarks.spark_batch.run import Asked, Bench, measure

RESULTS = ROOT / "benchmarks" / "results" / "spark-several.json"
# the most that eight queries in one pass may take of one query
TARGETS = {"direct": 2.0, "map-side": 2.0, "shuffle": 3.0}


class SeveralBench(Bench):
    """Each carrier with one query, with all in one pass, and with all one after the other."""

    def __init__(self, n_events: int, cores: int) -> None:
        super().__init__(n_events, cores)
        self.several = {name: situ.query(text) for name, text in several_texts(self.thresholds).items()}

    def asked(self, carrier: str) -> Callable[[Asked], int]:
        """How many matches the carrier finds."""
        if carrier == "direct":
            return self.direct
        return lambda query: self.match(query, carrier)

    def measured(self, carrier: str, repeat: int) -> dict[str, Any]:
        """Best of some runs each; one pass finds what the calls find, or nothing is worth measuring."""
        count, queries = self.asked(carrier), self.several
        first = next(iter(queries.values()))
        count(queries)  # workers started and kernels loaded
        found = {
            "one": measure(lambda: count(first), repeat),
            "pass": measure(lambda: count(queries), repeat),
            "calls": measure(lambda: sum(map(count, queries.values())), repeat),
        }
        assert found["pass"]["answer"] == found["calls"]["answer"], found
        return found


def ratio(found: dict[str, Any], other: str = "one") -> float:
    """What one pass takes of another way."""
    return float(found["pass"]["seconds"] / found[other]["seconds"])


def section(results: dict[str, Any]) -> Iterator[str]:
    """The part of the page about it, line by line."""
    yield "## Several queries in one pass"
    yield ""
    yield (
        f"{results['queries']} queries with {results['conditions']} different conditions and two windows "
        f"over {results['events']:,} of these events, situ at {results['machine']['commit']}."
    )
    yield ""
    yield "| carrier | one query | all in one pass | of one query | one call each | matches |"
    yield "|---|---:|---:|---:|---:|---:|"
    for carrier, found in results["carriers"].items():
        one, together, calls = (found[way]["seconds"] for way in ("one", "pass", "calls"))
        yield (
            f"| `{carrier}` | {one:.1f} s | {together:.1f} s | {ratio(found):.2f} | {calls:.1f} s "
            f"| {found['pass']['answer']:,} |"
        )
    yield ""
    for carrier, found in results["carriers"].items():
        most = TARGETS[carrier]
        verdict = "within" if ratio(found) <= most else "beyond"
        yield (
            f"- `{carrier}`: one pass takes {ratio(found):.2f} of one query, {verdict} the target of {most:g}"
            f", and {ratio(found, 'calls'):.2f} of a call for each."
        )
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=lambda text: int(float(text)), default=20_000_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), help="carriers, separated by commas")
    parser.add_argument("--output", type=Path, default=RESULTS)
    args = parser.parse_args()
    machine = facts()
    bench = SeveralBench(args.events, args.cores)
    results: dict[str, Any] = {"carriers": {}}
    if args.only and args.output.exists():
        results = json.loads(args.output.read_text())
    results |= {
        "events": args.events,
        "machine": machine,
        "queries": len(bench.several),
        "conditions": n_conditions(bench.several),
    }
    for carrier in args.only or TARGETS:
        found = results["carriers"][carrier] = bench.measured(carrier, args.repeat)
        args.output.write_text(json.dumps(results, indent=2) + "\n")
        one, together, calls = (found[way]["seconds"] for way in ("one", "pass", "calls"))
        print(
            f"{carrier:10} one {one:7.2f} s, pass {together:7.2f} s ({ratio(found):.2f}x), "
            f"calls {calls:7.2f} s ({ratio(found, 'calls'):.2f}x), "
            f"{found['pass']['answer']:,} matches, {found['pass']['worker_bytes'] / 2**20:.0f} MB",
            flush=True,
        )
    bench.spark.stop()


def n_conditions(queries: dict[str, situ.Query]) -> int:
    """How many different conditions the queries have."""
    return len({str(symbol.condition) for query in queries.values() for symbol in query.symbols})


if __name__ == "__main__":
    main()
