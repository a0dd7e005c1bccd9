"""Application-time latency per relation: EARLY against FINAL, which is ISEQ's role (tpstream 6.3.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import situ
from benchmarks.data import query_text, synthetic_masks
from benchmarks.experiment import Experiment, Measured, Point, Watch, grid
from benchmarks.verdict import Results, done

SEED = 13
WINDOW = 1_000
# A lasts 55 s on average; B's lengths give the ratios of average durations.
RATIOS = {"2:1": (5, 50), "1:1": (10, 100), "1:2": (20, 200)}
RELATIONS = ("before", "meets", "overlaps", "starts", "during", "contains", "started-by", "overlapped-by")


def points(quick: bool) -> Iterator[Point]:
    return grid(
        ["situ"],
        relation=RELATIONS[:2] if quick else RELATIONS,
        ratio=list(RATIOS)[:1] if quick else list(RATIOS),
        events=[100_000 if quick else 2_000_000],
    )


def run(contender: str, relation: str, ratio: str, events: int) -> Measured:
    (a,) = synthetic_masks(1, events, seed=SEED, batch=events)
    (b,) = synthetic_masks(1, events, seed=SEED + 1, batch=events, duration=RATIOS[ratio])
    table = pa.table({"t": a.time, "s0": a.mask == 1, "s1": b.mask == 1})
    watch = Watch()
    with watch:
        early = situ.match(table, situ.query(query_text(2, f"A {relation} B", WINDOW)))
    late = situ.match(table, situ.query(query_text(2, f"A {relation} B", WINDOW, emit="FINAL")))
    both = late.join(early, ["A_ts", "B_ts"], right_suffix="_early", join_type="inner")
    begin = np.minimum(both["A_ts"].to_numpy(), both["B_ts"].to_numpy())
    at_end, at_once = both["match_time"].to_numpy(), both["match_time_early"].to_numpy()
    gain, length = float((at_end - at_once).mean()), float((at_end - begin).mean())
    details = {"gain_s": gain, "relative": float((at_once - begin).mean()) / length}
    return Measured(watch.seconds, watch.cpu_seconds, events, early.num_rows, [], details)


def follows(results: Results) -> Iterator[str]:
    """The gain at equal durations, relation by relation."""
    equal = [p for p in done(results, "situ") if p["parameters"]["ratio"] == "1:1"]
    if equal:
        listed = ", ".join(f"{p['parameters']['relation']} {p['details']['gain_s']:.1f} s" for p in equal)
        yield f"Detected earlier than at the last end, on average at 1:1: {listed}."
    over = {
        ratio: [p["details"]["gain_s"] for p in done(results, "situ") if p["parameters"]["ratio"] == ratio]
        for ratio in RATIOS
    }
    if all(over.values()):
        listed = ", ".join(f"{ratio} {np.mean(gains):.1f} s" for ratio, gains in over.items())
        yield f"Averaged over the relations: {listed}."


EXPERIMENT = Experiment(
    name="latency",
    title="Application-time latency per relation",
    source="tpstream 6.3.1, figure 7 a; dissertation 5.7.3, figure 5.11",
    generator="synthetic, A 10-100 s, B 5-50, 10-100 or 20-200 s, gaps 10-50 s, 1 Hz",
    seed=SEED,
    query=query_text(2, "A overlaps B", WINDOW),
    measured="for each match: match_time with FINAL less that with EARLY (gain), and the detection time "
    "since the "
    "first start as a share of FINAL's; the same events and matches",
    published="The gain is the average length of B for before and meets and half of it for during, growing "
    "with B; "
    "equals, finishes and finished-by gain nothing and are left out.",
    points=points,
    run=run,
    axis="ratio",
    series=("relation",),
    value="details.gain_s",
    log_x=False,
    log_y=False,
    follows=follows,
)
