"""What an experiment is: its statement, its points, and the function that measures one point."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

Parameters = Mapping[str, Any]


class Point(NamedTuple):
    """One contender at one setting; points of equal parameters are a group and are compared."""

    contender: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """The statement of an experiment; `name` is also the name of its result file and of its page.

    `points(quick)` lists what is to be measured; `run(contender, **parameters)` measures one of them, in a
    process of its own. `axis` names the parameter the plots have on their x axis, `series` those that make
    one plot each. `published` says what the paper's plot shows; `follows` turns results into sentences.
    More of the parameters in `harder` never makes a point easier: past a limit there is nothing to run.
    """

    name: str
    title: str
    source: str
    generator: str
    seed: int
    query: str
    measured: str
    published: str
    points: Callable[[bool], Iterable[Point]]
    run: Callable[..., Measured]
    axis: str
    series: tuple[str, ...] = ()
    value: str = "seconds"
    log_x: bool = True
    log_y: bool = True
    follows: Callable[[Any], Iterable[str]] | None = None
    harder: tuple[str, ...] = ("events",)
    seconds_limit: float = 120.0
    bytes_limit: int = 6 << 30


@dataclass
class Measured:
    """What one point gave: the best of the repeats in seconds, and all of them.

    `cpu_seconds` counts the process's own processor time, which a busy machine disturbs less.
    """

    seconds: float
    cpu_seconds: float
    events: int
    matches: int
    all_seconds: list[float] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)


class CannotExpressError(Exception):
    """A contender cannot say what the experiment asks; the message is the evidence."""


def ready() -> None:
    """Say that preparation is over: from now on the limits of time and memory hold (see limits.py)."""
    file = os.environ.pop("SITU_BENCH_STARTED", None)
    if file:
        Path(file).touch()


class Watch:
    """Adds up wall and processor time of the pieces of work it is wrapped around."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0

    def __enter__(self) -> Watch:
        ready()
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._wall
        self.cpu_seconds += time.process_time() - self._cpu


def best_of(repeats: int, once: Callable[[Watch], tuple[int, int]], **details: Any) -> Measured:
    """Measure `once` several times; it times its work with the watch and returns events and matches."""
    watches = []
    for _ in range(repeats):
        gc.collect()
        watch = Watch()
        events, matches = once(watch)
        watches.append(watch)
    return Measured(
        min(w.seconds for w in watches),
        min(w.cpu_seconds for w in watches),
        events,
        matches,
        [w.seconds for w in watches],
        details,
    )


def grid(contenders: Iterable[str], **axes: Iterable[Any]) -> Iterator[Point]:
    """Every contender at every combination of the axes, the contenders of one setting in succession."""
    settings: list[dict[str, Any]] = [{}]
    for name, values in axes.items():
        settings = [{**setting, name: value} for setting in settings for value in values]
    names = list(contenders)
    for setting in settings:
        for contender in names:
            yield Point(contender, setting)
