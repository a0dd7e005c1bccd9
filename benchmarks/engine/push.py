"""The push operator: single events, and batches of 1,000."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

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
REPEATS = 15
Push = Callable[[pa.RecordBatch], pa.Table]


FLOOR = "columns and table only"
SIZES = {1: 30_000, 10: 100_000, 100: 1_000_000, 1_000: 3_000_000, 10_000: 10_000_000, 100_000: 30_000_000}


def points(quick: bool) -> Iterator[Point]:
    sizes = {1: 5_000, 1_000: 200_000} if quick else SIZES
    for batch, events in sizes.items():
        yield Point("situ", {"batch": batch, "events": events})
        yield Point(FLOOR, {"batch": batch, "events": events})


def run(contender: str, batch: int, events: int) -> Measured:
    table = synthetic_table(3, events, seed=SEED)
    table = table.set_column(0, "t", pa.array(seconds_of(table["ts"]))).combine_chunks()
    query = situ.query(query_text(3, PATTERN, WINDOW))
    pieces = table.to_batches(max_chunksize=batch)
    warm = query.operator(table.schema)
    for piece in pieces[:300]:
        found = warm.push(piece)
    floor = _floor(found.schema, pieces)
    runs = (
        _run(query.operator(table.schema).push if contender == "situ" else floor, pieces)
        for _ in range(REPEATS)
    )
    times, cpu, matches = min(runs, key=lambda run: float(run[0].sum()))
    details = {f"p{q}_us": round(1e6 * float(np.percentile(times, q)), 2) for q in (50, 90, 99, 99.9)}
    details["cpu_us_per_push"] = round(1e6 * cpu / len(pieces), 2)
    return Measured(float(times.sum()), cpu, events, matches, [], details)


def _run(push: Push, pieces: list[pa.RecordBatch]) -> tuple[np.ndarray, float, int]:
    """Seconds of each push, processor time of all, and the matches."""
    times, matches = np.empty(len(pieces)), 0
    cpu = time.process_time()
    for i, piece in enumerate(pieces):
        started = time.perf_counter()
        matches += push(piece).num_rows
        times[i] = time.perf_counter() - started
    return times, time.process_time() - cpu, matches


def _floor(schema: pa.Schema, pieces: list[pa.RecordBatch]) -> Push:
    """What objects alone cost that makes an array of each column and of each column of the result.

    The table has a match for 18 events, as situ's have on this input, in columns made from memory at hand.
    """
    size = max(pieces[0].num_rows // 18, 1)
    memory = pa.py_buffer(np.arange(size))

    def push(batch: pa.RecordBatch) -> pa.Table:
        for i in range(batch.num_columns):
            np.frombuffer(batch.column(i).buffers()[1], np.uint8)
        columns = [pa.Array.from_buffers(field.type, size, [None, memory]) for field in schema]
        return pa.Table.from_arrays(columns, schema=schema)

    return push


def follows(results: Results) -> Iterator[str]:
    """The two targets of the push operator, and its share of the floor."""
    floor = {p["parameters"]["batch"]: p["details"]["p50_us"] for p in done(results, FLOOR)}
    for point in done(results, "situ"):
        batch, median = point["parameters"]["batch"], point["details"]["p50_us"]
        overall = point["parameters"]["events"] / point["seconds"] / 1e6
        said = {
            1: f", {'under' if median < 100 else 'beyond'} the target of 100",
            1_000: f", {'at least' if overall >= 10 else 'below'} the target of 10",
        }.get(batch, "")
        told = f"{median:.0f} microseconds in the median"
        if batch > 1:
            told += f"; {overall:.1f} million events a second over the whole run"
        beside = f"; columns and table alone take {floor[batch]:.0f}" if batch in floor else ""
        yield f"{batch:,} event{'s' if batch > 1 else ''} a push: {told}{said}{beside}."


EXPERIMENT = Experiment(
    name="engine-push",
    title="Pushing single events and small batches",
    source="situ's own targets: median under 100 microseconds, at least 10 million events a second",
    generator="synthetic, 3 symbols as boolean columns, situations 10-100 s, gaps 10-50 s, 1 Hz",
    seed=SEED,
    query=query_text(3, PATTERN, WINDOW),
    measured="time of each push of a RecordBatch: the fastest of 15 runs, and percentiles of it",
    published="Not a published experiment.",
    points=points,
    run=run,
    axis="batch",
    follows=follows,
)
