"""Aggressive drivers over the input size, full and simplified pattern (tpstream 6.2.1)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import situ
from benchmarks.contenders import engine_of
from benchmarks.data import Events, query_text, seconds_of
from benchmarks.experiment import Experiment, Measured, Point, Watch, grid
from benchmarks.matchers import process
from benchmarks.spark_batch.data import input_folder
from benchmarks.verdict import Results, disagreements, speedups
from situ.operators.situations.engine import Input
from situ.operators.situations.input import attribute_states
from situ.operators.situations.kernels.layout import Rows
from situ.sources import traffic_block

SEED = 16
CARS = 1_000
WINDOW = 300
PATTERNS = {
    "full": "A meets;overlaps;starts;during B AND B contains;finished-by;overlaps;meets C AND A before C",
    "simplified": "A meets;overlaps B AND B meets;overlaps C AND A before C",
}
_WORTH_KEEPING = 5_000_000
EVENTS = (1_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000)
ENGINES = ("situ engine", "TPStream", "PieStream", "ISEQ index")


def points(quick: bool) -> Iterator[Point]:
    return grid(["situ", *ENGINES], pattern=PATTERNS, events=(100_000,) if quick else EVENTS)


def run(contender: str, pattern: str, events: int) -> Measured:
    table = traffic(events)
    if contender == "situ":
        query = situ.query(table_query(PATTERNS[pattern], thresholds()))
        situ.match(table.slice(0, 50_000), query)
        watch = Watch()
        with watch:
            found = situ.match(table, query)
        return Measured(watch.seconds, watch.cpu_seconds, events, found.num_rows, [watch.seconds])
    time, mask, offset = grouped(table)
    text = query_text(3, PATTERNS[pattern], WINDOW)
    del table
    watch = Watch()
    if contender == "situ engine":
        matches = _engine(text, Rows(time, mask, offset), watch)
    else:
        joined = separated(time, mask, offset)
        process(contender, text, 3, [Events(joined.time[:20_000], joined.mask[:20_000])], Watch())
        _, matches = process(contender, text, 3, [joined], watch)
    return Measured(watch.seconds, watch.cpu_seconds, events, matches, [watch.seconds])


def traffic(events: int) -> pa.Table:
    """That many reports in time order, of the columns the query reads; large ones are made once and kept."""
    file = input_folder() / f"traffic-{SEED}-{CARS}-{events}.arrow"
    if not file.exists():
        table = _made(events)
        if events < _WORTH_KEEPING:
            return table
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        with pa.ipc.new_file(draft, table.schema) as writer:
            writer.write_table(table)
        os.replace(draft, file)
    with pa.ipc.open_file(file) as reader:  # into memory, so that it counts as input
        return reader.read_all().combine_chunks()


def _made(events: int) -> pa.Table:
    blocks, rows, offset = [], 0, 3_600
    while rows < events:
        block = traffic_block(SEED, CARS, 600, offset=offset).select(["car_id", "ts", "speed", "accel"])
        blocks.append(block)
        rows, offset = rows + block.num_rows, offset + 600
    return pa.concat_tables(blocks).slice(0, events).combine_chunks()


@cache
def thresholds() -> tuple[float, float, float]:
    """90th percentile of positive and of negative accelerations, 99th of speed, of a fixed sample."""
    sample = traffic(500_000)
    accel, speed = sample["accel"].to_numpy(), sample["speed"].to_numpy()
    return (
        round(float(np.percentile(accel[accel > 0], 90)), 3),
        round(float(np.percentile(speed, 99)), 3),
        round(float(np.percentile(accel[accel < 0], 10)), 3),
    )


def table_query(pattern: str, limits: tuple[float, float, float]) -> str:
    """The query over the reports themselves."""
    hard, fast, brake = limits
    return (
        f"FROM cars PARTITION BY car_id ORDER BY ts DEFINE A AS accel > {hard}, B AS speed > {fast}, "
        f"C AS accel < {brake} PATTERN {pattern} WITHIN {WINDOW} seconds"
    )


def grouped(table: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, masks and offsets by car: what the engine and the baselines start from."""
    hard, fast, brake = thresholds()
    accel, speed = table["accel"], table["speed"]
    bits = (pc.greater(accel, hard), pc.greater(speed, fast), pc.less(accel, brake))
    mask = np.zeros(table.num_rows, np.uint8)
    for bit, column in enumerate(bits):
        mask |= column.to_numpy().astype(np.uint8) << np.uint8(bit)
    car = table["car_id"].to_numpy()
    order = np.argsort(car, kind="stable")
    counts = np.bincount(car)
    offset = np.concatenate([[0], np.cumsum(counts[counts > 0])])
    return seconds_of(table["ts"])[order], mask[order], offset


def separated(time: np.ndarray, mask: np.ndarray, offset: np.ndarray) -> Events:
    """All cars on one time line, too far apart for a match to span two: the baselines have no partitions."""
    span = int(time.max() - time.min()) + 100 * WINDOW
    car = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    shifted = time - time.min() + car * span
    ends = offset[1:]
    return Events(
        np.insert(shifted, ends, shifted[ends - 1] + 10 * WINDOW), np.insert(mask, ends, np.uint8(0))
    )


def _engine(text: str, rows: Rows, watch: Watch) -> int:
    matches = 0
    for measured in (False, True):
        engine = engine_of(text, 3)
        known = engine.nothing_known(len(rows.offset) - 1)
        given = Input(rows, attribute_states(engine, {}, len(rows.time)))
        with watch if measured else Watch():
            found, _ = engine.step(given, known)
        matches = len(found.instant)
    return matches


def follows(results: Results) -> Iterator[str]:
    """Times against the engine on the same arrays."""
    yield from speedups(results, "situ engine")
    early = {**results, "points": [p for p in results["points"] if not p["contender"].startswith("ISEQ")]}
    yield from disagreements(early)


EXPERIMENT = Experiment(
    name="drivers",
    title="Aggressive drivers over the input size",
    source="tpstream 6.2.1, figure 5 a and b; dissertation 5.7.2, figure 5.8",
    generator="traffic in the manner of Linear Road: 1,000 cars, one report a second each",
    seed=SEED,
    query=table_query(PATTERNS["full"], (0.0, 0.0, 0.0)).replace("0.0", "?"),
    measured="`situ` is situ.match on the table, with conditions and grouping by car; the others get times "
    "and masks "
    "already grouped, so compare them with `situ engine`. Thresholds are percentiles of a sample, as in the "
    "paper. "
    "PieStream reports a relation only at its trigger time and ISEQ at the last end, so their windows cut "
    "differently.",
    published="Time over 1M to 100M events: TPStream and ISEQ grow linearly, head to head; Esper is 15 to "
    "30 times "
    "slower (2018; 8 to 20 in 2021) and runs out of 6 GB beyond 30M to 50M events; SASE+ equals Esper.",
    points=points,
    run=run,
    axis="events",
    series=("pattern",),
    follows=follows,
)
