"""The same through `situ.match` on an Arrow table with four boolean columns."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

import situ
from benchmarks.data import query_text, seconds_of, synthetic_masks
from benchmarks.engine.derive_match import PATTERN, SEED, _sums
from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.verdict import ratio_sentence
from situ.sources import synthetic_table


def points(quick: bool) -> Iterator[Point]:
    return grid(["numpy sums", "situ"], events=[300_000 if quick else 10_000_000], window=[5_000])


def run(contender: str, events: int, window: int) -> Measured:
    floor = best_of(7, lambda watch: _sums(list(synthetic_masks(4, events, seed=SEED)), watch))
    if contender == "numpy sums":
        return floor
    table = synthetic_table(4, events, seed=SEED)
    table = table.set_column(0, "t", pa.array(seconds_of(table["ts"])))
    query = situ.query(query_text(4, PATTERN, window))

    def once(watch: Watch) -> tuple[int, int]:
        with watch:
            found = situ.match(table, query)
        return events, found.num_rows

    once(Watch())
    measured = best_of(5, once)
    measured.details["floor_seconds"] = floor.seconds
    measured.details["ratio"] = measured.cpu_seconds / floor.cpu_seconds
    return measured


EXPERIMENT = Experiment(
    name="engine-arrow-table",
    title="`situ.match` on an Arrow table, against summing the input",
    source="situ's own target: at most 40 times the sums",
    generator="synthetic, 4 symbols as boolean columns, situations 10-100 s, gaps 10-50 s, 1 Hz",
    seed=SEED,
    query=query_text(4, PATTERN, 5_000),
    measured="best of 5, one core; conditions, grouping, matching and the result table included",
    published="Not a published experiment; see the page on derive and match for the floor.",
    points=points,
    run=run,
    axis="events",
    follows=lambda results: ratio_sentence(results, 40),
)
