"""Window sweep: time must not grow faster than the number of matches, beyond the cost of deriving."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.contenders import SituMatcher, engine_of
from benchmarks.data import query_text, synthetic_masks
from benchmarks.engine.derive_match import PATTERN
from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.verdict import Results, done

SEED = 2
WINDOWS = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def points(quick: bool) -> Iterator[Point]:
    return grid(
        ["derive only", "situ"],
        window=WINDOWS[:2] if quick else WINDOWS,
        events=[200_000 if quick else 10_000_000],
    )


def run(contender: str, window: int, events: int) -> Measured:
    batches = list(synthetic_masks(4, events, seed=SEED))
    text = query_text(4, PATTERN, window)

    def once(watch: Watch) -> tuple[int, int]:
        matcher = SituMatcher(engine_of(text, 4))
        matches = 0
        for batch in batches:
            with watch:
                matches += (matcher.derive if contender == "derive only" else matcher.step)(batch)
        return events, matches

    once(Watch())
    return best_of(3, once)


def follows(results: Results) -> Iterator[str]:
    """The growth beyond deriving, per match, from the window with the fewest matches to the one with most."""
    derive = {p["parameters"]["window"]: p["cpu_seconds"] for p in done(results, "derive only")}
    own = sorted((p for p in done(results, "situ")), key=lambda p: p["parameters"]["window"])
    beyond = [
        (
            p["parameters"]["window"],
            max(p["cpu_seconds"] - derive[p["parameters"]["window"]], 0.0),
            p["matches"],
        )
        for p in own
        if p["parameters"]["window"] in derive and p["matches"]
    ]
    if len(beyond) > 1:
        (first, t0, m0), (last, t1, m1) = beyond[0], beyond[-1]
        yield (
            f"From window {first:,} to {last:,} matches grow {m1 / m0:,.1f}-fold and the time beyond "
            "deriving "
            f"{t1 / max(t0, 1e-9):,.1f}-fold: {1e9 * t0 / m0:,.0f} ns per match, then {1e9 * t1 / m1:,.0f} "
            "ns."
        )


EXPERIMENT = Experiment(
    name="engine-window",
    title="Time over the window size",
    source="situ's own target: time beyond deriving grows no faster than the matches",
    generator="synthetic, 4 symbols, situations 10-100 s, gaps 10-50 s, 1 Hz, batches of 1,000,000",
    seed=SEED,
    query=query_text(4, PATTERN, 500),
    measured="best of 3, one core; deriving alone is the same steps without their joins",
    published="Not a published experiment; the papers' version, with baselines, is the disconnected pattern.",
    points=points,
    run=run,
    axis="window",
    follows=follows,
)
