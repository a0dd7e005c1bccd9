"""Live bars of progress, of a Spark job from its own count of tasks; silent unless a person watches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS_BETWEEN_LOOKS = 0.2


@contextmanager
def progress_of(session: SparkSession, console: Console | None = None) -> Iterator[None]:
    """Show the stages that run while the block does, one bar each."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    done = threading.Event()
    with _bars(console) as progress:
        watcher = threading.Thread(target=_watch, args=(session, progress, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


@contextmanager
def watching(rows: Any, what: str, console: Console | None = None) -> Iterator[None]:
    """Show that work on a table goes on: on Spark its stages, in process how long it has taken."""
    console = console or Console(stderr=True)
    if hasattr(rows, "sparkSession"):
        with progress_of(rows.sparkSession, console):
            yield
    elif console.is_terminal:
        with _bars(console) as progress:
            progress.add_task(what, total=None)
            yield
    else:
        yield


@contextmanager
def counting(what: str, total: int, console: Console | None = None) -> Iterator[Callable[[int], None]]:
    """Show how many of `total` are done; the block is told to call with each number that is."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield lambda n: None
        return
    with _bars(console) as progress:
        bar = progress.add_task(what, total=total)
        yield lambda n: progress.advance(bar, n)


def _bars(console: Console) -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True)


def _watch(session: SparkSession, progress: Progress, done: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    bars: dict[int, int] = {}
    while not done.wait(_SECONDS_BETWEEN_LOOKS):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is None:
                continue
            if stage not in bars:
                bars[stage] = int(progress.add_task(f"stage {len(bars) + 1}", total=info.numTasks))
            progress.update(bars[stage], completed=info.numCompletedTasks)  # type: ignore[arg-type]
