"""A chain of n symbols with six relations on each link, as PieStream's evaluation asks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from benchmarks.contenders import SituMatcher, engine_of
from benchmarks.data import names, query_text, synthetic_masks
from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.verdict import Results, done

SEED = 3
SIX = "meets;overlaps;overlapped-by;starts;started-by;contains"
SIZES = (4, 8, 12, 16, 20, 32)
WINDOW = 10_000


def pattern(n: int) -> str:
    """S1 six S2 AND S2 six S3 ..."""
    symbols = names(n)
    return " AND ".join(f"{a} {SIX} {b}" for a, b in pairwise(symbols))


def points(quick: bool) -> Iterator[Point]:
    return grid(
        ["derive only", "situ"], symbols=(4, 8) if quick else SIZES, events=[50_000 if quick else 500_000]
    )


def run(contender: str, symbols: int, events: int) -> Measured:
    batches = list(synthetic_masks(symbols, events, seed=SEED))
    text = query_text(symbols, pattern(symbols), WINDOW)

    def once(watch: Watch) -> tuple[int, int]:
        matcher = SituMatcher(engine_of(text, symbols))
        matches = 0
        for batch in batches:
            with watch:
                matches += (matcher.derive if contender == "derive only" else matcher.step)(batch)
        return events, matches

    once(Watch())
    return best_of(3, once)


def per_match_and_symbol(results: Results) -> list[tuple[int, float]]:
    """(symbols, nanoseconds beyond deriving per match and symbol)."""
    derive = {p["parameters"]["symbols"]: p["cpu_seconds"] for p in done(results, "derive only")}
    found = []
    for p in sorted(done(results, "situ"), key=lambda p: p["parameters"]["symbols"]):
        n = p["parameters"]["symbols"]
        if n in derive and p["matches"]:
            found.append((n, 1e9 * max(p["cpu_seconds"] - derive[n], 0.0) / p["matches"] / n))
    return found


def follows(results: Results) -> Iterator[str]:
    """The cost per match and symbol, first and last."""
    costs = per_match_and_symbol(results)
    if len(costs) > 1:
        listed = ", ".join(f"{n}: {cost:,.0f}" for n, cost in costs)
        growth = costs[-1][1] / max(costs[0][1], 1e-9)
        verdict = "within" if growth <= 3 else "beyond"
        yield f"Nanoseconds per match and symbol, by number of symbols: {listed}."
        yield f"Growth from the first to the last: {growth:.1f}-fold, {verdict} the target of 3."


EXPERIMENT = Experiment(
    name="engine-chain",
    title="A chain of up to 32 symbols",
    source="situ's own target after piestream section 4: cost per match and symbol grows at most 3-fold",
    generator="synthetic, n symbols, situations 10-100 s, gaps 10-50 s, 1 Hz, one batch",
    seed=SEED,
    query=query_text(4, pattern(4), WINDOW),
    measured="best of 3, one core; deriving alone is the same steps without their joins",
    published="PieStream reports TPStream to grow exponentially with the number of symbols and to fail "
    "beyond 16, its own method quasi-linearly up to 18; the grid with baselines is a page of its own.",
    points=points,
    run=run,
    axis="symbols",
    log_x=False,
    follows=follows,
)
