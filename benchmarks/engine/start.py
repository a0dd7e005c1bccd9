"""From nothing to the first match: compiling on a new machine, and starting from the cache on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import pyarrow as pa

from benchmarks.data import query_text
from benchmarks.engine.push import PATTERN, WINDOW
from benchmarks.experiment import Experiment, Measured, Point
from benchmarks.verdict import Results, done

SEED = 6
_PROGRAM = f"""
import sys, time; started = time.perf_counter(); cpu = time.process_time()
import pyarrow as pa
import situ
imported = time.perf_counter() - started
q = situ.query({query_text(3, PATTERN, WINDOW)!r})
n = situ.match(pa.ipc.open_file(sys.argv[1]).read_all(), q).num_rows
print(imported, time.perf_counter() - started, time.process_time() - cpu, n)
"""


def points(quick: bool) -> Iterator[Point]:
    for cache in ("warm",) if quick else ("cold", "warm"):
        yield Point("situ", {"cache": cache})


def run(contender: str, cache: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        events = _written(folder)
        if cache == "warm":
            _start(events, None)
            runs = [_start(events, None) for _ in range(3)]
        else:
            runs = [_start(events, folder)]
    imported, seconds, _, matches = min(runs, key=lambda r: r[1])
    return Measured(
        seconds,
        min(r[2] for r in runs),
        100,
        int(matches),
        [r[1] for r in runs],
        {"import_seconds": imported},
    )


def _written(folder: str) -> str:
    """The events as a file: making columns of Python lists would import pandas, where it is installed."""
    instants = range(100)
    flags = {"s0": [i % 7 < 3 for i in instants], "s1": [i % 5 < 3 for i in instants]}
    table = pa.table({"t": list(instants), **flags, "s2": [i % 9 < 4 for i in instants]})
    path = os.path.join(folder, "events.arrow")
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return path


def _start(events: str, folder: str | None) -> tuple[float, float, float, float]:
    environment = {**os.environ, "SITU_QUIET": "1", "PYTHONPYCACHEPREFIX": os.path.dirname(events)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    if folder is not None:
        environment["SITU_CACHE_DIR"] = folder
    started = time.perf_counter()
    out = subprocess.run(
        [sys.executable, "-c", _PROGRAM, events],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    imported, _, cpu, matches = map(float, out.split())
    return imported, time.perf_counter() - started, cpu, matches


def follows(results: Results) -> Iterator[str]:
    """The two targets of starting."""
    for point in done(results, "situ"):
        cold = point["parameters"]["cache"] == "cold"
        target = 30 if cold else 1
        seconds, cpu = point["seconds"], point["cpu_seconds"]
        verdict = "within" if seconds <= target else "beyond"
        what = (
            "The first call on a machine" if cold else "A later process, from its start to its first match,"
        )
        yield (
            f"{what} takes {seconds:.2f} s ({cpu:.2f} s of processor time, "
            f"{point['details']['import_seconds']:.2f} s "
            f"of it importing), {verdict} the target of {target} s."
        )


EXPERIMENT = Experiment(
    name="engine-start",
    title="First call and later starts",
    source="situ's own targets: 30 s for the first call on a machine, 1 s for later processes",
    generator="100 events made by arithmetic",
    seed=SEED,
    query=query_text(3, PATTERN, WINDOW),
    measured="a new process from its start to its first match in a file of events, with an empty and with "
    "a filled kernel cache",
    published="Not a published experiment.",
    points=points,
    run=run,
    axis="cache",
    follows=follows,
)
