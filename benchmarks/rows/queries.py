"""Typical row patterns: the search alone, and all of `situ.match`, against summing the price column."""

from __future__ import annotations

from collections.abc import Iterator

import situ
from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.rows.data import PARTITIONS, SEED, summed, ticks
from benchmarks.rows.prepared import search_of
from benchmarks.rows.texts import QUERIES
from benchmarks.verdict import Results, against, done

SEARCH, WHOLE = "search alone", "situ.match"
TARGETS = {
    ("V", SEARCH): 12,
    ("V", WHOLE): 80,
    ("tick", SEARCH): 60,
    ("crime", SEARCH): 120,
    ("skip till next", SEARCH): 20,
    ("skip till any", SEARCH): 25,
}
LAST_TO_PREV = 1.3


def points(quick: bool) -> Iterator[Point]:
    return grid(["numpy sum", SEARCH, WHOLE], query=list(QUERIES), events=[200_000 if quick else 10_000_000])


def run(contender: str, query: str, events: int) -> Measured:
    table = ticks(events)
    floor = summed(table)
    if contender == "numpy sum":
        return floor
    measured = _search(table, query) if contender == SEARCH else _whole(table, query)
    measured.details["floor_seconds"] = floor.seconds
    measured.details["ratio"] = measured.cpu_seconds / floor.cpu_seconds
    return measured


def _search(table, query: str) -> Measured:
    search_of(table.slice(0, 1_000), QUERIES[query])[1]()  # loads the kernels
    engine, find = search_of(table, QUERIES[query])

    def once(watch: Watch) -> tuple[int, int]:
        engine.n_steps = 0
        with watch:
            found = find()
        return table.num_rows, len(found.start)

    measured = best_of(5, once)
    measured.details["steps"] = engine.n_steps
    return measured


def _whole(table, query: str) -> Measured:
    asked = situ.query(QUERIES[query])
    situ.match(table.slice(0, 1_000), asked)

    def once(watch: Watch) -> tuple[int, int]:
        with watch:
            found = situ.match(table, asked)
        return table.num_rows, found.num_rows

    return best_of(5, once)


def follows(results: Results) -> Iterator[str]:
    """Each ratio with its target, and how LAST compares with PREV."""
    seconds = {}
    for point in done(results):
        query, contender = point["parameters"]["query"], point["contender"]
        if contender == "numpy sum":
            continue
        seconds[query, contender] = point["cpu_seconds"]
        ratio, target = point["details"]["ratio"], TARGETS.get((query, contender))
        said = against(ratio, target)
        yield f"{query}, {contender}: {ratio:.1f} times the processor time of the sum{said}."
    for contender in (SEARCH, WHOLE):
        if ("V", contender) in seconds and ("V, LAST", contender) in seconds:
            ratio = seconds["V, LAST", contender] / seconds["V", contender]
            verdict = "within" if ratio <= LAST_TO_PREV else "beyond"
            yield (
                f"The V written with LAST, {contender}: {ratio:.2f} times the processor time of the V "
                f"written with PREV, {verdict} the target of {LAST_TO_PREV}."
            )


EXPERIMENT = Experiment(
    name="rows-queries",
    title="Row patterns, against summing the price column",
    source="situ's own targets; crime after dissertation listing 3.1",
    generator=f"prices that walk at random within a range, kinds and beats of crimes, {PARTITIONS:,} sorted "
    "partitions",
    seed=SEED,
    query="\n".join(f"{name}: {text}" for name, text in QUERIES.items()),
    measured="best of 5, one core; the ratio is of processor times within one process. The search alone "
    "begins with rows that are in order and whose conditions on the row and its neighbours are evaluated, "
    "and ends with the rows and variables of every match; situ.match is all of it, from an Arrow table to "
    "one with measures",
    published="Not a published experiment: numpy's sum of one of the columns is a floor that every engine "
    "which reads the rows must pay.",
    points=points,
    run=run,
    axis="events",
    series=("query",),
    follows=follows,
)
