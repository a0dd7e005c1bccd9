"""ISEQ's four sweeps on given intervals: query length, interval length, density, mix of endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

import situ
from benchmarks.baselines.iseq import Iseq, stream
from benchmarks.baselines.pattern import pattern_of
from benchmarks.data import names, query_text
from benchmarks.experiment import Experiment, Measured, Point, Watch
from benchmarks.matchers import FINAL
from benchmarks.verdict import Results, disagreements, speedups

SEED = 17
WINDOW = 30_000  # 30 s in milliseconds
TYPES = 20
DEFAULTS = {"length": 10, "interval": 10, "density": 200, "ends": 50}
SWEEPS = {
    "length": (2, 4, 6, 8, 10, 12, 14, 16, 18),
    "interval": (100, 50, 20, 10, 5),  # average interval: a window divided by this
    "density": (50, 100, 200, 400, 800),
    "ends": (100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0),  # percent of links between ends, the rest starts
}
_DENSE = 200  # beyond, all matches at once do not fit in memory: situ takes the stream in parts of this size
_PART = 20
_FIXED = {"density": {"interval": 20}}


def points(quick: bool) -> Iterator[Point]:
    for sweep, values in SWEEPS.items():
        for value in values[:1] if quick else values:
            setting = {**DEFAULTS, **_FIXED.get(sweep, {}), sweep: value}
            count = 2_000 if quick else 20_000 if setting["density"] <= 200 else 2_000
            for contender in FINAL:
                yield Point(contender, {"sweep": sweep, "value": value, "count": count, **setting})


def pattern(length: int, ends: int) -> str:
    """A.te < B.te and so on: `ends` percent of the links order ends, the others starts, spread evenly."""
    symbols = names(length)
    links = []
    for i, (a, b) in enumerate(pairwise(symbols)):
        is_end = (i + 1) * ends // 100 > i * ends // 100
        links.append(f"{a}.te < {b}.te" if is_end else f"{a}.ts < {b}.ts")
    return " AND ".join(links)


def intervals(count: int, interval: int, density: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Symbols, starts and ends: centres uniform at the density, lengths normal around their average."""
    rng = np.random.default_rng([SEED, interval, density])
    centre = np.sort(rng.integers(WINDOW, WINDOW + count * WINDOW // density, count))
    length = np.maximum(rng.normal(WINDOW / interval, WINDOW / interval / 4, count).astype(np.int64), 2)
    return rng.integers(0, TYPES, count), centre - length // 2, centre - length // 2 + length


def run(
    contender: str, sweep: str, value: int, count: int, length: int, interval: int, density: int, ends: int
) -> Measured:
    symbol, ts, te = intervals(count, interval, density)
    watch = Watch()
    if contender == "situ final":
        part = _PART if density > _DENSE else None
        matches = _situ(symbol, ts, te, pattern(length, ends), watch, part)
    else:
        variant = contender.partition(" ")[2]
        compiled = pattern_of(query_text(length, pattern(length, ends), WINDOW, emit="FINAL"))
        operator = Iseq(compiled, variant)  # type: ignore[arg-type]
        own = symbol < length
        rows = stream(symbol[own], ts[own], te[own], punctuations=variant == "punctuations")
        few = slice(0, 20)
        operator.run(type(rows)(*(column[few] for column in rows)))
        with watch:
            matches = operator.run(rows)
    return Measured(watch.seconds, watch.cpu_seconds, count, matches, [watch.seconds])


def _situ(
    symbol: np.ndarray, ts: np.ndarray, te: np.ndarray, text: str, watch: Watch, part: int | None
) -> int:
    table = pa.table({"kind": pa.array(np.array(names(TYPES))[symbol]), "ts": ts, "te": te})
    query = situ.query(
        f"FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te PATTERN {text} WITHIN {WINDOW} EMIT FINAL"
    )
    situ.match(table.slice(0, 20), query)
    with watch:
        if part is None:
            return int(situ.match(table, query).num_rows)
        table = table.take(np.argsort(te, kind="stable"))
        operator, matches = query.operator(table.schema), 0
        for first in range(0, len(ts), part):
            matches += operator.push(table.slice(first, part)).num_rows
        return matches + int(operator.flush().num_rows)


def follows(results: Results) -> Iterator[str]:
    """ISEQ's variants against situ, and whether all found the same."""
    yield from speedups(results, "situ final")
    yield from disagreements(results)


EXPERIMENT = Experiment(
    name="intervals",
    title="Given intervals: ISEQ's sweeps",
    source="iseq section 4, figures 3 to 10",
    generator="20 interval types, uniform; lengths normal around a share of the window, centres uniform; "
    "situ takes them as a table, beyond 200 intervals per window in pushes of 20, ISEQ one by one",
    seed=SEED,
    query=f"FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te PATTERN {pattern(4, 50)} WITHIN {WINDOW} "
    "EMIT FINAL",
    measured="processing time; memory of the process is in the result file. Defaults: 10 symbols, intervals "
    "of a tenth "
    "of the window (30 s), 200 intervals per window, half the links between ends",
    published="Execution time and memory of plain ISEQ, with its index and with punctuations: the index "
    "helps with the "
    "share of ends (up to 60 % less time, up to 12 % more where there are few), punctuations always; both "
    "help more the "
    "longer the query and the intervals.",
    points=points,
    run=run,
    axis="value",
    series=("sweep",),
    log_x=False,
    follows=follows,
    harder=("value", "density"),
)
