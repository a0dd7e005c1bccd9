"""Wall-clock latency under varying event rates, through the push operator (tpstream 6.3.2)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import situ
from benchmarks.data import query_text, seconds_of
from benchmarks.experiment import Experiment, Measured, Point, grid
from benchmarks.verdict import Results, done
from situ.sources import synthetic_table

SEED = 18
PATTERN = "A before B overlaps C"
RATES = (100_000, 10_000, 1_000, 100, 10)
WINDOW = 2_000
_LASTS_S = 6.0
_HISTORY = 5_000  # events pushed at full speed first, so that the window is filled


def points(quick: bool) -> Iterator[Point]:
    return grid(["situ", "situ final"], rate=RATES[1:2] if quick else RATES, window=[WINDOW])


def run(contender: str, rate: int, window: int) -> Measured:
    paced = max(int(rate * _LASTS_S), 60)
    table = synthetic_table(3, _HISTORY + paced, seed=SEED)
    table = table.set_column(0, "t", pa.array(seconds_of(table["ts"]))).combine_chunks()
    early = situ.query(query_text(3, PATTERN, window))
    query = early if contender == "situ" else situ.query(query_text(3, PATTERN, window, emit="FINAL"))
    first = int(table["t"][0].as_py())
    known_at = _detection_instants(table, early)
    operator = query.operator(table.schema)
    operator.push(table.slice(0, _HISTORY))
    processing, event = [], []
    matches, i, cpu = 0, 0, time.process_time()
    begun = time.perf_counter()
    while i < paced:
        # all that has arrived by now is one push; at low rates that is one event
        arrived = min(int((time.perf_counter() - begun) * rate) + 1, paced)
        if arrived <= i:
            time.sleep(max(begun + i / rate - time.perf_counter(), 0.0))
            continue
        found = operator.push(table.slice(_HISTORY + i, arrived - i))
        received = time.perf_counter() - begun
        i = arrived
        if found.num_rows:
            trigger = found["match_time"].to_numpy() - first - _HISTORY
            processing.append(received - trigger / rate)
            keys = zip(*(found[f"{s}_ts"].to_pylist() for s in "ABC"), strict=True)
            could = np.array(
                [
                    known_at.get(key, int(at))
                    for key, at in zip(keys, found["match_time"].to_pylist(), strict=True)
                ]
            )
            event.append((found["match_time"].to_numpy() - could) / rate)
            matches += found.num_rows
    cpu = time.process_time() - cpu
    everything = np.concatenate(processing) if processing else np.zeros(1)
    waited = np.concatenate(event) if event else np.zeros(1)
    details = {
        "processing_us": 1e6 * float(np.median(everything)),
        "processing_p99_us": 1e6 * float(np.percentile(everything, 99)),
        "event_s": float(waited.mean()),
        "latency_s": float(everything.mean() + waited.mean()),
    }
    return Measured(time.perf_counter() - begun, cpu, paced, matches, [], details)


def _detection_instants(table: pa.Table, query: situ.Query) -> dict[tuple[int, ...], int]:
    """The first instant at which each match could have been reported."""
    found = situ.match(table, query)
    keys = zip(*(found[f"{s}_ts"].to_pylist() for s in "ABC"), strict=True)
    return dict(zip(keys, found["match_time"].to_pylist(), strict=True))


def follows(results: Results) -> Iterator[str]:
    """Processing latency of EARLY, and what waiting for the last end costs."""
    for point in sorted(done(results), key=lambda p: (p["contender"], -p["parameters"]["rate"])):
        yield (
            f"{point['contender']} at {point['parameters']['rate']:,} events/s: processing "
            f"{point['details']['processing_us']:,.0f} microseconds in the median, event latency "
            f"{point['details']['event_s']:.4g} s on average."
        )


EXPERIMENT = Experiment(
    name="rates",
    title="Wall-clock latency under varying event rates",
    source="tpstream 6.3.2, figure 7 b and c; dissertation 5.7.3, figure 5.12",
    generator="synthetic, 3 symbols, situations 10-100 s, gaps 10-50 s, pushed at the rate for 6 s",
    seed=SEED,
    query=query_text(3, PATTERN, WINDOW),
    measured="per match: processing latency (arrival of the event that triggered it to its receipt) and "
    "event latency "
    "(arrival of the first event that could have, to that of the one that did); `situ final` has ISEQ's "
    "role. The "
    "window is 2,000 s in place of 100,000 s: a push at 10 events/s must see matches within seconds",
    published="Average latency per result over rates from 1M to 1 events/s: at low rates ISEQ waits for "
    "events (35 s "
    "at 1 event/s), TPStream for none; at high rates both are bound by processing.",
    points=points,
    run=run,
    axis="rate",
    value="details.latency_s",
    follows=follows,
)
