"""Speed-up over threads, batch size and window (dissertation 5.7.5, figures 5.15 to 5.17)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.contenders import engine_of
from benchmarks.data import query_text, synthetic_masks
from benchmarks.engine.derive_match import PATTERN
from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.papers.drivers import PATTERNS, WINDOW, grouped, traffic
from benchmarks.verdict import Results, done
from situ.machine.threads import usable_cores
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.input import attribute_states
from situ.operators.situations.kernels.layout import Rows

SEED = 19
THREADS = {"1 thread": 1, "2 threads": 2, "auto": "auto"}
BATCHES = (1_024, 8_192, 65_536, 1_000_000)
WINDOWS = (500, 5_000, 20_000, 100_000)


def points(quick: bool) -> Iterator[Point]:
    events = 50_000 if quick else 3_000_000
    batches = BATCHES[1:2] if quick else BATCHES
    windows = WINDOWS[:1] if quick else WINDOWS
    yield from grid(THREADS, data=["unpartitioned"], window=windows, batch=batches, events=[events])
    yield from grid(THREADS, data=["partitioned"], window=[WINDOW], batch=batches, events=[events])


def run(contender: str, data: str, window: int, batch: int, events: int) -> Measured:
    if data == "partitioned":
        n, text = 3, query_text(3, PATTERNS["full"], window)
        steps = _partitioned(events, batch)
    else:
        n, text = 4, query_text(4, PATTERN, window)
        steps = [
            Rows(part.time, part.mask, np.array([0, len(part.time)], np.int64))
            for part in synthetic_masks(4, events, seed=SEED, batch=batch)
        ]

    def once(watch: Watch) -> tuple[int, int]:
        engine = engine_of(text, n, threads=THREADS[contender], join="range")
        return events, _feed(engine, steps, watch)

    once(Watch())
    return best_of(2, once, cores=usable_cores())


def _feed(engine: Engine, steps: list[Rows], watch: Watch) -> int:
    known, matches = engine.nothing_known(len(steps[0].offset) - 1), 0
    for rows in steps:
        given = Input(rows, attribute_states(engine, {}, len(rows.time)))
        with watch:
            found, known = engine.step(given, known)
        matches += len(found.instant)
    return matches


def _partitioned(events: int, batch: int) -> list[Rows]:
    """Batches of time, each grouped by car, with every car a slot in all of them."""
    table = traffic(events)
    n_cars = int(table["car_id"].to_numpy().max()) + 1
    steps = []
    for first in range(0, events, batch):
        part = table.slice(first, batch)
        time, mask, _ = grouped(part)
        counts = np.bincount(part["car_id"].to_numpy(), minlength=n_cars)
        steps.append(Rows(time, mask, np.concatenate([[0], np.cumsum(counts)])))
    return steps


def follows(results: Results) -> Iterator[str]:
    """Two threads against one, and what the tuned number does."""
    one = {_key(p): p for p in done(results, "1 thread")}
    for contender in ("2 threads", "auto"):
        for data in ("unpartitioned", "partitioned"):
            gains = {
                p["parameters"]["batch"]: one[_key(p)]["seconds"] / p["seconds"]
                for p in done(results, contender)
                if _key(p) in one and p["parameters"]["data"] == data
            }
            if gains:
                listed = ", ".join(
                    f"batches of {batch:,}: {gain:.2f}" for batch, gain in sorted(gains.items())
                )
                yield f"Speed-up of {contender} over one thread, {data}, largest window run: {listed}."


def _key(point: dict) -> str:
    return str(sorted(point["parameters"].items()))


EXPERIMENT = Experiment(
    name="threads",
    title="Speed-up over threads, batch size and window",
    source="dissertation 5.7.5, figures 5.15 to 5.17",
    generator="unpartitioned: synthetic, 4 symbols; partitioned: traffic, 1,000 cars, batches grouped by car",
    seed=SEED,
    query=query_text(4, PATTERN, 5_000),
    measured="processing time per setting with one thread, with two and with a number the engine chooses; "
    "this machine has two cores where the paper's had eight. Speed-up is of wall-clock times, so a machine "
    "shared with others shows less of it",
    published="Speed-up over 1 to 16 threads for batches of 128, 1,024 and 8,192 events: linear to 7 threads "
    "on preloaded partitioned data; unpartitioned data need larger batches the smaller the window.",
    points=points,
    run=run,
    axis="batch",
    series=("data", "window"),
    follows=follows,
)
