"""The push operator: single events, and batches of 1,000."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import situ
from benchmarks.data import query_text, seconds_of
from benchmarks.experiment import Experiment, Measured, Point
from benchmarks.verdict import Results, done
from situ.sources import synthetic_table

SEED = 4
PATTERN = "A overlaps B AND B before C"
WINDOW = 1_000


def points(quick: bool) -> Iterator[Point]:
    for batch, events in ((1, 5_000 if quick else 30_000), (1_000, 200_000 if quick else 3_000_000)):
        yield Point("situ", {"batch": batch, "events": events})


def run(contender: str, batch: int, events: int) -> Measured:
    table = synthetic_table(3, events, seed=SEED)
    table = table.set_column(0, "t", pa.array(seconds_of(table["ts"]))).combine_chunks()
    query = situ.query(query_text(3, PATTERN, WINDOW))
    pieces = table.to_batches(max_chunksize=batch)
    warm = query.operator(table.schema)
    for piece in pieces[:300]:
        warm.push(piece)
    operator, matches = query.operator(table.schema), 0
    times = np.empty(len(pieces))
    cpu = time.process_time()
    for i, piece in enumerate(pieces):
        started = time.perf_counter()
        matches += operator.push(piece).num_rows
        times[i] = time.perf_counter() - started
    cpu = time.process_time() - cpu
    details = {f"p{q}_us": round(1e6 * float(np.percentile(times, q)), 2) for q in (50, 90, 99, 99.9)}
    details["cpu_us_per_push"] = round(1e6 * cpu / len(pieces), 2)
    return Measured(float(times.sum()), cpu, events, matches, [], details)


def follows(results: Results) -> Iterator[str]:
    """The two targets of the push operator."""
    for point in done(results, "situ"):
        median = point["details"]["p50_us"]
        if point["parameters"]["batch"] == 1:
            verdict = "under" if median < 100 else "beyond"
            yield f"One event a push: {median:.0f} microseconds in the median, {verdict} the target of 100."
        else:
            batch = point["parameters"]["batch"]
            rate = batch / median
            verdict = "at least" if rate >= 10 else "below"
            yield (
                f"{batch:,} events a push: {median:.0f} microseconds in the median, "
                f"{rate:.1f} million events a second, {verdict} the target of 10."
            )


EXPERIMENT = Experiment(
    name="engine-push",
    title="Pushing single events and small batches",
    source="situ's own targets: median under 100 microseconds, at least 10 million events a second",
    generator="synthetic, 3 symbols as boolean columns, situations 10-100 s, gaps 10-50 s, 1 Hz",
    seed=SEED,
    query=query_text(3, PATTERN, WINDOW),
    measured="time of each push of a RecordBatch, percentiles",
    published="Not a published experiment.",
    points=points,
    run=run,
    axis="batch",
    follows=follows,
)
