"""From nothing to the first match: on a new machine, and starting from the cache on disk.

A small table is answered while a process in the background compiles; a large one waits for compiled code.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.data import query_text
from benchmarks.engine.push import PATTERN, WINDOW
from benchmarks.experiment import Experiment, Measured, Point
from benchmarks.verdict import Results, done

SEED = 6
SMALL, LARGE = 1_200, 300_000
_PROGRAM = f"""
import sys, time; started = time.perf_counter(); cpu = time.process_time()
import pyarrow as pa
import situ
imported = time.perf_counter() - started
q = situ.query({query_text(3, PATTERN, WINDOW)!r})
n = situ.match(pa.ipc.open_file(sys.argv[1]).read_all(), q).num_rows
cpu = time.process_time() - cpu
from situ.compiled.background import _helper
print(imported, cpu, n, _helper.process.pid if _helper.process else 0)
"""


class Start(NamedTuple):
    """One process: seconds until its modules were there and until it ended, processor time, matches."""

    imported: float
    seconds: float
    cpu: float
    matches: int


def points(quick: bool) -> Iterator[Point]:
    for cache in ("warm",) if quick else ("cold", "warm"):
        for events in (SMALL,) if quick else (SMALL, LARGE):
            yield Point("situ", {"cache": cache, "events": events})


def run(contender: str, cache: str, events: int) -> Measured:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = _written(folder, events)
        _start(file, None, SITU_COMPILE_FIRST="1")  # kernels for the warm, and byte code for both
        if cache == "warm":
            runs = [_start(file, None) for _ in range(3)]
        else:
            runs = [_start(file, os.path.join(folder, "cache"))]
    best = min(runs, key=lambda one: one.seconds)
    return Measured(
        best.seconds,
        min(one.cpu for one in runs),
        events,
        best.matches,
        [one.seconds for one in runs],
        {"import_seconds": best.imported},
    )


def _written(folder: str, events: int) -> str:
    """The events as a file: making columns of Python lists would import pandas, where it is installed."""
    instants = np.arange(events)
    flags = {f"s{i}": instants % period < held for i, (period, held) in enumerate([(7, 3), (5, 3), (9, 4)])}
    table = pa.table({"t": instants, **flags})
    path = os.path.join(folder, "events.arrow")
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return path


def _start(events: str, folder: str | None, **more: str) -> Start:
    environment = {**os.environ, "SITU_QUIET": "1", "PYTHONPYCACHEPREFIX": os.path.dirname(events)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    environment.pop("SITU_COMPILE_FIRST", None)  # which other experiments are measured with
    if folder is not None:
        environment["SITU_CACHE_DIR"] = folder
    started = time.perf_counter()
    out = subprocess.run(
        [sys.executable, "-c", _PROGRAM, events],
        env={**environment, **more},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    seconds = time.perf_counter() - started
    imported, cpu, matches, helper = out.split()
    if int(helper):  # what is measured next should have the machine for itself
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(helper), signal.SIGTERM)
    return Start(float(imported), seconds, float(cpu), int(matches))


def follows(results: Results) -> Iterator[str]:
    """The targets of starting."""
    for point in done(results, "situ"):
        cold, events = point["parameters"]["cache"] == "cold", point["parameters"]["events"]
        target = 10 if cold else 1 if events == SMALL else 2
        seconds, cpu = point["seconds"], point["cpu_seconds"]
        verdict = "within" if seconds <= target else "beyond"
        yield (
            f"{'The first process on a machine' if cold else 'A later process'}, from its start to its end, "
            f"takes {seconds:.2f} s for {events:,} events ({cpu:.2f} s of processor time), {verdict} the "
            f"target of {target} s."
        )


EXPERIMENT = Experiment(
    name="engine-start",
    title="First call and later starts",
    source="situ's own targets: 10 s for the first process on a machine; for later ones 1 s where the table "
    "is small and 2 s where it is large",
    generator="events made by arithmetic",
    seed=SEED,
    query=query_text(3, PATTERN, WINDOW),
    measured="a new process that finds the matches in a file of events, from its start to its end, with an "
    "empty and with a filled kernel cache; with an empty one, a small table is answered by plain Python "
    "while a process in the background compiles, and a large one after compiling",
    published="Not a published experiment.",
    points=points,
    run=run,
    axis="events",
    series=("cache",),
    follows=follows,
)
