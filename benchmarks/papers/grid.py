"""PieStream's grid: chains of 4 to 20 symbols with six relations each, 1,000 to 10 million events."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.data import query_text, synthetic_masks
from benchmarks.engine.chain import WINDOW, pattern
from benchmarks.experiment import Experiment, Measured, Point, grid
from benchmarks.matchers import EARLY, measure
from benchmarks.verdict import Results, disagreements, speedups

SEED = 15
SIZES = (4, 6, 8, 10, 12, 14, 16, 18, 20)
EVENTS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def points(quick: bool) -> Iterator[Point]:
    return grid(EARLY, symbols=(4,) if quick else SIZES, events=(20_000,) if quick else EVENTS)


def run(contender: str, symbols: int, events: int) -> Measured:
    return measure(
        contender,
        query_text(symbols, pattern(symbols), WINDOW),
        symbols,
        lambda: synthetic_masks(symbols, events, seed=SEED, batch=min(events, 1_000_000)),
    )


def follows(results: Results) -> Iterator[str]:
    """Times against situ, and whether all found the same."""
    yield from speedups(results)
    yield from disagreements(results)


EXPERIMENT = Experiment(
    name="symbols-and-events",
    title="PieStream's grid of symbols and events",
    source="piestream section 4, figure 4",
    generator="synthetic, n symbols, situations 10-100 s, gaps 10-50 s, 1 Hz, batches of at most 1,000,000",
    seed=SEED,
    query=query_text(4, pattern(4), WINDOW),
    measured="processing time without the generator's",
    published="PieStream's time grows quasi-linearly with the number of symbols (4 to 18), TPStream's "
    "exponentially; "
    "TPStream is the faster below 12 symbols and fails beyond 16. Both are linear in the events.",
    points=points,
    run=run,
    axis="symbols",
    series=("events",),
    log_x=False,
    follows=follows,
    harder=("symbols", "events"),
)
