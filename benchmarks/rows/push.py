"""The push operator of a row pattern: single rows, and batches of 1,000."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import situ
from benchmarks.experiment import Experiment, Measured, Point, ready
from benchmarks.rows.data import SEED, ticks
from benchmarks.rows.texts import V_WITHIN
from benchmarks.verdict import Results, done
from situ.compiled.jit import compile_first

MEDIAN_US, MILLIONS = 60, 8
REPEATS = 7
SIZES = {1: 30_000, 10: 100_000, 100: 1_000_000, 1_000: 3_000_000, 10_000: 10_000_000}
TEXT = V_WITHIN.replace("PARTITION BY k ", "")


def points(quick: bool) -> Iterator[Point]:
    sizes = {1: 5_000, 1_000: 200_000} if quick else SIZES
    for batch, events in sizes.items():
        yield Point("situ", {"batch": batch, "events": events})


def run(contender: str, batch: int, events: int) -> Measured:
    table = ticks(events, partitions=1).combine_chunks()
    compile_first()
    query = situ.query(TEXT)
    pieces = table.to_batches(max_chunksize=batch)
    warm = query.operator(table.schema)
    for piece in pieces[:300]:
        warm.push(piece)
    ready()
    best = None
    for _ in range(REPEATS):
        operator = query.operator(table.schema)
        times, matches, most = np.empty(len(pieces)), 0, 0
        cpu = time.process_time()
        for i, piece in enumerate(pieces):
            started = time.perf_counter()
            matches += operator.push(piece).num_rows
            times[i] = time.perf_counter() - started
            most = max(most, operator.nbytes) if i % 64 == 0 else most
        cpu = time.process_time() - cpu
        if best is None or times.sum() < best[0].sum():
            best = times, cpu, matches, most, len(operator.state())
    times, cpu, matches, most, state = best
    details = {f"p{q}_us": round(1e6 * float(np.percentile(times, q)), 2) for q in (50, 90, 99, 99.9)}
    details |= {"kept_bytes": most, "state_bytes": state}
    return Measured(float(times.sum()), cpu, events, matches, [], details)


def follows(results: Results) -> Iterator[str]:
    """The two targets of the push operator, and what it keeps."""
    for point in done(results, "situ"):
        batch, details = point["parameters"]["batch"], point["details"]
        median, overall = details["p50_us"], point["events"] / point["seconds"] / 1e6
        said = {
            1: f", {'under' if median < MEDIAN_US else 'beyond'} the target of {MEDIAN_US}",
            1_000: f", {'at least' if overall >= MILLIONS else 'below'} the target of {MILLIONS}",
        }.get(batch, "")
        told = f"{median:.0f} microseconds in the median"
        if batch > 1:
            told += f"; {overall:.1f} million rows a second over the whole run"
        kept = f"; at most {details['kept_bytes']:,} bytes kept, {details['state_bytes']:,} saved at the end"
        yield f"{batch:,} row{'s' if batch > 1 else ''} a push: {told}{said}{kept}."


EXPERIMENT = Experiment(
    name="rows-push",
    title="Pushing rows through a row pattern",
    source=f"situ's own targets: median under {MEDIAN_US} microseconds, at least {MILLIONS} million rows a "
    "second",
    generator="prices that walk at random within a range, one partition",
    seed=SEED,
    query=TEXT,
    measured=f"time of each push of a RecordBatch: the fastest of {REPEATS} runs, and percentiles of it",
    published="Not a published experiment.",
    points=points,
    run=run,
    axis="batch",
    follows=follows,
)
