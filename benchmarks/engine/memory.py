"""Peak memory of a step: at most three times its input batch plus its output."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pyarrow as pa

import situ
from benchmarks.data import query_text, seconds_of
from benchmarks.engine.derive_match import PATTERN
from benchmarks.experiment import Experiment, Measured, Point, Watch, grid
from benchmarks.verdict import Results, done
from situ.sources import synthetic_table

SEED = 5


def points(quick: bool) -> Iterator[Point]:
    return grid(["situ"], events=[200_000] if quick else [1_000_000, 10_000_000, 30_000_000], window=[5_000])


def run(contender: str, events: int, window: int) -> Measured:
    query = situ.query(query_text(4, PATTERN, window))
    small = _table(20_000)
    situ.match(small, query)  # loads the kernels
    table = _table(events)
    pa.default_memory_pool().release_unused()
    _forget_peak()
    before = _status("VmRSS")
    watch = Watch()
    with watch:
        found = situ.match(table, query)
    peak = _status("VmHWM") - before
    details = {
        "input_bytes": table.nbytes,
        "output_bytes": found.nbytes,
        "beyond_bytes": peak,
        "ratio": (table.nbytes + peak - found.nbytes) / table.nbytes,
        "max_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    return Measured(watch.seconds, watch.cpu_seconds, events, found.num_rows, [watch.seconds], details)


def _table(events: int) -> pa.Table:
    table = synthetic_table(4, events, seed=SEED)
    return table.set_column(0, "t", pa.array(seconds_of(table["ts"]))).combine_chunks()


def _forget_peak() -> None:
    """Let the kernel count the peak anew."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _status(key: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def follows(results: Results) -> Iterator[str]:
    """Input plus what was needed beyond it, as a multiple of the input."""
    for point in done(results, "situ"):
        ratio = point["details"]["ratio"]
        verdict = "within" if ratio <= 3 else "beyond"
        yield (
            f"{point['events']:,} events: input and working memory together {ratio:.2f} times the input "
            f"of {point['details']['input_bytes'] / 2**20:,.0f} MiB, {verdict} the target of 3."
        )


EXPERIMENT = Experiment(
    name="engine-memory",
    title="Peak memory of a match",
    source="situ's own target: at most 3 times the input batch, plus the output",
    generator="synthetic, 4 symbols as boolean columns, situations 10-100 s, gaps 10-50 s, 1 Hz",
    seed=SEED,
    query=query_text(4, PATTERN, 5_000),
    measured="resident memory at its peak during situ.match less that before it; input in memory already",
    published="Not a published experiment; the average memory of the papers is with the disconnected "
    "pattern.",
    points=points,
    run=run,
    axis="events",
    value="details.ratio",
    follows=follows,
)
