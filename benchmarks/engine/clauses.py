"""What a clause costs: patterns with a NO group or a distance, against the same patterns without it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.contenders import SituMatcher, engine_of
from benchmarks.data import Events, query_text, synthetic_masks
from benchmarks.experiment import Experiment, Measured, Point, Watch, grid
from benchmarks.verdict import Results, done
from situ.compiled.jit import compile_first

SEED = 1
REPEATS = 7
ABSENCE, DISTANCE = 1.5, 1.05  # at most so many times the processor time; the rest is noise


class Clause(NamedTuple):
    """A clause behind a pattern of `n_symbols`; one it makes absent comes on top."""

    pattern: str
    n_symbols: int
    window: int
    is_absence: bool


CLAUSES = {
    "AND NO C during B": Clause("A overlaps B", 2, 5_000, True),
    "AND NO E during D": Clause("A starts B before C overlaps D", 4, 5_000, True),
    "BY AT MOST 60": Clause("A before B", 2, 300, False),
    "BY AT LEAST 60": Clause("A before B", 2, 300, False),
    "AND A.te + 10 <= B.te": Clause("A overlaps B", 2, 300, False),
}


def points(quick: bool) -> Iterator[Point]:
    return grid(["without", "with"], clause=list(CLAUSES), events=[300_000 if quick else 10_000_000])


def run(contender: str, clause: str, events: int) -> Measured:
    """Both contenders are measured in turns, so that what disturbs one disturbs the other."""
    compile_first()
    pattern, n_symbols, window, is_absence = CLAUSES[clause]
    wider = n_symbols + is_absence
    text = query_text(n_symbols, pattern, window)
    behind = f"{pattern} {clause}"
    batches = list(synthetic_masks(wider, events, seed=SEED))
    kind = batches[0].mask.dtype.type
    narrow = [Events(batch.time, batch.mask & kind((1 << n_symbols) - 1)) for batch in batches]
    contenders = {
        "without": (text, n_symbols, narrow),
        "with": (query_text(wider, behind, window), wider, batches),
    }
    watches: dict[str, list[Watch]] = {name: [] for name in contenders}
    matches = {}
    for _ in range(1 + REPEATS):  # the first loads the kernels
        for name, (of_it, n, input_of_it) in contenders.items():
            gc.collect()
            watches[name].append(Watch())
            matches[name] = _match(of_it, n, input_of_it, watches[name][-1])
    best = {name: min(watch.cpu_seconds for watch in own[1:]) for name, own in watches.items()}
    seconds = [watch.seconds for watch in watches[contender][1:]]
    details = {"ratio": best["with"] / best["without"]}
    return Measured(min(seconds), best[contender], events, matches[contender], seconds, details)


def _match(text: str, n_symbols: int, batches: list[Events], watch: Watch) -> int:
    matcher, matches = SituMatcher(engine_of(text, n_symbols)), 0
    for batch in batches:
        with watch:
            matches += matcher.step(batch)
    return matches


def follows(results: Results) -> Iterator[str]:
    """Each clause against its target."""
    for point in done(results, "with"):
        clause, ratio = point["parameters"]["clause"], point["details"]["ratio"]
        target = ABSENCE if CLAUSES[clause].is_absence else DISTANCE
        verdict = "within" if ratio <= target else "beyond"
        yield (
            f"`{clause}`: {ratio:.2f} times the processor time without it, "
            f"{verdict} the target of {target:g}."
        )


EXPERIMENT = Experiment(
    name="engine-clauses",
    title="What NO groups and distances cost",
    source="situ's own targets: NO at most 1.5 times the pattern without it, a distance no more than it",
    generator="synthetic, 2 to 5 symbols, situations 10-100 s, gaps 10-50 s, 1 Hz, batches of 1,000,000",
    seed=SEED,
    query="\n".join(f"PATTERN {clause.pattern} {name}" for name, clause in CLAUSES.items()),
    measured="best of 7 in turns within one process, one core; the ratio is of processor times",
    published="Not a published experiment.",
    points=points,
    run=run,
    axis="events",
    series=("clause",),
    follows=follows,
)
