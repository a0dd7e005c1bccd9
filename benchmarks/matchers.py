"""Every in-process contender by name, behind one function: batches of arrays in, time and matches out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from benchmarks.baselines.iseq import Deriver, Iseq
from benchmarks.baselines.pattern import pattern_of
from benchmarks.baselines.piestream import PieStream
from benchmarks.baselines.tpstream import TPStream
from benchmarks.contenders import SituMatcher, engine_of
from benchmarks.data import Events
from benchmarks.experiment import Measured, Watch

EARLY = ("situ", "TPStream", "PieStream")
FINAL = ("situ final", "ISEQ plain", "ISEQ index", "ISEQ punctuations")
_ENOUGH_S = 10.0  # so long a run is measured well enough by itself
Batches = Callable[[], Iterable[Events]]


def final(text: str) -> str:
    """The query with EMIT FINAL, which is all that ISEQ can do."""
    return text.replace("EMIT EARLY", "EMIT FINAL")


def process(contender: str, text: str, n: int, batches: Iterable[Events], watch: Watch) -> tuple[int, int]:
    """Feed all batches to a new matcher; events and matches."""
    events = matches = 0
    if contender.startswith("ISEQ"):
        variant = contender.partition(" ")[2]
        operator, deriver = Iseq(pattern_of(final(text)), variant), Deriver(n)  # type: ignore[arg-type]
        for batch in batches:
            with watch:
                deriver.step(batch)
            events += len(batch.time)
        with watch:
            matches = operator.run(deriver.intervals(punctuations=variant == "punctuations"))
        return events, matches
    if contender == "TPStream":
        matcher: TPStream | PieStream | SituMatcher = TPStream(pattern_of(text))
    elif contender == "PieStream":
        matcher = PieStream(pattern_of(text))
    else:
        matcher = SituMatcher(engine_of(final(text) if contender == "situ final" else text, n))
    for batch in batches:
        with watch:
            matches += matcher.step(batch)
        events += len(batch.time)
    return events, matches


def measure(contender: str, text: str, n: int, batches: Batches, repeats: int = 1) -> Measured:
    """The best of up to `repeats` runs, after 20,000 events that load or compile what is needed."""
    first = next(iter(batches()))
    warm = [
        Events(first.time[:10_000], first.mask[:10_000]),
        Events(first.time[10_000:20_000], first.mask[10_000:20_000]),
    ]
    process(contender, text, n, warm, Watch())
    runs = []
    for _ in range(repeats):
        watch = Watch()
        events, matches = process(contender, text, n, batches(), watch)
        runs.append(watch)
        if watch.seconds > _ENOUGH_S:
            break
    best = min(runs, key=lambda w: w.seconds)
    return Measured(
        best.seconds, min(w.cpu_seconds for w in runs), events, matches, [w.seconds for w in runs]
    )


def take(batches: Iterable[Events], count: int) -> list[Events]:
    """The first batches, as a list."""
    return list(islice(batches, count))
