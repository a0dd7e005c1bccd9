"""Disconnected patterns over the window size (tpstream 6.2.2; dissertation 5.7.2)."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.data import query_text, synthetic_masks
from benchmarks.experiment import Experiment, Measured, Point, grid
from benchmarks.matchers import EARLY, FINAL, measure
from benchmarks.verdict import Results, disagreements, done, speedups

SEED = 11
PATTERNS = {"A before B overlaps C": 3, "A starts B before C overlaps D": 4}
WINDOWS = (500, 1_000, 5_000, 20_000, 100_000)
# Published: 300M events for the first pattern, 100M for the second. The largest size at which situ stays
# under a minute; windows of 20,000 and more give hundreds of matches per event in the first pattern.
EVENTS = {
    "A before B overlaps C": {500: 10**7, 1_000: 10**7, 5_000: 10**7, 20_000: 2 * 10**6, 100_000: 5 * 10**5},
    "A starts B before C overlaps D": dict.fromkeys(WINDOWS, 10**7),
}


def points(quick: bool) -> Iterator[Point]:
    for pattern in PATTERNS:
        for window in WINDOWS[:1] if quick else WINDOWS:
            events = 50_000 if quick else EVENTS[pattern][window]
            yield from grid([*EARLY, *FINAL], pattern=[pattern], window=[window], events=[events])


def run(contender: str, pattern: str, window: int, events: int) -> Measured:
    n = PATTERNS[pattern]
    return measure(
        contender, query_text(n, pattern, window), n, lambda: synthetic_masks(n, events, seed=SEED), repeats=2
    )


def follows(results: Results) -> Iterator[str]:
    """Times of all contenders against situ, and average memory."""
    yield from speedups(results)
    for contender in sorted({p["contender"] for p in done(results)}):
        means = [p["mean_bytes"] / 2**20 for p in done(results, contender)]
        yield (
            f"{contender}: average resident memory {min(means):,.0f} to {max(means):,.0f} MiB, sampled at "
            "20 Hz."
        )
    yield from disagreements(_of(results, EARLY))
    yield from disagreements(_of(results, FINAL))


def _of(results: Results, contenders: tuple[str, ...]) -> Results:
    return {**results, "points": [p for p in results["points"] if p["contender"] in contenders]}


EXPERIMENT = Experiment(
    name="disconnected",
    title="Disconnected patterns over the window size",
    source="tpstream 6.2.2, figure 5 c; dissertation 5.7.2, figure 5.9; average memory as in dissertation "
    "5.7.2",
    generator="synthetic, 3 or 4 symbols, situations 10-100 s, gaps 10-50 s, 1 Hz, batches of 1,000,000",
    seed=SEED,
    query=query_text(3, "A before B overlaps C", 500),
    measured="processing time without the generator's, best of 2 (of 1 beyond 10 s); "
    "resident memory of the process at 20 Hz",
    published="Time over windows from 500 s to 100,000 s. TPStream beats ISEQ 14-fold at the largest window "
    "with "
    "the first pattern (2018) and 3-fold with the second (2021); Esper manages windows to 20,000 s (2018), "
    "SASE+ "
    "none (2018) or 5 hours (2021). Memory there: TPStream 0.9 to 1.0 GB (2018), 0.5 to 3.6 GB (2021).",
    points=points,
    run=run,
    axis="window",
    series=("pattern",),
    follows=follows,
    harder=("window", "events"),
)
