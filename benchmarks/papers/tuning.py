"""Auto-tuning while the event rate goes down and up again in steps (dissertation 5.7.5, figure 5.18)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pyarrow as pa

import situ
from benchmarks.data import query_text, seconds_of
from benchmarks.engine.derive_match import PATTERN
from benchmarks.experiment import Experiment, Measured, Point, grid
from benchmarks.verdict import Results, done
from situ.sources import synthetic_table

SEED = 20
# The paper's steps are max, 10M, 5M, 1M, 5M, 10M, max events/s; ours a tenth of them, through the operator.
RATES = (0, 1_000_000, 500_000, 100_000, 500_000, 1_000_000, 0)  # 0: as fast as possible
_PHASE_S = 2.0
_MOST = 100_000  # events in one push when there is no pace to keep ...
_AT_ONCE = 1_000_000  # ... and in such a phase


def points(quick: bool) -> Iterator[Point]:
    return grid(
        ["threads auto", "threads 2"],
        window=[500] if quick else [500, 20_000],
        phase_s=[0.2 if quick else _PHASE_S],
    )


def run(contender: str, window: int, phase_s: float) -> Measured:
    most = 2 * _AT_ONCE + int(phase_s * sum(RATES)) + 1
    table = synthetic_table(4, most, seed=SEED)
    table = table.set_column(0, "t", pa.array(seconds_of(table["ts"]))).combine_chunks()
    threads = "auto" if contender == "threads auto" else 2
    query = situ.query(query_text(4, PATTERN, window))
    query.operator(table.schema, threads=threads).push(table.slice(0, 50_000))
    operator = query.operator(table.schema, threads=threads)
    crew = operator.engine._crew
    done_events = matches = 0
    phases = []
    cpu, begun = time.process_time(), time.perf_counter()
    for rate in RATES:
        started, taken, sizes, used = time.perf_counter(), 0, [], []
        while (now := time.perf_counter() - started) < phase_s or (rate == 0 and taken < _AT_ONCE):
            due = min(_MOST, _AT_ONCE - taken) if rate == 0 else int(min(now, phase_s) * rate) - taken
            if due < 1:
                if rate == 0:
                    break
                time.sleep(1e-4)
                continue
            used.append(crew.size_for(due))
            matches += operator.push(table.slice(done_events, due)).num_rows
            sizes.append(due)
            done_events, taken = done_events + due, taken + due
        seconds = time.perf_counter() - started
        phases.append(
            {
                "rate": rate,
                "events_per_s": round(taken / seconds),
                "push_events": round(sum(sizes) / max(len(sizes), 1)),
                "threads": round(sum(used) / max(len(used), 1), 2),
            }
        )
    return Measured(
        time.perf_counter() - begun, time.process_time() - cpu, done_events, matches, [], {"phases": phases}
    )


def follows(results: Results) -> Iterator[str]:
    """Batch size and threads, phase by phase."""
    for point in done(results):
        listed = "; ".join(
            f"{p['rate'] or 'max'}/s: {p['push_events']:,} events a push, {p['threads']:g} threads"
            for p in point["details"]["phases"]
        )
        yield f"{point['contender']}, window {point['parameters']['window']:,}: {listed}."


EXPERIMENT = Experiment(
    name="tuning",
    title="Auto-tuning under changing rates",
    source="dissertation 5.7.5, figure 5.18 and table 5.5 (scenarios c and d)",
    generator="synthetic, 4 symbols, situations 10-100 s, gaps 10-50 s, pushed at the rate of the phase",
    seed=SEED,
    query=query_text(4, PATTERN, 500),
    measured="per phase: the rate kept, the average number of events in a push (all that came since the "
    "last one) and the average number of threads; rates are a tenth of the paper's",
    published="Time lines of batch size and threads: both follow each change of the rate at once, in the "
    "same total time as fixed large settings.",
    points=points,
    run=run,
    axis="window",
    follows=follows,
)
