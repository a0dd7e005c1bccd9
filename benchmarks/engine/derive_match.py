"""Derive and match on arrays, against numpy summing the same arrays."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.contenders import SituMatcher, engine_of
from benchmarks.data import query_text, synthetic_masks
from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.verdict import ratio_sentence

SEED = 1
PATTERN = "A starts B before C overlaps D"


def points(quick: bool) -> Iterator[Point]:
    return grid(["numpy sums", "situ"], events=[300_000 if quick else 10_000_000], window=[5_000])


def run(contender: str, events: int, window: int) -> Measured:
    batches = list(synthetic_masks(4, events, seed=SEED))
    text = query_text(4, PATTERN, window)
    floor = best_of(7, lambda watch: _sums(batches, watch))
    if contender == "numpy sums":
        return floor

    def once(watch: Watch) -> tuple[int, int]:
        matcher, matches = SituMatcher(engine_of(text, 4)), 0
        for batch in batches:
            with watch:
                matches += matcher.step(batch)
        return events, matches

    once(Watch())  # loads the kernels
    measured = best_of(7, once)
    measured.details["floor_seconds"] = floor.seconds
    measured.details["ratio"] = measured.cpu_seconds / floor.cpu_seconds
    return measured


def _sums(batches: list, watch: Watch) -> tuple[int, int]:
    with watch:
        for batch in batches:
            batch.time.sum()
            batch.mask.sum()
    return sum(len(batch.time) for batch in batches), 0


EXPERIMENT = Experiment(
    name="engine-derive-match",
    title="Derive and match, against summing the input",
    source="situ's own target: at most 12 times the sums",
    generator="synthetic, 4 symbols, situations 10-100 s, gaps 10-50 s, 1 Hz, batches of 1,000,000",
    seed=SEED,
    query=query_text(4, PATTERN, 5_000),
    measured="best of 7, one core; the ratio is of processor times within one process",
    published="Not a published experiment: numpy's sums over the same two arrays are a floor that any "
    "engine which looks at every event must pay.",
    points=points,
    run=run,
    axis="events",
    follows=lambda results: ratio_sentence(results, 12),
)
