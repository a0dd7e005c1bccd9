"""Five shapes of patterns with a growing number of symbols, random instances of each (tpstream 6.2.3)."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.baselines.pattern import pattern_of
from benchmarks.baselines.piestream import PieStream
from benchmarks.baselines.tpstream import TPStream
from benchmarks.contenders import SituMatcher, engine_of
from benchmarks.data import Events, names, query_text, synthetic_masks
from benchmarks.experiment import Experiment, Measured, Point, Watch, grid
from benchmarks.verdict import Results, done

SEED = 12
WINDOW = 2_000
SHAPES = ("equal", "meets", "chain", "star", "combined")
SIZES = (4, 5, 6, 7, 8, 9, 10, 16, 32)
ALLEN = (
    *("before", "meets", "overlaps", "finished-by", "contains", "starts", "equals"),
    *("started-by", "during", "finishes", "overlapped-by", "met-by", "after"),
)
BATCH = 10_000  # a star of `before` may have a thousand matches per event: all of a batch in memory
_PATIENCE_S = 2.0  # an instance that takes longer is stopped between two batches and counted as unfinished
_POINT_S = {"situ": 12.0, "TPStream": 4.0, "PieStream": 4.0}  # no instance begins later, so that a run ends


def points(quick: bool) -> Iterator[Point]:
    return grid(
        ["situ", "TPStream", "PieStream"],
        shape=SHAPES,
        symbols=(4,) if quick else SIZES,
        instances=[2 if quick else 100],
        events=[20_000 if quick else 5_000_000],
    )


def instance(shape: str, n: int, number: int) -> str:
    """The pattern of one random instance; equal and meets have no randomness."""
    rng = np.random.default_rng([SEED, SHAPES.index(shape), n, number])
    symbols = names(n)
    drawn = [{"equal": "equals", "meets": "meets"}.get(shape) or str(rng.choice(ALLEN)) for _ in range(n - 1)]
    chain_to = {"star": 1, "combined": n // 2}.get(shape, n)
    lefts = [symbols[i] if i + 1 < chain_to else symbols[max(chain_to - 1, 0)] for i in range(n - 1)]
    if shape == "star":
        lefts = [symbols[0]] * (n - 1)
    return " AND ".join(f"{a} {r} {b}" for a, r, b in zip(lefts, drawn, symbols[1:], strict=True))


def run(contender: str, shape: str, symbols: int, instances: int, events: int) -> Measured:
    batches = list(synthetic_masks(symbols, events, seed=SEED, batch=BATCH))
    times, cpu, matches, unfinished = [], 0.0, 0, 0
    begun = time.monotonic()
    for number in range(instances if shape not in ("equal", "meets") else min(instances, 10)):
        text = query_text(symbols, instance(shape, symbols, number), WINDOW)
        if number == 0:
            _one(contender, text, symbols, batches[:3], Watch())
        watch = Watch()
        found, is_done = _one(contender, text, symbols, batches, watch)
        cpu += watch.cpu_seconds
        matches += found
        unfinished += not is_done
        times.append(watch.cpu_seconds if is_done else float("inf"))
        if time.monotonic() - begun > _POINT_S[contender]:  # how many were run is recorded
            break
    ordered = sorted(times)
    quartiles = {
        f"q{q}": _finite(ordered[min(len(ordered) * q // 100, len(ordered) - 1)])
        for q in (0, 25, 50, 75, 100)
    }
    details = {**quartiles, "run": len(times), "unfinished": unfinished}
    median = statistics.median_low(ordered)
    return Measured(
        median if median != float("inf") else -1.0, cpu / len(times), events, matches, [], details
    )


def _one(contender: str, text: str, n: int, batches: list[Events], watch: Watch) -> tuple[int, bool]:
    makers = {"TPStream": TPStream, "PieStream": PieStream}
    if contender in makers:
        matcher: TPStream | PieStream | SituMatcher = makers[contender](pattern_of(text))
    else:
        matcher = SituMatcher(engine_of(text, n))
    matches = 0
    for i, batch in enumerate(batches):
        with watch:
            matches += matcher.step(batch)
        if watch.cpu_seconds > _PATIENCE_S and i + 1 < len(batches):
            return matches, False
    return matches, True


def _finite(seconds: float) -> float | None:
    return None if seconds == float("inf") else seconds


def follows(results: Results) -> Iterator[str]:
    """Growth of the median, and instances that did not finish."""
    for contender in ("situ", "TPStream", "PieStream"):
        for shape in SHAPES:
            own = {
                p["parameters"]["symbols"]: p
                for p in done(results, contender)
                if p["parameters"]["shape"] == shape
            }
            own = {n: p for n, p in own.items() if p["seconds"] > 0}
            if len(own) > 1:
                least, most = min(own), max(own)
                growth = own[most]["seconds"] / own[least]["seconds"]
                yield (
                    f"{contender}, {shape}: the median grows {growth:.1f}-fold from {least} to {most} "
                    "symbols "
                    f"({own[least]['seconds']:.3g} s to {own[most]['seconds']:.3g} s)."
                )
        stopped = sum(p["details"]["unfinished"] for p in done(results, contender))
        total = sum(p["details"]["run"] for p in done(results, contender))
        if stopped:
            yield f"{contender}: {stopped} of {total} instances were stopped after {_PATIENCE_S:g} s."


EXPERIMENT = Experiment(
    name="patterns",
    title="Query patterns: equal, meets, chain, star, combined",
    source="tpstream 6.2.3, figure 6; dissertation 5.7.2, figure 5.10",
    generator="synthetic, n symbols, situations 10-100 s, gaps 10-50 s, 1 Hz, batches of 10,000",
    seed=SEED,
    query=query_text(4, instance("chain", 4, 0), WINDOW),
    measured="processor time per instance, one thread: quartiles over the instances, of which the median is "
    "drawn; chain, star and combined draw each relation from the thirteen",
    published="Box plots over 4 to 10 symbols, 50M events: the median grows linearly with the number of "
    "symbols "
    "for every shape; chain and star have far larger maxima, because `before` may be drawn.",
    points=points,
    run=run,
    axis="symbols",
    series=("shape",),
    log_x=False,
    follows=follows,
)
