"""Patterns that are exponential for a backtracking matcher: time and steps per row over the input size."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.rows.data import SEED, summed, ticks
from benchmarks.rows.prepared import search_of
from benchmarks.rows.texts import REGULAR, row_query
from benchmarks.verdict import Results, against, done

TARGETS = {"(A*)*B": 6}
SIZES = (100_000, 1_000_000, 10_000_000)


def points(quick: bool) -> Iterator[Point]:
    return grid(["numpy sum", "situ"], pattern=list(REGULAR), events=SIZES[:1] if quick else SIZES)


def run(contender: str, pattern: str, events: int) -> Measured:
    table = ticks(events)
    floor = summed(table)
    if contender == "numpy sum":
        return floor
    text = row_query(*REGULAR[pattern])
    search_of(table.slice(0, 1_000), text)[1]()
    engine, find = search_of(table, text)

    def once(watch: Watch) -> tuple[int, int]:
        engine.n_steps = 0
        with watch:
            found = find()
        return events, len(found.start)

    measured = best_of(7, once)
    measured.details["steps"] = engine.n_steps
    measured.details["ratio"] = measured.cpu_seconds / floor.cpu_seconds
    return measured


def follows(results: Results) -> Iterator[str]:
    """Time and steps per row at each size, and the ratio at the largest."""
    for pattern in REGULAR:
        own = [p for p in done(results, "situ") if p["parameters"]["pattern"] == pattern]
        own.sort(key=lambda p: p["events"])
        if not own:
            continue
        listed = ", ".join(
            f"{1e9 * p['cpu_seconds'] / p['events']:.1f} ns and "
            f"{p['details']['steps'] / p['events']:.2f} steps at {p['events']:,}"
            for p in own
        )
        ratio, target = own[-1]["details"]["ratio"], TARGETS.get(pattern)
        said = against(ratio, target)
        yield f"`{pattern}`, per row: {listed}; at the largest {ratio:.1f} times the sum{said}."


EXPERIMENT = Experiment(
    name="rows-regular",
    title="Row patterns with nested repetition",
    source="situ's own targets: time per row does not depend on the number of rows",
    generator="prices, 1,000 sorted partitions; A holds of every row, B and C of none",
    seed=SEED,
    query="\n".join(row_query(*one) for one in REGULAR.values()),
    measured="the search alone, on rows that are in order and tested; best of 7, one core",
    published="Not a published experiment. A matcher that tries one way after the other takes time "
    "exponential in the rows for each of these patterns.",
    points=points,
    run=run,
    axis="events",
    series=("pattern",),
    follows=follows,
)
